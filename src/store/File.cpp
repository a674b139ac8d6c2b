#include "src/store/File.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace jitk {

File::~File() { close(); }

bool File::close() {
  int descriptor = std::exchange(descriptor_, -1);
  // After EINTR the descriptor is gone on Linux: a second close could hit another thread's file.
  return descriptor < 0 || ::close(descriptor) == 0 || errno == EINTR;
}

File openAt(const File &folder, const char *name, int flags, unsigned mode) {
  int descriptor;
  do {
    descriptor = ::openat(folder.descriptor(), name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);
  } while (descriptor < 0 && errno == EINTR);
  return File(descriptor);
}

bool readAll(const File &file, uint64_t maximalBytes, std::vector<uint8_t> &bytes) {
  struct stat status;
  if (::fstat(file.descriptor(), &status) != 0) {
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    errno = EINVAL;
    return false;
  }
  if (static_cast<uint64_t>(status.st_size) > maximalBytes) {
    errno = EFBIG;
    return false;
  }
  bytes.resize(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t got = ::read(file.descriptor(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return false;
    }
    if (got == 0) {
      break; // It shrank; the entry's own length tells.
    }
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return true;
}

bool writeAll(const File &file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file.descriptor(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

std::string uniqueSuffix() {
  uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) {
    static std::atomic<uint32_t> count = 0;
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    value = (static_cast<uint64_t>(::getpid()) << 40) ^ (static_cast<uint64_t>(now.tv_nsec) << 10) ^ ++count;
  }
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string describeErrno(int error) {
  return std::generic_category().message(error) + " (" + std::to_string(error) + ")";
}

} // namespace jitk
