#include "src/support/Log.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace jitk {

static constexpr std::string_view kLevelNames[] = {"error", "warning", "info", "debug"};

std::string_view logLevelName(LogLevel level) { return kLevelNames[static_cast<int32_t>(level) - 1]; }

LogFilter LogFilter::parse(std::string_view text) {
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
    } else if (!word.empty()) {
      filter.categories.emplace_back(word);
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
  if (enabled(level, category)) {
    std::lock_guard lock(mutex_);
    sink_(level, category, message);
  }
}

/// A JSON string with its quotes. Bytes that are no ASCII stay: messages are UTF-8.
static std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (char character : text) {
    if (character == '"' || character == '\\') {
      json += '\\';
      json += character;
    } else if (static_cast<unsigned char>(character) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(character));
      json += escape;
    } else {
      json += character;
    }
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
