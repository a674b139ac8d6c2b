// How the threads of a CTA read or write a buffer in shared memory with the registers of a tensor: a list of
// instructions, the same for all threads, and a linear function of lane and warp that each thread adds its own address
// by.
//
// The byte address of an instruction of the list, for one thread, is
//
//   base + ((lanePart ^ warpPart ^ blockPart ^ viewOffset ^ access.xorOffset) + access.addOffset) * elementBytes
//
// where a part is the XOR of the bases selected by the bits of the lane, warp or block, and viewOffset the offset that
// a slice of a buffer carries. Offsets count elements. Everything but the two constants of the access is common to the
// list.

#pragma once

#include "src/ir/layout/LinearLayout.h"

namespace jitk::ir {

/// What a target can do, and the elements that are moved.
struct LocalAccessOptions {
  unsigned elementBits = 16;    ///< as stored: 8, 16, 32 or 64
  unsigned maxVectorBits = 128; ///< of a load or store of one thread
  bool hasMatrix = false;       ///< ldmatrix for loads (sm_75), stmatrix for stores (sm_90)
};

enum class LocalAccessForm {
  Vector,          ///< ld.shared.v, st.shared.v: each thread moves neighbours in memory
  Matrix,          ///< ldmatrix, stmatrix: rows of 16 bytes, whose addresses come from 8 lanes a matrix
  MatrixTransposed ///< the same with .trans: a thread's elements lie in different rows; 16-bit elements only
};

/// One instruction.
struct LocalAccessStep {
  /// Vector: element i of the vector is in register `registers[i]`. Matrix: the i-th 32 bits of the instruction's
  /// operand hold the registers from i * 32 / elementBits on, the first in the low bits.
  llvm::SmallVector<unsigned, 8> registers;
  int32_t xorOffset = 0; ///< changes bits that lane, warp, block or view may set
  int32_t addOffset = 0; ///< changes bits that nothing else sets: fits the instruction's immediate
};

struct LocalAccess {
  LocalAccessForm form = LocalAccessForm::Vector;
  unsigned elementBits = 16;
  llvm::SmallVector<LocalAccessStep, 0> steps;
  /// Elements by bit of the lane, warp and block. For a matrix form the lane is the one that gives the address of a
  /// row.
  llvm::SmallVector<int32_t> laneBases, warpBases, blockBases;
  /// Registers that hold the same as another one: (copy, original). A load fills them afterwards, a store ignores them.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 0> copies;

  /// Elements that one thread moves in one instruction.
  unsigned elementsPerStep() const { return steps.empty() ? 0 : steps.front().registers.size(); }
  unsigned bitsPerStep() const { return elementsPerStep() * elementBits; }
  /// 8x8 matrices of one instruction of a matrix form: 1, 2 or 4.
  unsigned numMatrices() const { return bitsPerStep() / 32; }
  /// Matrix forms: several rows of an instruction lie at one address. Loads may share a row; stores must not.
  bool sharesRows() const;

  int32_t lanePart(uint32_t lane) const { return combine(laneBases, lane); }
  int32_t warpPart(uint32_t warp) const { return combine(warpBases, warp); }
  int32_t blockPart(uint32_t block) const { return combine(blockBases, block); }

  /// Passes over the 32 banks that all instructions of one warp need together, and the least that their bytes need.
  unsigned countWavefronts() const;
  unsigned countNeededWavefronts() const;

private:
  static int32_t combine(llvm::ArrayRef<int32_t> bases, uint32_t index);
};

/// The access that needs the fewest wavefronts, then the fewest instructions.
///
/// `toOffset` maps register, lane, warp, block of the tensor to offset (in elements) and block of the buffer:
/// tensor.invertAndCompose(buffer). None if elements lie in the memory of other CTAs. `viewBits` are the offset bits
/// that the offset of a slice may set. Register bits in `fixedRegisters` are left out: the plan is for the registers
/// where they are 0.
std::optional<LocalAccess> planLocalAccess(const LinearLayout &toOffset, const LocalAccessOptions &options,
                                           int32_t viewBits = 0, uint32_t fixedRegisters = 0);

/// The access in one form; none if the layout does not allow it.
std::optional<LocalAccess> planLocalAccess(LocalAccessForm form, const LinearLayout &toOffset,
                                           const LocalAccessOptions &options, int32_t viewBits = 0,
                                           uint32_t fixedRegisters = 0);

} // namespace jitk::ir
