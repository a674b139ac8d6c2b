#include "src/kernels/attention/ScoreScale.h"

#include "src/ops/ScalarDefault.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;

namespace jitk::kernels {

ScoreScale::ScoreScale(const Description &description) {
  double scale = numberOf("scale", description), cap = numberOf("softcap", description);
  ofTanh_ = cap > 0 ? scale / cap : 0;
  factor_ = std::numbers::log2e * (cap > 0 ? cap : scale);
}

Value ScoreScale::capped(KernelBuilder &b, Value products) const {
  if (ofTanh_ == 0) {
    return products;
  }
  auto type = cast<RankedTensorType>(products.getType());
  Value scaled = b.mulf(products, b.full(ofTanh_, type.getShape(), type.getElementType()));
  return b.createOrFold<math::TanhOp>(scaled, arith::FastMathFlags::afn);
}

} // namespace jitk::kernels
