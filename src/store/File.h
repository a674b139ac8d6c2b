// Thin, checked file access for the disk store. Everything is relative to an open folder, so that a folder which is
// renamed or replaced under a running process stays the one that was checked.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace jitk {

/// An open file or folder that closes itself. Movable.
class File {
public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File &operator=(File other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File();

  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  /// Closes now. False, with errno set, if the file system reports a late failure of a write.
  bool close();

private:
  int descriptor_ = -1;
};

/// Opens `name` in `folder`; never follows a symbolic link at its end, and never waits, as opening a FIFO does. Empty,
/// with errno set, on failure.
File openAt(const File &folder, const char *name, int flags, unsigned mode = 0);

/// Reads all of a regular file of at most `maximalBytes`. False, with errno set, on failure; EFBIG if it is larger.
bool readAll(const File &file, uint64_t maximalBytes, std::vector<uint8_t> &bytes);
/// False, with errno set, if not everything could be written.
bool writeAll(const File &file, std::span<const uint8_t> bytes);

/// The end of a name for a file that is being written: no other thread of any process has the same. Not the number of
/// the process: containers that share a folder have the same ones.
std::string uniqueSuffix();

/// "No space left on device (28)".
std::string describeErrno(int error);

} // namespace jitk
