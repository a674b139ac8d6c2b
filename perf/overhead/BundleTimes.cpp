#include "perf/overhead/BundleTimes.h"

#include "src/store/Bundle.h"
#include "src/store/DiskStore.h"
#include "tests/support/SampleEntry.h"
#include "tests/support/TemporaryFolder.h"

#include <chrono>
#include <filesystem>
#include <stdexcept>

namespace jitk::perf {

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

static std::unique_ptr<Bundle> openBundle(const std::string &path) {
  Result<std::unique_ptr<Bundle>> bundle = Bundle::open(path);
  if (!bundle.ok()) {
    throw std::runtime_error(bundle.status().toString());
  }
  return *std::move(bundle);
}

BundleTimes measureBundle(int count, size_t codeBytes, int repeats) {
  test::TemporaryFolder folder;
  const std::string path = folder.path("bundle");
  std::vector<Entry> entries;
  for (int i = 0; i < count; ++i) {
    entries.push_back(test::sampleEntry(test::sampleKey("sample n=" + std::to_string(i)), codeBytes));
  }
  if (Status status = Bundle::write(path, entries); !status.ok()) {
    throw std::runtime_error(status.toString());
  }
  BundleTimes times;
  times.fileBytes = std::filesystem::file_size(path);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Clock::time_point begin = Clock::now();
    std::unique_ptr<Bundle> bundle = openBundle(path);
    times.open.add(millisecondsSince(begin));

    begin = Clock::now();
    for (const Entry &entry : entries) {
      if (!bundle->find(entry.key)) {
        throw std::runtime_error("a bundle lacks an entry");
      }
    }
    times.findAll.add(millisecondsSince(begin));

    Log log;
    Result<std::unique_ptr<DiskStore>> store =
        DiskStore::open(folder.path("store" + std::to_string(repeat)), uint64_t{1} << 32, log);
    begin = Clock::now();
    for (size_t i = 0; store.ok() && i < bundle->size(); ++i) {
      if (Result<Entry> entry = bundle->read(i); !entry.ok() || !(*store)->publish(*entry).ok()) {
        throw std::runtime_error("an entry cannot be imported");
      }
    }
    times.importAll.add(millisecondsSince(begin));
  }
  return times;
}

} // namespace jitk::perf
