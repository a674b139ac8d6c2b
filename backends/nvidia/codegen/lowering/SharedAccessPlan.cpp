#include "backends/nvidia/codegen/lowering/SharedAccessPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using llvm::ArrayRef;

namespace jitk::nvidia {

constexpr unsigned kVectorBits = 128;
constexpr unsigned kWordBits = 32;

int32_t OffsetBases::ofRegister(unsigned reg) const {
  int32_t offset = 0;
  for (auto [bit, basis] : llvm::enumerate(registers)) {
    offset ^= (reg >> bit & 1) ? basis : 0;
  }
  return offset;
}

unsigned SharedAccessPlan::member(unsigned first, unsigned m, unsigned k) const {
  for (auto [position, bit] : llvm::enumerate(matrixBits)) {
    first |= (m >> position & 1) << bit;
  }
  for (auto [position, bit] : llvm::enumerate(elementBits)) {
    first |= (k >> position & 1) << bit;
  }
  return first;
}

uint32_t SharedAccessPlan::coveredBits() const {
  uint32_t covered = 0;
  for (ArrayRef<unsigned> bits : {ArrayRef(elementBits), ArrayRef(matrixBits)}) {
    for (unsigned bit : bits) {
      covered |= 1u << bit;
    }
  }
  return covered;
}

/// Whether no basis, except those of the named registers and lanes, moves an offset within a run of `run` elements.
static bool keepsRuns(const OffsetBases &bases, int32_t run, uint32_t exceptRegisters, uint32_t exceptLanes) {
  auto keeps = [&](ArrayRef<int32_t> part, uint32_t except) {
    for (auto [bit, basis] : llvm::enumerate(part)) {
      if (!(except >> bit & 1) && (basis & (run - 1))) {
        return false;
      }
    }
    return true;
  };
  return keeps(bases.registers, exceptRegisters) && keeps(bases.lanes, exceptLanes) && keeps(bases.warps, 0) &&
         keeps(bases.blocks, 0);
}

/// Register bits that number consecutive elements, up to `limit` bits of them.
static llvm::SmallVector<unsigned, 4> consecutive(const OffsetBases &bases, unsigned limit) {
  llvm::SmallVector<unsigned, 4> bits;
  while (bits.size() < limit) {
    auto found = llvm::find(bases.registers, int32_t(1) << bits.size());
    if (found == bases.registers.end()) {
      break;
    }
    bits.push_back(found - bases.registers.begin());
  }
  return bits;
}

static uint32_t maskOf(ArrayRef<unsigned> bits) {
  uint32_t mask = 0;
  for (unsigned bit : bits) {
    mask |= 1u << bit;
  }
  return mask;
}

static SharedAccessPlan vectorPlan(const OffsetBases &bases, unsigned elementBits) {
  SharedAccessPlan plan;
  plan.elementBits = consecutive(bases, llvm::Log2_32(kVectorBits / elementBits));
  while (!keepsRuns(bases, int32_t(plan.numElements()), maskOf(plan.elementBits), 0)) {
    plan.elementBits.pop_back();
  }
  return plan;
}

/// Adds up to two register bits that number matrices, and the addresses of their rows.
static void addMatrices(SharedAccessPlan &plan, const OffsetBases &bases) {
  uint32_t used = maskOf(plan.elementBits);
  for (auto [bit, basis] : llvm::enumerate(bases.registers)) {
    if (plan.matrixBits.size() < 2 && basis != 0 && !(used >> bit & 1)) {
      plan.matrixBits.push_back(bit);
    }
  }
  for (unsigned bit : plan.matrixBits) {
    plan.rowBases.push_back(bases.registers[bit]);
  }
}

static std::optional<SharedAccessPlan> matrixPlan(const OffsetBases &bases, unsigned elementBits) {
  if (elementBits > kWordBits || bases.lanes.size() != 5) {
    return std::nullopt;
  }
  int32_t perWord = int32_t(kWordBits / elementBits);
  SharedAccessPlan plan;
  plan.kind = SharedAccessPlan::Kind::Matrix;
  plan.elementBits = consecutive(bases, llvm::Log2_32(perWord));
  bool words = plan.numElements() == unsigned(perWord) && bases.lanes[0] == perWord && bases.lanes[1] == 2 * perWord;
  if (!words || !keepsRuns(bases, 4 * perWord, maskOf(plan.elementBits), 0b11)) {
    return std::nullopt;
  }
  plan.rowBases = {bases.lanes[2], bases.lanes[3], bases.lanes[4]};
  addMatrices(plan, bases);
  return plan;
}

static std::optional<SharedAccessPlan> transposedPlan(const OffsetBases &bases, unsigned elementBits) {
  if (elementBits != 16 || bases.lanes.size() != 5) {
    return std::nullopt;
  }
  auto pair = llvm::find_if(bases.registers, [](int32_t basis) { return basis != 0; });
  bool elements = bases.lanes[2] == 1 && bases.lanes[3] == 2 && bases.lanes[4] == 4;
  if (!elements || pair == bases.registers.end() || !keepsRuns(bases, 8, 0, 0b11100)) {
    return std::nullopt;
  }
  SharedAccessPlan plan;
  plan.kind = SharedAccessPlan::Kind::MatrixTransposed;
  plan.elementBits = {unsigned(pair - bases.registers.begin())};
  plan.rowBases = {*pair, bases.lanes[0], bases.lanes[1]};
  addMatrices(plan, bases);
  return plan;
}

SharedAccessPlan SharedAccessPlan::of(const OffsetBases &bases, unsigned elementBits, bool matrices) {
  if (matrices) {
    if (std::optional<SharedAccessPlan> plan = matrixPlan(bases, elementBits)) {
      return *plan;
    }
    if (std::optional<SharedAccessPlan> plan = transposedPlan(bases, elementBits)) {
      return *plan;
    }
  }
  return vectorPlan(bases, elementBits);
}

} // namespace jitk::nvidia
