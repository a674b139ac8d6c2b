#include "src/tools/jitk/Table.h"

#include "src/ops/OpSchema.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <unistd.h>

namespace jitk::tool {

Table::Table(std::vector<std::string> columns) {
  for (std::string &column : columns) {
    right_.push_back(column.starts_with('>'));
    names_.push_back(right_.back() ? column.substr(1) : column);
  }
}

void Table::add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < names_.size(); ++i) {
    size_t width = names_[i].size();
    for (const auto &row : rows_) {
      width = std::max(width, row[i].size());
    }
    widths.push_back(width);
  }
  return widths;
}

/// Takes words off the front of `text`, as many as fit into `width`, at least one.
static std::string takeLine(std::string &text, size_t width) {
  size_t end = text.size() <= width ? text.size() : text.rfind(' ', width);
  end = std::min(end == std::string::npos ? text.find(' ') : end, text.size());
  std::string line = text.substr(0, end);
  text.erase(0, std::min(text.size(), end + 1));
  return line;
}

std::string Table::render() const {
  constexpr size_t kMostColumns = 120, kGap = 2, kLeastText = 24;
  std::vector<size_t> widths = this->widths();
  size_t total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1)), widest = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    widest = !right_[i] && (right_[widest] || widths[i] > widths[widest]) ? i : widest;
  }
  // Other programs are given a row a line.
  if (total > kMostColumns && !right_[widest] && ::isatty(STDOUT_FILENO)) {
    size_t excess = std::min(total - kMostColumns, widths[widest] - std::min(widths[widest], kLeastText));
    widths[widest] = std::max(widths[widest] - excess, names_[widest].size());
  }
  std::string text;
  auto addRow = [&](std::vector<std::string> cells) {
    std::string rest = std::move(cells[widest]);
    do {
      cells[widest] = takeLine(rest, widths[widest]);
      std::string line;
      for (size_t i = 0; i < cells.size(); ++i) {
        std::string padding(widths[i] - std::min(widths[i], cells[i].size()), ' ');
        line += (i ? std::string(kGap, ' ') : "") + (right_[i] ? padding + cells[i] : cells[i] + padding);
        if (i != widest) {
          cells[i].clear(); // what goes on stands below itself alone
        }
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    } while (!rest.empty());
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

std::string ofGpu(uint32_t number, std::string_view target) {
  return target.starts_with("emulator:") ? "-" : std::to_string(number);
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
