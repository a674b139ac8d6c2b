#include "src/emulator/AccumulatorTag.h"
#include "src/emulator/Async.h"
#include "src/emulator/Formats.h"
#include "src/emulator/Handlers.h"
#include "src/emulator/MatrixDescriptor.h"
#include "src/emulator/Memory.h"
#include "src/emulator/MultiplyAccumulate.h"
#include "src/emulator/Rendezvous.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

namespace jitk::emulator {

using ir::ptx::Element;

namespace {

constexpr unsigned m = 64;
constexpr unsigned numThreads = 128;
// Completed accumulators that nobody asked for are kept this long, to say that they were used without a wait.
constexpr size_t keptWgmma = 64;

/// The parameters of the instruction's row.
struct Shape {
  explicit Shape(const ir::ptx::Instruction &instruction)
      : n(unsigned(instruction.params[0])), k(unsigned(instruction.params[1])), a(Element(instruction.params[2])),
        b(Element(instruction.params[3])), c(Element(instruction.params[4])), registersA(instruction.params[5]) {}
  unsigned n, k;
  Element a, b, c;
  bool registersA;
  unsigned accumulatorRegisters() const { return c == Element::F16 ? n / 4 : n / 2; }
  unsigned firstB() const { return registersA ? 4 : 1; } // operand index
};

/// Row and column of register element i of a thread's accumulator.
unsigned rowOf(unsigned thread, unsigned i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
unsigned columnOf(unsigned thread, unsigned i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

template <typename Number> Number numberOf(Element element, uint32_t bits) {
  if constexpr (std::is_same_v<Number, float>) {
    return elementToFloat(element, bits);
  } else {
    return element == Element::S8 ? int32_t(int8_t(bits)) : int32_t(uint8_t(bits));
  }
}

/// Reads an operand of `rows` rows of M or N from shared memory; element (row, k) goes to
/// out[row * rowStride + k * kStride].
template <typename Number>
void readTile(SharedMemory &shared, const MatrixDescriptor &descriptor, Element element, unsigned rows, unsigned k,
              bool mnMajor, Number *out, unsigned rowStride, unsigned kStride) {
  const unsigned bytes = elementBits(element) / 8;
  const unsigned perChunk = 16 / bytes;
  const unsigned outer = mnMajor ? k : rows;
  const unsigned chunks = (mnMajor ? rows : k) / perChunk;
  const unsigned outerStride = mnMajor ? kStride : rowStride;
  const unsigned innerStride = mnMajor ? rowStride : kStride;
  for (unsigned i = 0; i < outer; ++i) {
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      const uint32_t address = mnMajor ? descriptor.chunkAlongMn(i, chunk) : descriptor.chunkAlongK(i, chunk);
      const bool inside = shared.contains(address, 16);
      for (unsigned j = 0; j < perChunk; ++j) {
        uint32_t bits = 0xffffffff;
        if (inside) {
          std::memcpy(&bits, shared.data(address) + j * bytes, bytes);
        }
        out[i * outerStride + (chunk * perChunk + j) * innerStride] = numberOf<Number>(element, bits);
      }
    }
  }
}

template <typename Number> void readRegisterTile(const PendingWgmma &wgmma, const Shape &shape, Number *out) {
  const unsigned bits = elementBits(shape.a);
  const unsigned perRegister = 32 / bits;
  for (unsigned thread = 0; thread < numThreads; ++thread) {
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned row = rowOf(thread, (r & 1) * 2);
      const unsigned column = (r >> 1) * 4 * perRegister + thread % 4 * perRegister;
      for (unsigned i = 0; i < perRegister; ++i) {
        out[row * shape.k + column + i] = numberOf<Number>(shape.a, wgmma.registersA[thread * 4 + r] >> (i * bits));
      }
    }
  }
}

template <typename Number> void scale(Number *values, size_t count, int64_t factor) {
  for (size_t i = 0; factor != 1 && i < count; ++i) {
    values[i] = Number(values[i] * Number(factor));
  }
}

template <typename Number> void readAccumulators(const PendingWgmma &wgmma, const Shape &shape, Number *c) {
  const unsigned elements = shape.n / 2;
  for (unsigned thread = 0; thread < numThreads; ++thread) {
    const uint32_t *registers = &wgmma.accumulators[size_t(thread) * wgmma.numRegisters];
    for (unsigned i = 0; i < elements; ++i) {
      Number &value = c[rowOf(thread, i) * shape.n + columnOf(thread, i)];
      value = shape.c == Element::F16 ? Number(halfToFloat(uint16_t(registers[i / 2] >> (16 * (i % 2)))))
                                      : std::bit_cast<Number>(registers[i]);
    }
  }
}

template <typename Number> void writeAccumulators(PendingWgmma &wgmma, const Shape &shape, const Number *c) {
  const unsigned elements = shape.n / 2;
  for (unsigned thread = 0; thread < numThreads; ++thread) {
    uint32_t *registers = &wgmma.accumulators[size_t(thread) * wgmma.numRegisters];
    for (unsigned i = 0; i < elements; ++i) {
      const Number value = c[rowOf(thread, i) * shape.n + columnOf(thread, i)];
      if (shape.c != Element::F16) {
        registers[i] = std::bit_cast<uint32_t>(value);
      } else if (i % 2 == 0) {
        const Number next = c[rowOf(thread, i + 1) * shape.n + columnOf(thread, i + 1)];
        registers[i / 2] = floatToHalf(float(value)) | uint32_t(floatToHalf(float(next))) << 16;
      }
    }
  }
}

template <typename Number> void multiply(Warpgroup &group, PendingWgmma &wgmma, const Shape &shape) {
  static thread_local std::vector<Number> a, b, c;
  a.resize(size_t(m) * shape.k);
  b.resize(size_t(shape.k) * shape.n);
  c.assign(size_t(m) * shape.n, Number(0));
  SharedMemory &shared = group.cta->shared;
  if (shape.registersA) {
    readRegisterTile(wgmma, shape, a.data());
  } else {
    readTile(shared, MatrixDescriptor(wgmma.descriptorA), shape.a, m, shape.k, wgmma.immediates[2], a.data(), shape.k,
             1);
  }
  readTile(shared, MatrixDescriptor(wgmma.descriptorB), shape.b, shape.n, shape.k, wgmma.immediates[3], b.data(), 1,
           shape.n);
  scale(a.data(), a.size(), wgmma.immediates[0]);
  scale(b.data(), b.size(), wgmma.immediates[1]);
  if (wgmma.scaleD) {
    readAccumulators(wgmma, shape, c.data());
  }
  multiplyAccumulate(c.data(), a.data(), b.data(), m, shape.n, shape.k);
  writeAccumulators(wgmma, shape, c.data());
}

/// Replaces tags of earlier wgmma in the accumulators by the values that these have produced by now.
void resolveAccumulators(Warpgroup &group, PendingWgmma &wgmma) {
  for (unsigned thread = 0; thread < numThreads; ++thread) {
    uint32_t *registers = &wgmma.accumulators[size_t(thread) * wgmma.numRegisters];
    for (unsigned i = 0; i < wgmma.numRegisters; ++i) {
      PendingWgmma *earlier = findTagged(group, registers[i]);
      if (earlier && earlier->done) {
        registers[i] = earlier->accumulators[size_t(thread) * earlier->numRegisters + registerOfTag(registers[i])];
        earlier->unclaimed -= earlier->unclaimed > 0;
      }
    }
  }
}

void perform(Warpgroup &group, PendingWgmma &wgmma) {
  const Shape shape(*wgmma.instruction);
  if (wgmma.scaleD) {
    resolveAccumulators(group, wgmma);
  }
  if (shape.c == Element::S32) {
    multiply<int32_t>(group, wgmma, shape);
  } else {
    multiply<float>(group, wgmma, shape);
  }
  wgmma.done = true;
}

/// Drops what nobody can ask for any more.
void forgetClaimed(Warpgroup &group) {
  while (!group.pending.empty() && group.pending.front().done &&
         (group.pending.front().unclaimed == 0 || group.pending.size() > keptWgmma)) {
    group.pending.pop_front();
  }
}

/// What a warp's lanes know together, each of its own accesses included.
ThreadClock jointClock(const Cluster &cluster, const Warp &warp) {
  auto known = std::make_shared<std::vector<uint32_t>>(cluster.numActors());
  auto fenced = std::make_shared<std::vector<uint32_t>>(cluster.numActors());
  const auto fold = [](std::vector<uint32_t> &into, const Snapshot &from) {
    for (size_t i = 0; from && i < into.size(); ++i) {
      into[i] = std::max(into[i], (*from)[i]);
    }
  };
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    const ThreadClock &clock = warp.lanes[lane].clock;
    const ThreadClock *previous = lane ? &warp.lanes[lane - 1].clock : nullptr;
    if (!previous || previous->known != clock.known) {
      fold(*known, clock.known);
    }
    if (!previous || previous->fenced != clock.fenced) {
      fold(*fenced, clock.fenced);
    }
  }
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    const ThreadClock &clock = warp.lanes[lane].clock;
    (*known)[clock.self] = clock.epoch;
    (*fenced)[clock.self] = clock.fencedEpoch;
  }
  ThreadClock joint;
  joint.known = std::move(known);
  joint.fenced = std::move(fenced);
  joint.self = noActor;
  return joint;
}

