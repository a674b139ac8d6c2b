#include "src/ops/Families.h"
#include "src/ops/UserKernel.h"

namespace jitk {

using Kind = AttributeSchema::Kind;

static Status checkUserKernel(const Description &description) {
  Result<UserKernel> kernel = readUserKernel(description);
  return kernel.ok() ? okStatus() : std::move(kernel).takeStatus();
}

void addUserKernelOp(std::vector<OpSchema> &ops) {
  ops.push_back({
      .name = kUserKernelOp,
      .summary = "a kernel of the engine's own, given as source (docs/user-kernels.md)",
      .attributes =
          {
              {"language", Kind::Word, "", "what the source is written in", {"cuda", "commonir", "ttgir"}},
              {"source", Kind::Text, "", "the source itself"},
              {"entry", Kind::Text, "", "name of the kernel in it; of a CUDA template its instance, `scale<float, 4>`"},
              {"arguments", Kind::Text, "", "the kernel's parameters, `x: read fp32[n], y: written fp32[n], n: int32`"},
              {"grid", Kind::Text, "", "one to three numbers of blocks, `ceil(n/256), batch`"},
              {"block", Kind::Text, "", "one to three numbers of threads; for cuda alone, the IR says it itself"},
              {"shared", Kind::Text, "", "bytes of dynamic shared memory; for cuda alone"},
              {"workspace", Kind::Text, "", "bytes of workspace, `4*n`"},
              {"options", Kind::Text, "", "options of NVRTC, `-DTILE=32 --use_fast_math`; for cuda alone"},
              {"headers", Kind::Text, "", "what the source includes, each after a line `#header name`; for cuda alone"},
          },
      .tensors = {},
      .scalars = {},
      .ownDimensions = true,
      .check = checkUserKernel,
  });
}

} // namespace jitk
