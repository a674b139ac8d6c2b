// KeyLock: lets one process compile a kernel while the others wait, and none for ever.
//
// A lock is one byte of one file, at an offset taken from the key's hash: an open-file-description lock. The file is
// never removed, so no lock can be taken on a file that is gone; the system drops a lock when its holder dies; and
// there is one file however many kernels there are. Two keys with the same offset only wait for each other. A holder
// that is alive but does not go on costs the others their deadline, after which each compiles for itself: duplicate
// work is allowed, waiting for ever is not.

#pragma once

#include "src/store/File.h"

#include <chrono>
#include <cstdint>
#include <functional>

namespace jitk {

class KeyLock {
public:
  enum class Outcome {
    Held,        ///< this object holds it
    NotNeeded,   ///< while waiting, `done` became true
    TimedOut,    ///< another holds it
    Unavailable, ///< the file system cannot lock
  };

  KeyLock() = default;

  /// Waits for the lock of `offset`, which must not be negative, in the file `lock` of `folder`, until `deadline`. Asks
  /// `done` now and then, if there is one.
  static KeyLock acquire(const File &folder, int64_t offset, std::chrono::steady_clock::time_point deadline,
                         const std::function<bool()> &done);
  /// Waits in the same way for any one of the `count` locks from `offset` on, of which there is at least one.
  static KeyLock acquireAny(const File &folder, int64_t offset, uint32_t count,
                            std::chrono::steady_clock::time_point deadline,
                            const std::function<bool()> &done = nullptr);
  /// Takes it if it is free; else TimedOut.
  static KeyLock tryAcquire(const File &folder, int64_t offset);

  Outcome outcome() const { return outcome_; }
  bool held() const { return outcome_ == Outcome::Held; }

private:
  KeyLock(Outcome outcome, File file) : outcome_(outcome), file_(std::move(file)) {}

  Outcome outcome_ = Outcome::Unavailable;
  File file_; ///< closing it drops the lock
};

} // namespace jitk
