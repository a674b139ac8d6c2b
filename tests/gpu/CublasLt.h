// cuBLASLt, opened at run time: the second opinion on products.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace jitk::gpu {

/// One handle of cuBLASLt on the current device, with a workspace. Not thread-safe.
class CublasLt {
public:
  /// Opens the library. Throws std::runtime_error naming what is missing.
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt &) = delete;
  CublasLt &operator=(const CublasLt &) = delete;

  /// c[m,n] = a[m,k] op(b), row major, fp32 accumulation; b is [n,k] if `columnMajorB`, else [k,n]. `dtype` of a and b
  /// is "fp16" or "bf16", that of c one of these or "fp32". Runs on the default stream.
  void matmul(int64_t m, int64_t n, int64_t k, const std::string &dtype, const std::string &outDtype, bool columnMajorB,
              uint64_t a, uint64_t b, uint64_t c);

private:
  struct Library;
  std::unique_ptr<Library> library_;
};

} // namespace jitk::gpu
