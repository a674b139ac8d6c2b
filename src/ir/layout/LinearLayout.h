// Linear layouts: where each element of a tensor lives, as a map that is linear over F2.
//
// All sizes are powers of two and an index is the vector of its bits. A layout maps named inputs (register, lane, warp,
// block of a distributed tensor; offset, block of one in shared memory) to named outputs (dim0, dim1, ...). Linear
// means L(x XOR y) = L(x) XOR L(y): the layout is given by the images of the unit bits of its inputs, its *bases*, and
// L(x) is the XOR of the bases of the bits set in x. A zero basis is a broadcast: inputs that differ in that bit hold
// the same element.
//
// Where several inputs or outputs are taken as one number (flatten, reshape, inverse), the first named is the most
// minor.
//
// Layouts are values: built whole, never modified. Preconditions are asserted; the functions that can fail on sound
// layouts return an optional.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace jitk::ir {

class LinearLayout {
public:
  /// The image of one input bit: a coordinate of each output, in the order of the outputs.
  using Basis = llvm::SmallVector<int32_t, 4>;
  using Names = llvm::SmallVector<llvm::StringRef, 4>;
  /// A dimension's name and an index, or a size, in it.
  using Index = std::pair<llvm::StringRef, int32_t>;

  struct InDim {
    std::string name;
    std::vector<Basis> bases; ///< lowest bit first
    bool operator==(const InDim &) const = default;
  };
  struct OutDim {
    std::string name;
    int32_t size; ///< a power of two
    bool operator==(const OutDim &) const = default;
  };

  /// The layout without inputs and outputs: the neutral element of the product.
  LinearLayout() = default;

  /// Each basis has one coordinate, smaller than its size, for each output.
  LinearLayout(std::vector<InDim> ins, std::vector<OutDim> outs);

  /// x -> stride * x.
  static LinearLayout strided1D(int32_t size, int32_t stride, llvm::StringRef inDim, llvm::StringRef outDim);
  /// x -> x.
  static LinearLayout identity1D(int32_t size, llvm::StringRef inDim, llvm::StringRef outDim);
  /// x -> 0.
  static LinearLayout zeros1D(int32_t size, llvm::StringRef inDim, llvm::StringRef outDim, int32_t outDimSize = 1);

  // --- Dimensions. An input that a layout does not have counts as one of size 1.

  llvm::ArrayRef<InDim> getInDims() const { return ins_; }
  llvm::ArrayRef<OutDim> getOutDims() const { return outs_; }
  unsigned getNumInDims() const { return ins_.size(); }
  unsigned getNumOutDims() const { return outs_.size(); }
  Names getInDimNames() const;
  Names getOutDimNames() const;
  bool hasInDim(llvm::StringRef inDim) const;
  bool hasOutDim(llvm::StringRef outDim) const;
  unsigned getOutDimIndex(llvm::StringRef outDim) const;
  int32_t getInDimSizeLog2(llvm::StringRef inDim) const;
  int32_t getInDimSize(llvm::StringRef inDim) const { return 1 << getInDimSizeLog2(inDim); }
  int32_t getOutDimSizeLog2(llvm::StringRef outDim) const;
  int32_t getOutDimSize(llvm::StringRef outDim) const { return 1 << getOutDimSizeLog2(outDim); }
  int32_t getTotalInDimSizeLog2() const;
  int32_t getTotalInDimSize() const { return 1 << getTotalInDimSizeLog2(); }
  int32_t getTotalOutDimSizeLog2() const;
  int32_t getTotalOutDimSize() const { return 1 << getTotalOutDimSizeLog2(); }

  // --- Bases.

  llvm::ArrayRef<Basis> getBases(llvm::StringRef inDim) const;
  llvm::ArrayRef<int32_t> getBasis(llvm::StringRef inDim, int32_t bit) const { return getBases(inDim)[bit]; }
  int32_t getBasis(llvm::StringRef inDim, int32_t bit, llvm::StringRef outDim) const {
    return getBasis(inDim, bit)[getOutDimIndex(outDim)];
  }

  // --- The map itself.

  /// The outputs, in their order, of the given inputs. Inputs that are not named are 0.
  Basis apply(llvm::ArrayRef<Index> indices) const;

  /// The same on flattened numbers.
  uint64_t applyFlat(uint64_t index) const;

  /// One flattened output for each input bit, over all inputs in their order.
  llvm::SmallVector<uint64_t> getFlatBases() const;

