#include "perf/overhead/StoreHits.h"

#include "jitk/jitk.hpp"
#include "tests/support/TemporaryFolder.h"

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace jitk::perf {
namespace {

struct Preparation {
  jitk_tier_t tier = JITK_TIER_NONE;
  double obtain = 0, prepare = 0; ///< microseconds
  uint64_t codeBytes = 0;
};

api::Runtime openRuntime(const std::string &store) {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = store.c_str();
  options.jobs = 1;
  return api::Runtime::create(&options);
}

Preparation prepareIn(const api::Runtime &runtime, const api::Description &description, const std::string &target) {
  Preparation result;
  api::Plan plan = api::Plan::create(runtime);
  plan.add(description);
  jitk_prepare_options_t options = {};
  options.struct_size = sizeof options;
  options.target = target.c_str();
  options.progress = [](void *user, const jitk_progress_t *progress) {
    auto *filled = static_cast<Preparation *>(user);
    filled->tier = progress->info->tier;
    filled->obtain = progress->info->obtain_ms * 1e3;
    filled->codeBytes = progress->info->code_bytes;
  };
  options.progress_user = &result;
  auto begin = std::chrono::steady_clock::now();
  plan.prepare(options);
  plan.wait();
  result.prepare = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

Preparation hit(const api::Runtime &runtime, const api::Description &description, const std::string &target,
                jitk_tier_t tier) {
  Preparation found = prepareIn(runtime, description, target);
  if (found.tier != tier) {
    throw std::runtime_error("expected a hit in tier " + std::to_string(tier) + ": got " + std::to_string(found.tier));
  }
  return found;
}

/// In a child, so that this process meets the store as a new one does.
void fill(const std::string &store, const std::string &description, const std::string &target) {
  pid_t child = fork();
  if (child == 0) {
    try {
      prepareIn(openRuntime(store), api::Description::parse(description), target);
      _exit(0);
    } catch (const std::exception &failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      _exit(1);
    }
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error("cannot compile " + description + " for " + target + " in a child process");
  }
}

/// The next reading of each file below `folder`, which is written, is one of the disk, where there is one.
void forgetPages(const std::string &folder) {
  for (const auto &each : std::filesystem::recursive_directory_iterator(folder)) {
    int file = each.is_regular_file() ? ::open(each.path().c_str(), O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
      ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
      ::close(file);
    }
  }
}

} // namespace

StoreHits measureStoreHits(const std::string &description, const std::string &target, int count) {
  test::TemporaryFolder folder;
  const std::string store = folder.path() + "/store";
  fill(store, description, target);
  StoreHits result;
  result.description = description;
  result.target = target;
  const api::Description parsed = api::Description::parse(description);
  for (int i = 0; i <= count; ++i) {
    api::Runtime runtime = openRuntime(store);
    Preparation disk = hit(runtime, parsed, target, JITK_TIER_DISK);
    if (i == 0) {
      result.first = disk.obtain;
      result.codeBytes = disk.codeBytes;
      continue;
    }
    result.diskObtain.add(disk.obtain);
    result.diskPrepare.add(disk.prepare);
    Preparation memory = hit(runtime, parsed, target, JITK_TIER_MEMORY);
    result.memoryObtain.add(memory.obtain);
    result.memoryPrepare.add(memory.prepare);
  }
  ::sync();
  for (int i = 0; i < count; ++i) {
    forgetPages(store);
    result.coldObtain.add(hit(openRuntime(store), parsed, target, JITK_TIER_DISK).obtain);
  }
  return result;
}

} // namespace jitk::perf
