// From the text of encodings to layouts. What the layouts of each kind are is tested in DistributedLayoutsTest.cpp and
// SharedLayoutsTest.cpp; here, that the attributes' parameters arrive.

#include "src/ir/layout/EncodingLayouts.h"

#include "src/ir/Register.h"
#include "src/ir/layout/DistributedLayouts.h"
#include "src/ir/layout/ShapeChange.h"
#include "src/ir/layout/SharedLayouts.h"
#include "src/ir/layout/TensorMemoryLayouts.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"

#include <doctest/doctest.h>

using namespace jitk::ir;

namespace {

using Sizes = std::vector<unsigned>;
using Shape = llvm::SmallVector<int64_t>;

class Parser {
public:
  Parser() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  mlir::Attribute attribute(const std::string &text) {
    mlir::Attribute attr = mlir::parseAttribute(text, &context);
    REQUIRE_MESSAGE(attr, text);
    return attr;
  }

  mlir::RankedTensorType tensor(const std::string &shape, const std::string &encoding) {
    auto type = mlir::parseType("tensor<" + shape + ", " + encoding + ">", &context);
    REQUIRE_MESSAGE(type, encoding);
    return mlir::cast<mlir::RankedTensorType>(type);
  }

  mlir::MLIRContext context;
};

LinearLayout oneCta(unsigned rank = 2) { return clusterLayout(rank, {}); }

const std::string kBlocked =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const std::string kMma3 =
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>";
const std::string kMma2 =
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";
const std::string kNvmma = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>";

} // namespace

TEST_SUITE("ir/EncodingLayouts") {
  TEST_CASE("each distributed encoding has the layout of its parameters") {
    Parser parse;
    Sizes perThread{1, 8}, lanes{4, 8}, warps{4, 1}, order{1, 0}, square{2, 2};
    BlockedParameters blocked{perThread, lanes, warps, order};
    MmaParameters mma3{3, warps, 16, 64}, mma2{2, square, 16, 8};
    Shape shape{128, 64};
    auto layoutOf = [&](const std::string &encoding) { return toLinearLayout(shape, parse.attribute(encoding)); };

    CHECK(layoutOf(kBlocked) == blockedLayout(shape, blocked, oneCta()));
    CHECK(layoutOf(kMma3) == mmaLayout(shape, mma3, oneCta()));
    CHECK(layoutOf(kMma2) == mmaLayout(shape, mma2, oneCta()));
    CHECK(layoutOf("#ttg.dot_op<{opIdx = 0, parent = " + kMma3 + ", kWidth = 2}>") ==
          mmaOperandLayout(shape, mma3, 0, 2, oneCta()));
    CHECK(layoutOf("#ttg.dot_op<{opIdx = 1, parent = " + kMma2 + ", kWidth = 4}>") ==
          mmaOperandLayout(shape, mma2, 1, 4, oneCta()));
    CHECK(layoutOf("#ttg.dot_op<{opIdx = 1, parent = " + kBlocked + "}>") ==
          fmaOperandLayout(shape, blocked, 1, oneCta()));
    CHECK(toLinearLayout({128}, parse.attribute("#ttg.slice<{dim = 1, parent = " + kBlocked + "}>")) ==
          sliceLayout(blockedLayout({128, 1}, blocked, oneCta()), 1));
    CHECK(toLinearLayout(parse.tensor("128x64xf16", kMma3)) == mmaLayout(shape, mma3, oneCta()));
  }

  TEST_CASE("each shared encoding has the layout of its parameters") {
    Parser parse;
    Shape shape{128, 64};
    unsigned order[] = {0, 1};
    auto layoutOf = [&](const std::string &encoding) { return toLinearLayout(shape, parse.attribute(encoding)); };
    CHECK(layoutOf("#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>") ==
          swizzledSharedLayout(shape, {8, 2, 4, order}, oneCta()));
    CHECK(layoutOf(kNvmma) == nvmmaSharedLayout(shape, {128, false, 16, false}, oneCta()));
    CHECK(layoutOf("#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>") ==
          nvmmaSharedLayout(shape, {64, true, 8, false}, oneCta()));
    CHECK(layoutOf("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = "
                   "true}>") == nvmmaSharedLayout(shape, {128, false, 8, true}, oneCta()));
    CHECK(layoutOf("#ttg.padded_shared<[128:+8] {order = [1, 0], shape = [128, 64]}>") ==
          nvmmaSharedLayout(shape, {0, false, 16, false}, oneCta()));
    LinearLayout linear =
        layoutOf("#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 1]], block = []}, alignment = 16>");
    // Grown to the shape, rows after columns: as the offset bits have them.
    CHECK(linear.apply({{"offset", 5}}) == LinearLayout::Basis{1, 0});
    CHECK(linear.apply({{"offset", 8}}) == LinearLayout::Basis{0, 4});
    CHECK(linear.isInvertible());
  }

  TEST_CASE("encodings of tensor memory have the layout of their parameters") {
    Parser parse;
    CHECK(toLinearLayout({128, 64},
                         parse.attribute("#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 2>")) ==
          tensorMemoryLayout({128, 64}, {64, 32, 2, 1, 1, false}));
    CHECK(toLinearLayout({128, 8}, parse.attribute("#ttng.tensor_memory_scales_encoding<>")) ==
          tensorMemoryScalesLayout({128, 8}, 1, 1));
  }

  TEST_CASE("the CTAs of a cluster arrive") {
    Parser parse;
    auto layout =
        toLinearLayout({128, 128}, parse.attribute("#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
                                                   "warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[0, 1]]}>"));
    CHECK(layout.apply({{"block", 1}}) == LinearLayout::Basis{0, 64});
    auto shared =
        toLinearLayout({128, 128}, parse.attribute("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
                                                   "elementBitWidth = 16, CGALayout = [[1, 0]]}>"));
    CHECK(shared.apply({{"block", 1}}) == LinearLayout::Basis{64, 0});
    CHECK(shared.getInDimSize("offset") == 64 * 128);
  }

  TEST_CASE("a buffer is laid out by its allocation, without its copies") {
    Parser parse;
    auto type = mlir::cast<ttg::MemDescType>(mlir::parseType(
        "!ttg.memdesc<64x64xf16, " + kNvmma + ", #ttg.shared_memory, mutable, 2x128x64>", &parse.context));
    CHECK(toLinearLayout(type) == nvmmaSharedLayout({128, 64}, {128, false, 16, false}, oneCta()));
  }

  TEST_CASE("a linear encoding keeps what any layout says") {
    Parser parse;
    for (const std::string &text :
         {kBlocked, kMma2, kMma3, "#ttg.dot_op<{opIdx = 0, parent = " + kMma2 + ", kWidth = 2}>"}) {
      mlir::Attribute encoding = parse.attribute(text);
      LinearLayout layout = toLinearLayout({64, 64}, encoding);
      mlir::Attribute linear = getLinearEncoding(&parse.context, layout);
      CHECK(toLinearLayout({64, 64}, linear) == layout);
      CHECK(areLayoutsEquivalent({64, 64}, encoding, linear));
    }
    CHECK_FALSE(areLayoutsEquivalent({64, 64}, parse.attribute(kMma2), parse.attribute(kMma3)));
    LinearLayout shared = toLinearLayout({64, 64}, parse.attribute(kNvmma));
    CHECK(toLinearLayout({64, 64}, getSharedLinearEncoding(&parse.context, shared, 1024)) == shared);
  }

  TEST_CASE("a linear encoding fits smaller and larger tensors") {
    Parser parse;
    mlir::Attribute linear = parse.attribute(
        "#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]], "
        "block = []}>");
    LinearLayout larger = toLinearLayout({64, 16}, linear), smaller = toLinearLayout({8, 4}, linear);
    // The registers' columns first, then their rows.
    CHECK(larger.getInDimSize("register") == 16);
    CHECK(larger.apply({{"register", 4}}) == LinearLayout::Basis{0, 8});
    CHECK(larger.apply({{"register", 8}}) == LinearLayout::Basis{32, 0});
    CHECK(smaller.getInDimSize("register") == 2);
    CHECK(smaller.apply({{"lane", 2}}) == LinearLayout::Basis{0, 0});
    CHECK(smaller.apply({{"warp", 1}}) == LinearLayout::Basis{0, 0});
  }

  TEST_CASE("queries of tensor types") {
    Parser parse;
    mlir::RankedTensorType rows = parse.tensor("128x64xf16", kBlocked), accumulator = parse.tensor("64x64xf32", kMma3);
    CHECK(getTotalElemsPerThread(rows) == 64);
    CHECK(getTotalElemsPerThread(accumulator) == 32);
    CHECK(getTotalElemsPerThread(mlir::Float32Type::get(&parse.context)) == 1);
    CHECK(getContigPerThread(rows) == llvm::SmallVector<unsigned>{1, 8});
    CHECK(getContigPerThread(accumulator) == llvm::SmallVector<unsigned>{1, 2});
    CHECK(getRegisterOrder(rows) == llvm::SmallVector<unsigned>{1, 0});
    CHECK(getNumLanes(rows) == 32);
    CHECK(getNumWarps(rows) == 4);
    CopyMasks masks =
        getCopyMasks(toLinearLayout(parse.tensor("128xf16", "#ttg.slice<{dim = 1, parent = " + kBlocked + "}>")));
    CHECK(masks.lanes == 0b00111);
    CHECK(masks.warps == 0);
    CHECK(masks.registers == 0);
  }
}

