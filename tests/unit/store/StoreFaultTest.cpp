// The disk store when the system fails it, and when its process dies: at every call, in every way.
//
// The functions of libc that the store calls are replaced in this program; a test says which call fails, counted from
// the beginning of a scenario. Not tested: what a power loss leaves on the medium.

#include "src/store/DiskStore.h"
#include "tests/support/LogLines.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <cerrno>
#include <cstdarg>
#include <dirent.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;

namespace {

enum class Fault { None, Fail, Short, Die };

/// The one fault that is armed.
struct {
  Fault kind = Fault::None;
  int countdown = 0; ///< calls until it strikes
  int error = 0;
  bool struck = false;

  void arm(Fault what, int call, int errorNumber = 0) {
    kind = what;
    countdown = call;
    error = errorNumber;
    struck = false;
  }

  /// Whether this call is the one.
  bool strikes() {
    if (kind == Fault::None || --countdown != 0) {
      return false;
    }
    struck = true;
    if (kind == Fault::Die) {
      ::_exit(77);
    }
    errno = error;
    return true;
  }
} fault;

int numWalks = 0;      ///< through folders
bool noRandom = false; ///< the system has no random numbers
ino_t remoteInode = 0; ///< of a folder that is to look like one of NFS

template <typename Function> Function *real(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, name));
}

} // namespace

// NOLINTBEGIN: the signatures are libc's.
extern "C" {

int openat(int folder, const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  static auto *next = real<int(int, const char *, int, ...)>("openat");
  return fault.strikes() ? -1 : next(folder, path, flags, mode);
}

ssize_t write(int file, const void *bytes, size_t count) {
  static auto *next = real<ssize_t(int, const void *, size_t)>("write");
  if (fault.strikes()) {
    return fault.kind == Fault::Short ? next(file, bytes, 1) : -1;
  }
  return next(file, bytes, count);
}

ssize_t read(int file, void *bytes, size_t count) {
  static auto *next = real<ssize_t(int, void *, size_t)>("read");
  if (fault.strikes()) {
    return fault.kind == Fault::Short ? next(file, bytes, 1) : -1;
  }
  return next(file, bytes, count);
}

int close(int file) {
  static auto *next = real<int(int)>("close");
  if (fault.strikes()) {
    next(file); // Linux closes it all the same
    errno = fault.error;
    return -1;
  }
  return next(file);
}

int renameat(int fromFolder, const char *from, int toFolder, const char *to) {
  static auto *next = real<int(int, const char *, int, const char *)>("renameat");
  return fault.strikes() ? -1 : next(fromFolder, from, toFolder, to);
}

int linkat(int fromFolder, const char *from, int toFolder, const char *to, int flags) {
  static auto *next = real<int(int, const char *, int, const char *, int)>("linkat");
  return fault.strikes() ? -1 : next(fromFolder, from, toFolder, to, flags);
}

int unlinkat(int folder, const char *path, int flags) {
  static auto *next = real<int(int, const char *, int)>("unlinkat");
  return fault.strikes() ? -1 : next(folder, path, flags);
}

int mkdirat(int folder, const char *path, mode_t mode) {
  static auto *next = real<int(int, const char *, mode_t)>("mkdirat");
  return fault.strikes() ? -1 : next(folder, path, mode);
}

int futimens(int file, const struct timespec times[2]) {
  static auto *next = real<int(int, const struct timespec *)>("futimens");
  return fault.strikes() ? -1 : next(file, times);
}

DIR *fdopendir(int file) {
  static auto *next = real<DIR *(int)>("fdopendir");
  ++numWalks;
  return fault.strikes() ? nullptr : next(file);
}

struct dirent *readdir(DIR *stream) {
  static auto *next = real<struct dirent *(DIR *)>("readdir");
  return fault.strikes() ? nullptr : next(stream);
}

int closedir(DIR *stream) {
  static auto *next = real<int(DIR *)>("closedir");
  if (fault.strikes()) {
    next(stream); // it is closed all the same
    errno = fault.error;
    return -1;
  }
  return next(stream);
}

ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
  static auto *next = real<ssize_t(void *, size_t, unsigned)>("getrandom");
  if (noRandom) {
    errno = ENOSYS;
    return -1;
  }
  if (fault.strikes()) {
    return fault.kind == Fault::Short ? next(bytes, 1, flags) : -1;
  }
  return next(bytes, count, flags);
}

int fstatfs(int file, struct statfs *status) {
  static auto *next = real<int(int, struct statfs *)>("fstatfs");
  if (fault.strikes()) {
    return -1;
  }
  int result = next(file, status);
  struct stat found;
  if (remoteInode != 0 && ::fstat(file, &found) == 0 && found.st_ino == remoteInode) {
    status->f_type = NFS_SUPER_MAGIC;
  }
  return result;
}

