#include "src/kernels/linear_attention/GatedDeltaRule.h"

#include "src/kernels/linear_attention/ChunkedDeltaRule.h"
#include "src/kernels/linear_attention/RecurrentDeltaRule.h"

namespace jitk::kernels {

Result<BuiltKernel> buildGatedDeltaRule(const Description &description, const Target &target,
                                        mlir::MLIRContext &context) {
  return description.word("mode") == "recurrent" ? buildRecurrentDeltaRule(description, target, context)
                                                 : buildChunkedDeltaRule(description, target, context);
}

} // namespace jitk::kernels