/// Checks the tile's bytes against the shadow and notes the read.
void checkTile(Thread &thread, const Accessor &accessor, uint64_t bits, Element element, unsigned rows, unsigned k,
               bool mnMajor, const char *name) {
  const MatrixDescriptor descriptor(bits);
  if (std::string problem = descriptor.problem(rows, mnMajor); !problem.empty()) {
    thread.report(FindingKind::Descriptor, descriptor.start(), std::string(name) + ": " + problem);
  }
  if (mnMajor && elementBits(element) != 16) {
    thread.report(FindingKind::Descriptor, descriptor.start(), std::string(name) + ": MN-major needs 16-bit elements");
    return;
  }
  SharedMemory &shared = thread.cta->shared;
  const unsigned perChunk = 128 / elementBits(element);
  const unsigned outer = mnMajor ? k : rows;
  const unsigned chunks = (mnMajor ? rows : k) / perChunk;
  bool reported = false;
  for (unsigned i = 0; i < outer; ++i) {
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      const uint32_t address = mnMajor ? descriptor.chunkAlongMn(i, chunk) : descriptor.chunkAlongK(i, chunk);
      if (!shared.contains(address, 16)) {
        if (!reported) {
          thread.report(FindingKind::OutOfBounds, address,
                        llvm::formatv("{0}: row {1} lies outside the cta's shared memory", name, i));
          reported = true;
        }
        continue;
      }
      auto conflict = shared.read(accessor, Proxy::Async, address, 16);
      if (conflict && !reported) {
        reportConflict(thread, thread.origin(), *conflict, /*write=*/false);
        reported = true;
      }
    }
  }
}