int fstat(int file, struct stat *status) {
  static auto *next = real<int(int, struct stat *)>("fstat");
  return fault.strikes() ? -1 : next(file, status);
}

int fstatat(int folder, const char *path, struct stat *status, int flags) {
  static auto *next = real<int(int, const char *, struct stat *, int)>("fstatat");
  return fault.strikes() ? -1 : next(folder, path, status, flags);
}

int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  static auto *next = real<int(int, int, ...)>("fcntl");
  return fault.strikes() ? -1 : next(file, command, argument);
}

} // extern "C"
// NOLINTEND

TEST_SUITE_BEGIN("store/Faults");

namespace {

const Key kOld = sampleKey("old"), kNew = sampleKey("new"), kBad = sampleKey("bad");

std::string fileOf(const std::string &folder, const Key &key) { return folder + "/" + key.name() + ".jitk"; }

/// The old and the new problem are of one program.
Entry entryOf(const Key &key) { return key == kBad ? sampleEntry(key) : sampleEntryOf("p", key); }

/// A store with one good and one damaged entry, in which only two entries have room.
void fill(const std::string &folder) {
  Log log;
  std::unique_ptr<DiskStore> store = *DiskStore::open(folder, 1 << 20, log);
  (void)store->publish(entryOf(kOld));
  std::ofstream(fileOf(folder, kBad)) << "damaged";
}

/// What a process does: looks, finds damage, waits for a lock, publishes, evicts.
void use(const std::string &folder, Log &log) {
  Result<std::unique_ptr<DiskStore>> store = DiskStore::open(folder, 2 * entryOf(kOld).serialize().size(), log);
  if (!store.ok()) {
    return;
  }
  (void)(*store)->find(kOld);
  (void)(*store)->find(kBad);
  KeyLock lock = (*store)->lock(kNew, std::chrono::seconds(5));
  (void)(*store)->publish(entryOf(kNew));
  (void)(*store)->find(kNew);
  (void)(*store)->publish(entryOf(kBad));
  (void)(*store)->publish(entryOf(kOld));
  (void)(*store)->list(true);
  (void)(*store)->collect(1000);
}

/// Afterwards the store holds nothing wrong, and works.
void checkSound(const std::string &folder) {
  LogLines lines;
  Log log(lines.sink(), LogFilter{LogLevel::Warning, {}});
  std::unique_ptr<DiskStore> store = *DiskStore::open(folder, 1 << 20, log);
  for (const Key &key : {kOld, kNew, kBad}) {
    std::shared_ptr<const Entry> found = store->find(key);
    bool right = !found || found->serialize() == entryOf(key).serialize();
    CHECK(right);
    REQUIRE(store->lock(key, std::chrono::milliseconds(0)).outcome() != KeyLock::Outcome::TimedOut);
    REQUIRE(store->publish(entryOf(key)).ok());
    found = store->find(key);
    REQUIRE(found);
    CHECK(found->serialize() == entryOf(key).serialize());
  }
  // The damaged entry may still have been there; a good one never is reported.
  CHECK(lines.lines().size() <= 1);
}

/// Runs the scenario in folders of their own with the fault at the first, second, ... call, until none is left.
int atEveryCall(Fault kind, int error) {
  int call = 1;
  while (true) {
    CAPTURE(call);
    CAPTURE(error);
    TemporaryFolder folder = TemporaryFolder::inMemory();
    fill(folder.path("store"));
    LogLines lines;
    Log log(lines.sink(), LogFilter{LogLevel::Warning, {}});
    fault.arm(kind, call, error);
    use(folder.path("store"), log);
    bool struck = fault.struck;
    fault.arm(Fault::None, 0);
    if (!struck) {
      return call - 1;
    }
    // One for the damaged entry, one for what could not be written.
    CHECK(lines.lines().size() <= 2);
    checkSound(folder.path("store"));
    ++call;
  }
}

} // namespace

TEST_CASE("a call that fails never costs more than a miss") {
  for (int error : {EBUSY, ESTALE, ENOENT, EIO, ENOSPC, EDQUOT, EACCES, EROFS, ENOLCK, EMFILE, EINTR}) {
    CAPTURE(error);
    CHECK(atEveryCall(Fault::Fail, error) > 40);
  }
}

TEST_CASE("a temporary file that vanishes once is written again") {
  int call = 1;
  while (true) {
    CAPTURE(call);
    TemporaryFolder folder = TemporaryFolder::inMemory();
    Log log;
    std::unique_ptr<DiskStore> store = *DiskStore::open(folder.path("store"), 1 << 20, log);
    fault.arm(Fault::Fail, call, ENOENT);
    (void)store->publish(sampleEntry(kNew));
    bool struck = fault.struck;
    fault.arm(Fault::None, 0);
    CHECK(store->find(kNew));
    if (!struck) {
      break;
    }
    ++call;
  }
  CHECK(call > 4);
}

