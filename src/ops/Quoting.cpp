#include "src/ops/Quoting.h"

#include <algorithm>
#include <charconv>

namespace jitk {

static bool isPlain(char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7f && c != '"' && c != '\\'; }

std::string quoteWord(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), isPlain)) {
    return std::string(text);
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string word = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      word += {'\\', c};
    } else if (c == '\n' || c == '\t') {
      word += {'\\', c == '\n' ? 'n' : 't'};
    } else if (byte < ' ' || byte == 0x7f) {
      word += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      word += c;
    }
  }
  return word + '"';
}

static Status badEscape(std::string_view escape) {
  return invalidArgument("escape in quotes must be one of \\\", \\\\, \\n, \\t, \\xNN: got '" + std::string(escape) +
                         "'");
}

/// Takes an escape, which begins with its backslash.
static Result<char> takeEscape(std::string_view &line) {
  if (line.size() >= 2) {
    char c = line[1];
    if (c == '"' || c == '\\' || c == 'n' || c == 't') {
      line.remove_prefix(2);
      return c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    uint8_t byte = 0;
    if (c == 'x' && line.size() >= 4) {
      auto [end, error] = std::from_chars(line.data() + 2, line.data() + 4, byte, 16);
      if (error == std::errc() && end == line.data() + 4) {
        line.remove_prefix(4);
        return static_cast<char>(byte);
      }
    }
  }
  return badEscape(line.substr(0, 2));
}

Result<std::string> takeWord(std::string_view &line) {
  std::string word;
  bool inQuotes = false;
  while (!line.empty() && (inQuotes || (line.front() != ' ' && line.front() != '\t' && line.front() != '\n'))) {
    char c = line.front();
    if (inQuotes && c == '\\') {
      JITK_ASSIGN(c, takeEscape(line));
      word += c;
      continue;
    }
    line.remove_prefix(1);
    if (c == '"') {
      inQuotes = !inQuotes;
    } else {
      word += c;
    }
  }
  if (inQuotes) {
    return invalidArgument("quote must end: got '" + word.substr(0, 40) + "'");
  }
  return word;
}

} // namespace jitk
