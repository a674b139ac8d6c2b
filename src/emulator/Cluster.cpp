#include "src/emulator/Cluster.h"

#include "src/emulator/Async.h"
#include "src/emulator/Registers.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace jitk::emulator {

namespace {

constexpr uint32_t warpSize = 32;
constexpr uint32_t warpsInGroup = 4;
// Findings kept of one kind at one instruction.
constexpr uint32_t findingsPerSite = 4;
// What handlers, and what they report, need of a thread's stack.
constexpr size_t handlerStackBytes = size_t(1) << 16;

uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

uint32_t volume(const std::array<uint32_t, 3> &sizes) { return sizes[0] * sizes[1] * sizes[2]; }

std::array<uint32_t, 3> unflatten(uint64_t index, const std::array<uint32_t, 3> &sizes) {
  return {uint32_t(index % sizes[0]), uint32_t(index / sizes[0] % sizes[1]), uint32_t(index / sizes[0] / sizes[1])};
}

} // namespace

Cluster &Thread::cluster() const { return *cta->cluster; }

void Thread::report(FindingKind kind, uint64_t address, std::string detail) {
  cluster().report(*this, origin(), kind, address, std::move(detail));
}

void Thread::report(FindingKind kind, const Origin &from, uint64_t address, std::string detail) {
  cluster().report(*this, from, kind, address, std::move(detail));
}

Status Cluster::run(const Launch &launch, uint64_t index) {
  JITK_TRY(prepare(launch, index));
  schedule();
  return okStatus();
}

Status Cluster::prepare(const Launch &launch, uint64_t index) {
  launch_ = &launch;
  randomState_ = mix(options().seed ^ mix(index));
  findings_.clear();
  findingsOfSite_.clear();
  numFindings_ = 0;
  aborted_ = false;
  hearsOfOthers = false;
  number_ = uint32_t(index + 1);
  ready_.clear();
  nextReady_ = 0;
  clusterArrived = 0;
  clusterPhase = 0;
  clusterWaiters.clear();

  const uint32_t numCtas = volume(launch.cluster);
  const uint32_t numThreads = volume(launch.block);
  while (stacks_.size() < size_t(numCtas) * numThreads) {
    FiberStack stack = FiberStack::map(options().stackBytes);
    if (!stack.mapped()) {
      return Status(StatusCode::OutOfMemory, "no memory for the stacks of the emulator's threads");
    }
    stacks_.push_back(std::move(stack));
  }

  const uint32_t numGroups = (numThreads + warpSize * warpsInGroup - 1) / (warpSize * warpsInGroup);
  const size_t actorsOfCta = numThreads + size_t(numGroups) * warpsInGroup + 1 + numMbarrierActors;
  numActors_ = actorsOfCta * numCtas;
  if (numActors_ >= noActor) {
    return unsupported(llvm::formatv("cluster of {0} threads in the emulator", uint64_t(numCtas) * numThreads));
  }
  clusterClocks = clusterCompleted = ClockJoin(numActors_);
  while (ctas_.size() < numCtas) {
    ctas_.emplace_back();
  }
  ctas_.resize(numCtas);

  const std::array<uint32_t, 3> clusters = {launch.grid[0] / launch.cluster[0], launch.grid[1] / launch.cluster[1],
                                            launch.grid[2] / launch.cluster[2]};
  const std::array<uint32_t, 3> first = unflatten(index, clusters);
  live_ = numCtas * numThreads;
  for (uint32_t rank = 0; rank < numCtas; ++rank) {
    Cta &cta = ctas_[rank];
    const std::array<uint32_t, 3> inside = unflatten(rank, launch.cluster);
    for (size_t axis = 0; axis < 3; ++axis) {
      cta.id[axis] = first[axis] * launch.cluster[axis] + inside[axis];
    }
    prepareCta(cta, rank);
  }
  return okStatus();
}

