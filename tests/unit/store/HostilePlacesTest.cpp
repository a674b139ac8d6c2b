// The disk store in places that do not want it. Those that need other users or mounts run in a child that is root in
// the beginning; without root they say that they are skipped.

#include "src/store/DiskStore.h"
#include "tests/support/LogLines.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <doctest/doctest.h>
#include <functional>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
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
      LogLines lines;
      Log log(lines.sink(), LogFilter{LogLevel::Warning, {}});
      std::unique_ptr<DiskStore> store = openStore(folder.path("store"), log);
      if (!store) {
        return 1;
      }
      for (int i = 0; i < 10; ++i) {
        (void)store->publish(sampleEntry(sampleKey(std::to_string(i)), 30'000));
      }
      int numFound = 0;
      for (int i = 0; i < 10; ++i) {
        Key key = sampleKey(std::to_string(i));
        std::shared_ptr<const Entry> found = store->find(key);
        if (found && found->serialize() != sampleEntry(key, 30'000).serialize()) {
          return 2;
        }
        numFound += found != nullptr;
      }
      if (numFound == 0 || numFound == 10 || lines.lines().size() != 1) {
        return 3;
      }
      (void)store->collect(0);
      (void)store->publish(sampleEntry(sampleKey("new")));
      return store->find(sampleKey("new")) ? 0 : 4;
    });
    if (wrong == 100) {
      MESSAGE("SKIPPED: needs the right to mount");
    } else {
      CHECK(wrong == 0);
    }
  }
}

TEST_SUITE_END();
