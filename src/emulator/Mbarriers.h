// The state of mbarriers, which lives beside the shared memory that names them.

#pragma once

#include "src/emulator/Memory.h"
#include "src/emulator/Thread.h"

namespace jitk::emulator {

/// The initialised mbarrier at a place; null after a finding if there is none. That nothing orders its initialisation
/// before the thread is a finding too.
Mbarrier *findMbarrier(Thread &thread, const SharedPlace &place);

/// Whether a copy that the thread issues may complete there: the initialisation is behind a fence that the async proxy
/// sees.
bool isVisibleToAsyncProxy(const Thread &thread, const Mbarrier &mbarrier);

/// Counts arrivals of the thread, after what it did so far. Completes the phase when it is the last.
void arrive(Thread &thread, const SharedPlace &place, Mbarrier &mbarrier, uint32_t count);

/// Takes bytes off the phase's transaction count. Completes the phase when nothing is missing.
void completeTransaction(Thread &thread, const SharedPlace &place, Mbarrier &mbarrier, uint32_t bytes);

/// The range is about to be written by something else: the mbarriers in it are no more. Their later use is found as one
/// of none; that somebody waits for one, or that a copy completes there, is a finding now.
void overwriteMbarriers(Thread &thread, const SharedPlace &place, uint32_t bytes);

} // namespace jitk::emulator