void Cluster::prepareCta(Cta &cta, uint32_t rank) {
  const uint32_t numThreads = volume(launch_->block);
  const uint32_t numWarps = (numThreads + warpSize - 1) / warpSize;
  const uint32_t numGroups = (numWarps + warpsInGroup - 1) / warpsInGroup;
  const auto firstActor = ActorIndex(rank * (numActors_ / ctas_.size()));
  cta.cluster = this;
  cta.rank = rank;
  cta.running = numThreads;
  cta.mbarriers.clear();
  cta.nextMbarrierActor = 0;
  cta.bulkEpoch = 0;
  cta.freeRegisters = 0;
  cta.registerWaiters.clear();
  cta.remoteAccesses.clear();
  cta.knownAtExit.reset();
  cta.publishedMaps.clear();
  cta.gridWaits.clear();
  cta.asyncReaders.firstMatrix = ActorIndex(firstActor + numThreads);
  cta.asyncReaders.endMatrix = ActorIndex(cta.asyncReaders.firstMatrix + numGroups * warpsInGroup);
  cta.asyncReaders.bulk = cta.asyncReaders.endMatrix;
  cta.firstMbarrierActor = ActorIndex(cta.asyncReaders.bulk + 1);
  cta.shared.reset(launch_->sharedBytes, tracksRaces(), cta.asyncReaders);
  for (Barrier &barrier : cta.barriers) {
    barrier.wanted = barrier.arrived = 0;
    barrier.waiters.clear();
    barrier.clocks = ClockJoin(numActors_);
  }

  cta.threads.resize(numThreads);
  cta.warps.resize(numWarps);
  cta.warpgroups.resize(numGroups);
  for (uint32_t i = 0; i < numGroups; ++i) {
    Warpgroup &group = cta.warpgroups[i];
    group.cta = &cta;
    group.index = i;
    group.firstWarp = i * warpsInGroup;
    group.arrived = 0;
    group.nextSequence = 1;
    group.completed = 0;
    group.pending.clear();
    group.registerChanges.clear();
  }
  for (uint32_t i = 0; i < numWarps; ++i) {
    Warp &warp = cta.warps[i];
    warp.cta = &cta;
    warp.group = &cta.warpgroups[i / warpsInGroup];
    warp.lanes = &cta.threads[i * warpSize];
    warp.index = i;
    warp.numLanes = std::min(warpSize, numThreads - i * warpSize);
    warp.arrived = 0;
    warp.fenced = false;
    warp.wgmmaGroups.clear();
    warp.wgmmaWaited = 0;
    warp.registers = launch_->registers;
    warp.registerChanges = 0;
  }
  for (uint32_t i = 0; i < numThreads; ++i) {
    Thread &thread = cta.threads[i];
    thread.cta = &cta;
    thread.warp = &cta.warps[i / warpSize];
    thread.index = i;
    thread.lane = i % warpSize;
    thread.id = unflatten(i, launch_->block);
    thread.clock = ThreadClock();
    thread.clock.self = ActorIndex(firstActor + i);
    prepareThread(cta, thread);
  }
}

void Cluster::prepareThread(Cta &cta, Thread &thread) {
  thread.state = Thread::State::Ready;
  thread.blocker = Blocker::None;
  thread.call = Call();
  thread.numCalls = 0;
  thread.numEmptyRounds = 0;
  thread.callsInSlice = 0;
  thread.clusterArrivals = 0;
  thread.clusterPhase = 0;
  thread.mayUseGlobal = !launch_->programmatic;
  thread.copies.clear();
  thread.copyGroups.clear();
  thread.bulk.clear();
  thread.bulkGroups.clear();
  const FiberStack &stack = stacks_[size_t(cta.rank) * cta.threads.size() + thread.index];
  thread.fiber.prepare(stack, &runThread, &thread);
  thread.stackLimit = reinterpret_cast<uintptr_t>(stack.bottom()) + std::min(handlerStackBytes, stack.bytes() / 4);
  ready_.push_back(&thread);
}

void Cluster::runThread(void *argument) {
  auto *thread = static_cast<Thread *>(argument);
  Cluster &cluster = thread->cluster();
  cluster.launch_->entry(thread, cluster.launch_->parameters);
  cluster.finish(*thread);
}

void Cluster::finish(Thread &thread) {
  thread.call = Call();
  finishAsync(thread);
  thread.state = Thread::State::Done;
  if (ctas_.size() > 1) {
    thread.cta->knownAtExit = join(thread.cta->knownAtExit, thread.clock.known);
  }
  if (--thread.cta->running == 0) {
    finishRegisters(thread);
    reportLateAccesses(*thread.cta);
  }
  --live_;
}

