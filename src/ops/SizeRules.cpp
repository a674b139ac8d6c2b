#include "src/ops/SizeRules.h"

#include <algorithm>

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
}

std::optional<SizeRules::Extent> SizeRules::extentOf(const Description &description, std::string_view name) const {
  const Dimension &dimension = description.dimension(name);
  if (dimension.isStatic()) {
    return Extent{std::string(name), -1, dimension.value};
  }
  // A recipe may not need the size: then no launch gives it, and nothing can be checked.
  auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? std::nullopt : std::optional(Extent{std::string(name), found - names_.begin(), 0});
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
  return okStatus();
}

} // namespace jitk
