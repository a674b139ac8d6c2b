#include "src/tools/jitk/Table.h"

#include "src/ops/OpSchema.h"

#include <algorithm>
#include <cstdio>

namespace jitk::tool {

Table::Table(std::vector<std::string> columns) {
  for (std::string &column : columns) {
    right_.push_back(column.starts_with('>'));
    names_.push_back(right_.back() ? column.substr(1) : column);
  }
}

void Table::add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string Table::render() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < names_.size(); ++i) {
    size_t width = names_[i].size();
    for (const auto &row : rows_) {
      width = std::max(width, row[i].size());
    }
    widths.push_back(width);
  }
  std::string text;
  auto addRow = [&](const std::vector<std::string> &cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      std::string padding(widths[i] - cells[i].size(), ' ');
      line += (i ? "  " : "") + (right_[i] ? padding + cells[i] : cells[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  addRow(names_);
  std::vector<std::string> rule;
  for (size_t width : widths) {
    rule.emplace_back(width, '-');
  }
  addRow(rule);
  std::ranges::for_each(rows_, addRow);
  return text;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string byteCount(uint64_t bytes) {
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  char text[32];
  bool mebi = bytes >= 1024 * 1024;
  std::snprintf(text, sizeof text, "%.1f %s", double(bytes) / (mebi ? 1048576.0 : 1024.0), mebi ? "MiB" : "KiB");
  return text;
}

std::string labelOf(const std::string &description) {
  Result<Description> parsed = parseDescription(description);
  return parsed.ok() ? parsed->label() : description; // of another version
}

} // namespace jitk::tool
