// DeepGEMM's products of fp8 with scales of blocks, as machine code in a folder, which perf/peers/deepgemm.py makes of
// a checkout: what times of fp8_block_matmul are held against.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace jitk::timing {

/// C = A B^T as fp8_block_matmul defines it; C in bf16. Not thread-safe.
class DeepGemm {
  struct Driver;

public:
  struct Addresses {
    uint64_t a = 0, b = 0, scaleOfB = 0, c = 0;
    uint64_t scaleOfA = 0; ///< [ceil(k / 128), scaleRows(m)]
  };

  /// Opens the driver; a context is current. Throws std::runtime_error naming what fails, as all functions do.
  explicit DeepGemm(std::filesystem::path folder);
  ~DeepGemm();
  DeepGemm(const DeepGemm &) = delete;
  DeepGemm &operator=(const DeepGemm &) = delete;

  /// Rows of A's scales with what aligns a column of them to 16 bytes.
  static int64_t scaleRows(int64_t m) { return (m + 3) / 4 * 4; }

  /// One kernel on its tensors.
  class Product {
  public:
    ~Product();
    Product(Product &&) noexcept;
    void run(void *stream) const;

  private:
    friend class DeepGemm;
    struct Data;
    explicit Product(std::unique_ptr<Data> data);
    std::unique_ptr<Data> data_;
  };
  /// The kernels that the folder has for a product; none where it has none.
  std::vector<Product> find(int64_t m, int64_t n, int64_t k, const Addresses &tensors);

private:
  std::filesystem::path folder_;
  std::shared_ptr<Driver> driver_;
};

} // namespace jitk::timing
