// Collective instructions: the last thread to arrive executes for all.

#pragma once

#include "src/emulator/Cluster.h"
#include "src/emulator/Thread.h"

namespace jitk::emulator {

/// Notes that the thread is at a collective instruction of its warp. True for the last lane to come; the others are
/// suspended first, and get false when somebody wakes them. Lanes at different instructions (for an `.aligned` one, at
/// different places of the source) are a finding and end the run.
bool gatherWarp(Thread &thread);

/// Lets the lanes go on that wait for others of their warp.
void wakeWarp(Warp &warp);

/// Waits for all lanes of the warp to execute the same instruction; the last one runs `body`.
void meetWarp(Thread &thread, void (*body)(Warp &warp));

/// The same for the four warps of a warpgroup.
void meetWarpgroup(Thread &thread, void (*body)(Warpgroup &group));

} // namespace jitk::emulator
