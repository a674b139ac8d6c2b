// Three steps: a schedule, attention over parts of the keys, and the combination of what is split. The second is one of
// two: on sm_90a TMA moves pages (BulkDecode.h); elsewhere threads gather rows.

#include "src/kernels/attention/PagedAttention.h"

#include "src/runtime/SharedMemory.h"

#include <limits>

using namespace mlir;

namespace jitk::kernels {

static GatheredTile chooseTile(const Target &target, int64_t widest) {
  // Two tiles of keys and two of values beside the queries, of 163 or 227 KB, or of 99. The 256-wide output of 64 rows
  // is 64 registers of 256 threads.
  constexpr int64_t kWide = 128;
  if (widest <= kWide) {
    return {.rows = 64, .keys = 64, .numWarps = 4, .splitsKeys = false};
  }
  bool isSmall = sharedMemoryLimit(target.capability) < sharedMemoryLimit(80);
  return {.rows = 64, .keys = isSmall ? 16 : 32, .numWarps = 8, .splitsKeys = true};
}

/// Of 16 bytes, which TMA moves and cp.async copies.
static constexpr int64_t kAlignedElements = 8;

static PagedDecodeProblem describe(const Description &description, MLIRContext &context) {
  return {.keyCache = "k_cache",
          .valueCache = "v_cache",
          .keyDim = description.integer("head_dim"),
          .valueDim = description.integer("value_dim"),
          .pageSize = description.integer("page_size"),
          .keyHeads = description.dimension("kv_heads"),
          .isCausal = description.flag("causal"),
          .type = elementTypeOf(description.word("dtype"), context),
          .outputType = elementTypeOf(description.word("out_dtype"), context),
          .lseOfNothing = -std::numeric_limits<double>::infinity(),
          .rowsAreAligned = haveStridesOf(description, {"k_cache", "v_cache"}, kAlignedElements)};
}

Result<BuiltKernel> buildPagedAttention(const Description &description, const Target &target, MLIRContext &context) {
  return buildPagedAttention(description, chooseBulkTile(describe(description, context), target), target, context);
}

Result<BuiltKernel> buildPagedAttention(const Description &description, std::optional<BulkTile> tile,
                                        const Target &target, MLIRContext &context) {
  PagedDecodeProblem problem = describe(description, context);
  KernelSignature signature = tile
                                  ? declarePagedDecode(description, problem, bulkPieces(problem, *tile, problem.keyDim),
                                                       bulkPieces(problem, *tile, problem.valueDim))
                                  : declarePagedDecode(description, problem);
  KernelProgram program(context, signature, target);
  addScheduleStep(program, signature, description);
  if (tile) {
    addBulkStep(program, signature, problem, *tile);
  } else {
    addGatheredStep(program, signature, problem, chooseTile(target, std::max(problem.keyDim, problem.valueDim)),
                    "paged_attention");
  }
  addCombinationStep(program, signature, problem);
  return std::move(program).finish();
}

} // namespace jitk::kernels