void checkOperands(Warpgroup &group, Thread &leader, const PendingWgmma &wgmma, const Shape &shape) {
  Cluster &cluster = *group.cta->cluster;
  std::array<ThreadClock, 4> clocks;
  std::array<const ThreadClock *, 4> pointers = {};
  for (unsigned i = 0; cluster.tracksRaces() && i < 4; ++i) {
    clocks[i] = jointClock(cluster, group.cta->warps[group.index * 4 + i]);
    pointers[i] = &clocks[i];
  }
  const size_t numClocks = cluster.tracksRaces() ? 4 : 0;
  const Accessor accessor = {std::span(pointers.data(), numClocks),
                             ActorIndex(group.cta->asyncReaders.firstMatrix + group.index * 4), wgmma.sequence};
  if (!shape.registersA) {
    checkTile(leader, accessor, wgmma.descriptorA, shape.a, m, shape.k, wgmma.immediates[2], "A");
  }
  checkTile(leader, accessor, wgmma.descriptorB, shape.b, shape.n, shape.k, wgmma.immediates[3], "B");
}

/// Reads the operands of all threads; checks that they agree where they must.
PendingWgmma collect(Warpgroup &group, Thread *threads, const Shape &shape) {
  const Call &first = threads[0].call;
  PendingWgmma wgmma;
  wgmma.sequence = group.nextSequence++;
  wgmma.instruction = first.instruction;
  wgmma.origin = threads[0].origin();
  for (unsigned i = 0; i < first.instruction->numImmediates; ++i) {
    wgmma.immediates[i] = first.immediates[i];
  }
  const unsigned b = shape.firstB();
  wgmma.descriptorA = shape.registersA ? 0 : first.operands[0];
  wgmma.descriptorB = first.operands[b];
  wgmma.scaleD = first.operands[b + 1] & 1;
  wgmma.numRegisters = shape.accumulatorRegisters();
  wgmma.unclaimed = wgmma.numRegisters * numThreads;
  wgmma.registersA.resize(shape.registersA ? numThreads * 4 : 0);
  wgmma.accumulators.resize(size_t(numThreads) * wgmma.numRegisters);
  for (unsigned i = 0; i < numThreads; ++i) {
    const uint64_t *operands = threads[i].call.operands;
    const bool same = (shape.registersA || operands[0] == wgmma.descriptorA) && operands[b] == wgmma.descriptorB &&
                      bool(operands[b + 1] & 1) == wgmma.scaleD;
    if (!same) {
      threads[i].report(FindingKind::Divergence, 0, "descriptors or scale-d differ from those of the first thread");
    }
    for (unsigned r = 0; shape.registersA && r < 4; ++r) {
      checkPoison(threads[i], operands[r]);
      wgmma.registersA[i * 4 + r] = uint32_t(operands[r]);
    }
    for (unsigned r = 0; r < wgmma.numRegisters; ++r) {
      wgmma.accumulators[size_t(i) * wgmma.numRegisters + r] = uint32_t(operands[b + 2 + r]);
    }
  }
  return wgmma;
}

