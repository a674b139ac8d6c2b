// The bank conflicts of accesses to shared memory.

#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace jitk::ir {

/// The passes over the 32 four-byte banks for one access of a warp, `bytes` for each lane at byte address
/// `addresses[lane]`: lanes go through in groups of 128 bytes, and a bank serves one word a pass.
unsigned countWavefronts(llvm::ArrayRef<int64_t> addresses, unsigned bytes);

} // namespace jitk::ir
