// Collective instructions: the last thread to arrive executes for all.

#pragma once

#include "src/emulator/Cluster.h"
#include "src/emulator/Thread.h"

namespace jitk::emulator {

/// Waits for all lanes of the warp to execute the same instruction; the last one runs `body`. Lanes at different
/// instructions are a finding and end the run.
void meetWarp(Thread &thread, void (*body)(Warp &warp));

/// The same for the four warps of a warpgroup.
void meetWarpgroup(Thread &thread, void (*body)(Warpgroup &group));

} // namespace jitk::emulator
