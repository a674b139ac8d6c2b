// Tables for people: columns as wide as their longest cell, numbers to the right. On a terminal a table is at most 120
// columns wide: the widest column of text goes on in the next line.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
  std::vector<size_t> widths() const;

  std::vector<std::string> names_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

/// What the statistics say of code for `target`; "-" where that is an emulator's, which has no registers of a GPU.
std::string ofGpu(uint32_t number, std::string_view target);
/// "12.3", "0.05", "1.2e-07": three significant digits.
std::string number(double value);
/// "512 B", "12.3 KiB", "4.5 MiB".
std::string byteCount(uint64_t bytes);

/// A canonical description as people want to see it: long texts in it cut.
std::string labelOf(const std::string &description);

} // namespace jitk::tool
