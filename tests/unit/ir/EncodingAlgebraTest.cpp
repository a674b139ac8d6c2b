// The algebra of linear layouts on the layouts of real encodings, by brute force over all indices; and the encodings
// that give a map as it is (linear, shared_linear, padded_shared) against typed-in formulas.

#include "src/ir/Register.h"
#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/layout/SharedLayouts.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

#include <doctest/doctest.h>
#include <functional>

using namespace jitk::ir;

namespace {

using Shape = std::vector<int64_t>;
using Coordinate = LinearLayout::Basis;

/// An encoding as text, and shapes of tensors or buffers that have it.
struct Sample {
  std::string encoding;
  std::vector<Shape> shapes;
};

const std::string kBlocked =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const std::string kColumns =
    "#ttg.blocked<{sizePerThread = [4, 2], threadsPerWarp = [16, 2], warpsPerCTA = [2, 2], order = [0, 1]}>";
const std::string kCluster = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], "
                             "order = [1, 0], CGALayout = [[0, 1], [0, 0]]}>";
const std::string kCube = "#ttg.blocked<{sizePerThread = [1, 2, 2], threadsPerWarp = [2, 4, 4], warpsPerCTA = [2, 2, "
                          "1], order = [2, 0, 1]}>";
const std::string kMma2 =
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";
const std::string kMma2Tall =
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 8]}>";
const std::string kMma3 =
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>";
const std::string kMma3Wide =
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 32, 8]}>";

std::string sliceOf(int dim, const std::string &parent) {
  return "#ttg.slice<{dim = " + std::to_string(dim) + ", parent = " + parent + "}>";
}

std::string operandOf(int index, const std::string &parent, int kWidth) {
  return "#ttg.dot_op<{opIdx = " + std::to_string(index) + ", parent = " + parent +
         (kWidth == 0 ? "" : ", kWidth = " + std::to_string(kWidth)) + "}>";
}

std::vector<Sample> distributedSamples() {
  const std::vector<Shape> squares = {{128, 32}, {64, 64}, {16, 16}, {256, 8}};
  std::vector<Sample> samples;
  for (const std::string &parent : {kBlocked, kColumns, kCluster, kMma2, kMma2Tall, kMma3, kMma3Wide}) {
    samples.push_back({parent, squares});
    samples.push_back({sliceOf(0, parent), {{64}, {256}}});
    samples.push_back({sliceOf(1, parent), {{64}, {256}}});
  }
  samples.push_back({kCube, {{8, 16, 32}, {2, 4, 8}}});
  samples.push_back({sliceOf(1, kCube), {{16, 32}, {4, 4}}});
  samples.push_back({sliceOf(0, sliceOf(2, kCube)), {{64}}});
  for (int index : {0, 1}) {
    for (const std::string &parent : {kBlocked, kColumns}) {
      samples.push_back({operandOf(index, parent, 0), {{32, 16}, {16, 64}}});
    }
    for (int kWidth : {1, 2, 4, 8}) {
      samples.push_back({operandOf(index, kMma2, kWidth), {{64, 64}, {128, 128}}});
      samples.push_back({operandOf(index, kMma2Tall, kWidth), {{64, 64}}});
    }
  }
  for (int kWidth : {1, 2, 4}) {
    samples.push_back({operandOf(0, kMma3, kWidth), {{64, 64}, {128, 32}}});
    samples.push_back({operandOf(0, kMma3Wide, kWidth), {{64, 64}}});
  }
  samples.push_back({"#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp "
                     "= [[16, 0], [0, 0]], block = []}>",
                     {{32, 8}, {64, 16}, {8, 4}}});
  samples.push_back({"#ttg.linear<{register = [[4]], lane = [[1], [2], [8], [16], [0]], warp = [[32]], block = "
                     "[[64]]}>",
                     {{128}, {32}, {512}}});
  return samples;
}

