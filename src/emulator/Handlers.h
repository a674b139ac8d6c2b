// What the instructions of the table do. Each function executes `thread.call`; those that synchronize may suspend the
// thread.

#pragma once

#include "src/emulator/Cluster.h"
#include "src/emulator/Thread.h"

namespace jitk::emulator {

using HandlerFunction = void (*)(Thread &thread);

// SpecialRegisters.cpp
void executeSreg(Thread &thread);
void executeSharedBase(Thread &thread);
void executeMapShared(Thread &thread);

// LoadStore.cpp
void executeLoadGlobal(Thread &thread);
void executeStoreGlobal(Thread &thread);
void executeLoadShared(Thread &thread);
void executeStoreShared(Thread &thread);

// Atomics.cpp
void executeAtomicGlobal(Thread &thread);
void executeAtomicShared(Thread &thread);
void executeCompareAndSwap(Thread &thread);

// CopyAsync.cpp
void executeCpAsync(Thread &thread);
void executeCpAsyncCommit(Thread &thread);
void executeCpAsyncWait(Thread &thread);
void executeCpAsyncArrive(Thread &thread);

// WarpExchange.cpp
void executeWarpSync(Thread &thread);
void executeShuffle(Thread &thread);
void executeElect(Thread &thread);
void executeVote(Thread &thread);
void executeRedux(Thread &thread);

// MatrixLoad.cpp
void executeLdmatrix(Thread &thread);
void executeStmatrix(Thread &thread);

// Mma.cpp
void executeMma(Thread &thread);

// Wgmma.cpp
void executeWgmmaFence(Thread &thread);
void executeWgmmaCommit(Thread &thread);
void executeWgmmaWait(Thread &thread);
void executeWgmma(Thread &thread);

// Barriers.cpp
void executeBarrierCta(Thread &thread);
void executeBarrierArrive(Thread &thread);
void executeClusterArrive(Thread &thread);
void executeClusterWait(Thread &thread);
void executeFenceProxyAsync(Thread &thread);

// Mbarriers.cpp
void executeMbarrierInit(Thread &thread);
void executeMbarrierInval(Thread &thread);
void executeMbarrierArrive(Thread &thread);
void executeMbarrierExpectTx(Thread &thread);
void executeMbarrierWait(Thread &thread);
void executeFenceMbarrierInit(Thread &thread);

// Bulk.cpp
void executeTmaLoad(Thread &thread);
void executeTmaStore(Thread &thread);
void executeTmaReduce(Thread &thread);
void executeTmaCommit(Thread &thread);
void executeTmaWait(Thread &thread);
void executeBulkLoad(Thread &thread);
void executeBulkStore(Thread &thread);

// Tensormaps.cpp
void executeTensormapReplace(Thread &thread);
void executeTensormapPublish(Thread &thread);
void executeTensormapAcquire(Thread &thread);

// Arithmetic.cpp
void executeConvert(Thread &thread);
void executeMath(Thread &thread);
void executePermute(Thread &thread);
void executeCachePolicy(Thread &thread);

// Registers.cpp
void executeSetMaxRegister(Thread &thread);

// Execute.cpp
void executeNothing(Thread &thread);
void executeGridDependency(Thread &thread);
void executeYield(Thread &thread);
void executeTrap(Thread &thread);

} // namespace jitk::emulator
