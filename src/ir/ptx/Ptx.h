// Dialect `ptx`: one op, `ptx.inst`, whose meaning is a row of the instruction table (Instructions.h).

#pragma once

#include "src/ir/ptx/Instructions.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "src/ir/ptx/PtxDialect.h.inc"

#define GET_OP_CLASSES
#include "src/ir/ptx/PtxOps.h.inc"

namespace jitk::ir::ptx {

/// The type of a register of class `letter` (`h`, `r`, `l`, `f`, `d`, `b`); null for any other letter.
mlir::Type registerType(mlir::MLIRContext *context, char letter);

} // namespace jitk::ir::ptx
