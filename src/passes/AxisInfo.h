// What is known of integers and pointers along each dimension of a tensor: how far they run contiguously, what divides
// them, how long they stay the same. Vector widths, coalesced layouts and asynchronous copies are chosen from it.

#pragma once

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>

namespace jitk::passes {

/// Along one dimension; all numbers are powers of two.
struct Axis {
  /// Aligned runs of this many elements count upwards one by one (pointers: element by element).
  int64_t contiguity = 1;
  /// Divides the first element of each of these runs (pointers: its address in bytes).
  int64_t divisibility = 1;
  /// Aligned runs of this many elements are equal.
  int64_t constancy = 1;

  /// What divides the first element of every aligned run of `run` elements that are `unit` apart.
  int64_t divisibilityOfRuns(int64_t run, int64_t unit = 1) const;

  bool operator==(const Axis &) const = default;
};

/// One Axis for each dimension; a scalar counts as a tensor of one element. Empty: nothing has reached the value yet.
struct AxisInfo {
  llvm::SmallVector<Axis, 2> axes;
  /// The value, where all elements have the same known one.
  std::optional<int64_t> constant;
  /// No element is negative.
  bool nonNegative = false;

  /// Nothing known of a value of this type.
  static AxisInfo unknown(mlir::Type type);
  /// What holds for both.
  static AxisInfo join(const AxisInfo &a, const AxisInfo &b);

  bool isReached() const { return !axes.empty(); }
  bool operator==(const AxisInfo &) const = default;
  void print(llvm::raw_ostream &os) const;
};

/// The facts of all values of a module, through loops, branches and calls, to a fixed point. Values that are made after
/// the analysis ran are unknown. Arguments of functions and any op may state facts as `tt.divisibility`,
/// `tt.contiguity` and `tt.constancy`: an integer, or one for each dimension.
class AxisInfoAnalysis {
public:
  explicit AxisInfoAnalysis(mlir::ModuleOp module);
  ~AxisInfoAnalysis();

  AxisInfo of(mlir::Value value) const;

  /// The elements along `dim`, counted from any multiple of the answer, that one aligned access through `pointers` may
  /// move.
  int64_t vectorLength(mlir::Value pointers, unsigned dim) const;

private:
  std::unique_ptr<mlir::DataFlowSolver> solver_;
};

} // namespace jitk::passes
