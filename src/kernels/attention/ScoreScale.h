// What the product of a query and a key counts as, in the base-2 domain of the softmax: `factor` times it, or, with a
// cap, `factor` times tanh of so much of it.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

class ScoreScale {
public:
  explicit ScoreScale(const Description &description);

  /// What `factor` is to multiply; f32 tensors. With a cap the approximation of the hardware: a relative error of
  /// 2^-11.
  mlir::Value capped(KernelBuilder &builder, mlir::Value products) const;

  double factor() const { return factor_; }
  bool isCapped() const { return ofTanh_ != 0; }

private:
  double ofTanh_ = 0; ///< 0: no cap
  double factor_;
};

} // namespace jitk::kernels
