#include "src/emulator/Async.h"
#include "src/emulator/AtomicOperation.h"
#include "src/emulator/Handlers.h"
#include "src/emulator/MatrixDescriptor.h"
#include "src/emulator/Mbarriers.h"
#include "src/emulator/Memory.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>

namespace jitk::emulator {

using ir::ptx::AtomicOp;
using ir::ptx::AtomicType;

namespace {

// By CUtensorMapDataType.
constexpr uint32_t u32Type = 2, s32Type = 3, s64Type = 5, f16Type = 6, f32Type = 7, f64Type = 8, bf16Type = 9,
                   f32FtzType = 10, lastType = 12;

/// How a tensor map's elements are reduced.
AtomicType reductionType(uint32_t elementType) {
  if (elementType == f16Type) {
    return AtomicType::F16x2;
  }
  if (elementType == bf16Type) {
    return AtomicType::BF16x2;
  }
  return elementType == f32Type || elementType == f64Type || (elementType > bf16Type && elementType <= lastType)
             ? AtomicType::Float
             : AtomicType::Integer;
}

/// Whether the copy engine has the reduction for elements of the type.
bool hasReduction(AtomicOp op, uint32_t elementType) {
  const AtomicType type = reductionType(elementType);
  switch (op) {
  case AtomicOp::Add:
    return elementType >= u32Type;
  case AtomicOp::Min:
  case AtomicOp::Max:
    return elementType >= u32Type && type != AtomicType::Float;
  case AtomicOp::Inc:
  case AtomicOp::Dec:
    return elementType == u32Type;
  default:
    return elementType >= u32Type && type == AtomicType::Integer;
  }
}

void reduceElement(const BulkCopy &copy, uint8_t *global, const uint8_t *shared) {
  const uint32_t bytes = copy.map.elementBytes();
  uint64_t value = 0;
  std::memcpy(&value, shared, bytes);
  AtomicAction action;
  action.op = copy.reduction;
  action.type = reductionType(copy.map.elementType);
  action.bytes = bytes;
  action.flushes = copy.map.elementType == f32FtzType;
  const bool isSigned = copy.map.elementType == s32Type || copy.map.elementType == s64Type;
  if (action.type == AtomicType::Integer && !isSigned) {
    action.op = action.op == AtomicOp::Min ? AtomicOp::UMin : action.op == AtomicOp::Max ? AtomicOp::UMax : action.op;
  }
  combineAtomically(action, global, value);
}

/// The bytes that fill elements outside the tensor.
void fillOutside(const TensorMap &map, uint8_t *target) {
  const uint32_t bytes = map.elementBytes();
  std::memset(target, map.fill && reductionType(map.elementType) != AtomicType::Integer ? 0xff : 0, bytes);
}

/// Walks the rows of the box along the innermost dimension.
class BoxRows {
public:
  explicit BoxRows(const BulkCopy &copy) : copy_(copy) {
    rows_ = 1;
    for (uint32_t i = 1; i < copy.map.rank; ++i) {
      rows_ *= copy.map.box[i];
    }
  }
  uint32_t count() const { return rows_; }
  /// Global address of element 0 of dimension 0 of a row; nothing if an outer coordinate is outside.
  std::optional<uint64_t> address(uint32_t row) const {
    const TensorMap &map = copy_.map;
    uint64_t address = map.address;
    for (uint32_t i = 1; i < map.rank; ++i) {
      const int64_t coordinate = copy_.coordinates[i] + int64_t(row % map.box[i]) * map.elementStrides[i];
      row /= map.box[i];
      if (coordinate < 0 || uint64_t(coordinate) >= map.sizes[i]) {
        return std::nullopt;
      }
      address += uint64_t(coordinate) * map.strides[i - 1];
    }
    return address;
  }

private:
  const BulkCopy &copy_;
  uint32_t rows_;
};

/// Moves one element; `global` is null outside the tensor.
void moveElement(const BulkCopy &copy, uint8_t *global, uint8_t *shared) {
  const uint32_t bytes = copy.map.elementBytes();
  if (copy.kind == BulkCopy::Kind::Load) {
    if (global) {
      std::memcpy(shared, global, bytes);
    } else {
      fillOutside(copy.map, shared);
    }
  } else if (global && copy.kind == BulkCopy::Kind::Store) {
    std::memcpy(global, shared, bytes);
  } else if (global) {
    reduceElement(copy, global, shared);
  }
}

/// The part of a row that lies inside the tensor, checked as one access; null if none does.
uint8_t *openRow(Thread &thread, const BulkCopy &copy, uint64_t rowAddress) {
  const TensorMap &map = copy.map;
  const int64_t first = std::max<int64_t>(copy.coordinates[0], 0);
  const int64_t end = std::min<int64_t>(copy.coordinates[0] + int64_t(map.box[0] - 1) * map.elementStrides[0] + 1,
                                        int64_t(map.sizes[0]));
  if (first >= end) {
    return nullptr;
  }
  const uint64_t begin = rowAddress + uint64_t(first) * map.elementBytes();
  const uint64_t bytes = uint64_t(end - first) * map.elementBytes();
  const auto open = copy.kind == BulkCopy::Kind::Load    ? globalForRead
                    : copy.kind == BulkCopy::Kind::Store ? globalForWrite
                                                         : globalForAtomic;
  uint8_t *memory = open(thread, copy.origin, begin, bytes, 1);
  return memory ? reinterpret_cast<uint8_t *>(rowAddress) : nullptr;
}

void moveBox(Thread &thread, const BulkCopy &copy) {
  const TensorMap &map = copy.map;
  const uint32_t bytes = map.elementBytes();
  const BoxRows rows(copy);
  uint32_t offset = 0;
  for (uint32_t row = 0; row < rows.count(); ++row) {
    const std::optional<uint64_t> address = rows.address(row);
    uint8_t *memory = address ? openRow(thread, copy, *address) : nullptr;
    for (uint32_t i = 0; i < map.box[0]; ++i, offset += bytes) {
      const int64_t coordinate = copy.coordinates[0] + int64_t(i) * map.elementStrides[0];
      const bool inside = memory && coordinate >= 0 && uint64_t(coordinate) < map.sizes[0];
      uint32_t shared = copy.shared + offset;
      if (map.swizzle != 0) {
        shared = swizzleAddress(shared, map.swizzleBytes());
      }
      moveElement(copy, inside ? memory + coordinate * bytes : nullptr, copy.cta->shared.data(shared));
    }
  }
}

void moveFlat(Thread &thread, const BulkCopy &copy) {
  uint8_t *shared = copy.cta->shared.data(copy.shared);
  if (copy.kind == BulkCopy::Kind::Load) {
    if (const uint8_t *global = globalForRead(thread, copy.origin, copy.global, copy.bytes, 16)) {
      std::memcpy(shared, global, copy.bytes);
    }
  } else if (uint8_t *global = globalForWrite(thread, copy.origin, copy.global, copy.bytes, 16)) {
    std::memcpy(global, shared, copy.bytes);
  }
}

/// Whether [address, address + 128) may hold a tensor map: a parameter, global memory.
bool readableMap(Thread &thread, uint64_t address) {
  const Launch &launch = thread.cluster().launch();
  for (std::span<const uint8_t> parameter : launch.parameterBytes) {
    const auto begin = reinterpret_cast<uint64_t>(parameter.data());
    if (address == begin && parameter.size() >= tensorMapBytes) {
      return true;
    }
  }
  return launch.memory->check(address, tensorMapBytes) == GlobalMemory::Fault::None;
}

std::optional<TensorMap> fetchMap(Thread &thread, uint64_t address, uint32_t rank) {
  if (!readableMap(thread, address)) {
    thread.report(FindingKind::OutOfBounds, address, "no tensor map: neither a 128-byte parameter nor global memory");
    return std::nullopt;
  }
  requireAcquiredMap(thread, address);
  std::optional<TensorMap> map = TensorMap::decode(reinterpret_cast<const void *>(address));
  if (!map) {
    thread.report(FindingKind::TensorMap, address, "the bytes are no tensor map");
    return std::nullopt;
  }
  if (Status status = map->validate(); !status.ok()) {
    thread.report(FindingKind::TensorMap, address, std::string(status.message()));
    return std::nullopt;
  }
  if (map->rank != rank) {
    thread.report(FindingKind::TensorMap, address,
                  llvm::formatv("rank of the instruction must be the map's {0}: got {1}", map->rank, rank));
    return std::nullopt;
  }
  return map;
}

/// The shared side of a copy, checked.
SharedPlace locateBox(Thread &thread, uint32_t address, uint32_t bytes) {
  constexpr uint32_t boxAlignment = 128;
  return locateShared(thread, address, bytes, boxAlignment);
}

/// Reads map, coordinates and shared address of a tensor copy. Operands: map and coordinates from `first` on.
std::optional<BulkCopy> describeTensorCopy(Thread &thread, BulkCopy::Kind kind, unsigned firstOperand,
                                           uint32_t shared) {
  const Call &call = thread.call;
  const auto rank = uint32_t(call.parameter(0));
  std::optional<TensorMap> map = fetchMap(thread, call.operands[firstOperand], rank);
  if (!map) {
    return std::nullopt;
  }
  BulkCopy copy;
  copy.kind = kind;
  copy.map = *map;
  copy.bytes = map->boxBytes();
  copy.origin = thread.origin();
  for (uint32_t i = 0; i < rank; ++i) {
    copy.coordinates[i] = int32_t(call.operand32(firstOperand + 1 + i));
  }
  const SharedPlace place = locateBox(thread, shared, copy.bytes);
  if (!place) {
    return std::nullopt;
  }
  copy.cta = place.cta;
  copy.shared = place.address;
  requireGridWait(thread, map->address);
  return copy;
}

/// Puts a load in flight towards an mbarrier.
void startLoad(Thread &thread, BulkCopy copy, const SharedPlace &barrier) {
  overwriteMbarriers(thread, {copy.cta, copy.shared}, copy.bytes);
  Mbarrier *mbarrier = findMbarrier(thread, barrier);
  if (!mbarrier) {
    return;
  }
  if (!isVisibleToAsyncProxy(thread, *mbarrier)) {
    thread.report(FindingKind::MissingProxyFence, barrier.address,
                  "completes on an mbarrier that was initialised without fence.mbarrier_init or fence.proxy.async "
                  "before");
  }
  SharedMemory &shared = copy.cta->shared;
  const ThreadAccessor self(thread);
  Accessor accessor = self.accessor;
  accessor.actor = mbarrier->actor;
  accessor.epoch = mbarrier->phase + 1;
  if (auto conflict = shared.write(accessor, Proxy::Async, copy.shared, copy.bytes)) {
    reportConflict(thread, thread.origin(), *conflict, /*write=*/true);
  }
  if (thread.cluster().deferred()) {
    shared.markPending(copy.shared, copy.bytes);
    mbarrier->copies.push_back(std::move(copy));
    return;
  }
  performBulkCopy(thread, copy);
  completeTransaction(thread, barrier, *mbarrier, copy.bytes);
}

/// Whether the box ends before the tensor begins in some dimension. Loads of such boxes are zeros; at a store an H200
/// ends the kernel with an illegal instruction. Boxes past the tensor's end are clipped.
bool endsBeforeTensor(const BulkCopy &copy) {
  for (uint32_t i = 0; i < copy.map.rank; ++i) {
    if (copy.coordinates[i] + int64_t(copy.map.box[i] - 1) * copy.map.elementStrides[i] < 0) {
      return true;
    }
  }
  return false;
}

/// Puts a store in flight; its source counts as read until a wait.
void startStore(Thread &thread, BulkCopy copy) {
  if (!copy.flat && endsBeforeTensor(copy)) {
    thread.report(FindingKind::TensorMap, copy.map.address, "a store's box must not lie at negative coordinates alone");
    return;
  }
  const ThreadAccessor self(thread);
  Accessor accessor = self.accessor;
  accessor.actor = copy.cta->asyncReaders.bulk;
  accessor.epoch = ++copy.cta->bulkEpoch;
  copy.readEpoch = accessor.epoch;
  if (auto conflict = copy.cta->shared.read(accessor, Proxy::Async, copy.shared, copy.bytes)) {
    reportConflict(thread, thread.origin(), *conflict, /*write=*/false);
  }
  if (!thread.cluster().deferred()) {
    performBulkCopy(thread, copy);
  }
  thread.bulk.push_back(std::move(copy));
}

/// The thread knows that its stores up to `epoch` have read their sources.
void learnRead(Thread &thread, ActorIndex actor, uint32_t epoch) {
  ThreadClock &clock = thread.clock;
  auto values = clock.known ? std::make_shared<std::vector<uint32_t>>(*clock.known)
                            : std::make_shared<std::vector<uint32_t>>(thread.cluster().numActors());
  (*values)[actor] = std::max((*values)[actor], epoch);
  clock.known = std::move(values);
}

void completeFirstStores(Thread &thread, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const BulkCopy &copy = thread.bulk[i];
    if (thread.cluster().deferred()) {
      performBulkCopy(thread, copy);
    }
    if (thread.cluster().tracksRaces()) {
      learnRead(thread, copy.cta->asyncReaders.bulk, copy.readEpoch);
    }
  }
  thread.bulk.erase(thread.bulk.begin(), thread.bulk.begin() + ptrdiff_t(count));
}

} // namespace

