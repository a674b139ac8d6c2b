// DeepGEMM's products of fp8 with scales of blocks, of groups of rows too, as machine code in a folder, which
// perf/peers/deepgemm.py makes of a checkout: what times of fp8_block_matmul and grouped_fp8_block_matmul are held
// against.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jitk::timing {

/// C = A B^T as the two ops define it; C in bf16. Not thread-safe.
class DeepGemm {
  struct Driver;

public:
  enum class Groups { None, Contiguous, Masked };

  /// What a kernel is made for.
  struct Shape {
    Groups kind = Groups::None;
    int64_t groups = 1;
    int64_t m = 0; ///< rows of A; of masked groups those that each is expected to have
    int64_t n = 0, k = 0;
    bool operator==(const Shape &) const = default;
  };

  /// A kernel, as the name of its file says it.
  struct Form {
    Shape shape;
    int64_t rows = 0, columns = 0; ///< of a tile
    int64_t stages = 0, cluster = 0;
  };
  /// Of masked32.m192.n4096.k7168.128x192.s4.c2.cubin; none for what is no such name.
  static std::optional<Form> parse(const std::string &fileName);

  /// Masked groups lie so many rows apart, or a multiple: a tile's results are stored whole, also where they reach
  /// into the next group.
  static constexpr int64_t kRowsOfMaskedTile = 128;

  struct Tensors {
    uint64_t a = 0, b = 0, scaleOfB = 0, c = 0;
    uint64_t scaleOfA = 0;   ///< [ceil(k / 128), scaleRows(m)]; masked: of each group, one after the other
    uint64_t groups = 0;     ///< int32: the group of each row of A; masked: the rows that each group has
    int64_t rowsOfGroup = 0; ///< masked: from one group's first row of A and C to the next one's
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
  std::vector<Product> find(const Shape &shape, const Tensors &tensors);

private:
  std::filesystem::path folder_;
  std::shared_ptr<Driver> driver_;
};

} // namespace jitk::timing
