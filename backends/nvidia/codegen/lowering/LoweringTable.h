// Which function lowers which operation.

#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/DenseMap.h"

namespace jitk::nvidia {

class FunctionLowering;

/// Maps an operation's kind to the function that lowers it. A lowering reads the registers of its operands from the
/// FunctionLowering, emits at the builder's insertion point and sets the registers of its results:
///
///     LogicalResult lowerSplat(tt::SplatOp op, FunctionLowering &f) {
///       f.setAll(op.getResult(), f.scalar(op.getSrc()));
///       return success();
///     }
///     void populateViewLowerings(LoweringTable &table) { table.add(lowerSplat); }
///
/// It may split blocks, as long as it leaves the insertion point where its successor continues.
class LoweringTable {
public:
  template <typename OpT> void add(llvm::LogicalResult (*lower)(OpT, FunctionLowering &)) {
    entries_[mlir::TypeID::get<OpT>()] = {[](void (*erased)(), mlir::Operation *op, FunctionLowering &f) {
                                            return reinterpret_cast<llvm::LogicalResult (*)(OpT, FunctionLowering &)>(
                                                erased)(llvm::cast<OpT>(op), f);
                                          },
                                          reinterpret_cast<void (*)()>(lower)};
  }

  /// Lowers `op`; an operation without an entry is an error at its location.
  llvm::LogicalResult lower(mlir::Operation *op, FunctionLowering &f) const;

  /// All lowerings. Built on first use, then constant: safe to use from any thread.
  static const LoweringTable &get();

private:
  struct Entry {
    llvm::LogicalResult (*call)(void (*)(), mlir::Operation *, FunctionLowering &) = nullptr;
    void (*lower)() = nullptr;
  };
  llvm::DenseMap<mlir::TypeID, Entry> entries_;
};

// One function a file of this folder.
void populateAssertLowerings(LoweringTable &table);
void populateAsyncCopyLowerings(LoweringTable &table);
void populateAtomicLowerings(LoweringTable &table);
void populateBarrierLowerings(LoweringTable &table);
void populateBufferViewLowerings(LoweringTable &table);
void populateConstantLowerings(LoweringTable &table);
void populateControlFlowLowerings(LoweringTable &table);
void populateConvertLayoutLowerings(LoweringTable &table);
void populateDotLowerings(LoweringTable &table);
void populateElementwiseLowerings(LoweringTable &table);
void populateFenceLowerings(LoweringTable &table);
void populateFloatConversionLowerings(LoweringTable &table);
void populateFunctionLowerings(LoweringTable &table);
void populateGatherLowerings(LoweringTable &table);
void populateInlineAsmLowerings(LoweringTable &table);
void populateLoadStoreLowerings(LoweringTable &table);
void populateMapElementwiseLowerings(LoweringTable &table);
void populateMathLowerings(LoweringTable &table);
void populateMbarrierLowerings(LoweringTable &table);
void populatePrintLowerings(LoweringTable &table);
void populateProgramLowerings(LoweringTable &table);
void populateReduceLowerings(LoweringTable &table);
void populateScanLowerings(LoweringTable &table);
void populateSharedMemoryLowerings(LoweringTable &table);
void populateTensorCopyLowerings(LoweringTable &table);
void populateTensormapLowerings(LoweringTable &table);
void populateViewLowerings(LoweringTable &table);
void populateWarpAnyLowerings(LoweringTable &table);
void populateWarpGroupDotLowerings(LoweringTable &table);
void populateWarpSpecializeLowerings(LoweringTable &table);

} // namespace jitk::nvidia
