#include "src/ir/Register.h"

#include "src/ir/ptx/Ptx.h"
#include "src/ir/tile/Tile.h"
#include "src/ir/ttng/Ttng.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace jitk::ir {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::gpu::GPUDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  registry.insert<ptx::PtxDialect, tile::TileDialect, tt::TtDialect, ttg::TtgDialect, ttng::TtngDialect>();
}

} // namespace jitk::ir