std::vector<Sample> sharedSamples() {
  const std::vector<Shape> squares = {{128, 32}, {64, 64}, {16, 32}};
  std::vector<Sample> samples;
  for (const char *parameters : {"vec = 1, perPhase = 1, maxPhase = 1", "vec = 8, perPhase = 1, maxPhase = 8",
                                 "vec = 4, perPhase = 2, maxPhase = 4", "vec = 8, perPhase = 4, maxPhase = 2"}) {
    for (const char *order : {"[1, 0]", "[0, 1]"}) {
      samples.push_back({std::string("#ttg.swizzled_shared<{") + parameters + ", order = " + order + "}>", squares});
    }
  }
  samples.push_back({"#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [2, 1, 0]}>", {{4, 16, 32}}});
  samples.push_back(
      {"#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], CGALayout = [[1, 0]]}>",
       {{128, 64}}});
  for (int width : {0, 32, 64, 128}) {
    for (int bits : {8, 16, 32}) {
      for (const char *transposed : {"false", "true"}) {
        samples.push_back({"#ttg.nvmma_shared<{swizzlingByteWidth = " + std::to_string(width) +
                               ", transposed = " + transposed + ", elementBitWidth = " + std::to_string(bits) + "}>",
                           {{64, 128}, {256, 64}}});
      }
    }
  }
  samples.push_back(
      {"#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>", {{4, 64}}});
  samples.push_back({"#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded "
                     "= true}>",
                     {{64, 128}}});
  samples.push_back({"#ttg.padded_shared<[128:+8] {order = [1, 0], shape = [128, 64]}>", squares});
  samples.push_back({"#ttg.padded_shared<[64:+4, 512:+16] {order = [0, 1], shape = [64, 64]}>", squares});
  samples.push_back({"#ttg.padded_shared<[4:+2] {offset = [[0, 1], [1, 0], [0, 2], [2, 1]], block = []}>", squares});
  samples.push_back(
      {"#ttg.padded_shared<[4:+2, 8:+4] {offset = [[0, 1], [1, 0], [2, 0]], block = [[0, 2]]}>", {{4, 4}, {32, 8}}});
  samples.push_back({"#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 1], [2, 3]]}, alignment = 16>", squares});
  samples.push_back({"#ttg.shared_linear<{offset = [[1], [0], [2]], block = [[4]]}, alignment = 16>", {{8}, {64}}});
  return samples;
}

class Parser {
public:
  Parser() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  LinearLayout layout(const Shape &shape, const std::string &text) {
    mlir::Attribute encoding = mlir::parseAttribute(text, &context);
    REQUIRE_MESSAGE(encoding, text);
    return toLinearLayout(shape, encoding);
  }

  mlir::MLIRContext context;
};

/// Calls `check` with the layout of each sample at each of its shapes.
void forEachLayout(const std::vector<Sample> &samples, std::function<void(const LinearLayout &)> check) {
  Parser parser;
  for (const Sample &sample : samples) {
    for (const Shape &shape : sample.shapes) {
      CAPTURE(sample.encoding);
      CAPTURE(shape.front());
      CAPTURE(shape.back());
      check(parser.layout(shape, sample.encoding));
    }
  }
}

std::vector<Sample> allSamples() {
  std::vector<Sample> samples = distributedSamples(), shared = sharedSamples();
  samples.insert(samples.end(), shared.begin(), shared.end());
  return samples;
}

uint64_t totalIn(const LinearLayout &layout) { return uint64_t(1) << layout.getTotalInDimSizeLog2(); }
uint64_t totalOut(const LinearLayout &layout) { return uint64_t(1) << layout.getTotalOutDimSizeLog2(); }

/// The free bits of all inputs, as bits of the flattened input.
uint64_t freeBits(const LinearLayout &layout) {
  uint64_t bits = 0;
  unsigned shift = 0;
  llvm::StringMap<int32_t> masks = layout.getFreeVariableMasks();
  for (llvm::StringRef in : layout.getInDimNames()) {
    bits |= uint64_t(masks.lookup(in)) << shift;
    shift += layout.getInDimSizeLog2(in);
  }
  return bits;
}

} // namespace

