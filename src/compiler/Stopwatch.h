// How long each stage of a compilation takes.

#pragma once

#include <chrono>

namespace jitk::compiler {

/// Milliseconds since its construction or the last call of `lap`.
class Stopwatch {
public:
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double elapsed = std::chrono::duration<double, std::milli>(now - begin_).count();
    begin_ = now;
    return elapsed;
  }

private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace jitk::compiler
