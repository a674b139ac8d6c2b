// Builds LLVM and ptx dialect operations while folding what is already known.
//
// Index arithmetic of tensors is the same few patterns repeated for each register, most of it on constants. Folding it
// here is cheaper than creating it and having LLVM's optimizer find it again.

#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace jitk::nvidia {

/// An OpBuilder for the body of one llvm.func. Operations get the location set by `setLoc`. Constants are made once a
/// function, at its start, so that they dominate every use.
class LoweringBuilder : public mlir::OpBuilder {
public:
  /// `entry` is the entry block of the function; constants are inserted at its start.
  explicit LoweringBuilder(mlir::Block *entry);

  mlir::Location loc() const { return loc_; }
  void setLoc(mlir::Location loc) { loc_ = loc; }

  // Constants.
  mlir::Value constant(mlir::Type type, mlir::TypedAttr value);
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value floating(mlir::Type type, double value);
  mlir::Value boolean(bool value) { return integer(getI1Type(), value); }
  mlir::Value i32(int64_t value) { return integer(getI32Type(), value); }
  mlir::Value i64(int64_t value) { return integer(getI64Type(), value); }
  mlir::Value f32(double value) { return floating(getF32Type(), value); }
  /// All bits zero, of any integer, float or pointer type.
  mlir::Value zero(mlir::Type type);
  mlir::Value undef(mlir::Type type);

  /// The value of an integer constant, sign-extended.
  static std::optional<int64_t> constantOf(mlir::Value value);

  // Integer arithmetic; operands of one type. Identities and constants are folded.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value udiv(mlir::Value a, int64_t powerOfTwo);
  mlir::Value urem(mlir::Value a, int64_t powerOfTwo);
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b);
  mlir::Value shiftLeft(mlir::Value a, unsigned amount);
  mlir::Value shiftRight(mlir::Value a, unsigned amount); ///< logical
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, integer(a.getType(), b)); }
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, integer(a.getType(), b)); }
  mlir::Value bitAnd(mlir::Value a, int64_t b) { return bitAnd(a, integer(a.getType(), b)); }
  mlir::Value bitOr(mlir::Value a, int64_t b) { return bitOr(a, integer(a.getType(), b)); }
  mlir::Value bitXor(mlir::Value a, int64_t b) { return bitXor(a, integer(a.getType(), b)); }

  // Comparison, choice and conversion.
  mlir::Value compare(mlir::LLVM::ICmpPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, int64_t b);
  mlir::Value less(mlir::Value a, int64_t b); ///< unsigned
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);
  mlir::Value logicalAnd(mlir::Value a, mlir::Value b); ///< i1; a null value is true
  mlir::Value bitcast(mlir::Value value, mlir::Type type);
  /// Integer to integer of any width, zero-extended or truncated.
  mlir::Value resizeUnsigned(mlir::Value value, mlir::Type type);

  /// The bits of a register value (integer, float or pointer) as an integer of its width; i1 becomes i8.
  mlir::Value toBits(mlir::Value value);
  /// The inverse of `toBits`.
  mlir::Value fromBits(mlir::Value bits, mlir::Type type);

  /// The address `pointer + bytes`.
  mlir::Value offsetPointer(mlir::Value pointer, mlir::Value bytes);

  // Target instructions: rows of ir/ptx/Instructions.h, which gives the types of the results.
  mlir::ResultRange inst(llvm::StringRef form, mlir::ValueRange operands, llvm::ArrayRef<int64_t> immediates = {});
  /// The same for a row with one result.
  mlir::Value instValue(llvm::StringRef form, mlir::ValueRange operands = {}, llvm::ArrayRef<int64_t> immediates = {});

private:
  mlir::Location loc_;
  mlir::Block *entry_;
  mlir::Operation *lastConstant_ = nullptr;
  llvm::DenseMap<std::pair<mlir::Type, mlir::Attribute>, mlir::Value> constants_;
};

} // namespace jitk::nvidia
