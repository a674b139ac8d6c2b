// The overlapped step in a kernel of one consumer and one producer: keys, heads and values in one part and in several,
// rows that rescale late, keys that rows do not see, and blocks before and behind that nobody attends to.

#include "src/kernels/vocabulary/OverlappedAttention.h"

#include "src/kernels/vocabulary/KernelProgram.h"
#include "src/kernels/vocabulary/Roles.h"
#include "tests/unit/kernels/EmulatedKernel.h"

#include "llvm/ADT/SmallVectorExtras.h"

#include <cmath>
#include <cstring>
#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::kernels;
using namespace jitk::kernels::test;
using mlir::Value;

TEST_SUITE_BEGIN("kernels/OverlappedAttention");

namespace {

constexpr int64_t kRows = OverlappedAttention::kRows;
constexpr double kScale = 0.125;

/// Row i sees the keys of a block from number i % 8 on: of its first block only.
constexpr int64_t kUnseen = 8;

struct Problem {
  int64_t keys; ///< of a block
  int64_t headDim, valueDim;
  int64_t blocks, begin, end; ///< attended to are those from begin to before end
  bool votesOnSums = false;
};

llvm::SmallVector<DimensionPart> partsOf(int64_t dim) { return splitDimension(dim, kLeastPart); }

/// Writes the kernel: q [64, headDim], k [keys * blocks, headDim], v [keys * blocks, valueDim] and o in fp32.
class Writer {
public:
  Writer(KernelBuilder &builder, const Problem &problem)
      : b(builder), problem_(problem), type_(elementTypeOf("bf16", *builder.getContext())),
        keyParts_(llvm::map_to_vector(splitDimension(problem.keys, 1), [](const auto &part) { return part.size; })) {
    constexpr int64_t kStages = 2;
    keys_.emplace(b, kStages, tilesOf(problem.headDim), /*consumerWarps=*/4u);
    values_.emplace(b, kStages, tilesOf(problem.valueDim), /*consumerWarps=*/4u);
    for (const DimensionPart &part : partsOf(problem.headDim)) {
      SharedTile tile = {kRows, part.size, type_};
      queries_.push_back(ir::ttg::LocalAllocOp::create(b, tile.bufferType()).getResult());
    }
  }

  llvm::SmallVector<SharedTile> tilesOf(int64_t dim) const {
    llvm::SmallVector<SharedTile> tiles;
    for (int64_t keys : keyParts_) {
      for (const DimensionPart &part : partsOf(dim)) {
        tiles.push_back({keys, part.size, type_});
      }
    }
    return tiles;
  }

  void write() {
    auto consumeAll = [&] { consume(); };
    auto produceAll = [&] { produce(); };
    specialize(b, {Role{.numWarps = 4, .body = consumeAll}, Role{.numWarps = 1, .body = produceAll}});
  }

private:
  void load(const Ring &ring, const RingPosition &position, llvm::StringRef tensor, int64_t dim, Value block) {
    ring.acquire(position);
    unsigned tile = 0;
    Value row = b.mul(block, b.i32(problem_.keys));
    for (int64_t keys : keyParts_) {
      for (const DimensionPart &part : partsOf(dim)) {
        ring.load(position, tile++, b.descriptorParameter(tensor, {keys, part.size, type_}), row, b.i32(part.offset));
      }
      row = b.add(row, b.i32(keys));
    }
  }

  void produce() {
    RingPosition key = keys_->start(), value = values_->start();
    b.loop(b.i32(0), b.i32(problem_.blocks), 1, {key.slot, key.phase, value.slot, value.phase},
           [&](Value block, mlir::ValueRange now) -> llvm::SmallVector<Value> {
             RingPosition key = {now[0], now[1]}, value = {now[2], now[3]};
             load(*keys_, key, "k", problem_.headDim, block);
             load(*values_, value, "v", problem_.valueDim, block);
             key = keys_->next(key);
             value = values_->next(value);
             return {key.slot, key.phase, value.slot, value.phase};
           });
  }

  llvm::SmallVector<Value> maskFirst(mlir::ValueRange products) {
    llvm::SmallVector<Value> scores = llvm::to_vector(products);
    Value key = b.range(keyParts_.front()), begin = b.rem(b.range(kRows), b.splat(b.i32(kUnseen), {kRows}));
    Value isSeen = b.lessEqual(b.asColumn(begin, keyParts_.front()), b.asRow(key, kRows));
    scores.front() = maskedScores(b, isSeen, scores.front());
    return scores;
  }

  void consume() {
    MatrixView q = {b.tensorParameter("q"), b.i64(problem_.headDim)};
    for (auto [part, buffer] : llvm::zip_equal(partsOf(problem_.headDim), queries_)) {
      Value pointers = b.pointers(columnsFrom(b, q, part), b.range(kRows), b.range(part.size));
      ir::ttg::LocalStoreOp::create(b, b.load(pointers), buffer);
    }
    OverlappedAttention attention(b, *keys_, *values_,
                                  {keyParts_, queries_.size(), partsOf(problem_.valueDim), type_,
                                   kScale * std::log2(std::exp(1.0)), problem_.votesOnSums});
    auto query = [&](unsigned part) { return queries_[part]; };
    auto state = attention.skip(b.i32(problem_.begin), attention.start(keys_->start(), values_->start()));
    state = attention.firstBlock(state, query, [&](mlir::ValueRange products) { return maskFirst(products); });
    state = attention.forEachBlock(
        b.i32(problem_.begin + 1), b.i32(problem_.end), state, [&](Value, const OverlappedAttention::State &now) {
          return attention.nextBlock(now, query, [](mlir::ValueRange products) { return llvm::to_vector(products); });
        });
    state = attention.skip(b.i32(problem_.blocks - problem_.end), attention.lastProduct(state));
    MatrixView o = {b.tensorParameter("o"), b.i64(problem_.valueDim)};
    Value normalizer = softmaxNormalizer(b, totalled(b, state.softmax));
    for (auto [part, output] : llvm::zip_equal(partsOf(problem_.valueDim), state.outputs)) {
      b.store(b.pointers(columnsFrom(b, o, part), b.range(kRows), b.range(part.size)),
              scaledRows(b, output, normalizer));
    }
  }

