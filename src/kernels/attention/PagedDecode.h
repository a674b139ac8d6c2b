// Decoding over a paged cache, what its ops and kernels share: which rows a CTA has, which keys, and where results go.
//
// A key head is shared by `heads / kv_heads` query heads: their queries are the rows of one tile, (query, head) in that
// order. Keys are cut into parts by a schedule made on the device (SplitSchedule.h); what a part does not finish goes
// to the workspace, and is combined afterwards.

#pragma once

#include "src/kernels/attention/SplitSchedule.h"
#include "src/kernels/vocabulary/KernelProgram.h"
#include "src/kernels/vocabulary/PagedRows.h"
#include "src/kernels/vocabulary/PartialAttention.h"

namespace jitk::kernels {

struct PagedDecodeProblem {
  llvm::StringRef keyCache, valueCache; ///< tensors; the same one where values are the first channels of the keys
  int64_t keyDim, valueDim, pageSize;
  Dimension keyHeads;
  bool isCausal;
  mlir::Type type, outputType; ///< of the cache and the queries; of the results
  double lseOfNothing;         ///< of a row that attends to nothing
  bool rowsAreAligned = true;  ///< rows of the caches begin at multiples of 16 bytes

  bool valuesAreKeys() const { return keyCache == valueCache; }
};

/// Rows of one key head, of a tile: all of each sequence's alike.
struct DecodedRows {
  int64_t size;
  mlir::Value keyHead; ///< i32
  mlir::Value rows;    ///< i32 [size]: query * heads + head, in the tensors of a sequence
  mlir::Value exists;  ///< i1 [size]
  mlir::Value queries; ///< i32 [size]
};

/// The rows of tile number `tile` (i32) of a key head.
DecodedRows locateRows(KernelBuilder &builder, const PagedDecodeProblem &problem, mlir::Value keyHead, mlir::Value tile,
                       int64_t size);

/// What a CTA of a step over the cache has: a key head, a tile of its rows, of `size` each, and a part of the schedule,
/// by number; i32.
struct DecodedTile {
  mlir::Value keyHead, tile, part;
};

DecodedTile decodedTile(KernelBuilder &builder, const PagedDecodeProblem &problem, int64_t size);
/// The grid of such a step. Key heads are side by side: the CTAs that run together read
/// whole rows of pages. A recipe divides by constants alone: where the key heads are not, there are more CTAs than
/// tiles, and those have no rows.
std::array<Expression, 3> decodeGrid(const KernelSignature &signature, const PagedDecodeProblem &problem, int64_t size);
/// The part of the schedule of that number; without sequences where the tile has no rows.
ScheduledPart partOf(KernelBuilder &builder, const PagedDecodeProblem &problem, mlir::Value number, mlir::Value tile,
                     int64_t size);

/// What a part has of one of its sequences.
struct DecodedKeys {
  mlir::Value sequence;   ///< i32
  mlir::Value length;     ///< keys of the sequence; i32
  mlir::Value begin, end; ///< the part's keys; i32, begin a multiple of kScheduleBlock
};

DecodedKeys locateKeys(KernelBuilder &builder, const ScheduledPart &part, mlir::Value sequence);
/// The first key that each row does not see; i32 [rows.size].
mlir::Value keyEnds(KernelBuilder &builder, const PagedDecodeProblem &problem, const DecodedRows &rows,
                    mlir::Value length);
/// Rows, as DecodedRows numbers them, of a sequence in a tensor of [batch, seq_q, heads, columns].
struct MatrixRows {
  MatrixView matrix;
  mlir::Value rows; ///< which of the matrix; where tokens lie apart its rows are single elements, and these i64
};
MatrixRows rowsOfSequence(KernelBuilder &builder, llvm::StringRef tensor, mlir::Value sequence, mlir::Value rows,
                          int64_t columns);
/// Base-2 scores of such rows and the keys (i32) from `firstKey` on, f32 [rows, keys]: of their products, and those
/// with -inf where a row does not see the key, of which `ends` says the first.
mlir::Value scaledScores(KernelBuilder &builder, mlir::Value products);
mlir::Value seenScores(KernelBuilder &builder, mlir::Value scores, mlir::Value firstKey, mlir::Value ends);
/// A sequence's row of the table; a pointer to i32.
mlir::Value tableOf(KernelBuilder &builder, const PagedDecodeProblem &problem, mlir::Value sequence);

/// What the cache has of a key head (i32), in rows of `dim`.
PagedCache cacheOf(KernelBuilder &builder, const PagedDecodeProblem &problem, llvm::StringRef tensor, int64_t dim,
                   mlir::Value keyHead);

/// Stores what a part has of a sequence: as results if that is all of it, else in the workspace. `outputs` makes the
/// normalized f32 tensors, columns one after the other; it is called in each of two branches.
void storeDecoded(KernelBuilder &builder, const PagedDecodeProblem &problem, const ScheduledPart &part,
                  const DecodedKeys &keys, const DecodedRows &rows, const SoftmaxState &state,
                  llvm::function_ref<llvm::SmallVector<mlir::Value>()> outputs);

/// Declares the tensors of the op, its dimensions and the workspace. `tiles` of the keys and of the values, if TMA is
/// to move them.
KernelSignature declarePagedDecode(const Description &description, const PagedDecodeProblem &problem,
                                   llvm::ArrayRef<SharedTile> keyTiles = {},
                                   llvm::ArrayRef<SharedTile> valueTiles = {});
/// The step that makes the schedule, unless one is given.
void addScheduleStep(KernelProgram &program, const KernelSignature &signature, const Description &description);
/// The step that combines what is split.
void addCombinationStep(KernelProgram &program, const KernelSignature &signature, const PagedDecodeProblem &problem);

/// The step of attention whose threads gather the rows of the cache: for any target, dims and pages.
struct GatheredTile {
  int64_t rows, keys;
  unsigned numWarps;
  bool splitsKeys; ///< warps share rows: weights cross between them through shared memory
};
void addGatheredStep(KernelProgram &program, const KernelSignature &signature, const PagedDecodeProblem &problem,
                     const GatheredTile &tile, llvm::StringRef symbol);

} // namespace jitk::kernels
