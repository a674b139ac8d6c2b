#include "src/support/Log.h"

#include "src/support/Assert.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace jitk {

static constexpr std::string_view kLevelNames[] = {"error", "warning", "info", "debug"};

std::string_view logLevelName(LogLevel level) { return kLevelNames[static_cast<int32_t>(level) - 1]; }

static bool isCategory(std::string_view word) {
  return std::find(std::begin(kLogCategories), std::end(kLogCategories), word) != std::end(kLogCategories);
}

static Status unknownWord(std::string_view word) {
  std::string known;
  for (std::string_view name : kLevelNames) {
    known.append(name).append(", ");
  }
  for (std::string_view category : kLogCategories) {
    known.append(category).append(", ");
  }
  return invalidArgument("JITK_LOG must be words with commas between, of " + known + "json, or 1: got '" +
                         std::string(word) + "'");
}

Result<LogFilter> LogFilter::parse(std::string_view text) {
  LogFilter filter{LogLevel::Debug, {}};
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const auto *level = std::find(std::begin(kLevelNames), std::end(kLevelNames), word);
    if (level != std::end(kLevelNames)) {
      filter.level = static_cast<LogLevel>(level - std::begin(kLevelNames) + 1);
    } else if (word == "json") {
      filter.json = true;
    } else if (word == "1") {
      filter.level = LogLevel::Info;
    } else if (isCategory(word)) {
      filter.categories.emplace_back(word);
    } else if (!word.empty()) {
      return unknownWord(word);
    }
  }
  return filter;
}

bool Log::enabled(LogLevel level, std::string_view category) const {
  if (!sink_ || level > filter_.level) {
    return false;
  }
  return filter_.categories.empty() ||
         std::find(filter_.categories.begin(), filter_.categories.end(), category) != filter_.categories.end();
}

void Log::write(LogLevel level, std::string_view category, std::string_view message) {
  JITK_ASSERT(isCategory(category));
  if (enabled(level, category)) {
    std::lock_guard lock(mutex_);
    sink_(level, category, message);
  }
}

/// Length of the character of UTF-8 that a text begins with; 0 if it begins with none.
static size_t characterLength(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  // Neither a longer form than needed, nor half of a surrogate pair, nor beyond the last character.
  bool none = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) >= 0xa0) ||
              (byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) >= 0x90) || byte(0) > 0xf4;
  return none ? 0 : length;
}

/// A JSON string with its quotes. Bytes that are no UTF-8, as a path may have them, become replacement characters.
static std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (size_t at = 0; at < text.size();) {
    char character = text[at];
    size_t length = characterLength(text.substr(at));
    if (length == 0) {
      json += "\\ufffd";
    } else if (length > 1) {
      json += text.substr(at, length);
    } else if (character == '"' || character == '\\') {
      json += '\\';
      json += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(character));
      json += escape;
    } else {
      json += character;
    }
    at += std::max<size_t>(length, 1);
  }
  return json + "\"";
}

std::string jsonLine(double time, LogLevel level, std::string_view category, std::string_view message) {
  char head[64];
  std::snprintf(head, sizeof head, "{\"time\": %.6f, \"pid\": %d, ", time, static_cast<int>(::getpid()));
  return head + ("\"level\": " + quoted(logLevelName(level))) + ", \"category\": " + quoted(category) +
         ", \"message\": " + quoted(message) + "}\n";
}

Log::Sink stderrSink(bool json) {
  return [json](LogLevel level, std::string_view category, std::string_view message) {
    // One call a line, so that lines of several processes do not mix.
    std::string line;
    if (json) {
      auto now = std::chrono::system_clock::now().time_since_epoch();
      line = jsonLine(std::chrono::duration<double>(now).count(), level, category, message);
    } else {
      line = "jitk: ";
      line.append(logLevelName(level)).append(": ").append(category).append(": ").append(message).append("\n");
    }
    std::fwrite(line.data(), 1, line.size(), stderr);
  };
}

} // namespace jitk
