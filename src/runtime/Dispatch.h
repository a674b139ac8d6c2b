// Dispatch: from the sizes of one step to the kernel that was prepared for them.
//
// A plan often has several kernels of an op that differ in some dimensions only: one for each weight's shape, and of
// each one for up to 16 tokens, up to 32, and so on. A dispatch is a table of these, made once; a look-up hashes the
// sizes.

#pragma once

#include "src/runtime/Kernel.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitk {

/// Immutable; thread-safe. A look-up neither locks nor allocates.
class Dispatch {
public:
  static constexpr size_t kMaximalKeys = 8;

  /// Takes those of `kernels` whose description equals `pattern` in all but the dimensions `keys`. Fails with
  /// InvalidArgument if a key is no dimension of the pattern, or if there are too many.
  static Result<Dispatch> create(const Description &pattern, const std::vector<std::string> &keys,
                                 std::vector<std::shared_ptr<const Kernel>> kernels);

  /// The kernel for these sizes, one for each key, as an index of `kernels()`. Where several can serve: the one with
  /// more of the keys static, then with the smallest bounds. None if there is none, or if there are more or fewer
  /// sizes.
  std::optional<size_t> find(std::span<const int64_t> sizes) const;

  const std::vector<std::shared_ptr<const Kernel>> &kernels() const { return kernels_; }

private:
  using Values = std::array<int64_t, kMaximalKeys>;
  /// What one kernel takes: a size, or any within the limits.
  struct Taker {
    uint32_t kernel;
    Values divisors, bounds;
  };
  /// Kernels that have the same sizes where they have static ones; the least bounds first.
  struct Bucket {
    Values sizes; ///< zero where not static
    std::vector<Taker> takers;
  };
  /// Buckets whose static keys are the same, in a table of open addressing.
  struct Group {
    uint32_t staticKeys; ///< a bit for each
    std::vector<Bucket> buckets;
    std::vector<uint32_t> slots; ///< index of a bucket plus one; 0 = empty; a power of two of them
  };

  Group &groupOf(uint32_t staticKeys);
  void add(uint32_t kernel, const Description &description, const std::vector<std::string> &keys);
  void index();
  const Bucket *findBucket(const Group &group, std::span<const int64_t> sizes) const;
  uint64_t hash(const Group &group, std::span<const int64_t> sizes) const;

  size_t numKeys_ = 0;
  std::vector<std::shared_ptr<const Kernel>> kernels_;
  std::vector<Group> groups_; ///< most static keys first
};

} // namespace jitk
