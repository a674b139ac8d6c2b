// The pipelines, each readable on one screen. Order and reasons: docs/architecture.md.

#pragma once

#include "src/runtime/Target.h"

#include "mlir/Pass/PassManager.h"

namespace jitk::compiler {

/// Stages of a loop that says nothing: two loads in flight hide most of the latency of global memory.
inline constexpr int64_t kDefaultStages = 3;

/// CommonIR to TTGIR with layouts: what `--dump` writes as TTGIR. No loop gets more than `mostStages`; 0 = as many as
/// it says.
void buildTtgirPipeline(mlir::OpPassManager &pm, const Target &target, int64_t mostStages = 0);

/// TTGIR to the LLVM and ptx dialects: offsets, barriers, control flow, registers.
void buildLoweringPipeline(mlir::OpPassManager &pm);

/// Makes both known to jitk-opt: `--jitk-commonir-to-ttgir-pipeline`, `--jitk-ttgir-to-llvm-pipeline`.
void registerPipelines();

} // namespace jitk::compiler
