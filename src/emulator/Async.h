// Completion of asynchronous work: what waits, barriers and the end of a thread call.

#pragma once

#include "src/emulator/Thread.h"

namespace jitk::emulator {

/// Performs the thread's cp.async that are in flight, but for the latest `keepGroups` committed groups and, if any are
/// kept, those not committed.
void completeCopies(Thread &thread, uint32_t keepGroups);
/// Performs the cp.async that came before an arrival on an mbarrier, and no others.
void completeArrivingCopies(const CopyArrival &arrival);
/// Performs all of the thread's cp.async, committed or not.
void completeAllCopies(Thread &thread);

/// Performs the bulk copies and arrivals that complete on an mbarrier.
void completeOnMbarrier(Cta &cta, uint32_t address);

/// Performs the thread's bulk stores, but for the latest `keepGroups` committed groups.
void completeBulkStores(Thread &thread, uint32_t keepGroups);

/// Performs one bulk copy now. Findings go to `thread`.
void performBulkCopy(Thread &thread, const BulkCopy &copy);

/// Performs the wgmma of a warpgroup up to a sequence number.
void completeWgmma(Warpgroup &group, uint32_t sequence);

/// That the thread's warp has waited for its wgmma, when it ends.
void finishWgmma(Thread &thread);

/// What happens to a thread's asynchronous work when it ends.
void finishAsync(Thread &thread);

} // namespace jitk::emulator
