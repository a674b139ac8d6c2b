// How many jobs this process may run at once: what its cores and its control group leave it.
//
// An engine's rank is often given a part of a machine: some of the cores by affinity, a share of them by quota, a bound
// on memory. More workers than that would be throttled, or killed.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jitk {

/// Cores by a quota: reads "200000 100000" (2) or "max 100000" (none), as in cpu.max.
std::optional<double> parseCpuQuota(std::string_view text);
/// Bytes: reads "2147483648" or "max" (none), as in memory.max; so large a number as version 1 has for none limits
/// nothing.
std::optional<uint64_t> parseMemoryLimit(std::string_view text);

/// What control groups and all those above them allow.
struct HostLimits {
  std::optional<double> cores;
  std::optional<uint64_t> memoryBytes;

  /// `root` is where the trees of groups are mounted; `groups` are this process's places in them, as /proc/self/cgroup
  /// has them: one tree for all ("0::/a/b"), or, as in version 1, one for each controller ("4:memory:/a/b").
  static HostLimits read(const std::string &root, const std::string &groups);
};

/// Cores that this process may use, by its affinity and its quota; at least 1.
uint32_t usableCores();
/// Workers for compilation: one a usable core, but no more than memory has room for.
uint32_t defaultJobs();

} // namespace jitk