TEST_SUITE("ir/EncodingAlgebra") {
  TEST_CASE("a layout, its pseudo-inverse and the layout again are the layout") {
    forEachLayout(allSamples(), [](const LinearLayout &layout) {
      LinearLayout inverse = layout.pseudoinvert();
      bool comesBack = true, reachesAll = true, findsAll = true;
      for (uint64_t x = 0; x < totalIn(layout); ++x) {
        uint64_t found = inverse.applyFlat(layout.applyFlat(x));
        comesBack &= layout.applyFlat(found) == layout.applyFlat(x);
        findsAll &= found == x;
      }
      for (uint64_t y = 0; y < totalOut(layout); ++y) {
        reachesAll &= layout.applyFlat(inverse.applyFlat(y)) == y;
      }
      CHECK(comesBack);
      CHECK(reachesAll == layout.isSurjective());
      CHECK(findsAll == layout.isInjective());
      CHECK(layout.isSurjective());
    });
  }

  TEST_CASE("a conversion to the layout itself keeps every index but for its free bits") {
    forEachLayout(allSamples(), [](const LinearLayout &layout) {
      LinearLayout conversion = layout.invertAndCompose(layout);
      CHECK(conversion.getInDimNames() == layout.getInDimNames());
      CHECK(conversion.getOutDimNames() == layout.getInDimNames());
      uint64_t free = freeBits(layout);
      CHECK((free == 0) == layout.isInjective());
      bool isSame = true, isFreeZero = true, isElementSame = true;
      for (uint64_t x = 0; x < totalIn(layout); ++x) {
        uint64_t converted = conversion.applyFlat(x);
        isFreeZero &= (converted & free) == 0;
        isSame &= (x & free) != 0 || converted == x;
        isElementSame &= layout.applyFlat(converted) == layout.applyFlat(x);
      }
      CHECK(isSame);
      CHECK(isFreeZero);
      CHECK(isElementSame);
    });
  }

  TEST_CASE("conversions between layouts of one shape find the element") {
    Parser parser;
    const Shape shape = {64, 64};
    std::vector<LinearLayout> layouts;
    for (const std::string &text :
         {kBlocked, kColumns, kMma2, kMma3, operandOf(0, kMma2, 2), operandOf(1, kMma2, 4), operandOf(0, kMma3, 2)}) {
      layouts.push_back(parser.layout(shape, text));
    }
    layouts.push_back(
        parser.layout(shape, "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>"));
    for (const LinearLayout &source : layouts) {
      for (const LinearLayout &target : layouts) {
        LinearLayout conversion = source.invertAndCompose(target);
        bool findsElement = true;
        for (uint64_t x = 0; x < totalIn(source); ++x) {
          findsElement &= target.applyFlat(conversion.applyFlat(x)) == source.applyFlat(x);
        }
        CHECK(findsElement);
      }
    }
  }

  TEST_CASE("a product with an identity, divided by it, is the layout") {
    forEachLayout(allSamples(), [](const LinearLayout &layout) {
      llvm::StringRef in = layout.getInDimNames().front(), out = layout.getOutDimNames().back();
      LinearLayout identity = LinearLayout::identity1D(4, in, out);
      LinearLayout outside = layout * identity, inside = identity * layout;
      bool isOutside = true, isInside = true;
      for (int32_t piece = 0; piece < 4; ++piece) {
        for (int32_t x = 0; x < layout.getInDimSize(in); ++x) {
          Coordinate at = layout.apply({{in, x}});
          Coordinate grown = outside.apply({{in, x + piece * layout.getInDimSize(in)}});
          Coordinate moved = inside.transposeOuts(layout.getOutDimNames()).apply({{in, 4 * x + piece}});
          isOutside &= grown.back() == at.back() + piece * layout.getOutDimSize(out);
          isInside &= moved.back() == 4 * at.back() + piece;
          for (size_t dim = 0; dim + 1 < at.size(); ++dim) {
            isOutside &= grown[dim] == at[dim];
            isInside &= moved[dim] == at[dim];
          }
        }
      }
      CHECK(isOutside);
      CHECK(isInside);
      CHECK(outside.divideRight(identity) == layout);
      CHECK(inside.divideLeft(identity)->transposeOuts(layout.getOutDimNames()) == layout);
      CHECK((layout * LinearLayout::identity1D(8, "cta", "cta")).quotient({"cta"}) == layout);
    });
  }

  TEST_CASE("a linear encoding is the map of its bases, cut or grown to the shape") {
    using Formula = std::function<Coordinate(int, int, int, int)>;
    struct Case {
      std::string encoding;
      Shape shape;
      int registers;
      Formula at; ///< of register, lane, warp, block
    };
    const std::string matrix = "#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, "
                               "0]], warp = [[16, 0]], block = []}>";
    const std::string line =
        "#ttg.linear<{register = [[4]], lane = [[1], [2], [8], [16], [0]], warp = [[0], [32]], block = [[64]]}>";
    const std::string cube = "#ttg.linear<{register = [[1, 0, 0], [0, 0, 1]], lane = [[0, 1, 0], [0, 0, 2], [2, 0, 0], "
                             "[0, 2, 0], [0, 0, 4]], warp = [[4, 0, 0], [0, 4, 0]], block = []}>";
    auto quad = [](int lane) { return 2 * (lane % 4); };
    for (const Case &c : std::vector<Case>{
             {matrix,
              {32, 8},
              4,
              [&](int reg, int lane, int warp, int) {
                return Coordinate{lane / 4 + 8 * (reg / 2) + 16 * warp, reg % 2 + quad(lane)};
              }},
             // New registers: the columns first, as the lowest register bit moves along them.
             {matrix,
              {64, 16},
              16,
              [&](int reg, int lane, int warp, int) {
                return Coordinate{lane / 4 + 8 * (reg / 2 % 2) + 16 * warp + 32 * (reg / 8),
                                  reg % 2 + quad(lane) + 8 * (reg / 4 % 2)};
              }},
             // What lies outside of the tensor is no register, and copies of lanes and warps.
             {matrix,
              {8, 4},
              2,
              [](int reg, int lane, int, int) { return Coordinate{lane / 4, reg % 2 + 2 * (lane % 2)}; }},
             {line,
              {128},
              2,
              [](int reg, int lane, int warp, int block) {
                return Coordinate{4 * reg + lane % 4 + 8 * (lane / 4 % 4) + 32 * (warp / 2) + 64 * block};
              }},
             {line,
              {512},
              8,
              [](int reg, int lane, int warp, int block) {
                return Coordinate{4 * (reg % 2) + lane % 4 + 8 * (lane / 4 % 4) + 32 * (warp / 2) + 64 * block +
                                  128 * (reg / 2)};
              }},
             {cube,
              {8, 8, 8},
              4,
              [](int reg, int lane, int warp, int) {
                return Coordinate{reg % 2 + 2 * (lane / 4 % 2) + 4 * (warp % 2),
                                  lane % 2 + 2 * (lane / 8 % 2) + 4 * (warp / 2),
                                  reg / 2 + 2 * (lane / 2 % 2) + 4 * (lane / 16)};
              }},
         }) {
      CAPTURE(c.encoding);
      CAPTURE(c.shape.front());
      Parser parser;
      LinearLayout layout = parser.layout(c.shape, c.encoding);
      CHECK(layout.getInDimSize("register") == c.registers);
      CHECK(layout.getInDimSize("lane") == 32);
      bool isEqual = true;
      for (int reg = 0; reg < layout.getInDimSize("register"); ++reg) {
        for (int lane = 0; lane < 32; ++lane) {
          for (int warp = 0; warp < layout.getInDimSize("warp"); ++warp) {
            for (int block = 0; block < layout.getInDimSize("block"); ++block) {
              isEqual &= layout.apply({{"register", reg}, {"lane", lane}, {"warp", warp}, {"block", block}}) ==
                         c.at(reg, lane, warp, block);
            }
          }
        }
      }
      CHECK(isEqual);
    }
  }

  TEST_CASE("a padded or linear buffer is the map of its bases") {
    using Formula = std::function<int64_t(int64_t, int64_t)>;
    struct Case {
      std::string encoding;
      Shape shape;
      Formula offset; ///< of row, column
    };
    for (const Case &c : std::vector<Case>{
             {"#ttg.padded_shared<[128:+8] {order = [1, 0], shape = [128, 64]}>",
              {128, 64},
              [](int64_t row, int64_t col) { return row * 64 + col; }},
             {"#ttg.padded_shared<[64:+4, 512:+16] {order = [0, 1], shape = [32, 16]}>",
              {32, 16},
              [](int64_t row, int64_t col) { return col * 32 + row; }},
             // Grown: whole blocks follow, along the dimension that is contiguous first.
             {"#ttg.padded_shared<[64:+4] {order = [0, 1], shape = [32, 16]}>",
              {64, 64},
              [](int64_t row, int64_t col) { return col % 16 * 32 + row % 32 + 512 * (row / 32) + 1024 * (col / 16); }},
             {"#ttg.padded_shared<[4:+2] {offset = [[0, 1], [1, 0], [0, 2], [2, 0]], block = []}>",
              {4, 4},
              [](int64_t row, int64_t col) { return col % 2 + 2 * (row % 2) + 4 * (col / 2) + 8 * (row / 2); }},
             // Rows permuted by a base that moves along both dimensions.
             {"#ttg.padded_shared<[4:+2] {offset = [[0, 1], [0, 2], [1, 1], [2, 2]], block = []}>",
              {4, 4},
              [](int64_t row, int64_t col) { return (col ^ row) + 4 * row; }},
             {"#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 1], [2, 2]]}, alignment = 16>",
              {4, 4},
              [](int64_t row, int64_t col) { return (col ^ row) + 4 * row; }},
             {"#ttg.shared_linear<{offset = [[1, 0], [0, 1], [2, 0], [0, 2]]}, alignment = 16>",
              {8, 8},
              [](int64_t row, int64_t col) {
                return row % 2 + 2 * (col % 2) + 4 * (row / 2 % 2) + 8 * (col / 2 % 2) + 16 * (row / 4) +
                       32 * (col / 4);
              }},
         }) {
      CAPTURE(c.encoding);
      Parser parser;
      LinearLayout layout = parser.layout(c.shape, c.encoding), inverse = layout.pseudoinvert();
      CHECK(layout.isInvertible());
      bool isEqual = true;
      for (int32_t row = 0; row < c.shape[0]; ++row) {
        for (int32_t col = 0; col < c.shape[1]; ++col) {
          int32_t offset = inverse.apply({{"dim0", row}, {"dim1", col}})[0];
          isEqual &= offset == c.offset(row, col);
          isEqual &= layout.apply({{"offset", offset}}) == Coordinate{row, col};
        }
      }
      CHECK(isEqual);
    }
  }
}
