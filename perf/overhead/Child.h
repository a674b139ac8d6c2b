// A process of its own for one measurement, so that it meets the library, its memory and the store as a new one does.

#pragma once

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace jitk::perf {

/// Runs a function in a child, which must begin before this process has used the library. `Result` is its answer.
template <typename Result> class Child {
  static_assert(std::is_trivially_copyable_v<Result>);

public:
  template <typename Body> explicit Child(Body body) {
    int ends[2];
    if (::pipe(ends) != 0 || (process_ = ::fork()) < 0) {
      throw std::runtime_error("cannot begin a child process");
    }
    if (process_ == 0) {
      ::close(ends[0]);
      ::_exit(answer(body, ends[1]));
    }
    ::close(ends[1]);
    answer_ = ends[0];
  }
  Child(Child &&other) noexcept : process_(other.process_), answer_(other.answer_) { other.process_ = 0; }
  Child &operator=(Child &&) = delete;
  ~Child() {
    if (process_ != 0) {
      ::close(answer_);
      (void)::waitpid(process_, nullptr, 0);
    }
  }

  /// Waits for the answer. Throws if there is none: the child has said why.
  Result wait() {
    Result result;
    bool complete = ::read(answer_, &result, sizeof result) == static_cast<ssize_t>(sizeof result);
    int status = 0;
    ::close(answer_);
    bool ended = ::waitpid(process_, &status, 0) == process_ && status == 0;
    process_ = 0;
    if (!complete || !ended) {
      throw std::runtime_error("a child process failed");
    }
    return result;
  }

private:
  template <typename Body> static int answer(Body &body, int to) {
    try {
      Result result = body();
      return ::write(to, &result, sizeof result) == static_cast<ssize_t>(sizeof result) ? 0 : 1;
    } catch (const std::exception &failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      return 1;
    }
  }

  pid_t process_ = 0;
  int answer_ = -1;
};

/// The most memory, in MiB, that this process has had resident.
inline double peakResidentMiB() {
  rusage usage = {};
  (void)::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

} // namespace jitk::perf
