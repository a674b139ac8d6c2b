#include "src/ops/SizeRules.h"

#include "src/ops/TensorShape.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace jitk {

// Messages are built apart, so that the usual path stays short.

[[gnu::cold, gnu::noinline]] static Status wrongCount(size_t wanted, size_t found) {
  return invalidArgument("number of dimensions must be " + std::to_string(wanted) + ": got " + std::to_string(found));
}

[[gnu::cold, gnu::noinline]] static Status wrongSize(const std::string &name, const std::string &wanted,
                                                     int64_t found) {
  return invalidArgument("dimension " + name + " must be " + wanted + ": got " + std::to_string(found));
}

SizeRules::SizeRules(const Description &description, std::vector<std::string> dynamicDimensions)
    : names_(std::move(dynamicDimensions)) {
  const auto &attributes = description.attributes();
  Result<const OpSchema *> schema = findOp(description.op());
  for (const std::string &name : names_) {
    Limits limits;
    auto found = attributes.find(name);
    const Dimension *dimension = found == attributes.end() ? nullptr : std::get_if<Dimension>(&found->second);
    if (dimension) {
      limits.divisor = dimension->divisor;
      // Without a bound, what a static size may be.
      const AttributeSchema *attribute = schema.ok() ? (*schema)->attribute(name) : nullptr;
      limits.bound = dimension->bound > 0 ? dimension->bound : attribute ? attribute->maximum : INT64_MAX;
      limits.least = attribute ? attribute->leastAtLaunch : 0;
    }
    limits_.push_back(limits);
  }
  if (!schema.ok()) {
    return;
  }
  for (const auto &[multiple, factor] : (*schema)->multiples) {
    std::optional<Extent> size = extentOf(description, multiple), by = extentOf(description, factor);
    if (size && by) {
      multiples_.push_back({*size, *by});
    }
  }
  addProducts(**schema, description);
  addRows(**schema, description);
}

void SizeRules::addProducts(const OpSchema &schema, const Description &description) {
  for (const ProductRule &rule : schema.products) {
    if (isPresent(rule.presentIf, description)) {
      addProduct(description, rule.factors, {});
    }
  }
}

void SizeRules::addRows(const OpSchema &schema, const Description &description) {
  for (const TensorSchema &tensor : schema.tensors) {
    if (!isPresent(tensor.presentIf, description)) {
      continue;
    }
    std::vector<std::string_view> row = rowOf(tensor, description);
    std::optional<int64_t> rowStride = description.rowStride(tensor.name);
    std::optional<int64_t> pageStride = description.pageStride(tensor.name);
    if (rowStride) {
      addProduct(description, row, {{}, *rowStride, std::string(tensor.name) + "_stride"});
    } else if (pageStride) { // where rows have a stride, too, the length of a page is known
      row.insert(row.begin(), pageRowsOf(tensor));
      addProduct(description, row, {{}, *pageStride, std::string(tensor.name) + "_page_stride"});
    }
  }
}

void SizeRules::addProduct(const Description &description, std::span<const std::string_view> factors, Product product) {
  for (std::string_view expression : factors) {
    jitk::Extent extent = jitk::extentOf(expression, description);
    if (extent.dimension.empty()) {
      product.factors.push_back({std::string(expression), -1, extent.addend});
    } else if (std::optional<Extent> size = extentOf(description, extent.dimension)) { // else as little as one
      size->name = expression;
      size->divisor = extent.divisor;
      size->addend = extent.addend;
      product.factors.push_back(std::move(*size));
    }
  }
  products_.push_back(std::move(product));
}

std::optional<SizeRules::Extent> SizeRules::extentOf(const Description &description, std::string_view name) const {
  if (const auto *integer = std::get_if<int64_t>(&description.attributes().find(name)->second)) {
    return Extent{std::string(name), -1, *integer};
  }
  const Dimension &dimension = description.dimension(name);
  if (dimension.isStatic()) {
    return Extent{std::string(name), -1, dimension.value};
  }
  // A recipe may not need the size: then no launch gives it, and nothing can be checked.
  auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? std::nullopt : std::optional(Extent{std::string(name), found - names_.begin(), 0});
}

