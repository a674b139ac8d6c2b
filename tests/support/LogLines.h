// A log that keeps its lines.

#pragma once

#include "src/support/Log.h"

#include <mutex>
#include <string>
#include <vector>

namespace jitk::test {

class LogLines {
public:
  Log::Sink sink() {
    return [this](LogLevel level, std::string_view category, std::string_view message) {
      std::lock_guard lock(mutex_);
      lines_.push_back(std::string(logLevelName(level)) + ": " + std::string(category) + ": " + std::string(message));
    };
  }

  std::vector<std::string> lines() const {
    std::lock_guard lock(mutex_);
    return lines_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_; ///< guarded by mutex_
};

} // namespace jitk::test
