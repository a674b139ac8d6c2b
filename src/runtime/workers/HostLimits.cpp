#include "src/runtime/workers/HostLimits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <sstream>
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

/// Calls `visit` with the group's folder and all those above it, the root's last.
template <typename Visit> static void upwards(const std::string &root, std::string group, Visit visit) {
  while (true) {
    visit(root + group);
    size_t slash = group.rfind('/');
    if (group.empty() || slash == std::string::npos) {
      return;
    }
    group.resize(slash);
  }
}

HostLimits HostLimits::read(const std::string &root, const std::string &groups) {
  HostLimits limits;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    size_t first = line.find(':');
    size_t second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      upwards(root, group, [&](const std::string &folder) {
        tighten(limits.cores, parseCpuQuota(readText(folder + "/cpu.max")));
        tighten(limits.memoryBytes, parseMemoryLimit(readText(folder + "/memory.max")));
      });
    }
    if (controllers.find(",cpu,") != std::string::npos) {
      upwards(root + "/cpu", group, [&](const std::string &folder) {
        std::string quota = readText(folder + "/cpu.cfs_quota_us");
        quota.resize(std::min(quota.find('\n'), quota.size()));
        tighten(limits.cores, parseCpuQuota(quota + " " + readText(folder + "/cpu.cfs_period_us")));
      });
    }
    if (controllers.find(",memory,") != std::string::npos) {
      upwards(root + "/memory", group, [&](const std::string &folder) {
        tighten(limits.memoryBytes, parseMemoryLimit(readText(folder + "/memory.limit_in_bytes")));
      });
    }
  }
  return limits;
}

/// The limits of this process.
static const HostLimits &ownLimits() {
  static const HostLimits limits = HostLimits::read("/sys/fs/cgroup", readText("/proc/self/cgroup"));
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