TEST_CASE("many publications in a row do not walk through the folder each, and yet the bound holds") {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  Log log;
  const uint64_t one = sampleEntry(sampleKey("0000")).serialize().size();
  std::unique_ptr<DiskStore> store = *DiskStore::open(folder.path("store"), 2000 * one, log);
  std::unique_ptr<DiskStore> other = *DiskStore::open(folder.path("store"), 2000 * one, log);
  auto nameOf = [](int i) { return std::to_string(1000 + i); };
  auto begin = std::chrono::steady_clock::now();
  numWalks = 0;
  for (int i = 0; i < 400; ++i) {
    REQUIRE(store->publish(sampleEntry(sampleKey(nameOf(i)))).ok());
  }
  // One a second, and the first.
  CHECK(numWalks <= 2 + std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count());
  // Another process fills the rest meanwhile, which this one must see.
  for (int i = 400; i < 2000; ++i) {
    REQUIRE(other->publish(sampleEntry(sampleKey(nameOf(i)))).ok());
  }
  for (int i = 2000; i < 2010; ++i) {
    REQUIRE(store->publish(sampleEntry(sampleKey(nameOf(i)))).ok());
  }
  CHECK(store->list(/*quarantine=*/false).size() == 2000);
}

TEST_CASE("a read or write that does a part is continued") { CHECK(atEveryCall(Fault::Short, EIO) > 40); }

TEST_CASE("a process that dies at any call leaves a sound store") {
  int call = 1;
  while (true) {
    CAPTURE(call);
    TemporaryFolder folder = TemporaryFolder::inMemory();
    fill(folder.path("store"));
    pid_t child = ::fork();
    if (child == 0) {
      Log log;
      fault.arm(Fault::Die, call);
      use(folder.path("store"), log);
      fault.arm(Fault::None, 0);
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 0) {
      break;
    }
    REQUIRE(WEXITSTATUS(status) == 77);
    checkSound(folder.path("store"));
    ++call;
  }
  CHECK(call > 40);
}

TEST_CASE("without random numbers no two who publish write one file") {
  TemporaryFolder folder = TemporaryFolder::inMemory();
  LogLines lines;
  Log log(lines.sink(), LogFilter{LogLevel::Warning, {}});
  std::unique_ptr<DiskStore> store = *DiskStore::open(folder.path("store"), 1 << 30, log);
  noRandom = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) {
        (void)store->publish(sampleEntry(sampleKey(std::to_string(100 * i + k)), 500'000));
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  noRandom = false;
  CHECK(lines.lines().empty());
  CHECK(store->list(/*quarantine=*/false).size() == 160);
}

TEST_CASE("the locks of a remote store lie on this machine, and all processes find them there") {
  TemporaryFolder folder;
  ::setenv("XDG_RUNTIME_DIR", folder.path("run").c_str(), /*overwrite=*/1); // nothing else here reads the environment
  Log log;
  const std::string path = folder.path("store");
  (void)DiskStore::open(path, 1 << 20, log);
  struct stat status;
  REQUIRE(::stat(path.c_str(), &status) == 0);
  remoteInode = status.st_ino;
  std::unique_ptr<DiskStore> one = *DiskStore::open(path, 1 << 20, log), two = *DiskStore::open(path, 1 << 20, log);
  KeyLock lock = one->lock(kNew, std::chrono::milliseconds(0));
  CHECK(lock.held());
  CHECK(two->lock(kNew, std::chrono::milliseconds(0)).outcome() == KeyLock::Outcome::TimedOut);
  CHECK(two->lock(kOld, std::chrono::milliseconds(0)).held());
  KeyLock token = one->takeToken(1, std::chrono::milliseconds(0));
  CHECK(two->takeToken(1, std::chrono::milliseconds(0)).outcome() == KeyLock::Outcome::TimedOut);
  REQUIRE(one->publish(sampleEntry(kNew)).ok());
  CHECK(two->find(kNew));
  CHECK_FALSE(std::filesystem::exists(path + "/lock"));
  CHECK(std::filesystem::exists(folder.path("run/jitk-locks")));
  remoteInode = 0;
  // A store that is not remote has them beside its entries.
  std::unique_ptr<DiskStore> local = *DiskStore::open(path, 1 << 20, log);
  CHECK(local->lock(kOld, std::chrono::milliseconds(0)).held());
  CHECK(std::filesystem::exists(path + "/lock"));
}

TEST_SUITE_END();
