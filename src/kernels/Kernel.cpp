#include "src/kernels/Kernel.h"

#include "src/ir/tile/Tile.h"
#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"
#include "src/kernels/attention/FlashAttention.h"
#include "src/kernels/attention/MlaDecode.h"
#include "src/kernels/attention/PagedAttention.h"
#include "src/kernels/fp8/Fp8BlockMatmul.h"
#include "src/kernels/linear_attention/GatedDeltaRule.h"
#include "src/kernels/matmul/Matmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"

namespace jitk::kernels {
namespace {

using Builder = Result<BuiltKernel> (*)(const Description &, const Target &, mlir::MLIRContext &);

struct Family {
  llvm::StringRef op;
  Builder build;
};

constexpr Family kFamilies[] = {
    {"matmul", buildMatmul},
    {"flash_attention", buildFlashAttention},
    {"mla_decode", buildMlaDecode},
    {"paged_attention", buildPagedAttention},
    {"fp8_block_matmul", buildFp8BlockMatmul},
    {"grouped_fp8_block_matmul", buildFp8BlockMatmul},
    {"gated_delta_rule", buildGatedDeltaRule},
};

} // namespace

void loadKernelDialects(mlir::MLIRContext &context) {
  context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, ir::tt::TtDialect,
                      ir::ttg::TtgDialect, ir::ttng::TtngDialect, ir::tile::TileDialect>();
}

Result<BuiltKernel> buildKernel(const Description &description, const Target &target, mlir::MLIRContext &context) {
  for (const Family &family : kFamilies) {
    if (family.op == description.op()) {
      Result<BuiltKernel> built = family.build(description, target, context);
      if (built.ok() && failed(mlir::verify(*built->module))) {
        return internalError("the builder of " + description.op() + " made IR that does not verify");
      }
      return built;
    }
  }
  return unsupported("no kernel family builds the op: got " + description.op());
}

} // namespace jitk::kernels
