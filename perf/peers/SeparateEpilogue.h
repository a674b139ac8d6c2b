// What follows a product as a kernel of its own: c = activation(product + bias + addend), element by element, rounded
// to c's type a second time; or c in fp32 of a product in 16 bits. The peer of a kernel whose epilogue does it in
// registers.

#pragma once

#include "jitk/jitk.hpp"
#include "src/tools/timing/CublasLt.h"

namespace jitk::timing {

/// Of CUDA C++, compiled by NVRTC through jitk's runtime: 16 bytes of a row a thread, bound by memory. Throws
/// api::Exception where it cannot be compiled.
class SeparateEpilogue {
public:
  /// Of a product whose rows are multiples of 16 bytes.
  SeparateEpilogue(const api::Runtime &runtime, const api::Device &device, const Product &product);
  /// Whether anything follows the product.
  static bool follows(const Product &product);
  /// The product without what follows it: in c's type, but where nothing follows than that c is fp32.
  static Product bare(const Product &product);

  /// `source` is the bare product; it may be c where it has c's type. Of `tensors` what the product has is read, and c
  /// written.
  void run(uint64_t source, const ProductAddresses &tensors, void *stream) const;

private:
  api::Kernel kernel_;
  bool hasBias_, hasAddend_;
};

} // namespace jitk::timing
