// The schedule of decoding over a paged cache, dealt on the host.

#pragma once

#include <cstdint>
#include <vector>

namespace jitk::reference {

inline constexpr int64_t kScheduleWords = 8;

struct DecodeSchedule {
  std::vector<int32_t> parts;        ///< [parts, kScheduleWords]
  std::vector<int32_t> splitOffsets; ///< [sequences + 1]
};

/// Deals sequences of the given lengths, none negative, to `numParts` parts.
DecodeSchedule makeDecodeSchedule(const std::vector<int32_t> &lengths, int64_t numParts);

} // namespace jitk::reference
