// The schedule of mla_decode, dealt on the host.

#pragma once

#include <cstdint>
#include <vector>

namespace jitk::reference {

inline constexpr int64_t kMlaScheduleWords = 8;

struct MlaSchedule {
  std::vector<int32_t> parts;        ///< [parts, kMlaScheduleWords]
  std::vector<int32_t> splitOffsets; ///< [sequences + 1]
};

/// Deals sequences of the given lengths, none negative, to `numParts` parts.
MlaSchedule makeMlaSchedule(const std::vector<int32_t> &lengths, int64_t numParts);

} // namespace jitk::reference