  /// The number of output bits that inputs can reach independently.
  unsigned rank() const;
  /// Every output is reached.
  bool isSurjective() const { return rank() == unsigned(getTotalOutDimSizeLog2()); }
  /// No two inputs reach one output.
  bool isInjective() const { return rank() == unsigned(getTotalInDimSizeLog2()); }
  bool isInvertible() const { return isInjective() && isSurjective(); }
  /// Inputs and outputs, both flattened, are the same number.
  bool isIdentity() const;

  /// For each input, the bits that are not needed to reach an output: those whose basis depends on earlier ones.
  llvm::StringMap<int32_t> getFreeVariableMasks() const;

  /// The largest n such that the first n flattened inputs go to the flattened outputs 0, 1, ..., n-1 and every other
  /// input keeps such runs whole: the width of a vector access.
  int32_t getNumConsecutiveInOut() const;

  /// Whether the outputs `outDims` never change with the inputs `inDims`.
  bool sublayoutIsZero(llvm::ArrayRef<llvm::StringRef> inDims, llvm::ArrayRef<llvm::StringRef> outDims) const;

  // --- Products and quotients.

  /// Puts the bits of `outer` above those of this layout, in each input and each output.
  LinearLayout operator*(const LinearLayout &outer) const;
  LinearLayout &operator*=(const LinearLayout &outer) { return *this = *this * outer; }

  /// q such that `divisor * q` is this layout (but for the order of dimensions), if there is one. All dimensions of
  /// this layout are kept, if only with size 1.
  std::optional<LinearLayout> divideLeft(const LinearLayout &divisor) const;
  /// q such that `q * divisor` is this layout.
  std::optional<LinearLayout> divideRight(const LinearLayout &divisor) const;

  /// This layout without `dims`, each of which is an input and an output of one size, if it is the identity on them and
  /// they touch nothing else.
  std::optional<LinearLayout> quotient(llvm::ArrayRef<llvm::StringRef> dims) const;

  // --- Composition and inverse.

  /// outer(this(x)). The outputs of this layout are the inputs of `outer`, which may be larger.
  LinearLayout compose(const LinearLayout &outer) const;

  /// Requires an invertible layout.
  LinearLayout invert() const;

  /// P such that L P L = L: a right inverse of a surjective layout, a left inverse of an injective one. Free input bits
  /// and outputs that nothing reaches get zero.
  LinearLayout pseudoinvert() const;

  /// C = outer^-1(this(x)): from the inputs of this layout to those inputs of `outer` that have the same outputs, zero
  /// in the free bits of `outer`. Both have the same outputs, in any order.
  LinearLayout invertAndCompose(const LinearLayout &outer) const;

  // --- Rearrangement.

  /// The inputs `inDims` and the outputs `outDims` alone, in the layout's order.
  LinearLayout sublayout(llvm::ArrayRef<llvm::StringRef> inDims, llvm::ArrayRef<llvm::StringRef> outDims) const;
  /// Without the bits of `inDim` whose bases are zero.
  LinearLayout removeZeroBasesAlongDim(llvm::StringRef inDim) const;
  /// `inDim` cut to its first bits, or grown by zero bases.
  LinearLayout resizeInDim(llvm::StringRef inDim, int32_t newSize) const;
  /// `outDim` grown (then nothing reaches the new part), or cut: coordinates beyond become zero.
  LinearLayout resizeOutDim(llvm::StringRef outDim, int32_t newSize) const;
  LinearLayout renameInDim(llvm::StringRef oldDim, llvm::StringRef newDim) const;
  LinearLayout renameOutDim(llvm::StringRef oldDim, llvm::StringRef newDim) const;
  /// The same dimensions in the order of `newOrder`.
  LinearLayout transposeIns(llvm::ArrayRef<llvm::StringRef> newOrder) const;
  LinearLayout transposeOuts(llvm::ArrayRef<llvm::StringRef> newOrder) const;
  /// Cuts the flattened input (output) into new dimensions, the first the most minor. Sizes multiply to the old total.
  LinearLayout reshapeIns(llvm::ArrayRef<Index> newDims) const;
  LinearLayout reshapeOuts(llvm::ArrayRef<Index> newDims) const;
  /// One dimension that has the name of the first.
  LinearLayout flattenIns() const;
  LinearLayout flattenOuts() const;
  /// The inputs of both side by side; the outputs are the same.
  LinearLayout concatIns(const LinearLayout &other) const;
  /// The outputs of both side by side; the inputs are the same.
  LinearLayout concatOuts(const LinearLayout &other) const;

  /// Equal maps with equal dimensions in equal order.
  bool operator==(const LinearLayout &) const = default;

  void print(llvm::raw_ostream &os) const;
  std::string toString() const;

private:
  std::vector<InDim> ins_;
  std::vector<OutDim> outs_;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const LinearLayout &layout);

} // namespace jitk::ir
