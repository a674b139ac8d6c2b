#include "src/tools/timing/Occupancy.h"

#include <algorithm>

namespace jitk::timing {

double occupancyOf(const jitk_kernel_info_t &info) {
  // What the CTAs of a multiprocessor of sm_90 share.
  constexpr uint32_t kRegisters = 65536, kWarps = 64, kCtas = 32, kSharedBytes = 233472, kReservedBytes = 1024;
  if (info.threads == 0) {
    return 0;
  }
  uint32_t warps = (info.threads + 31) / 32;
  uint32_t registersOfWarp = (info.registers * 32 + 255) / 256 * 256;
  uint32_t ctas = std::min({kCtas, kWarps / warps, kSharedBytes / (uint32_t(info.shared_bytes) + kReservedBytes)});
  if (registersOfWarp != 0) {
    ctas = std::min(ctas, kRegisters / registersOfWarp / warps);
  }
  return double(ctas * warps) / kWarps;
}

} // namespace jitk::timing
