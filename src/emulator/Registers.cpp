#include "src/emulator/Registers.h"

#include "src/emulator/Handlers.h"
#include "src/emulator/Rendezvous.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace jitk::emulator {

namespace {

constexpr uint32_t unit = 8, fewest = 24, most = 256;

bool isIncrease(const ir::ptx::Instruction &instruction) { return instruction.params[0] != 0; }

/// That the warpgroup's warps execute the same changes in the same order, and meet between two of them.
void checkGroup(Thread &thread, uint32_t count) {
  Warp &warp = *thread.warp;
  Warpgroup &group = *warp.group;
  if (group.firstWarp + 4 > thread.cta->warps.size()) {
    thread.report(FindingKind::Registers, 0, "the warpgroup has fewer than 4 warps");
    return;
  }
  const uint32_t number = warp.registerChanges;
  if (number == group.registerChanges.size()) {
    group.registerChanges.push_back({thread.call.instruction, thread.call.location(), count});
  }
  const RegisterChange &first = group.registerChanges[number];
  if (first.instruction != thread.call.instruction || first.count != count) {
    thread.report(
        FindingKind::Registers, 0,
        llvm::formatv("another warp of the warpgroup executes {0} {1}", first.instruction->form, first.count));
  }
  for (uint32_t i = group.firstWarp; number > 0 && i < group.firstWarp + 4; ++i) {
    const Warp &other = thread.cta->warps[i];
    const bool known = !thread.cluster().tracksRaces() || other.registerChanges > number ||
                       thread.clock.knows(other.lanes[0].clock.self, other.lastRegisterChange);
    if (&other != &warp && (other.registerChanges < number || !known)) {
      thread.report(FindingKind::Registers, 0,
                    llvm::formatv("no synchronization orders the change before, by warp {0}, before this one", i));
      return;
    }
  }
}

/// Whether the change is one that the hardware carries out; reports.
bool checkChange(Thread &thread, int64_t count) {
  const uint32_t current = thread.warp->registers;
  const bool increase = isIncrease(*thread.call.instruction);
  if (count < fewest || count > most || count % unit != 0) {
    thread.report(
        FindingKind::Registers, 0,
        llvm::formatv("register count must be a multiple of {0} from {1} to {2}: got {3}", unit, fewest, most, count));
    return false;
  }
  if (current == 0) {
    thread.report(FindingKind::Registers, 0, "the kernel does not say with how many registers it starts (maxnreg)");
    return false;
  }
  if (increase ? count < current : count > current) {
    thread.report(FindingKind::Registers, 0,
                  llvm::formatv("register count must be {0} the warp's {1}: got {2}", increase ? "at least" : "at most",
                                current, count));
    return false;
  }
  return true;
}

bool canGrant(const Warp &warp) { return warp.wantedRegisters - warp.registers <= warp.cta->freeRegisters; }

void take(Warp &warp, uint32_t count) {
  warp.cta->freeRegisters -= count - warp.registers; // wraps to a sum where the warp gives some up
  warp.registers = count;
}

void grant(Warp &warp) {
  take(warp, warp.wantedRegisters);
  std::erase(warp.cta->registerWaiters, &warp);
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    warp.cta->cluster->wake(warp.lanes[lane]);
  }
}

/// Lets the warp wait for more registers than it has. The last lane to come gets here.
void waitForRegisters(Thread &last, uint32_t count) {
  Warp &warp = *last.warp;
  warp.wantedRegisters = count;
  warp.cta->registerWaiters.push_back(&warp);
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    warp.lanes[lane].blocker = Blocker::Registers;
  }
  last.cluster().block(last, Blocker::Registers);
}

/// In mode `Immediate`: who waits gets what has become free, oldest first.
void grantWhatIsFree(Cta &cta) {
  while (true) {
    const auto next = std::ranges::find_if(cta.registerWaiters, [](const Warp *warp) { return canGrant(*warp); });
    if (next == cta.registerWaiters.end()) {
      return;
    }
    grant(**next);
  }
}

} // namespace

uint32_t registersAtLaunch(uint32_t limit) { return limit / unit * unit; }

void executeSetMaxRegister(Thread &thread) {
  if (!gatherWarp(thread)) {
    return; // woken with the warp
  }
  Warp &warp = *thread.warp;
  const int64_t count = thread.call.immediates[0];
  if (checkChange(thread, count)) {
    checkGroup(thread, uint32_t(count));
    ++warp.registerChanges;
    warp.lastRegisterChange = warp.lanes[0].clock.epoch;
    const bool increase = isIncrease(*thread.call.instruction);
    if (increase && (thread.cluster().deferred() || count - warp.registers > thread.cta->freeRegisters)) {
      waitForRegisters(thread, uint32_t(count));
      return;
    }
    take(warp, uint32_t(count));
    if (!thread.cluster().deferred()) {
      grantWhatIsFree(*thread.cta);
    }
  }
  wakeWarp(warp);
}

bool grantRegisters(Cluster &cluster) {
  std::vector<Warp *> able;
  for (Cta &cta : cluster.ctas()) {
    std::ranges::copy_if(cta.registerWaiters, std::back_inserter(able),
                         [](const Warp *warp) { return canGrant(*warp); });
  }
  if (able.empty()) {
    return false;
  }
  // Who is done with its registers and takes others back comes before who has not had any yet: a kernel that lets it
  // stands still here, whichever of them is late on the hardware.
  const uint32_t furthest = (*std::ranges::max_element(able, {}, &Warp::registerChanges))->registerChanges;
  std::erase_if(able, [&](const Warp *warp) { return warp->registerChanges < furthest; });
  grant(*able[cluster.options().seed ? cluster.random(able.size()) : 0]);
  return true;
}

void finishRegisters(Thread &last) {
  for (const Warpgroup &group : last.cta->warpgroups) {
    const size_t end = std::min<size_t>(group.firstWarp + 4, last.cta->warps.size());
    for (size_t i = group.firstWarp; i < end; ++i) {
      Warp &warp = last.cta->warps[i];
      if (warp.registerChanges >= group.registerChanges.size()) {
        continue;
      }
      const RegisterChange &missed = group.registerChanges[warp.registerChanges];
      warp.lanes[0].report(FindingKind::Registers, Origin{missed.instruction, missed.location}, 0,
                           "the warp ends without it, which others of its warpgroup have executed");
    }
  }
}

std::string describeRegisterWait(const Thread &thread) {
  const std::vector<Warp> &warps = thread.cta->warps;
  std::string held;
  for (size_t first = 0, next = 0; first < warps.size(); first = next) {
    while (next < warps.size() && warps[next].registers == warps[first].registers) {
      ++next;
    }
    const std::string names = next - first == 1 ? llvm::formatv("warp {0} has", first).str()
                                                : llvm::formatv("warps {0}-{1} have", first, next - 1).str();
    held += llvm::formatv("{0}{1} {2}", first ? ", " : "", names, warps[first].registers);
  }
  return llvm::formatv("for {0} registers each: {1} more are free for one warp, {2}", thread.warp->wantedRegisters,
                       thread.cta->freeRegisters, held);
}

} // namespace jitk::emulator
