#include "src/support/Log.h"

#include <algorithm>
#include <cstdio>

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

Log::Sink stderrSink() {
  return [](LogLevel level, std::string_view category, std::string_view message) {
    // One call a line, so that lines of several processes do not mix.
    std::string line = "jitk: ";
    line.append(logLevelName(level)).append(": ").append(category).append(": ").append(message).append("\n");
    std::fwrite(line.data(), 1, line.size(), stderr);
  };
}

} // namespace jitk