void Cluster::reportLateAccesses(const Cta &cta) {
  for (const auto &[actor, access] : cta.remoteAccesses) {
    if (access.epoch > epochOf(cta.knownAtExit, actor)) {
      access.thread->report(FindingKind::Race, access.origin, access.address,
                            llvm::formatv("reaches into the cluster's cta {0}, which no synchronization keeps from "
                                          "ending before",
                                          cta.rank));
    }
  }
}

Thread *Cluster::takeReady() {
  if (nextReady_ == ready_.size()) {
    ready_.clear();
    nextReady_ = 0;
    return nullptr;
  }
  if (options().seed != 0) {
    std::swap(ready_[nextReady_], ready_[nextReady_ + random(ready_.size() - nextReady_)]);
  }
  Thread *thread = ready_[nextReady_++];
  if (nextReady_ > 4096 && nextReady_ * 2 > ready_.size()) {
    ready_.erase(ready_.begin(), ready_.begin() + ptrdiff_t(nextReady_));
    nextReady_ = 0;
  }
  return thread;
}

void Cluster::schedule() {
  while (live_ > 0 && !aborted_) {
    if (Thread *thread = takeReady()) {
      thread->callsInSlice = 0;
      running_ = thread;
      thread->fiber.resume();
    } else if (!completeAsync() && !grantRegisters(*this)) {
      reportDeadlock();
      return;
    }
  }
}

void Cluster::block(Thread &thread, Blocker blocker, uint64_t on) {
  thread.state = Thread::State::Blocked;
  thread.blocker = blocker;
  thread.blockedOn = on;
  thread.fiber.suspend();
}

void Cluster::wake(Thread &thread) {
  if (thread.state == Thread::State::Blocked) {
    thread.state = Thread::State::Ready;
    thread.blocker = Blocker::None;
    ready_.push_back(&thread);
  }
}

void Cluster::yield(Thread &thread) {
  ready_.push_back(&thread);
  thread.fiber.suspend();
}

void Cluster::abort() {
  aborted_ = true;
  running_->fiber.suspend();
  // Not reached: an aborted run resumes nobody.
  std::abort();
}

bool Cluster::completeAsync() {
  std::vector<std::pair<Cta *, uint32_t>> wanted;
  for (Cta &cta : ctas_) {
    for (auto &[address, mbarrier] : cta.mbarriers) {
      if (!mbarrier.waiters.empty() && (!mbarrier.copies.empty() || !mbarrier.copyArrivals.empty())) {
        wanted.emplace_back(&cta, address);
      }
    }
  }
  if (wanted.empty()) {
    return false;
  }
  std::ranges::sort(wanted, {}, [](const auto &entry) { return std::pair(entry.first->rank, entry.second); });
  auto [cta, address] = wanted[options().seed ? random(wanted.size()) : 0];
  completeOnMbarrier(*cta, address);
  return true;
}

uint64_t Cluster::random(uint64_t bound) {
  randomState_ = mix(randomState_);
  return randomState_ % bound;
}

std::string Cluster::describeActor(ActorIndex actor) const {
  for (const Cta &cta : ctas_) {
    const ActorIndex first = cta.threads[0].clock.self;
    const std::string where =
        ctas_.size() == 1 ? std::string() : llvm::formatv(" of the cluster's cta {0}", cta.rank).str();
    if (actor >= first && actor < cta.asyncReaders.firstMatrix) {
      const uint32_t thread = actor - first;
      return llvm::formatv("warp {0} lane {1}{2}", thread / warpSize, thread % warpSize, where);
    }
    if (cta.asyncReaders.isMatrix(actor)) {
      return llvm::formatv("wgmma of warpgroup {0}{1}", (actor - cta.asyncReaders.firstMatrix) / warpsInGroup, where);
    }
    if (actor == cta.asyncReaders.bulk) {
      return "a bulk store" + where;
    }
    if (actor >= cta.firstMbarrierActor && actor < cta.firstMbarrierActor + numMbarrierActors) {
      return "a bulk load" + where;
    }
  }
  return "nobody";
}

