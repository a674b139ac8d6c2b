// What becomes of a product before it is C: C = activation(A B + bias + added matrix), in fp32, then rounded once.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"
#include "src/ops/Description.h"

namespace jitk::kernels {

class Epilogue {
public:
  /// Rounds only.
  Epilogue() = default;
  explicit Epilogue(const Description &description);

  bool hasBias() const { return hasBias_; }
  /// The tensor like C that is added, null if none is: "residual", or "c" where its own contents are added to.
  const char *addend() const { return addend_; }
  bool readsTensors() const { return hasBias_ || addend_; }
  /// Whether memory can add what is stored to C: nothing follows the sum, which is rounded to fp32 anyway.
  bool canAddInMemory() const { return canAddInMemory_; }
  /// The same where memory does so.
  Epilogue addingInMemory() const;

  /// `product` is fp32; `bias` and `addend` are of its shape and of C's type, null where there is none. Gives C's type.
  mlir::Value apply(KernelBuilder &builder, mlir::Value product, mlir::Value bias, mlir::Value addend,
                    mlir::Type outputType) const;

private:
  enum class Activation : uint8_t { None, Relu, GeluTanh, Silu };

  mlir::Value activate(KernelBuilder &builder, mlir::Value x) const;

  bool hasBias_ = false;
  const char *addend_ = nullptr;
  Activation activation_ = Activation::None;
  bool canAddInMemory_ = false;
};

} // namespace jitk::kernels
