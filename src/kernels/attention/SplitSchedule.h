// Which blocks of which sequences a part of the grid works on, made on the device from the sequences' lengths.
//
// The sequences' blocks of 64 keys are dealt to the parts in order. A sequence costs its blocks and a fixed overhead; a
// part takes whole sequences as long as they fit into its share, then as many blocks of the next as are left.
//
//   sequences   |aaaaaaa|bbb|cccccccccccc|d|
//   parts       |aaaaa|aa bbb|cccccc|cccccc d|         a and c are split in two: their parts are combined afterwards
//
// One row of 8 words a part: first sequence, last sequence (inclusive), first block of the first, end block of the
// last, which split of the first sequence it is, whether the first is split, whether the last is, 0. A part without
// work has its last sequence before its first. `split_offsets` [batch + 1] counts the splits before each sequence.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"
#include "src/ops/DecodeParts.h"

namespace jitk::kernels {

inline constexpr int64_t kScheduleWords = 8;

/// The length of a sequence: what `seq_lens` holds, within [0, max_kv].
mlir::Value sequenceLength(KernelBuilder &builder, mlir::Value sequence);

/// Writes `schedule` and `split_offsets` from `seq_lens`; the body of a step of one CTA.
void writeSchedule(KernelBuilder &builder);

/// A row of the schedule.
struct ScheduledPart {
  mlir::Value firstSequence, lastSequence, firstBlock, endBlock, firstSplit; ///< i32
  mlir::Value firstIsSplit, lastIsSplit;                                     ///< i1
};

/// Sequences are within the batch, blocks and splits are not negative, whatever the row holds.
ScheduledPart readSchedule(KernelBuilder &builder, mlir::Value part);

} // namespace jitk::kernels
