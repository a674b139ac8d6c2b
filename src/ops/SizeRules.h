// What the dynamic sizes of a launch must obey: their own limits, and what an op's schema demands between attributes.

#pragma once

#include "src/ops/OpSchema.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitk {

/// Immutable; thread-safe.
class SizeRules {
public:
  /// What a size must obey by itself.
  struct Limits {
    int64_t least = 0;
    int64_t divisor = 1;
    int64_t bound = INT64_MAX;
  };

  SizeRules() = default;
  /// For sizes in the order of `dynamicDimensions`. A name that the description lacks may have any size.
  SizeRules(const Description &description, std::vector<std::string> dynamicDimensions);

  /// Fails with InvalidArgument, naming the dimension, if there are more or fewer sizes than dimensions, if one is
  /// below what its op takes, above its bound, no multiple of what it must be one of, or part of a product that is too
  /// large. Allocates nothing unless it fails.
  Status check(std::span<const int64_t> sizes) const;

  /// Limits for each size alone that leave nothing to check between them: sizes within them obey all rules, though
  /// others may too. None where a rule between two sizes has no such limits.
  std::optional<std::vector<Limits>> sufficientLimits() const;

private:
  /// A dimension: one of the launch's, or of a static size.
  struct Extent {
    std::string name;
    int64_t index = -1; ///< of the launch's sizes; -1: static
    int64_t size = 0;   ///< if static
    int64_t divisor = 1;
    int64_t addend = 0;

    /// The size over the divisor, rounded up, and the addend; sizes are not negative.
    int64_t at(std::span<const int64_t> sizes) const {
      int64_t all = index < 0 ? size : sizes[size_t(index)];
      return (divisor == 1 ? all : all / divisor + (all % divisor != 0 ? 1 : 0)) + addend;
    }
  };
  struct Multiple {
    Extent multiple, factor;
  };
  /// What the product of some sizes may be at most.
  struct Product {
    std::vector<Extent> factors;
    int64_t most = Dimension::kLargest;
    std::string limit = {}; ///< its name; empty where it is that of all sizes
  };

  std::optional<Extent> extentOf(const Description &description, std::string_view name) const;
  void addProducts(const OpSchema &schema, const Description &description);
  /// Rows are no longer than their strides, and pages no longer than theirs.
  void addRows(const OpSchema &schema, const Description &description);
  /// Adds the product of the extents that these expressions stand for; a size that no launch gives is none of them.
  void addProduct(const Description &description, std::span<const std::string_view> factors, Product product);
  static bool isCountable(const Product &product, std::span<const int64_t> sizes);
  static int64_t largestFactor(const Product &product);
  [[gnu::cold, gnu::noinline]] static Status largeProduct(const Product &product, std::span<const int64_t> sizes);

  std::vector<std::string> names_;
  std::vector<Limits> limits_; ///< one a dimension
  std::vector<Multiple> multiples_;
  std::vector<Product> products_;
};

} // namespace jitk
