#include "src/runtime/workers/HostLimits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <thread>

namespace jitk {

// What one compilation takes at its peak, generously; and what the process around it needs before the first.
static constexpr uint64_t kJobBytes = uint64_t{256} << 20;
static constexpr uint64_t kProcessBytes = uint64_t{256} << 20;

static std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<double> parseCpuQuota(std::string_view text) {
  size_t space = text.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  std::optional<uint64_t> quota = number(text.substr(0, space));
  std::optional<uint64_t> period = number(text.substr(space + 1));
  if (!quota || !period || *period == 0) {
    return std::nullopt;
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<uint64_t> parseMemoryLimit(std::string_view text) { return number(text); }

static std::string readText(const std::string &path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Takes the smaller of the two where both are there.
template <typename T> static void tighten(std::optional<T> &limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) {
    limit = other;
  }
}

HostLimits HostLimits::read(const std::string &root, const std::string &group) {
  HostLimits limits;
  std::string folder = group;
  while (true) {
    tighten(limits.cores, parseCpuQuota(readText(root + folder + "/cpu.max")));
    tighten(limits.memoryBytes, parseMemoryLimit(readText(root + folder + "/memory.max")));
    size_t slash = folder.rfind('/');
    if (folder.empty() || slash == std::string::npos) {
      return limits;
    }
    folder.resize(slash);
  }
}

/// The limits of this process.
static const HostLimits &ownLimits() {
  static const HostLimits limits = [] {
    std::string groups = readText("/proc/self/cgroup");
    size_t begin = groups.find("0::");
    std::string group = begin == std::string::npos ? std::string() : groups.substr(begin + 3);
    group.resize(std::min(group.find('\n'), group.size()));
    return HostLimits::read("/sys/fs/cgroup", group == "/" ? std::string() : group);
  }();
  return limits;
}

uint32_t usableCores() {
  double cores = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    cores = CPU_COUNT(&allowed);
  }
  cores = std::min(cores, std::ceil(ownLimits().cores.value_or(cores)));
  return static_cast<uint32_t>(std::max(1.0, cores));
}

uint32_t defaultJobs() {
  uint64_t memory = ownLimits().memoryBytes.value_or(UINT64_MAX);
  uint64_t room = memory > kProcessBytes ? (memory - kProcessBytes) / kJobBytes : 0;
  return static_cast<uint32_t>(std::clamp<uint64_t>(room, 1, usableCores()));
}

} // namespace jitk
