#include "src/emulator/Formats.h"
#include "src/emulator/Handlers.h"
#include "src/emulator/Memory.h"
#include "src/emulator/MultiplyAccumulate.h"
#include "src/emulator/Rendezvous.h"

namespace jitk::emulator {

using ir::ptx::Element;

namespace {

constexpr unsigned m = 16;
constexpr unsigned n = 8;
constexpr unsigned maxK = 32;

/// One operand's elements as numbers, in the type of the sum.
template <typename Number> Number numberOf(Element element, uint32_t bits) {
  if constexpr (std::is_same_v<Number, float>) {
    return elementToFloat(element, bits);
  } else {
    return element == Element::S8 ? int32_t(int8_t(bits)) : int32_t(uint8_t(bits));
  }
}

/// A registers: lane = 4 * row + quad; register r holds row + 8 * (r & 1), columns of the quad in half r >> 1.
/// B registers: lane = 4 * column + quad; register r holds the quad's rows in half r.
template <typename Number> struct Fragments {
  Number a[m * maxK];
  Number b[maxK * n];
  Number c[m * n];

  void gatherA(Element element, unsigned k, unsigned lane, const uint64_t *registers) {
    const unsigned bits = elementBits(element);
    const unsigned perRegister = 32 / bits;
    for (unsigned r = 0; r < k / (2 * perRegister); ++r) {
      const unsigned row = lane / 4 + 8 * (r & 1);
      const unsigned column = (r >> 1) * 4 * perRegister + lane % 4 * perRegister;
      for (unsigned i = 0; i < perRegister; ++i) {
        a[row * k + column + i] = numberOf<Number>(element, uint32_t(registers[r]) >> (i * bits));
      }
    }
  }

  void gatherB(Element element, unsigned k, unsigned lane, const uint64_t *registers) {
    const unsigned bits = elementBits(element);
    const unsigned perRegister = 32 / bits;
    for (unsigned r = 0; r < k / (4 * perRegister); ++r) {
      const unsigned row = r * 4 * perRegister + lane % 4 * perRegister;
      for (unsigned i = 0; i < perRegister; ++i) {
        b[(row + i) * n + lane / 4] = numberOf<Number>(element, uint32_t(registers[r]) >> (i * bits));
      }
    }
  }
};

/// Element i of a lane's accumulator: rows lane / 4 and, from element 2 on, lane / 4 + 8.
constexpr unsigned accumulatorIndex(unsigned lane, unsigned i) {
  return (lane / 4 + 8 * (i / 2)) * n + lane % 4 * 2 + i % 2;
}

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }
uint32_t bitsOf(int32_t value) { return uint32_t(value); }

template <typename Number> void multiply(Warp &warp) {
  const Call &first = warp.lanes[0].call;
  const auto k = unsigned(first.parameter(2));
  const Element typeA = first.element(3), typeC = first.element(4), typeB = first.element(5);
  const unsigned registersA = k * elementBits(typeA) / 64;
  const unsigned registersB = k * elementBits(typeB) / 128;
  Fragments<Number> fragments;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const uint64_t *operands = warp.lanes[lane].call.operands;
    fragments.gatherA(typeA, k, lane, operands);
    fragments.gatherB(typeB, k, lane, operands + registersA);
    const uint64_t *c = operands + registersA + registersB;
    for (unsigned i = 0; i < 4; ++i) {
      Number &sum = fragments.c[accumulatorIndex(lane, i)];
      if (typeC == Element::F16) {
        sum = Number(halfToFloat(uint16_t(c[i / 2] >> (16 * (i % 2)))));
      } else {
        sum = std::bit_cast<Number>(uint32_t(c[i]));
      }
    }
  }
  multiplyAccumulate(fragments.c, fragments.a, fragments.b, m, n, k);
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint64_t *results = warp.lanes[lane].call.results;
    for (unsigned i = 0; i < 4; ++i) {
      const Number sum = fragments.c[accumulatorIndex(lane, i)];
      if (typeC != Element::F16) {
        results[i] = bitsOf(sum);
      } else if (i % 2 == 0) {
        const Number next = fragments.c[accumulatorIndex(lane, i + 1)];
        results[i / 2] = floatToHalf(float(sum)) | uint32_t(floatToHalf(float(next))) << 16;
      }
    }
  }
}

void multiplyWarp(Warp &warp) {
  if (warp.lanes[0].call.element(4) == Element::S32) {
    multiply<int32_t>(warp);
  } else {
    multiply<float>(warp);
  }
}

} // namespace

void executeMma(Thread &thread) {
  const unsigned numOperands = unsigned(thread.call.instruction->operands.size());
  for (unsigned i = 0; i < numOperands && !checkPoison(thread, thread.call.operands[i]); ++i) {
  }
  if (thread.warp->numLanes != 32) {
    thread.report(FindingKind::Unsupported, 0, "needs a full warp");
    thread.cluster().abort();
  }
  meetWarp(thread, multiplyWarp);
}

} // namespace jitk::emulator
