// Log: lines with a level and a category, given to one sink.
//
// There is no global log: a runtime owns one and its rooms borrow it. The library prints nothing by itself; only if
// JITK_LOG is set and the engine gave no sink do lines go to stderr, through `stderrSink`.

#pragma once

#include "src/support/Status.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

enum class LogLevel : int32_t { Error = 1, Warning = 2, Info = 3, Debug = 4 };

std::string_view logLevelName(LogLevel level);

/// What lines are about.
inline constexpr std::string_view kLogCategories[] = {"store", "compile", "load", "kernel"};

/// Which lines pass: those up to a level, of the listed categories (of all, if none is listed).
struct LogFilter {
  LogLevel level = LogLevel::Warning;
  std::vector<std::string> categories;
  bool json = false; ///< lines to stderr are JSON objects

  /// Reads JITK_LOG: words divided by commas, each a level ("debug"), "json", or a category ("store"). A text without a
  /// level means Debug. "1" means Info of all. Fails with InvalidArgument for another word.
  static Result<LogFilter> parse(std::string_view text);
};

/// Thread-safe; the sink gets one line at a time.
class Log {
public:
  using Sink = std::function<void(LogLevel level, std::string_view category, std::string_view message)>;

  /// Drops all lines.
  Log() = default;
  Log(Sink sink, LogFilter filter) : sink_(std::move(sink)), filter_(std::move(filter)) {}

  /// Costs two compares when the level is off: ask before building a message.
  bool enabled(LogLevel level, std::string_view category) const;
  /// `category` is one of `kLogCategories`.
  void write(LogLevel level, std::string_view category, std::string_view message);

  void error(std::string_view category, std::string_view message) { write(LogLevel::Error, category, message); }
  void warning(std::string_view category, std::string_view message) { write(LogLevel::Warning, category, message); }
  void info(std::string_view category, std::string_view message) { write(LogLevel::Info, category, message); }
  void debug(std::string_view category, std::string_view message) { write(LogLevel::Debug, category, message); }

private:
  Sink sink_;
  LogFilter filter_;
  std::mutex mutex_; ///< one line at a time
};

/// Writes "jitk: warning: store: message" to stderr, or what `jsonLine` makes of it. The only place of the library that
/// prints.
Log::Sink stderrSink(bool json = false);

/// {"time": seconds of the epoch, "pid": ..., "level": "warning", "category": "store", "message": "..."}, on one line.
std::string jsonLine(double time, LogLevel level, std::string_view category, std::string_view message);

} // namespace jitk
