// The attention step of decoding over a paged cache on sm_90a: TMA moves pages, or threads gather their rows, and a
// warpgroup multiplies.

#pragma once

#include "src/kernels/attention/PagedDecode.h"

namespace jitk::kernels {

/// What a CTA works on at a time: 64 rows, so many keys, and what lies ready in shared memory.
struct BulkTile {
  int64_t keys = 64;    ///< of a block; 64 or 128
  int64_t stages = 2;   ///< blocks of keys, and of values
  bool gathers = false; ///< rows one by one, from pages of any size

  bool operator==(const BulkTile &) const = default;
};

/// The tile for a problem; none if the step does not serve it: it takes sm_90a, and heads of one or two powers of two
/// that are multiples of 64, in rows that begin at multiples of 16 bytes. Pages of a multiple of 16 keys are moved by
/// TMA, others are gathered.
std::optional<BulkTile> chooseBulkTile(const PagedDecodeProblem &problem, const Target &target);

/// The tiles that TMA moves, of keys and of values alike: what their tensors are to be declared with. None where rows
/// are gathered.
llvm::SmallVector<SharedTile> bulkPieces(const PagedDecodeProblem &problem, const BulkTile &tile, int64_t dim);

void addBulkStep(KernelProgram &program, const KernelSignature &signature, const PagedDecodeProblem &problem,
                 const BulkTile &tile);

} // namespace jitk::kernels
