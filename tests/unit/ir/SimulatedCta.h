// A CTA on paper: registers of threads and shared memory as arrays, and instructions as loops. Plans are carried out on
// it and their results compared element by element.

#pragma once

#include "src/ir/layout/LocalAccess.h"
#include "src/ir/layout/ShapeFit.h"

#include <doctest/doctest.h>
#include <vector>

namespace jitk::ir::test {

/// The number of each element, in the registers of all threads: [warp][lane][register]. -1: not written.
using Registers = std::vector<std::vector<std::vector<int64_t>>>;

inline Registers emptyRegisters(const LinearLayout &layout) {
  return Registers(layout.getInDimSize(kWarp),
                   std::vector(layout.getInDimSize(kLane), std::vector<int64_t>(layout.getInDimSize(kRegister), -1)));
}

/// Every register of block 0 holds the flattened coordinates of its element.
inline Registers fillRegisters(const LinearLayout &layout) {
  Registers registers = emptyRegisters(layout);
  for (size_t warp = 0; warp < registers.size(); ++warp) {
    for (size_t lane = 0; lane < registers[warp].size(); ++lane) {
      for (size_t reg = 0; reg < registers[warp][lane].size(); ++reg) {
        int64_t number = 0;
        for (auto [out, size] :
             llvm::zip_equal(layout.apply({{kRegister, int32_t(reg)}, {kLane, int32_t(lane)}, {kWarp, int32_t(warp)}}),
                             layout.getOutDims())) {
          number = number * size.size + out;
        }
        registers[warp][lane][reg] = number;
      }
    }
  }
  return registers;
}

/// Shared memory, one entry an element.
using Memory = std::vector<int64_t>;

struct MemoryAccess {
  Memory &memory;
  Registers &registers;
  bool isStore;
  bool isSound = true; ///< all addresses were aligned and inside the memory

  /// Moves register `reg` of a thread to or from an element of memory.
  void move(unsigned warp, unsigned lane, unsigned reg, int64_t address) {
    if (address < 0 || address >= int64_t(memory.size())) {
      isSound = false;
      return;
    }
    (isStore ? memory[address] : registers[warp][lane][reg]) = isStore ? registers[warp][lane][reg] : memory[address];
  }
};

/// ld.shared.v and st.shared.v of one thread.
inline void moveVector(MemoryAccess &access, const LocalAccessStep &step, unsigned warp, unsigned lane,
                       int64_t address) {
  access.isSound &= address % int64_t(step.registers.size()) == 0;
  for (size_t i = 0; i < step.registers.size(); ++i) {
    access.move(warp, lane, step.registers[i], address + i);
  }
}

/// ldmatrix and stmatrix, after the PTX manual: row r of matrix m lies at the address of lane 8 m + r; 32-bit word m of
/// lane l is bytes 4 (l % 4) of row l / 4, or, transposed, the two 16-bit elements of column l / 4 in rows 2 (l % 4)
/// and the next.
inline void moveMatrices(MemoryAccess &access, const LocalAccess &plan, const LocalAccessStep &step, unsigned warp,
                         llvm::ArrayRef<int64_t> rowAddresses) {
  unsigned perWord = 32 / plan.elementBits;
  for (unsigned matrix = 0; matrix < plan.numMatrices(); ++matrix) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < perWord; ++i) {
        bool isTransposed = plan.form == LocalAccessForm::MatrixTransposed;
        unsigned row = isTransposed ? 2 * (lane % 4) + i : lane / 4;
        unsigned col = isTransposed ? lane / 4 : perWord * (lane % 4) + i;
        int64_t rowAddress = rowAddresses[8 * matrix + row];
        access.isSound &= rowAddress * plan.elementBits / 8 % 16 == 0;
        access.move(warp, lane, step.registers[matrix * perWord + i], rowAddress + col);
      }
    }
  }
}

/// Carries out all steps for all threads. `registerXor` chooses a repetition; `viewOffset` is that of a slice.
inline void runAccess(const LocalAccess &plan, Memory &memory, Registers &registers, bool isStore,
                      unsigned registerXor = 0, int32_t viewOffset = 0) {
  MemoryAccess access{memory, registers, isStore};
  for (LocalAccessStep step : plan.steps) {
    for (unsigned &reg : step.registers) {
      reg ^= registerXor;
    }
    for (unsigned warp = 0; warp < registers.size(); ++warp) {
      std::vector<int64_t> addresses;
      for (unsigned lane = 0; lane < registers[warp].size(); ++lane) {
        addresses.push_back((plan.lanePart(lane) ^ plan.warpPart(warp) ^ viewOffset ^ step.xorOffset) + step.addOffset);
        if (plan.form == LocalAccessForm::Vector) {
          moveVector(access, step, warp, lane, addresses.back());
        }
      }
      if (plan.form != LocalAccessForm::Vector) {
        moveMatrices(access, plan, step, warp, addresses);
      }
    }
  }
  CHECK(access.isSound);
}

/// Fills the registers that a load leaves out.
inline void runCopies(llvm::ArrayRef<std::pair<unsigned, unsigned>> copies, Registers &registers) {
  for (auto &warp : registers) {
    for (auto &lane : warp) {
      for (auto [copy, original] : copies) {
        lane[copy] = lane[original];
      }
    }
  }
}

} // namespace jitk::ir::test
