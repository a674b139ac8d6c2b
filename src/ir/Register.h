// The dialects of jitk, in one call.

#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace jitk::ir {

/// Registers `tile`, `tt`, `ttg`, `ttng`, `ptx`, and the upstream dialects that their programs use.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace jitk::ir
