// The two steps of the chunked gated delta rule, and what the first leaves to the second.
//
// Within a chunk, with G the cumulated gates and D_ij = exp(G_i - G_j):
//
//   A  = (I + strict_lower(diag(beta) K K^T o D))^-1 diag(beta)     prepared
//   P  = lower(Q K^T o D) / sqrt(key_dim)                           prepared
//   U  = A (V - diag(exp G) K S)
//   O  = diag(exp G) Q S / sqrt(key_dim) + P U
//   S <- exp(G_last) S + K^T diag(exp(G_last - G)) U
//
// Norms of q and k are factors of rows, and go with the exponentials. In fp16, whose range and bits an update of a long
// or a short key leaves when it is divided by the key's norm, keys are prepared too: divided by the power of two
// nearest to their norm, which is exact, so that the factors are near 1.

#pragma once

#include "src/kernels/linear_attention/DeltaRuleProblem.h"
#include "src/kernels/vocabulary/DimensionParts.h"
#include "src/kernels/vocabulary/KernelProgram.h"

namespace jitk::kernels {

/// The regions of the workspace, each an array over (number of the chunk, value head), or key head for the keys.
namespace chunk_region {
inline constexpr llvm::StringLiteral kInverses = "inverses"; ///< A, [chunk, chunk] in the op's dtype
inline constexpr llvm::StringLiteral kScores = "scores";     ///< P, likewise
inline constexpr llvm::StringLiteral kFactors = "factors";   ///< f32 [kNumFactors, chunk]
inline constexpr llvm::StringLiteral kDecays = "decays";     ///< f32: exp(G_last)
inline constexpr llvm::StringLiteral kKeys = "keys";         ///< K, [chunk, key_dim], where it is scaled
} // namespace chunk_region

/// The rows of `factors`: what a token's row of K S, of K^T U and of Q S is multiplied by.
enum ChunkFactor : int64_t { kKeyFactor, kUpdateFactor, kQueryFactor, kNumFactors };

/// A state of more keys takes so many registers as an accumulator that its rounded copy goes through shared memory.
inline constexpr int64_t kMostKeysInRegisters = 128;

/// What both steps know of the chunks.
struct ChunkPlan {
  const DeltaRuleProblem &problem;
  int64_t size;                              ///< tokens of a chunk: 16, 32 or 64
  llvm::SmallVector<DimensionPart> keyParts; ///< of key_dim, for tensor cores

  TokenChunks chunks(KernelBuilder &builder) const { return TokenChunks(problem.sequences(builder), size); }
  /// Whether products read keys that were divided by a power of two.
  bool scalesKeys() const { return problem.normalizes && problem.type.isF16(); }
  /// Where the array element of a chunk and head begins in a region; `elements` each.
  mlir::Value region(KernelBuilder &builder, llvm::StringRef name, mlir::Value chunk, mlir::Value head,
                     int64_t elements, llvm::StringRef heads = "v_heads") const;
  /// The scaled keys of a chunk.
  MatrixView scaledKeys(KernelBuilder &builder, mlir::Value chunk, mlir::Value keyHead) const;
  /// Fills a [chunk, part] buffer with a part of the first rows of a matrix; zero where `isValid`, i1 [chunk], is false
  /// and past the dimension.
  void fillRows(KernelBuilder &builder, mlir::Value buffer, const MatrixView &matrix, mlir::Value isValid,
                const DimensionPart &part) const;
};

/// The tokens of a chunk: a run of rows. Rows are counted from the chunk's first, so that their addresses are one
/// scalar and small offsets.
struct ChunkRows {
  mlir::Value first;   ///< i32: the row of the tensors
  mlir::Value isValid; ///< i1 [chunk]: whether the sequence has the token

  ChunkRows(KernelBuilder &builder, int64_t size, mlir::Value firstToken, mlir::Value endOfSequence);
  /// The matrix from the chunk's first row on.
  MatrixView of(KernelBuilder &builder, MatrixView matrix) const;
};

/// Writes the step that prepares one chunk for one value head; grid (chunks * v_heads).
void writePrepareChunks(KernelBuilder &builder, const ChunkPlan &plan);

/// How many value columns of a state one CTA carries; 16 of them a warp.
int64_t valueTileOf(const ChunkPlan &plan);

/// Writes the step that carries one tile of one state through the chunks of its sequence; grid (tiles * v_heads *
/// batch).
void writeCarryStates(KernelBuilder &builder, const ChunkPlan &plan);

} // namespace jitk::kernels
