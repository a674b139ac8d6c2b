// The disk store in places that do not want it. Those that need other users or mounts run in a child that is root in
// the beginning; without root they say that they are skipped.

#include "src/store/DiskStore.h"
#include "tests/support/LogLines.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <linux/btrfs.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("store/HostilePlaces");

namespace {

constexpr uid_t kNobody = 65534;

/// Runs `body` in a child; it returns 0 if all was right, else the number of what was wrong.
int inChild(const std::function<int()> &body) {
  pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

bool root() {
  if (::geteuid() != 0) {
    MESSAGE("SKIPPED: needs root");
  }
  return ::geteuid() == 0;
}

/// Becomes an ordinary user; false if that cannot be.
bool becomeNobody() { return ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0; }

std::unique_ptr<DiskStore> openStore(const std::string &path, Log &log) {
  Result<std::unique_ptr<DiskStore>> store = DiskStore::open(path, uint64_t{1} << 30, log);
  return store.ok() ? *std::move(store) : nullptr;
}

/// Publishes `count` entries, for some of which there is no room, then makes room. 0 if all was right.
int fillAndHeal(const std::string &folder, int count, std::string_view problem) {
  LogLines lines;
  Log log(lines.sink(), LogFilter{LogLevel::Warning, {}});
  std::unique_ptr<DiskStore> store = openStore(folder, log);
  if (!store) {
    return 1;
  }
  for (int i = 0; i < count; ++i) {
    (void)store->publish(sampleEntry(sampleKey(std::to_string(i)), 30'000));
  }
  int numFound = 0;
  for (int i = 0; i < count; ++i) {
    Key key = sampleKey(std::to_string(i));
    std::shared_ptr<const Entry> found = store->find(key);
    if (found && found->serialize() != sampleEntry(key, 30'000).serialize()) {
      return 2;
    }
    numFound += found != nullptr;
  }
  if (numFound == 0 || numFound == count || lines.lines().size() != 1 ||
      lines.lines()[0].find(problem) == std::string::npos) {
    return 3;
  }
  (void)store->collect(0);
  ::sync(); // some file systems give a quota back with their next transaction
  (void)store->publish(sampleEntry(sampleKey("new")));
  return store->find(sampleKey("new")) ? 0 : 4;
}

#ifdef JITK_MKFS_BTRFS
/// Makes a file system with room for a megabyte by quota, and mounts it at `folder` for this process alone. False where
/// the system does not let it.
bool mountWithQuota(const std::string &image, const std::string &folder) {
  static constexpr off_t kImageBytes = off_t{128} << 20; // sparse
  File file(::open(image.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string make = JITK_MKFS_BTRFS " -q " + image + " > /dev/null";
  File control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!file || ::ftruncate(file.descriptor(), kImageBytes) != 0 || std::system(make.c_str()) != 0 || !control) {
    return false;
  }
  int number = ::ioctl(control.descriptor(), LOOP_CTL_GET_FREE);
  std::string device = "/dev/loop" + std::to_string(number);
  File loop(::open(device.c_str(), O_RDWR | O_CLOEXEC));
  loop_config config = {};
  config.fd = static_cast<uint32_t>(file.descriptor());
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR; // goes with its mount
  if (number < 0 || !loop || ::ioctl(loop.descriptor(), LOOP_CONFIGURE, &config) != 0 || ::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount(device.c_str(), folder.c_str(), "btrfs", 0, nullptr) != 0) {
    return false;
  }
  File top(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  btrfs_ioctl_quota_ctl_args enable = {};
  enable.cmd = BTRFS_QUOTA_CTL_ENABLE;
  btrfs_ioctl_qgroup_limit_args limit = {}; // group 0: of the folder's own volume
  limit.lim.flags = BTRFS_QGROUP_LIMIT_MAX_RFER;
  limit.lim.max_rfer = 1 << 20;
  return top && ::ioctl(top.descriptor(), BTRFS_IOC_QUOTA_CTL, &enable) == 0 &&
         ::ioctl(top.descriptor(), BTRFS_IOC_QGROUP_LIMIT, &limit) == 0;
}
#endif

} // namespace

TEST_CASE("a relative path stays what it was when the process moves") {
  TemporaryFolder folder;
  CHECK(inChild([&] {
          Log log;
          if (::chdir(folder.path().c_str()) != 0) {
            return 1;
          }
          std::unique_ptr<DiskStore> store = openStore("relative/store", log);
          if (!store || ::chdir("/") != 0) {
            return 2;
          }
          (void)store->publish(sampleEntry(sampleKey()));
          return store->find(sampleKey()) ? 0 : 3;
        }) == 0);
  Log log;
  CHECK(openStore(folder.path("relative/store"), log)->find(sampleKey()));
}

TEST_CASE("a folder that is replaced under a running process is not followed") {
  TemporaryFolder folder;
  Log log;
  std::unique_ptr<DiskStore> store = openStore(folder.path("store"), log);
  std::filesystem::rename(folder.path("store"), folder.path("moved"));
  std::filesystem::create_directory(folder.path("store"));
  (void)store->publish(sampleEntry(sampleKey()));
  CHECK(std::filesystem::is_empty(folder.path("store")));
  CHECK(store->find(sampleKey()));
}

TEST_CASE("a folder that is removed under a running process is a miss, with one line") {
  TemporaryFolder folder;
  LogLines lines;
  Log log(lines.sink(), LogFilter{LogLevel::Warning, {}});
  std::unique_ptr<DiskStore> store = openStore(folder.path("store"), log);
  std::filesystem::remove_all(folder.path("store"));
  (void)store->publish(sampleEntry(sampleKey()));
  (void)store->publish(sampleEntry(sampleKey("other")));
  CHECK_FALSE(store->find(sampleKey()));
  CHECK(lines.lines().size() == 1);
}

TEST_CASE("junk of any kind under any name that the store uses hangs nothing, and a kernel that is built is kept") {
  struct Junk {
    const char *kind;
    bool (*make)(const char *path);
  };
  static constexpr Junk kinds[] = {
      {"FIFO", [](const char *path) { return ::mkfifo(path, 0600) == 0; }},
      {"socket", [](const char *path) { return ::mknod(path, S_IFSOCK | 0600, 0) == 0; }},
      {"folder", [](const char *path) { return ::mkdir(path, 0700) == 0; }},
      {"folder with a file",
       [](const char *path) {
         return ::mkdir(path, 0700) == 0 && ::mknod((std::string(path) + "/x").c_str(), S_IFREG, 0) == 0;
       }},
      {"loop of links", [](const char *path) { return ::symlink(path, path) == 0; }},
      {"link to nowhere", [](const char *path) { return ::symlink("/nowhere", path) == 0; }},
      {"link to a device without end", [](const char *path) { return ::symlink("/dev/zero", path) == 0; }},
      {"device", [](const char *path) { return ::mknod(path, S_IFCHR | 0600, makedev(1, 5)) == 0; }},
      {"file that nobody may read", [](const char *path) { return ::mknod(path, S_IFREG, 0) == 0; }},
  };
  const std::string entry = sampleKey().name() + ".jitk";
  for (const std::string &name : {entry, std::string("lock"), std::string("quarantine"), std::string("tmp-0")}) {
    for (const Junk &junk : kinds) {
      CAPTURE(name);
      CAPTURE(junk.kind);
      TemporaryFolder folder;
      Log log;
      (void)openStore(folder.path("store"), log);
      if (!junk.make(folder.path("store/" + name).c_str())) {
        MESSAGE("SKIPPED: the system makes no such thing");
        continue;
      }
      CHECK(inChild([&] {
              ::alarm(20); // what hangs dies
              Log own;
              std::unique_ptr<DiskStore> store = openStore(folder.path("store"), own);
              if (!store || store->find(sampleKey()) || store->findAnyAssembler(sampleKey())) {
                return 1;
              }
              KeyLock lock = store->lock(sampleKey(), std::chrono::milliseconds(100));
              if (!store->publish(sampleEntry(sampleKey())).ok() || !store->find(sampleKey())) {
                return 2;
              }
              (void)store->list(/*quarantine=*/true);
              // Damage is found among junk, too.
              if (::truncate(folder.path("store/" + entry).c_str(), 50) != 0 || store->find(sampleKey()) ||
                  !store->publish(sampleEntry(sampleKey())).ok() || !store->find(sampleKey())) {
                return 3;
              }
              return store->collect(0).ok() && !store->find(sampleKey()) ? 0 : 4;
            }) == 0);
    }
  }
}

TEST_CASE("a folder that may only be read serves what it has") {
  if (!root()) {
    return;
  }
  TemporaryFolder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  Log log;
  (void)openStore(folder.path("store"), log)->publish(sampleEntry(sampleKey()));
  for (const auto &file : std::filesystem::directory_iterator(folder.path("store"))) {
    REQUIRE(::chmod(file.path().c_str(), 0644) == 0);
  }
  REQUIRE(::chmod(folder.path("store").c_str(), 0755) == 0);
  CHECK(inChild([&] {
          LogLines lines;
          Log own(lines.sink(), LogFilter{LogLevel::Warning, {}});
          std::unique_ptr<DiskStore> store = becomeNobody() ? openStore(folder.path("store"), own) : nullptr;
          if (!store || !store->find(sampleKey())) {
            return 1;
          }
          (void)store->publish(sampleEntry(sampleKey("other")));
          (void)store->publish(sampleEntry(sampleKey("another")));
          KeyLock lock = store->lock(sampleKey("third"), std::chrono::hours(1));
          return lines.lines().size() != 1 ? 2 : lock.outcome() != KeyLock::Outcome::Unavailable ? 3 : 0;
        }) == 0);
}

TEST_CASE("another user's folder is refused, and so is one that cannot be entered") {
  if (!root()) {
    return;
  }
  TemporaryFolder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  REQUIRE(::mkdir(folder.path("other").c_str(), 0755) == 0);
  REQUIRE(::chown(folder.path("other").c_str(), 1234, 1234) == 0);
  REQUIRE(::mkdir(folder.path("closed").c_str(), 0700) == 0);
  CHECK(inChild([&] {
          Log log;
          if (!becomeNobody()) {
            return 1;
          }
          auto codeOf = [&](const char *name) {
            return DiskStore::open(folder.path(name), 1 << 20, log).status().code();
          };
          return codeOf("other") != StatusCode::InvalidArgument  ? 2
                 : codeOf("closed") != StatusCode::Unavailable   ? 3
                 : codeOf("closed/a") != StatusCode::Unavailable ? 4
                                                                 : 0;
        }) == 0);
}

TEST_CASE("a full disk and one without inodes cost one line, and heal when there is room") {
  if (!root()) {
    return;
  }
  for (const char *limits : {"size=128k", "nr_inodes=4"}) {
    CAPTURE(limits);
    TemporaryFolder folder;
    int wrong = inChild([&] {
      if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, limits) != 0) {
        return 100;
      }
      return fillAndHeal(folder.path("store"), 10, "");
    });
    if (wrong == 100) {
      MESSAGE("SKIPPED: needs the right to mount");
    } else {
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a quota costs one line that names it, and heals when there is room") {
#ifdef JITK_MKFS_BTRFS
  if (!root()) {
    return;
  }
  TemporaryFolder images, folder;
  int wrong = inChild([&] {
    return mountWithQuota(images.path("image"), folder.path()) ? fillAndHeal(folder.path("store"), 50, "quota") : 100;
  });
  if (wrong == 100) {
    MESSAGE("SKIPPED: needs the right to mount, a loop device, and btrfs with quotas");
  } else {
    CHECK(wrong == 0);
  }
#else
  MESSAGE("SKIPPED: needs mkfs.btrfs");
#endif
}

TEST_SUITE_END();
