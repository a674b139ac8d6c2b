// The syntax of dependency tokens and of barriers with predicates, which the generated parsers call.

#pragma once

#include "mlir/IR/OpImplementation.h"

namespace jitk::ir::ttng {

/// `[%dep]`, or `[]` for a token that is given but not taken; nothing without a token.
mlir::ParseResult parseToken(mlir::OpAsmParser &parser, std::optional<mlir::OpAsmParser::UnresolvedOperand> &dep,
                             mlir::Type &token);
void printToken(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value dep, mlir::Type token);

/// `, %barrier[%pred]`, any number of times.
mlir::ParseResult parseBarriersAndPreds(mlir::OpAsmParser &parser,
                                        llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &barriers,
                                        llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &preds);
void printBarriersAndPreds(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange barriers,
                           mlir::OperandRange preds);

} // namespace jitk::ir::ttng
