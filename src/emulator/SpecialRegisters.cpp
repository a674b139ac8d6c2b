#include "src/emulator/Handlers.h"
#include "src/emulator/Memory.h"

#include "llvm/Support/FormatVariadic.h"

namespace jitk::emulator {

using ir::ptx::Sreg;

static uint64_t specialRegister(const Thread &thread, Sreg sreg) {
  const Cta &cta = *thread.cta;
  const Launch &launch = cta.cluster->launch();
  switch (sreg) {
  case Sreg::TidX:
    return thread.id[0];
  case Sreg::TidY:
    return thread.id[1];
  case Sreg::TidZ:
    return thread.id[2];
  case Sreg::NtidX:
    return launch.block[0];
  case Sreg::NtidY:
    return launch.block[1];
  case Sreg::NtidZ:
    return launch.block[2];
  case Sreg::CtaidX:
    return cta.id[0];
  case Sreg::CtaidY:
    return cta.id[1];
  case Sreg::CtaidZ:
    return cta.id[2];
  case Sreg::NctaidX:
    return launch.grid[0];
  case Sreg::NctaidY:
    return launch.grid[1];
  case Sreg::NctaidZ:
    return launch.grid[2];
  case Sreg::LaneId:
    return thread.lane;
  case Sreg::WarpId:
    return thread.warp->index;
  case Sreg::ClusterCtaRank:
    return cta.rank;
  case Sreg::ClusterIdX:
    return cta.id[0] / launch.cluster[0];
  case Sreg::NclusterIdX:
    return launch.grid[0] / launch.cluster[0];
  case Sreg::ClusterNctaRank:
    return cta.cluster->ctas().size();
  // Time is what the thread has executed, so that a run can be repeated.
  case Sreg::Clock:
  case Sreg::GlobalTimer:
    return thread.numCalls;
  }
  return 0;
}

void executeSreg(Thread &thread) { thread.call.results[0] = specialRegister(thread, Sreg(thread.call.parameter(0))); }

void executeSharedBase(Thread &thread) { thread.call.results[0] = sharedBase; }

void executeMapShared(Thread &thread) {
  const uint32_t rank = thread.call.operand32(1);
  if (rank >= thread.cluster().ctas().size()) {
    thread.report(FindingKind::OutOfBounds, thread.call.operand32(0),
                  llvm::formatv("no cta of rank {0} in the cluster", rank));
  }
  thread.call.results[0] = remoteShared(thread.call.operand32(0), rank);
}

} // namespace jitk::emulator
