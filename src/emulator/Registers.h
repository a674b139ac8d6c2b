// The registers that the warps of a CTA exchange by setmaxnreg.
//
// At launch each warp has what the kernel says that a thread starts with (`nvvm.maxnreg`, in whole units), and the
// CTA's pool has none: a warp gets more only when another has given them up. All counts are registers of a thread; the
// pool's are so for one warp.

#pragma once

#include "src/emulator/Cluster.h"
#include "src/emulator/Thread.h"

namespace jitk::emulator {

/// What a thread of a kernel starts with that wants at most `limit` registers: whole units; 0 for 0.
uint32_t registersAtLaunch(uint32_t limit);
/// The registers of an SM, and so of a CTA at most.
inline constexpr uint32_t registersOfSm = 65536;

/// Gives one warp that waits for registers what it waits for, the one that has changed them most often before; false if
/// the pools have enough for none. In mode `Deferred` no warp gets more before this is called.
bool grantRegisters(Cluster &cluster);

/// What is wrong with how often the warps of a warpgroup have changed their registers, when the CTA's last thread ends.
void finishRegisters(Thread &last);

/// "for 240 registers each: ...", of a thread whose warp waits.
std::string describeRegisterWait(const Thread &thread);

} // namespace jitk::emulator
