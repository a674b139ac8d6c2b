#include "src/store/KeyLock.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace jitk {

using Clock = std::chrono::steady_clock;

static constexpr char kLockFile[] = "lock";

// The waits between two attempts: the first is far shorter than the shortest compilation, the last far shorter than
// what anybody notices after a long one.
static constexpr std::chrono::milliseconds kFirstPause(1), kLongestPause(25);

/// True if taken; else errno says why not.
static bool lockByte(const File &file, int64_t offset) {
  struct flock request = {};
  request.l_type = F_WRLCK;
  request.l_whence = SEEK_SET;
  request.l_start = offset;
  request.l_len = 1;
  return ::fcntl(file.descriptor(), F_OFD_SETLK, &request) == 0;
}

/// Takes any of `count` bytes from `offset` on, the one at `first` before all others; else errno says why not.
static bool lockAnyByte(const File &file, int64_t offset, uint32_t count, uint32_t first) {
  for (uint32_t i = 0; i < count; ++i) {
    if (lockByte(file, offset + (first + i) % count)) {
      return true;
    }
    if (errno != EAGAIN && errno != EACCES) {
      return false;
    }
  }
  return false;
}

KeyLock KeyLock::acquire(const File &folder, int64_t offset, Clock::time_point deadline,
                         const std::function<bool()> &done) {
  return acquireAny(folder, offset, /*count=*/1, deadline, done);
}

KeyLock KeyLock::acquireAny(const File &folder, int64_t offset, uint32_t count, Clock::time_point deadline,
                            const std::function<bool()> &done) {
  File file = openAt(folder, kLockFile, O_RDWR | O_CREAT, 0600);
  if (!file) {
    return {Outcome::Unavailable, File()};
  }
  auto pause = kFirstPause;
  // Each begins at a place of its own, so that most find a free one at once.
  auto first = static_cast<uint32_t>(::getpid());
  while (!lockAnyByte(file, offset, count, first)) {
    if (errno == EINTR) {
      continue;
    }
    if (errno != EAGAIN && errno != EACCES) {
      return {Outcome::Unavailable, File()};
    }
    if (done && done()) {
      return {Outcome::NotNeeded, File()};
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      return {Outcome::TimedOut, File()};
    }
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min(2 * pause, kLongestPause);
  }
  return {Outcome::Held, std::move(file)};
}

KeyLock KeyLock::tryAcquire(const File &folder, int64_t offset) {
  return acquire(folder, offset, Clock::now(), nullptr);
}

} // namespace jitk
