// cuBLASLt as the peer of a product.

#pragma once

#include "jitk/jitk.hpp"
#include "src/ops/Description.h"
#include "src/ops/TensorShape.h"
#include "src/tools/timing/CublasLt.h"
#include "src/tools/timing/Gpu.h"

#include <functional>
#include <optional>
#include <string>

namespace jitk::timing {

/// The product that a matmul is. Throws std::invalid_argument where a dynamic dimension has no size.
Product productOf(const Description &description, const DynamicSizes &sizes);
/// Whether a tensor's rows lie apart, which peers are not given.
bool hasRowsApart(const Description &description);
/// Whether cuBLASLt has the op's last word: a matmul whose activation it knows.
bool hasCublasPeer(const Description &description);
/// The product of bf16 operands that fp8 products are held against.
struct Yardstick {
  std::string name;    ///< "cuBLASLt bf16, best of 8"
  Product product;     ///< of groups one of a batch for each group, with as many rows as count in the mean
  std::string tensors; ///< a matmul whose tensors are large enough for it
};
/// None of other ops.
std::optional<Yardstick> bf16Yardstick(const Description &description, const DynamicSizes &sizes);

/// Finds the best algorithms and runs them; neither the device nor the GPU ends before it.
class CublasPeer {
public:
  /// Throws std::runtime_error where the library cannot be opened.
  CublasPeer(const api::Device &device, const Gpu &gpu) : device_(device), gpu_(gpu) {}
  /// What enqueues the product by the fastest of the first 8 algorithms that the heuristics propose.
  std::function<void(void *stream)> best(const Product &product, const ProductAddresses &addresses);

private:
  api::Device device_;
  const Gpu &gpu_;
  CublasLt library_;
  api::Buffer workspace_;
};

} // namespace jitk::timing
