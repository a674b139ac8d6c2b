#include "src/kernels/vocabulary/Normalization.h"

using namespace mlir;

namespace jitk::kernels {

static constexpr double kEpsilon = 1e-6;

Value addSquares(KernelBuilder &b, Value sum, Value tensor, unsigned axis) {
  Value values = b.convert(tensor, b.getF32Type());
  Value squares = b.reduceSum(b.mulf(values, values), axis);
  return sum ? b.addf(sum, squares) : squares;
}

Value inverseNorm(KernelBuilder &b, Value squares) {
  auto vector = dyn_cast<RankedTensorType>(squares.getType());
  Value epsilon = vector ? b.full(kEpsilon, vector.getShape(), b.getF32Type()) : b.f32(kEpsilon);
  return b.rsqrt(b.addf(squares, epsilon));
}

} // namespace jitk::kernels
