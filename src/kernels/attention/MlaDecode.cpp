// Three steps: a schedule, attention over parts of the keys, and the combination of what is split. All query heads
// share one key head, and the first channels of a key are its value:
//
//                 latent_dim                rope
//             +---------------------------+-----+
//   Q rows    |                           |     |   S = Q K^T over all channels, in registers
//             +---------------------------+-----+
//             +---------------------------+-----+
//   K page    |  also V                   |     |   gathered tiles of `tile.keys` rows, in a ring
//             +---------------------------+-----+
//             +---------------------------+
//   O rows    |  warpgroup 0 | warpgroup 1|         O += P V, in registers; P crosses warps through shared memory
//             +---------------------------+

#include "src/kernels/attention/MlaDecode.h"

#include "src/kernels/attention/PagedDecode.h"
#include "src/runtime/SharedMemory.h"

#include <limits>

using namespace mlir;

namespace jitk::kernels {

static GatheredTile chooseTile(const Target &target, int64_t rowSize, bool copiesAreAsync) {
  // A row of 576 channels is 1152 bytes: the queries and a ring of two key tiles fill what shared memory there is.
  // Rows that lie apart by no multiple of what cp.async copies need more of it on their way through registers.
  // The 512-wide output of 64 rows is 128 registers of 256 threads.
  uint32_t shared = sharedMemoryLimit(target.capability);
  if (shared >= sharedMemoryLimit(90) && copiesAreAsync) {
    constexpr int64_t kLargestRow = 576;
    return {.rows = 64, .keys = rowSize <= kLargestRow ? 64 : 32, .numWarps = 8, .splitsKeys = true};
  }
  return shared >= sharedMemoryLimit(80) && copiesAreAsync
             ? GatheredTile{.rows = 64, .keys = 32, .numWarps = 8, .splitsKeys = true}
             : GatheredTile{.rows = 32, .keys = 16, .numWarps = 8, .splitsKeys = true};
}

Result<BuiltKernel> buildMlaDecode(const Description &description, const Target &target, MLIRContext &context) {
  int64_t latentDim = description.integer("latent_dim");
  PagedDecodeProblem problem = {.keyCache = "kv_cache",
                                .valueCache = "kv_cache",
                                .keyDim = latentDim + description.integer("rope_dim"),
                                .valueDim = latentDim,
                                .pageSize = description.integer("page_size"),
                                .keyHeads = Dimension{.value = 1},
                                .isCausal = description.flag("causal"),
                                .type = elementTypeOf(description.word("kv_format"), context),
                                .outputType = elementTypeOf(description.word("out_dtype"), context),
                                .lseOfNothing = std::numeric_limits<double>::infinity()};
  KernelSignature signature = declarePagedDecode(description, problem);
  KernelProgram program(context, signature, target);
  addScheduleStep(program, signature, description);
  constexpr int64_t kLeastCopiedElements = 2; // 4 bytes
  bool copiesAreAsync = haveStridesOf(description, {problem.keyCache}, kLeastCopiedElements);
  addGatheredStep(program, signature, problem, chooseTile(target, problem.keyDim, copiesAreAsync), "mla_decode");
  addCombinationStep(program, signature, problem);
  return std::move(program).finish();
}

} // namespace jitk::kernels
