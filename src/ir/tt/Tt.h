// The `tt` dialect: block-level tensor programs.
//
// A tensor type carries no encoding in CommonIR and a `ttg` encoding in TTGIR. An op is content with either, as long as
// its operands and results agree; the builders that infer a result type derive its encoding from the operands'.

#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "src/ir/tt/TtDialect.h.inc"
#include "src/ir/tt/TtEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "src/ir/tt/TtTypes.h.inc"

namespace jitk::ir::tt {

/// The memory that pointers and descriptors reach.
struct GlobalMemory : mlir::SideEffects::Resource::Base<GlobalMemory> {
  llvm::StringRef getName() final { return "global memory"; }
};

/// The largest number of elements of a tensor, and so of dimensions that are not 1.
inline constexpr int64_t kMaxTensorElements = 1 << 20;
inline constexpr int64_t kMaxTensorRank = 20;

/// The pointee of a pointer, or the tensor of pointees of a tensor of pointers; `type` itself if it is neither.
mlir::Type getPointeeType(mlir::Type type);

/// i1, in the shape and encoding of `type` if that is a tensor.
mlir::Type getMaskType(mlir::Type type);

/// The encoding of a tensor type; null for other types and for tensors without one.
mlir::Attribute getEncodingOrNull(mlir::Type type);

/// Reports the first tensor operand or result of `op` that breaks the rules of tensors: shape, size, encoding.
llvm::LogicalResult verifyTensorRules(mlir::Operation *op);

/// Reports tensor operands and results of `op` whose encodings differ.
llvm::LogicalResult verifySameEncoding(mlir::Operation *op);

template <typename ConcreteOp> struct TensorRules : mlir::OpTrait::TraitBase<ConcreteOp, TensorRules> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyTensorRules(op); }
};

template <typename ConcreteOp> struct SameEncoding : mlir::OpTrait::TraitBase<ConcreteOp, SameEncoding> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifySameEncoding(op); }
};

} // namespace jitk::ir::tt

#define GET_OP_CLASSES
#include "src/ir/tt/TtOps.h.inc"
