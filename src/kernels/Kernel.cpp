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
using Configurations = std::vector<Configuration> (*)(const Description &, const Target &);

struct Family {
  llvm::StringRef op;
  Builder build;
  Configurations configurations = nullptr; ///< null: one way to build a kernel
};

constexpr Family kFamilies[] = {
    {"matmul", buildMatmul, matmulConfigurations},
    {"flash_attention", buildFlashAttention, attentionConfigurations},
    {"mla_decode", buildMlaDecode},
    {"paged_attention", buildPagedAttention},
    {"fp8_block_matmul", buildFp8BlockMatmul, fp8Configurations},
    {"grouped_fp8_block_matmul", buildFp8BlockMatmul, fp8Configurations},
    {"gated_delta_rule", buildGatedDeltaRule},
};

const Family *findFamily(llvm::StringRef op) {
  const auto *found = llvm::find_if(kFamilies, [&](const Family &family) { return family.op == op; });
  return found == std::end(kFamilies) ? nullptr : found;
}

/// Refuses a name that no configuration of the problem has.
Status checkConfiguration(const Family &family, const Description &description, const Target &target) {
  if (!family.configurations || description.word("configuration").empty()) {
    return okStatus();
  }
  std::string known;
  for (const Configuration &each : family.configurations(description, target)) {
    if (each.name == description.word("configuration")) {
      return okStatus();
    }
    known += (known.empty() ? "" : ", ") + each.name;
  }
  return unsupported("configuration of " + description.op() + " for " + target.toString() + " must be " +
                     (known.empty() ? "left out: there is one way to build it" : "one of " + known) + ": got '" +
                     description.word("configuration") + "'");
}

} // namespace

std::vector<Configuration> configurationsOf(const Description &description, const Target &target) {
  const Family *family = findFamily(description.op());
  return family && family->configurations ? family->configurations(description, target) : std::vector<Configuration>();
}

void loadKernelDialects(mlir::MLIRContext &context) {
  context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, ir::tt::TtDialect,
                      ir::ttg::TtgDialect, ir::ttng::TtngDialect, ir::tile::TileDialect>();
}

Result<BuiltKernel> buildKernel(const Description &description, const Target &target, mlir::MLIRContext &context) {
  const Family *family = findFamily(description.op());
  if (!family) {
    return unsupported("no kernel family builds the op: got " + description.op());
  }
  JITK_TRY(checkConfiguration(*family, description, target));
  Result<BuiltKernel> built = family->build(description, target, context);
  if (built.ok() && failed(mlir::verify(*built->module))) {
    return internalError("the builder of " + description.op() + " made IR that does not verify");
  }
  return built;
}

} // namespace jitk::kernels
