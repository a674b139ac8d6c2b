// cuBLASLt, opened at run time: the second opinion on products, and what their times are held against.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace jitk::timing {

/// A row-major product c[m,n] = activation(op(a) op(b) + bias + addend); a is [k,m] if `columnMajorA`, else [m,k]; b is
/// [n,k] if `columnMajorB`, else [k,n].
/// `dtype` of a and b is "fp16" or "bf16", `outDtype` of c one of these or "fp32".
struct Product {
  int64_t m = 0, n = 0, k = 0;
  std::string dtype, outDtype;
  bool columnMajorB = false;
  bool hasBias = false, hasAddend = false;
  std::string activation = "none"; ///< or "relu", "gelu_tanh"
  int64_t batch = 1;               ///< so many products, whose tensors follow one another
  bool columnMajorA = false;
};

/// Device addresses of a product's tensors; `bias` and `addend` where it has them. The addend may be c itself.
struct ProductAddresses {
  uint64_t a = 0, b = 0, c = 0, bias = 0, addend = 0;
};

/// One handle of cuBLASLt on the current device. Not thread-safe.
class CublasLt {
  struct Library;

public:
  /// Opens the library. Throws std::runtime_error naming what is missing; so do all functions where the library fails.
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt &) = delete;
  CublasLt &operator=(const CublasLt &) = delete;

  /// The algorithms that the heuristics prefer for a product, best first. Lives no longer than the library.
  class Algorithms {
  public:
    ~Algorithms();
    Algorithms(Algorithms &&) noexcept;
    size_t size() const;
    /// Enqueues the product by algorithm `index` on a stream (null: the default one). `workspace` has as many bytes as
    /// the algorithms were asked for with.
    void run(size_t index, const ProductAddresses &tensors, uint64_t workspace, void *stream) const;

  private:
    friend class CublasLt;
    struct Data;
    explicit Algorithms(std::unique_ptr<Data> data);
    std::unique_ptr<Data> data_;
  };
  /// At most `count` algorithms that need at most `workspaceBytes`; at least one.
  Algorithms find(const Product &product, int count, size_t workspaceBytes);

private:
  std::unique_ptr<Library> library_;
};

} // namespace jitk::timing
