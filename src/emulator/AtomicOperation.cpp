#include "src/emulator/AtomicOperation.h"

#include "src/emulator/Formats.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace jitk::emulator {

using ir::ptx::AtomicOp;
using ir::ptx::AtomicType;

namespace {

template <typename Unsigned> Unsigned combineIntegers(AtomicOp op, Unsigned old, Unsigned value) {
  using Signed = std::make_signed_t<Unsigned>;
  switch (op) {
  case AtomicOp::Add:
    return Unsigned(old + value);
  case AtomicOp::Min:
    return Unsigned(std::min(Signed(old), Signed(value)));
  case AtomicOp::Max:
    return Unsigned(std::max(Signed(old), Signed(value)));
  case AtomicOp::UMin:
    return std::min(old, value);
  case AtomicOp::UMax:
    return std::max(old, value);
  case AtomicOp::And:
    return old & value;
  case AtomicOp::Or:
    return old | value;
  case AtomicOp::Xor:
    return old ^ value;
  case AtomicOp::Exch:
    return value;
  case AtomicOp::Inc:
    return old >= value ? 0 : Unsigned(old + 1);
  case AtomicOp::Dec:
    return old == 0 || old > value ? value : Unsigned(old - 1);
  }
  return old;
}

template <typename Float> Float combineFloats(AtomicOp op, Float old, Float value) {
  switch (op) {
  case AtomicOp::Min:
    return std::fmin(old, value);
  case AtomicOp::Max:
    return std::fmax(old, value);
  case AtomicOp::Exch:
    return value;
  default:
    return old + value;
  }
}

uint16_t combineHalves(AtomicOp op, uint16_t old, uint16_t value) {
  return floatToHalf(combineFloats(op, halfToFloat(old), halfToFloat(value)));
}

uint16_t combineBfloats(AtomicOp op, uint16_t old, uint16_t value) {
  return floatToBfloat(combineFloats(op, bfloatToFloat(old), bfloatToFloat(value)));
}

float combineSingles(const AtomicAction &action, float old, float value) {
  if (!action.flushes) {
    return combineFloats(action.op, old, value);
  }
  return flushSubnormal(combineFloats(action.op, flushSubnormal(old), flushSubnormal(value)));
}

uint64_t combineFloatBits(const AtomicAction &action, uint64_t old, uint64_t value) {
  switch (action.bytes) {
  case 2:
    return combineHalves(action.op, uint16_t(old), uint16_t(value));
  case 4:
    return std::bit_cast<uint32_t>(
        combineSingles(action, std::bit_cast<float>(uint32_t(old)), std::bit_cast<float>(uint32_t(value))));
  default:
    return std::bit_cast<uint64_t>(combineFloats(action.op, std::bit_cast<double>(old), std::bit_cast<double>(value)));
  }
}

template <typename Word> uint64_t combineWord(const AtomicAction &action, void *memory, uint64_t value) {
  std::atomic_ref<Word> cell(*static_cast<Word *>(memory));
  Word old = cell.load();
  while (!cell.compare_exchange_weak(old, Word(combine(action, old, value)))) {
  }
  return old;
}

template <typename Word> uint64_t exchangeWord(void *memory, uint64_t expected, uint64_t value) {
  std::atomic_ref<Word> cell(*static_cast<Word *>(memory));
  Word found = Word(expected);
  cell.compare_exchange_strong(found, Word(value));
  return found;
}

} // namespace

uint64_t combine(const AtomicAction &action, uint64_t old, uint64_t value) {
  const auto [op, type, bytes, flushes] = action;
  const auto low = [](uint64_t bits) { return uint16_t(bits); };
  const auto high = [](uint64_t bits) { return uint16_t(bits >> 16); };
  switch (type) {
  case AtomicType::Integer:
    return bytes == 8   ? combineIntegers<uint64_t>(op, old, value)
           : bytes == 4 ? combineIntegers<uint32_t>(op, uint32_t(old), uint32_t(value))
                        : combineIntegers<uint16_t>(op, uint16_t(old), uint16_t(value));
  case AtomicType::Float:
    return combineFloatBits(action, old, value);
  case AtomicType::F16x2:
    return combineHalves(op, low(old), low(value)) | uint32_t(combineHalves(op, high(old), high(value))) << 16;
  case AtomicType::BF16:
    return combineBfloats(op, low(old), low(value));
  case AtomicType::BF16x2:
    return combineBfloats(op, low(old), low(value)) | uint32_t(combineBfloats(op, high(old), high(value))) << 16;
  }
  return old;
}

uint64_t combineAtomically(const AtomicAction &action, void *memory, uint64_t value) {
  switch (action.bytes) {
  case 2:
    return combineWord<uint16_t>(action, memory, value);
  case 4:
    return combineWord<uint32_t>(action, memory, value);
  default:
    return combineWord<uint64_t>(action, memory, value);
  }
}

uint64_t exchangeIfEqual(unsigned bytes, void *memory, uint64_t expected, uint64_t value) {
  switch (bytes) {
  case 2:
    return exchangeWord<uint16_t>(memory, expected, value);
  case 4:
    return exchangeWord<uint32_t>(memory, expected, value);
  default:
    return exchangeWord<uint64_t>(memory, expected, value);
  }
}

} // namespace jitk::emulator
