// Repeated measurements of one thing.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace jitk::perf {

/// Any unit. At least one sample must be there before one is asked for.
class Samples {
public:
  void add(double value) { values_.insert(std::ranges::upper_bound(values_, value), value); }
  size_t count() const { return values_.size(); }
  double least() const { return values_.front(); }
  double median() const { return quantile(0.5); }
  /// The sample below which the given part of all lies.
  double quantile(double part) const {
    return values_[std::min(values_.size() - 1, static_cast<size_t>(part * static_cast<double>(values_.size())))];
  }

private:
  std::vector<double> values_; ///< ascending
};

} // namespace jitk::perf
