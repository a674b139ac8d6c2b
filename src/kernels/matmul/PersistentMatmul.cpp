#include "src/kernels/matmul/PersistentMatmul.h"

#include "src/kernels/matmul/PartialSums.h"
#include "src/kernels/matmul/PersistentProduct.h"

#include <algorithm>

using namespace mlir;

namespace jitk::kernels {

bool servesPersistently(const Description &description, const Target &target) {
  constexpr int64_t kRowBytes = 16;
  int64_t inputs = kRowBytes / 2, outputs = kRowBytes / (description.word("out_dtype") == "fp32" ? 4 : 2);
  const Dimension &n = description.dimension("n"), &k = description.dimension("k");
  int64_t rows = description.word("a_layout") == "col" ? inputs : 1;
  int64_t columns = description.word("b_layout") == "row" ? std::max(inputs, outputs) : outputs;
  return target.capability == 90 && target.archSpecific && k.isStatic() && k.value > 0 && isMultipleOf(k, inputs) &&
         isMultipleOf(description.dimension("m"), rows) && isMultipleOf(n, columns) &&
         haveStridesOf(description, {"a", "b"}, inputs) && haveStridesOf(description, {"residual", "c"}, outputs);
}

namespace {

/// Sums where the tensor cores add: in the accumulators.
class PersistentMatmul : public PersistentProduct {
public:
  using PersistentProduct::PersistentProduct;

private:
  llvm::SmallVector<Value> multiply(Value consumer, const ProductTile &at, RingPosition &position) override;
  llvm::SmallVector<Value> startBlock(Value consumer, const RingPosition &position, ValueRange sums, bool accumulates);
  llvm::SmallVector<Value> awaitBlocks(ValueRange sums, unsigned inFlight);
};

} // namespace

llvm::SmallVector<Value> PersistentMatmul::startBlock(Value consumer, const RingPosition &position, ValueRange sums,
                                                      bool accumulates) {
  ring_->await(position);
  return startParts(leftBuffer(position, consumer), position, sums, accumulates ? Value() : b.boolean(false));
}

llvm::SmallVector<Value> PersistentMatmul::awaitBlocks(ValueRange sums, unsigned inFlight) {
  // Each by itself: they have layouts of their own.
  unsigned products = inFlight * numProducts(sums.size());
  return llvm::map_to_vector(sums, [&](Value sum) { return b.awaitProducts(sum, products); });
}

llvm::SmallVector<Value> PersistentMatmul::multiply(Value consumer, const ProductTile &at, RingPosition &position) {
  // One block's products are in flight while the next ones are started; a slot is given back when those have begun.
  llvm::SmallVector<Value> carried = startBlock(consumer, position, zeros(at), /*accumulates=*/false);
  workBesideProducts();
  size_t numSums = numParts(at);
  RingPosition next = ring_->next(position);
  carried.append({position.slot, next.slot, next.phase});
  // What waits is done piece by piece, some blocks apart: a store waits for the one before last, and TMA takes up a
  // store behind the loads that were asked for before it.
  constexpr int64_t kBlocksApart = 3;
  int64_t left = llvm::divideCeil(shapes_.depth(), tile_.k) - 1;
  int64_t apart = std::clamp<int64_t>(left / std::max<int64_t>(1, int64_t(numWaiting())), 1, kBlocksApart);
  auto pieces = std::min(int64_t(numWaiting()), left / apart);
  carried = b.loop(b.i32(tile_.k), b.i32(shapes_.depth()), tile_.k, carried, [&](Value k, ValueRange now) {
    Value last = now[numSums];
    RingPosition here = {now[numSums + 1], now[numSums + 2]};
    llvm::SmallVector<Value> sums = startBlock(consumer, here, now.take_front(numSums), /*accumulates=*/true);
    for (int64_t piece = 1; piece <= pieces; ++piece) {
      b.ifElse(b.equal(k, b.i32(piece * apart * tile_.k)), [&] { workBesideProducts(); });
    }
    sums = awaitBlocks(sums, /*inFlight=*/1);
    ring_->release(last);
    RingPosition after = ring_->next(here);
    sums.append({here.slot, after.slot, after.phase});
    return sums;
  });
  llvm::SmallVector<Value> sums = awaitBlocks(ValueRange(carried).take_front(numSums), /*inFlight=*/0);
  ring_->release(carried[numSums]);
  position = {carried[numSums + 1], carried[numSums + 2]};
  return sums;
}

Result<BuiltKernel> buildPersistentMatmul(const Description &description, llvm::ArrayRef<PersistentVariant> variants,
                                          const Target &target, MLIRContext &context) {
  bool isColumnMajorA = description.word("a_layout") == "col", isColumnMajorB = description.word("b_layout") == "col";
  Type inputType = elementTypeOf(description.word("dtype"), context);
  Type outputType = elementTypeOf(description.word("out_dtype"), context);
  auto shapes = llvm::map_to_vector<5>(variants, [&](const PersistentVariant &variant) {
    return ProductShapes(variant.tile, description.dimension("k").value, isColumnMajorA, isColumnMajorB, inputType,
                         outputType);
  });
  KernelSignature signature(description);
  for (const char *name : {"m", "n", "k"}) {
    signature.dimension(name, description.dimension(name));
  }
  Expression m = signature.expression("m"), n = signature.expression("n"), k = signature.expression("k");
  ProductTiles tiles(shapes);
  signature.tiledTensor("a", inputType, isColumnMajorA ? k : m, isColumnMajorA ? m : k, tiles.a, kOperandPromotion);
  signature.tiledTensor("b", inputType, isColumnMajorB ? n : k, isColumnMajorB ? k : n, tiles.b, kOperandPromotion);
  Epilogue epilogue(description);
  if (epilogue.hasBias()) {
    signature.tiledTensor("bias", outputType, Expression::constant(1), n, tiles.bias);
  }
  if (description.flag("residual")) {
    signature.tiledTensor("residual", outputType, m, n, tiles.c);
  }
  signature.tiledTensor("c", outputType, m, n, tiles.c);
  declarePartialSums(signature, shapes);
  KernelProgram program(context, signature, target);
  addProductSteps(program, signature, "matmul", variants, shapes, epilogue,
                  [](KernelBuilder &b, const ProductShapes &shape, const Epilogue &own) {
                    PersistentMatmul(b, shape, own).write();
                  });
  return std::move(program).finish();
}

} // namespace jitk::kernels
