#include "src/ops/Spelling.h"

#include <algorithm>
#include <vector>

namespace jitk {

/// Restricted Damerau-Levenshtein distance, row by row.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> beforeLast, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
      }
    }
    beforeLast = last;
    last = row;
  }
  return last[b.size()];
}

std::string_view nearestWord(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view nearest;
  size_t least = (word.size() + 1) / 2;
  for (std::string_view candidate : candidates) {
    if (size_t distance = editDistance(word, candidate); distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string allowedWords(std::string_view found, std::span<const std::string_view> candidates) {
  std::string text;
  for (std::string_view candidate : candidates) {
    text += (text.empty() ? "" : ", ") + std::string(candidate);
  }
  if (std::string_view nearest = nearestWord(found, candidates); !nearest.empty()) {
    text += " (did you mean " + std::string(nearest) + "?)";
  }
  return text;
}

} // namespace jitk