void performBulkCopy(Thread &thread, const BulkCopy &copy) {
  if (copy.flat) {
    moveFlat(thread, copy);
  } else {
    moveBox(thread, copy);
  }
}

void completeBulkStores(Thread &thread, uint32_t keepGroups) {
  std::vector<uint32_t> &groups = thread.bulkGroups;
  if (groups.size() <= keepGroups) {
    return;
  }
  const size_t done = groups.size() - keepGroups;
  const uint32_t count = groups[done - 1];
  completeFirstStores(thread, count);
  groups.erase(groups.begin(), groups.begin() + ptrdiff_t(done));
  for (uint32_t &end : groups) {
    end -= count;
  }
}

void completeOnMbarrier(Cta &cta, uint32_t address) {
  Mbarrier &mbarrier = cta.mbarriers.at(address);
  const SharedPlace place = {&cta, address};
  std::vector<BulkCopy> copies;
  copies.swap(mbarrier.copies);
  std::vector<CopyArrival> arrivals;
  arrivals.swap(mbarrier.copyArrivals);
  Thread &witness = *mbarrier.waiters.front();
  for (const BulkCopy &copy : copies) {
    performBulkCopy(witness, copy);
    copy.cta->shared.markWritten(copy.shared, copy.bytes, Proxy::Async, mbarrier.actor, mbarrier.phase + 1);
    completeTransaction(witness, place, mbarrier, copy.bytes);
  }
  for (const CopyArrival &arrival : arrivals) {
    completeArrivingCopies(arrival);
    arrive(*arrival.thread, place, mbarrier, 1);
  }
}

