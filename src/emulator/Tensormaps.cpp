#include "src/emulator/Handlers.h"
#include "src/emulator/Memory.h"
#include "src/emulator/Rendezvous.h"
#include "src/emulator/TensorMap.h"

#include <algorithm>
#include <cstring>

namespace jitk::emulator {

using ir::ptx::TensormapField;

namespace {

/// The driver's number of an element type, which instructions count otherwise: f32 and its flushing form come before
/// f64 and bf16.
uint32_t driverElementType(uint64_t instructionType) {
  constexpr uint32_t types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
  return instructionType < std::size(types) ? types[instructionType] : 0xff;
}

void replaceField(TensorMap &map, TensormapField field, unsigned ordinal, uint64_t value) {
  switch (field) {
  case TensormapField::GlobalAddress:
    map.address = value;
    break;
  case TensormapField::Rank:
    map.rank = uint32_t(value) + 1;
    break;
  case TensormapField::BoxDim:
    map.box[ordinal] = uint32_t(value);
    break;
  case TensormapField::GlobalDim:
    map.sizes[ordinal] = uint32_t(value);
    break;
  case TensormapField::GlobalStride:
    map.strides[ordinal] = value;
    break;
  case TensormapField::ElementStride:
    map.elementStrides[ordinal] = uint32_t(value);
    break;
  case TensormapField::ElemType:
    map.elementType = driverElementType(value);
    break;
  case TensormapField::InterleaveLayout:
    map.interleave = uint32_t(value);
    break;
  case TensormapField::SwizzleMode:
    map.swizzle = uint32_t(value);
    break;
  case TensormapField::FillMode:
    map.fill = uint32_t(value);
    break;
  }
}

void publish(Warp &warp) {
  Thread &leader = warp.lanes[0];
  const SharedPlace source = readShared(leader, leader.call.operand32(1), tensorMapBytes, 128);
  uint8_t *target = globalForWrite(leader, leader.origin(), leader.call.operands[0], tensorMapBytes, 128);
  if (source && target) {
    std::memcpy(target, source.data(), tensorMapBytes);
    leader.cta->publishedMaps[leader.call.operands[0]] = {&warp, leader.clock.epoch, {}};
  }
}

} // namespace

void executeTensormapReplace(Thread &thread) {
  const Call &call = thread.call;
  const SharedPlace place = writeShared(thread, call.operand32(0), tensorMapBytes, 128);
  if (!place) {
    return;
  }
  // Zeroed memory is a map whose fields are to come.
  const TensorMap empty;
  TensorMap map = TensorMap::decode(place.data()).value_or(empty);
  const uint64_t value = call.instruction->numImmediates ? uint64_t(call.immediates[0]) : call.operands[1];
  replaceField(map, TensormapField(call.parameter(0)), unsigned(call.parameter(1)), value);
  map.encode(place.data());
}

void executeTensormapPublish(Thread &thread) {
  requireGridWait(thread, thread.call.operands[0]);
  meetWarp(thread, publish);
}

void executeTensormapAcquire(Thread &thread) {
  const auto published = thread.cta->publishedMaps.find(thread.call.operands[0]);
  if (published == thread.cta->publishedMaps.end() || !thread.cluster().tracksRaces()) {
    return;
  }
  // What comes before the publication, or beside it, acquires nothing.
  PublishedMap &map = published->second;
  if (thread.warp == map.publisher || thread.clock.knows(map.publisher->lanes[0].clock.self, map.epoch)) {
    map.acquirers.emplace_back(thread.clock.self, thread.clock.epoch);
  }
}

void requireAcquiredMap(Thread &thread, uint64_t address) {
  const auto published = thread.cta->publishedMaps.find(address);
  if (published == thread.cta->publishedMaps.end() || !thread.cluster().tracksRaces()) {
    return;
  }
  const bool acquired = std::ranges::any_of(published->second.acquirers, [&](const auto &acquirer) {
    return thread.clock.knows(acquirer.first, acquirer.second);
  });
  if (!acquired) {
    thread.report(FindingKind::TensorMap, address,
                  "the map was written by this cta, and no fence.proxy.tensormap after that comes before the copy");
  }
}

} // namespace jitk::emulator