TEST_SUITE("ir/ShapeChange") {
  TEST_CASE("changes of shape move no element") {
    Sizes perThread{2, 4}, lanes{8, 4}, warps{2, 2}, order{1, 0};
    LinearLayout source = blockedLayout({32, 64}, {perThread, lanes, warps, order}, oneCta());
    LinearLayout transposed = transposedLayout(source, {1, 0}), reshaped = reshapedLayout(source, {4, 16, 32}),
                 expanded = expandedLayout(source, 1), joined = joinedLayout(source);
    CHECK(joined.getOutDimNames() == dimNames(3));
    for (int32_t reg = 0; reg < source.getInDimSize("register"); ++reg) {
      for (int32_t lane : {0, 7, 19}) {
        auto at = source.apply({{"register", reg}, {"lane", lane}, {"warp", 3}});
        auto in = [&](const LinearLayout &layout, int32_t r) {
          return layout.apply({{"register", r}, {"lane", lane}, {"warp", 3}});
        };
        int32_t number = at[0] * 64 + at[1];
        CHECK(in(transposed, reg) == LinearLayout::Basis{at[1], at[0]});
        CHECK(in(reshaped, reg) == LinearLayout::Basis{number / 512, number / 32 % 16, number % 32});
        CHECK(in(expanded, reg) == LinearLayout::Basis{at[0], 0, at[1]});
        CHECK(in(joined, 2 * reg + 1) == LinearLayout::Basis{at[0], at[1], 1});
      }
    }
    CHECK(*splitLayout(joined) == source);
    CHECK_FALSE(splitLayout(transposed).has_value());
  }
}
