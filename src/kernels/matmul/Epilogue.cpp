#include "src/kernels/matmul/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace jitk::kernels {

Epilogue::Epilogue(const Description &description)
    : hasBias_(description.flag("bias")), addend_(description.flag("residual")     ? "residual"
                                                  : description.flag("accumulate") ? "c"
                                                                                   : nullptr),
      activation_(llvm::StringSwitch<Activation>(description.word("activation"))
                      .Case("relu", Activation::Relu)
                      .Case("gelu_tanh", Activation::GeluTanh)
                      .Case("silu", Activation::Silu)
                      .Default(Activation::None)),
      canAddInMemory_(description.flag("accumulate") && activation_ == Activation::None &&
                      description.word("out_dtype") == "fp32") {}

Epilogue Epilogue::addingInMemory() const {
  assert(canAddInMemory_);
  Epilogue rest = *this;
  rest.addend_ = nullptr;
  return rest;
}

/// x / (1 + 2^(x (linear + cubic x^2))), both factors below zero. Where the power overflows its reciprocal is zero, as
/// it should be.
static Value timesSigmoid(KernelBuilder &b, Value x, double linear, double cubic) {
  auto shape = cast<RankedTensorType>(x.getType()).getShape();
  auto constant = [&](double value) { return b.full(value, shape, b.getF32Type()); };
  Value factor = constant(linear);
  if (cubic != 0) {
    factor = b.addf(b.mulf(b.mulf(x, x), constant(cubic)), factor);
  }
  Value divisor = b.addf(constant(1), b.exp2(b.mulf(x, factor)));
  return b.mulf(x, b.createOrFold<arith::DivFOp>(constant(1), divisor, arith::FastMathFlags::afn));
}

Value Epilogue::activate(KernelBuilder &b, Value x) const {
  auto shape = cast<RankedTensorType>(x.getType()).getShape();
  switch (activation_) {
  case Activation::None:
    return x;
  case Activation::Relu: {
    // Chosen, so that NaN stays NaN.
    Value zero = b.full(0, shape, b.getF32Type());
    return b.select(b.lessThanf(x, zero), zero, x);
  }
  case Activation::Silu:
    return timesSigmoid(b, x, -std::numbers::log2e, 0);
  case Activation::GeluTanh: {
    // (1 + tanh(u)) / 2 = sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3).
    const double scale = -2 * std::sqrt(2 * std::numbers::inv_pi) * std::numbers::log2e;
    return timesSigmoid(b, x, scale, 0.044715 * scale);
  }
  }
  llvm_unreachable("all activations are above");
}

Value Epilogue::apply(KernelBuilder &b, Value product, Value bias, Value addend, Type outputType) const {
  Value sum = product;
  for (Value term : {bias, addend}) {
    if (term) {
      sum = b.addf(sum, b.convert(term, b.getF32Type()));
    }
  }
  return b.convert(activate(b, sum), outputType);
}

} // namespace jitk::kernels