  KernelBuilder &b;
  const Problem &problem_;
  mlir::Type type_;
  llvm::SmallVector<int64_t> keyParts_;
  std::optional<Ring> keys_, values_;
  llvm::SmallVector<Value> queries_;
};

BuiltKernel build(const Problem &problem, const Target &target, mlir::MLIRContext &context) {
  mlir::Type type = elementTypeOf("bf16", context);
  KernelSignature signature;
  auto tiled = [&](const char *name, int64_t dim) {
    llvm::SmallVector<SharedTile> tiles;
    for (const DimensionPart &keys : splitDimension(problem.keys, 1)) {
      for (const DimensionPart &part : partsOf(dim)) {
        tiles.push_back({keys.size, part.size, type});
      }
    }
    signature.tiledTensor(name, type, Expression::constant(problem.keys * problem.blocks), Expression::constant(dim),
                          tiles);
  };
  signature.tensor("q", type);
  tiled("k", problem.headDim);
  tiled("v", problem.valueDim);
  signature.tensor("o", elementTypeOf("fp32", context));
  KernelProgram program(context, signature, target);
  program.step({.symbol = "attend", .numWarps = 4}, [&](KernelBuilder &b) { Writer(b, problem).write(); });
  return std::move(program).finish();
}

/// Small integers, which bf16 has exactly.
std::vector<int> integers(int64_t count, int seed, int most) {
  std::vector<int> values;
  auto state = uint32_t(seed);
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(int(state >> 16) % (2 * most + 1) - most);
  }
  return values;
}

struct Tensors {
  std::vector<int> q, k, v;
};

double expected(const Problem &problem, const Tensors &tensors, int64_t row, int64_t column) {
  double sum = 0, weights = 0;
  int64_t first = problem.begin * problem.keys;
  for (int64_t key = first + row % kUnseen; key < problem.end * problem.keys; ++key) {
    double score = 0;
    for (int64_t i = 0; i < problem.headDim; ++i) {
      score += tensors.q[size_t(row * problem.headDim + i)] * tensors.k[size_t(key * problem.headDim + i)];
    }
    double weight = std::exp(kScale * score);
    weights += weight;
    sum += weight * tensors.v[size_t(key * problem.valueDim + column)];
  }
  return sum / weights;
}

/// Later blocks score higher, so that rows rescale.
Tensors makeTensors(const Problem &problem) {
  int64_t keys = problem.keys * problem.blocks;
  Tensors tensors = {integers(kRows * problem.headDim, 1, 2), integers(keys * problem.headDim, 2, 3),
                     integers(keys * problem.valueDim, 3, 4)};
  for (int64_t key = 0; key < keys; ++key) {
    tensors.k[size_t(key * problem.headDim)] = int(16 * (key / problem.keys));
  }
  for (int64_t row = 0; row < kRows; ++row) {
    tensors.q[size_t(row * problem.headDim)] = row % 3 ? 4 : -4;
  }
  return tensors;
}

void check(const Problem &problem) {
  CAPTURE(problem.keys);
  CAPTURE(problem.begin);
  CAPTURE(problem.end);
  Tensors tensors = makeTensors(problem);
  EmulatedKernel kernel([&](const Target &target, mlir::MLIRContext &context) -> Result<BuiltKernel> {
    return build(problem, target, context);
  });
  for (auto mode : {emulator::AsyncMode::Deferred, emulator::AsyncMode::Immediate}) {
    std::vector<uint8_t> bytes = kernel.run(
        deviceOptions(mode, 7, 1), {rounded(tensors.q, "bf16"), rounded(tensors.k, "bf16"), rounded(tensors.v, "bf16")},
        size_t(kRows * problem.valueDim * 4));
    std::vector<float> outputs(bytes.size() / 4);
    std::memcpy(outputs.data(), bytes.data(), bytes.size());
    double worst = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t column = 0; column < problem.valueDim; ++column) {
        double output = outputs[size_t(row * problem.valueDim + column)];
        worst = std::max(worst, std::abs(output - expected(problem, tensors, row, column)));
      }
    }
    // Values are at most 4; each weight is rounded to 8 bits of its own.
    CHECK(worst <= 4.0 / 256);
  }
}

} // namespace

TEST_CASE("one block, two, and more than the rings have slots") {
  for (int64_t blocks : {1, 2, 5}) {
    check({.keys = 32, .headDim = 16, .valueDim = 16, .blocks = blocks, .begin = 0, .end = blocks});
  }
}

TEST_CASE("blocks, heads and values of several parts") {
  check({.keys = 48, .headDim = 48, .valueDim = 80, .blocks = 3, .begin = 0, .end = 3});
  check({.keys = 48, .headDim = 16, .valueDim = 48, .blocks = 3, .begin = 0, .end = 3, .votesOnSums = true});
}

TEST_CASE("blocks before and behind those that are attended to") {
  check({.keys = 32, .headDim = 16, .valueDim = 32, .blocks = 6, .begin = 1, .end = 4});
  check({.keys = 16, .headDim = 16, .valueDim = 16, .blocks = 7, .begin = 3, .end = 4, .votesOnSums = true});
}

TEST_SUITE_END();