/// Registers that an earlier instruction wrote need a fence before the tensor cores may touch them.
void checkFence(Thread *threads, const PendingWgmma &wgmma, const Shape &shape) {
  for (unsigned warp = 0; warp < 4; ++warp) {
    Thread &thread = threads[warp * 32];
    const uint32_t c = wgmma.accumulators[size_t(warp) * 32 * wgmma.numRegisters];
    const bool chained = findTagged(*thread.warp->group, c) != nullptr;
    if (!thread.warp->fenced && (!chained || shape.registersA)) {
      thread.report(FindingKind::Poison, 0,
                    "accumulators or A registers are used without wgmma.fence since the last wait");
    }
  }
}

void issue(Warpgroup &group) {
  Thread *threads = &group.cta->threads[size_t(group.index) * numThreads];
  const Shape shape(*threads[0].call.instruction);
  PendingWgmma wgmma = collect(group, threads, shape);
  checkFence(threads, wgmma, shape);
  checkOperands(group, threads[0], wgmma, shape);
  group.pending.push_back(std::move(wgmma));
  PendingWgmma &pending = group.pending.back();
  const bool deferred = group.cta->cluster->deferred();
  if (!deferred) {
    perform(group, pending);
  }
  for (unsigned i = 0; i < numThreads; ++i) {
    for (unsigned r = 0; r < pending.numRegisters; ++r) {
      threads[i].call.results[r] =
          deferred ? makeTag(pending.sequence, r) : pending.accumulators[size_t(i) * pending.numRegisters + r];
    }
  }
  if (!deferred) {
    group.completed = pending.sequence;
    pending.unclaimed = 0;
    forgetClaimed(group);
  }
}

void fence(Warp &warp) {
  warp.fenced = true;
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    const Call &call = warp.lanes[lane].call;
    std::copy_n(call.operands, call.instruction->results.size(), call.results);
  }
}

void commit(Warp &warp) { warp.wgmmaGroups.push_back(warp.group->nextSequence - 1); }

/// The value behind a register that a wait hands through.
uint64_t released(Thread &thread, uint64_t value) {
  PendingWgmma *wgmma = findTagged(*thread.warp->group, uint32_t(value));
  if (!wgmma || !wgmma->done) {
    return value;
  }
  wgmma->unclaimed -= wgmma->unclaimed > 0;
  const size_t inGroup = thread.index % numThreads;
  return wgmma->accumulators[inGroup * wgmma->numRegisters + registerOfTag(uint32_t(value))];
}

/// The warp knows that its reads of shared memory up to `sequence` are over.
void learn(Warp &warp, uint32_t sequence) {
  const auto actor = ActorIndex(warp.cta->asyncReaders.firstMatrix + warp.index);
  Snapshot from, to;
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    ThreadClock &clock = warp.lanes[lane].clock;
    if (!to || clock.known != from) {
      from = clock.known;
      auto values = from ? std::make_shared<std::vector<uint32_t>>(*from)
                         : std::make_shared<std::vector<uint32_t>>(warp.cta->cluster->numActors());
      (*values)[actor] = std::max((*values)[actor], sequence);
      to = std::move(values);
    }
    clock.known = to;
  }
}

void wait(Warp &warp) {
  const auto keep = size_t(warp.lanes[0].call.immediates[0]);
  std::vector<uint32_t> &groups = warp.wgmmaGroups;
  if (groups.size() > keep) {
    const uint32_t sequence = groups[groups.size() - keep - 1];
    completeWgmma(*warp.group, sequence);
    groups.erase(groups.begin(), groups.end() - ptrdiff_t(keep));
    warp.wgmmaWaited = sequence;
    if (warp.cta->cluster->tracksRaces()) {
      learn(warp, sequence);
    }
  }
  warp.fenced = false;
  for (uint32_t lane = 0; lane < warp.numLanes; ++lane) {
    const Call &call = warp.lanes[lane].call;
    for (size_t i = 0; i < call.instruction->results.size(); ++i) {
      call.results[i] = released(warp.lanes[lane], call.operands[i]);
    }
  }
  forgetClaimed(*warp.group);
}

} // namespace

void completeWgmma(Warpgroup &group, uint32_t sequence) {
  for (PendingWgmma &wgmma : group.pending) {
    if (!wgmma.done && wgmma.sequence <= sequence) {
      perform(group, wgmma);
    }
  }
  group.completed = std::max(group.completed, sequence);
}

void finishWgmma(Thread &thread) {
  if (thread.warp->wgmmaWaited + 1 < thread.warp->group->nextSequence && thread.lane == 0) {
    thread.report(FindingKind::AsyncAtExit, 0, "the warp ends before it has waited for its wgmma");
  }
}

void executeWgmmaFence(Thread &thread) { meetWarp(thread, fence); }
void executeWgmmaCommit(Thread &thread) { meetWarp(thread, commit); }
void executeWgmmaWait(Thread &thread) { meetWarp(thread, wait); }
void executeWgmma(Thread &thread) { meetWarpgroup(thread, issue); }

} // namespace jitk::emulator
