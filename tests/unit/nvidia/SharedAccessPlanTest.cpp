// Plans of shared-memory accesses, checked by moving every element: what the instructions of a plan would transfer must
// be the layout's own elements.

#include "backends/nvidia/codegen/lowering/SharedAccessPlan.h"

#include <doctest/doctest.h>
#include <set>

using namespace jitk::nvidia;
using Kind = SharedAccessPlan::Kind;

namespace {
int32_t combine(llvm::ArrayRef<int32_t> bases, unsigned index) {
  int32_t offset = 0;
  for (size_t bit = 0; bit < bases.size(); ++bit) {
    offset ^= (index >> bit & 1) ? bases[bit] : 0;
  }
  return offset;
}

/// The offset of the element that register `first`'s access puts in element `k` of matrix `m` of `lane`.
int32_t transferred(const SharedAccessPlan &plan, const OffsetBases &bases, unsigned lane, unsigned first, unsigned m,
                    unsigned k, unsigned perWord) {
  int32_t start = bases.ofRegister(first);
  switch (plan.kind) {
  case Kind::Vector:
    return (start ^ combine(bases.lanes, lane)) + int32_t(k);
  case Kind::Matrix: {
    unsigned row = lane / 4, address = m * 8 + row;
    return (start ^ combine(plan.rowBases, address)) + int32_t((lane % 4) * perWord + k);
  }
  case Kind::MatrixTransposed: {
    unsigned row = 2 * (lane % 4) + k, address = m * 8 + row;
    return (start ^ combine(plan.rowBases, address)) + int32_t(lane / 4);
  }
  }
  return -1;
}

/// Every register of every lane gets its element, exactly once.
void checkMovesAll(const SharedAccessPlan &plan, const OffsetBases &bases, unsigned elementBits) {
  unsigned numRegisters = 1u << bases.registers.size();
  std::set<std::pair<unsigned, unsigned>> moved;
  for (unsigned first = 0; first < numRegisters; ++first) {
    if (first & plan.coveredBits()) {
      continue;
    }
    for (unsigned lane = 0; lane < (1u << bases.lanes.size()); ++lane) {
      for (unsigned m = 0; m < plan.numMatrices(); ++m) {
        for (unsigned k = 0; k < plan.numElements(); ++k) {
          unsigned reg = plan.member(first, m, k);
          CAPTURE(reg);
          CAPTURE(lane);
          CHECK(transferred(plan, bases, lane, first, m, k, 32 / elementBits) ==
                (bases.ofRegister(reg) ^ combine(bases.lanes, lane)));
          CHECK(moved.insert({lane, reg}).second);
        }
      }
    }
  }
  CHECK(moved.size() == size_t(numRegisters) << bases.lanes.size());
}

// Rows of 64 16-bit elements with a 128-byte swizzle: element (r, c) lies at 64 r + (c XOR 8 (r mod 8)).
constexpr int32_t row1 = 64 ^ 8, row2 = 128 ^ 16, row4 = 256 ^ 32, row8 = 512;
} // namespace

TEST_SUITE("nvidia/SharedAccessPlan") {
  TEST_CASE("a thread's row of 16 bytes is one vector") {
    OffsetBases bases = {{1, 2, 4}, {8, 16, 32, row1, row2}, {}, {}};
    SharedAccessPlan plan = SharedAccessPlan::of(bases, 16, true);
    CHECK(plan.kind == Kind::Vector);
    CHECK(plan.numElements() == 8);
    checkMovesAll(plan, bases, 16);
  }

  TEST_CASE("no vector is wider than 16 bytes") {
    OffsetBases bases = {{1, 2, 4, 8}, {16, 32, 64, 128, 256}, {}, {}};
    CHECK(SharedAccessPlan::of(bases, 16, true).numElements() == 8);
    CHECK(SharedAccessPlan::of(bases, 32, true).numElements() == 4);
    CHECK(SharedAccessPlan::of(bases, 8, true).numElements() == 16);
  }

  TEST_CASE("a vector's registers need not be the lowest ones") {
    OffsetBases bases = {{row1, 2, 1}, {4, 8, 16, 32, row2}, {}, {}};
    SharedAccessPlan plan = SharedAccessPlan::of(bases, 32, false);
    CHECK(plan.elementBits == llvm::SmallVector<unsigned, 4>{2, 1});
    checkMovesAll(plan, bases, 32);
  }

  TEST_CASE("a vector that another bit would break is narrower") {
    // Lane bit 0 moves element 2 too: runs of two stay whole, runs of four do not.
    OffsetBases bases = {{1, 2}, {4 ^ 2, 8, 16, 32, row1}, {}, {}};
    SharedAccessPlan plan = SharedAccessPlan::of(bases, 32, false);
    CHECK(plan.numElements() == 2);
    checkMovesAll(plan, bases, 32);
  }

  TEST_CASE("the left fragment of a tensor core is four matrices") {
    // Registers: pair along K, row + 8, K + 8, K + 16. Lanes: K 2, 4, rows 1, 2, 4.
    OffsetBases bases = {{1, row8, 8, 16}, {2, 4, row1, row2, row4}, {}, {}};
    SharedAccessPlan plan = SharedAccessPlan::of(bases, 16, true);
    CHECK(plan.kind == Kind::Matrix);
    CHECK(plan.numMatrices() == 4);
    checkMovesAll(plan, bases, 16);
    CHECK(SharedAccessPlan::of(bases, 16, false).kind == Kind::Vector);
  }

  TEST_CASE("a fragment across the rows of the buffer is transposed matrices") {
    // Registers: pair along the rows, rows + 8. Lanes: rows 2, 4, elements 1, 2, 4 of a row.
    OffsetBases bases = {{row1, row8, 8}, {row2, row4, 1, 2, 4}, {}, {}};
    SharedAccessPlan plan = SharedAccessPlan::of(bases, 16, true);
    CHECK(plan.kind == Kind::MatrixTransposed);
    CHECK(plan.numMatrices() == 4);
    checkMovesAll(plan, bases, 16);
  }

  TEST_CASE("bytes and 32-bit elements have matrices too, without transposition") {
    OffsetBases bytes = {{1, 2, 512}, {4, 8, 128, 256, 1024}, {}, {}};
    SharedAccessPlan plan = SharedAccessPlan::of(bytes, 8, true);
    CHECK(plan.kind == Kind::Matrix);
    checkMovesAll(plan, bytes, 8);
    OffsetBases words = {{512}, {1, 2, 32, 64, 128}, {}, {}};
    plan = SharedAccessPlan::of(words, 32, true);
    CHECK(plan.kind == Kind::Matrix);
    CHECK(plan.numMatrices() == 2);
    checkMovesAll(plan, words, 32);
    OffsetBases across = {{512, 1024}, {128, 256, 1, 2, 4}, {}, {}};
    CHECK(SharedAccessPlan::of(across, 8, true).kind == Kind::Vector);
  }

  TEST_CASE("a row that warps share within 16 bytes is no matrix row") {
    OffsetBases bases = {{1, row8}, {2, 4, row1, row2, row4}, {4}, {}};
    CHECK(SharedAccessPlan::of(bases, 16, true).kind == Kind::Vector);
  }
}