/// Sizes are not negative.
bool SizeRules::isCountable(const Product &product, std::span<const int64_t> sizes) {
  int64_t value = 1;
  bool fits = true;
  for (const Extent &factor : product.factors) {
    int64_t size = factor.at(sizes);
    if (size == 0) {
      return true;
    }
    fits = fits && !__builtin_mul_overflow(value, size, &value) && value <= product.most;
  }
  return fits;
}

/// The largest size that all factors of the launch may have at once.
int64_t SizeRules::largestFactor(const Product &product) {
  int64_t numOfLaunch = 0, ofOthers = 1;
  for (const Extent &factor : product.factors) {
    numOfLaunch += factor.index >= 0 ? 1 : 0;
    ofOthers *= factor.index >= 0 ? 1 : factor.at({}); // a description's own sizes are within the rule
  }
  if (numOfLaunch == 0 || ofOthers == 0) {
    return product.most;
  }
  auto root = static_cast<int64_t>(std::pow(static_cast<double>(product.most / ofOthers), 1.0 / numOfLaunch));
  return numOfLaunch == 1 ? product.most / ofOthers : std::max<int64_t>(root - 1, 0); // rounding made it no less
}

std::optional<std::vector<SizeRules::Limits>> SizeRules::sufficientLimits() const {
  std::vector<Limits> limits = limits_;
  for (const auto &[multiple, factor] : multiples_) {
    if (factor.index >= 0 || factor.size <= 0) {
      return std::nullopt;
    }
    if (multiple.index >= 0) {
      int64_t &divisor = limits[size_t(multiple.index)].divisor;
      divisor = std::lcm(divisor, factor.size);
    } else if (multiple.size % factor.size != 0) {
      return std::nullopt;
    }
  }
  for (const Product &product : products_) {
    for (const Extent &factor : product.factors) {
      if (factor.index >= 0) {
        int64_t &bound = limits[size_t(factor.index)].bound;
        bound = std::min(bound, (largestFactor(product) - factor.addend) * factor.divisor);
      }
    }
  }
  return limits;
}

Status SizeRules::largeProduct(const Product &product, std::span<const int64_t> sizes) {
  std::string names, found;
  for (const Extent &factor : product.factors) {
    const char *separator = names.empty() ? "" : " x ";
    names += separator + factor.name;
    found += separator + std::to_string(factor.at(sizes));
  }
  return invalidArgument((product.factors.size() == 1 ? "dimension " : "product ") + names + " must be at most " +
                         (product.limit.empty() ? "" : product.limit + " ") + std::to_string(product.most) + ": got " +
                         found);
}

Status SizeRules::check(std::span<const int64_t> sizes) const {
  if (sizes.size() != limits_.size()) {
    return wrongCount(limits_.size(), sizes.size());
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Limits &limits = limits_[i];
    if (sizes[i] < limits.least) {
      return wrongSize(names_[i], limits.least == 0 ? "zero or more" : std::to_string(limits.least) + " or more",
                       sizes[i]);
    }
    if (sizes[i] > limits.bound) {
      return wrongSize(names_[i], "at most " + std::to_string(limits.bound), sizes[i]);
    }
    if (limits.divisor != 1 && sizes[i] % limits.divisor != 0) {
      return wrongSize(names_[i], "a multiple of " + std::to_string(limits.divisor), sizes[i]);
    }
  }
  for (const auto &[multiple, factor] : multiples_) {
    int64_t size = multiple.at(sizes), by = factor.at(sizes);
    if (by == 0 ? size != 0 : size % by != 0) {
      return wrongSize(multiple.name, "a multiple of " + factor.name + " " + std::to_string(by), size);
    }
  }
  for (const Product &product : products_) {
    if (!isCountable(product, sizes)) {
      return largeProduct(product, sizes);
    }
  }
  return okStatus();
}

} // namespace jitk