void Cluster::report(Thread &thread, const Origin &origin, FindingKind kind, uint64_t address, std::string detail) {
  ++numFindings_;
  const uint64_t site = reinterpret_cast<uint64_t>(origin.location) ^
                        mix(reinterpret_cast<uint64_t>(origin.instruction)) ^ (uint64_t(kind) << 56);
  if (findings_.size() >= options().maxFindings || findingsOfSite_[site]++ >= findingsPerSite) {
    return;
  }
  Finding finding;
  finding.kind = kind;
  finding.form = origin.instruction ? origin.instruction->form : "";
  finding.location = origin.location ? origin.location : "";
  finding.cta = thread.cta->id;
  finding.warp = thread.warp->index;
  finding.lane = thread.lane;
  finding.address = address;
  finding.detail = std::move(detail);
  findings_.push_back(std::move(finding));
}

void Cluster::reportDeadlock() {
  for (Cta &cta : ctas_) {
    reportPlaces(cta);
  }
}

/// What a blocked thread waits for, as text.
static std::string describeWait(Thread &thread) {
  Cta &cta = *thread.cta;
  switch (thread.blocker) {
  case Blocker::None:
    return "is ready";
  case Blocker::Warp: {
    uint32_t missing = 0;
    while (missing < thread.warp->numLanes && (thread.warp->arrived >> missing & 1)) {
      ++missing;
    }
    const bool done = cta.threads[thread.warp->index * warpSize + missing].state == Thread::State::Done;
    return llvm::formatv("wait for lane {0}{1}", missing, done ? ", which has ended" : "");
  }
  case Blocker::Warpgroup:
    return llvm::formatv("wait for the warpgroup: {0} of 128 threads arrived", thread.warp->group->arrived);
  case Blocker::Barrier: {
    const Barrier &barrier = cta.barriers[thread.blockedOn];
    return llvm::formatv(
        "wait at barrier {0}: {1} of {2} threads arrived{3}", thread.blockedOn, barrier.arrived, barrier.wanted,
        cta.running < cta.threads.size() ? llvm::formatv(", {0} have ended", cta.threads.size() - cta.running).str()
                                         : "");
  }
  case Blocker::Mbarrier: {
    const Mbarrier &mbarrier = cta.mbarriers[uint32_t(thread.blockedOn)];
    return llvm::formatv("wait for phase {0} of the mbarrier: {1} of {2} arrivals and {3} bytes missing",
                         mbarrier.phase, mbarrier.pending, mbarrier.count, mbarrier.transactionBytes);
  }
  case Blocker::ClusterBarrier:
    return "wait at the cluster barrier";
  case Blocker::Registers:
    return "wait " + describeRegisterWait(thread);
  }
  return "wait";
}

/// The warps of threads in order: "warp 2", "warps 0-3, 8".
static std::string describeWarps(const std::vector<Thread *> &threads) {
  std::string text;
  for (size_t i = 0; i < threads.size();) {
    const uint32_t first = threads[i]->warp->index;
    uint32_t last = first;
    for (; i < threads.size() && threads[i]->warp->index <= last + 1; ++i) {
      last = threads[i]->warp->index;
    }
    text += (text.empty() ? "" : ", ") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
  }
  const bool one = threads.front()->warp == threads.back()->warp;
  return (one ? "warp " : "warps ") + text;
}

void Cluster::reportPlaces(Cta &cta) {
  // Threads at one place are one finding.
  std::map<std::tuple<const void *, const void *, uint64_t, std::string>, std::vector<Thread *>> places;
  for (Thread &thread : cta.threads) {
    if (thread.state != Thread::State::Blocked) {
      continue;
    }
    auto key = std::tuple(static_cast<const void *>(thread.call.instruction),
                          static_cast<const void *>(thread.call.location()), thread.blockedOn, describeWait(thread));
    places[std::move(key)].push_back(&thread);
  }
  std::vector<std::pair<Thread *, std::string>> texts;
  for (auto &[key, threads] : places) {
    texts.emplace_back(threads.front(), llvm::formatv("{0} threads of {1} {2}", threads.size(), describeWarps(threads),
                                                      std::get<3>(key)));
  }
  std::ranges::sort(texts, {}, [](const auto &text) { return text.first->index; });
  for (auto &[thread, text] : texts) {
    const bool mbarrier = thread->blocker == Blocker::Mbarrier;
    thread->report(FindingKind::Deadlock, mbarrier ? thread->blockedOn : 0, std::move(text));
  }
}

} // namespace jitk::emulator
