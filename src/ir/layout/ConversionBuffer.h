// The layout of the buffer through which a tensor changes its layout: which element lies at which offset, bit by bit.
//
// On flattened bits, the offset's bits from the lowest are
//
//   vector    what one access covers: registers of both sides, or the lanes of a matrix row on one
//   word      filler up to the four bytes of a bank
//   bank      one period of the 32 banks
//   segment   addresses that share a bank: no sum of lanes of one side may lie here. Registers of both sides come
//   first,
//             then bits that are lanes of neither, then sums of a lane of one side and one of the other (this sum is
//             the swizzle)

#pragma once

#include "src/ir/layout/LocalAccess.h"

namespace jitk::ir {

/// A vector is an element's number, flattened over the tensor's dimensions.
using FlatVectors = llvm::SmallVector<uint64_t>;

/// One of the two layouts, and the form of its accesses. Matrix forms need 32 lanes.
struct ConversionSide {
  LocalAccessForm form;
  FlatVectors registers, lanes; ///< bases

  bool hasRegister(uint64_t vector) const;

  /// What the form prescribes at bit `position` of the offset; none if any register will do.
  std::optional<uint64_t> vectorBit(unsigned position, unsigned elementBits) const;

  /// The bases of what tells apart the lanes, or rows of a matrix, that share a pass over the banks, for accesses of
  /// `vectorBits`.
  FlatVectors lanesOfPass(unsigned vectorBits) const;
};

class ConversionBuffer {
public:
  /// For a tensor of `numBits` index bits. `taken` are the bases of the CTA's number, which offsets leave out. None if
  /// the forms of the two sides do not fit together.
  static std::optional<ConversionBuffer> choose(const ConversionSide &source, const ConversionSide &target,
                                                FlatVectors taken, unsigned numBits, unsigned elementBits);

  /// The offset's bits, lowest first, but for the repeatable ones.
  FlatVectors fixed() const;

  /// The highest bits: registers of both sides, over which a conversion can repeat.
  FlatVectors repeatable() const;

private:
  ConversionBuffer(const ConversionSide &source, const ConversionSide &target, FlatVectors taken, unsigned numBits,
                   unsigned elementBits)
      : source_(source), target_(target), taken_(std::move(taken)), numBits_(numBits), elementBits_(elementBits) {}

  bool chooseVector();
  void fillWord();
  void chooseSegment();
  void chooseBank();

  /// The bits that a matrix form of either side prescribes; none if the other side cannot have them there.
  std::optional<llvm::SmallVector<std::optional<uint64_t>>> prescribedBits() const;

  /// Adds to the segment those of `candidates` that add no conflict, as long as it wants more.
  void extendSegment(llvm::ArrayRef<uint64_t> candidates);
  bool causesConflict(uint64_t vector) const;

  bool isLane(uint64_t vector) const;
  bool isRepeatable(uint64_t vector) const { return source_.hasRegister(vector) && target_.hasRegister(vector); }
  unsigned vectorBits() const { return elementBits_ << vector_.size(); }

  /// What is chosen so far, together.
  FlatVectors chosen() const;
  /// Unit bits outside the span of what is chosen.
  FlatVectors candidates() const;

  const ConversionSide &source_, &target_;
  FlatVectors taken_;
  unsigned numBits_, elementBits_;
  FlatVectors vector_, word_, bank_, segment_;
  FlatVectors sourceLanes_, targetLanes_; ///< of a pass
  unsigned segmentSize_ = 0;
};

} // namespace jitk::ir