void finishAsync(Thread &thread) {
  finishWgmma(thread);
  for (const PendingCopy &copy : thread.copies) {
    if (!copy.arrivesOnMbarrier) {
      thread.report(FindingKind::AsyncAtExit, copy.origin, copy.target,
                    "the thread ends before it has waited for its cp.async");
      break;
    }
  }
  completeAllCopies(thread);
  if (!thread.bulk.empty()) {
    thread.report(FindingKind::AsyncAtExit, thread.bulk.front().origin, thread.bulk.front().shared,
                  "the thread ends before its bulk stores have read their sources");
    completeFirstStores(thread, thread.bulk.size());
  }
  if (thread.cta->running > 1) {
    return;
  }
  for (auto &[address, mbarrier] : thread.cta->mbarriers) {
    if (!mbarrier.copies.empty()) {
      thread.report(FindingKind::AsyncAtExit, mbarrier.copies.front().origin, address,
                    "the cta ends before bulk loads into it have completed");
    }
    if (!mbarrier.copyArrivals.empty()) {
      thread.report(FindingKind::AsyncAtExit, Origin(), address,
                    "the cta ends before anybody has waited for the cp.async that arrive here");
    }
  }
}

void executeTmaLoad(Thread &thread) {
  const Call &call = thread.call;
  const auto rank = unsigned(call.parameter(0));
  std::optional<BulkCopy> copy = describeTensorCopy(thread, BulkCopy::Kind::Load, 1, call.operand32(0));
  const SharedPlace barrier = locateShared(thread, call.operand32(2 + rank), 8, 8);
  if (!copy || !barrier) {
    return;
  }
  if (!call.parameter(1)) {
    startLoad(thread, *copy, barrier);
    return;
  }
  // Multicast: the same offsets in each CTA of the mask.
  std::vector<Cta> &ctas = thread.cluster().ctas();
  for (uint32_t rankOfCta = 0; rankOfCta < 16; ++rankOfCta) {
    if (!(call.operands[3 + rank] >> rankOfCta & 1)) {
      continue;
    }
    if (rankOfCta >= ctas.size()) {
      thread.report(FindingKind::OutOfBounds, 0, llvm::formatv("no cta of rank {0} in the cluster", rankOfCta));
      continue;
    }
    copy->cta = &ctas[rankOfCta];
    startLoad(thread, *copy, {&ctas[rankOfCta], barrier.address});
  }
}

