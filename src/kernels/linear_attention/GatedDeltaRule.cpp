#include "src/kernels/linear_attention/GatedDeltaRule.h"

#include "src/kernels/linear_attention/RecurrentDeltaRule.h"

namespace jitk::kernels {

Result<BuiltKernel> buildGatedDeltaRule(const Description &description, const Target &target,
                                        mlir::MLIRContext &context) {
  if (description.word("mode") == "recurrent") {
    return buildRecurrentDeltaRule(description, target, context);
  }
  return unsupported("mode chunk");
}

} // namespace jitk::kernels
