// Tables for people: columns as wide as their longest cell, numbers to the right.

#pragma once

#include <string>
#include <vector>

namespace jitk::tool {

class Table {
public:
  /// A column whose name begins with '>' is aligned to the right.
  explicit Table(std::vector<std::string> columns);
  void add(std::vector<std::string> cells);
  std::string render() const;
  bool empty() const { return rows_.empty(); }

private:
  std::vector<std::string> names_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

/// "12.3", "0.05", "1.2e-07": three significant digits.
std::string number(double value);
/// "512 B", "12.3 KiB", "4.5 MiB".
std::string byteCount(uint64_t bytes);

/// A canonical description as people want to see it: long texts in it cut.
std::string labelOf(const std::string &description);

} // namespace jitk::tool