void executeTmaStore(Thread &thread) {
  const auto rank = unsigned(thread.call.parameter(0));
  if (auto copy = describeTensorCopy(thread, BulkCopy::Kind::Store, 0, thread.call.operand32(1 + rank))) {
    startStore(thread, *copy);
  }
}

void executeTmaReduce(Thread &thread) {
  const auto rank = unsigned(thread.call.parameter(0));
  if (auto copy = describeTensorCopy(thread, BulkCopy::Kind::Reduce, 0, thread.call.operand32(1 + rank))) {
    copy->reduction = AtomicOp(thread.call.parameter(1));
    if (hasReduction(copy->reduction, copy->map.elementType)) {
      startStore(thread, *copy);
    } else {
      thread.report(FindingKind::TensorMap, thread.call.operands[0],
                    llvm::formatv("no such reduction of elements of type {0}", copy->map.elementType));
    }
  }
}

void executeTmaCommit(Thread &thread) { thread.bulkGroups.push_back(uint32_t(thread.bulk.size())); }

void executeTmaWait(Thread &thread) { completeBulkStores(thread, uint32_t(thread.call.immediates[0])); }

/// A flat bulk copy; addresses and size are multiples of 16.
static std::optional<BulkCopy> describeFlatCopy(Thread &thread, BulkCopy::Kind kind, uint32_t shared, uint64_t global,
                                                uint32_t bytes) {
  const SharedPlace place = locateShared(thread, shared, bytes, 16);
  if (!place) {
    return std::nullopt;
  }
  if (bytes % 16 != 0 || global % 16 != 0) {
    thread.report(FindingKind::Misaligned, global, llvm::formatv("bulk copy of {0} bytes: not multiples of 16", bytes));
    return std::nullopt;
  }
  BulkCopy copy;
  copy.kind = kind;
  copy.flat = true;
  requireGridWait(thread, global);
  copy.global = global;
  copy.bytes = bytes;
  copy.cta = place.cta;
  copy.shared = place.address;
  copy.origin = thread.origin();
  return copy;
}

void executeBulkLoad(Thread &thread) {
  const Call &call = thread.call;
  auto copy = describeFlatCopy(thread, BulkCopy::Kind::Load, call.operand32(0), call.operands[1], call.operand32(2));
  const SharedPlace barrier = locateShared(thread, call.operand32(3), 8, 8);
  if (copy && barrier) {
    startLoad(thread, *copy, barrier);
  }
}

void executeBulkStore(Thread &thread) {
  const Call &call = thread.call;
  if (auto copy =
          describeFlatCopy(thread, BulkCopy::Kind::Store, call.operand32(1), call.operands[0], call.operand32(2))) {
    startStore(thread, *copy);
  }
}

} // namespace jitk::emulator
