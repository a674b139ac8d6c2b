// The pipelines, each readable on one screen. Order and reasons: docs/architecture.md.

#pragma once

#include "src/runtime/Target.h"

#include "mlir/Pass/PassManager.h"

namespace jitk::compiler {

/// CommonIR to TTGIR with layouts: what `--dump` writes as TTGIR.
void buildTtgirPipeline(mlir::OpPassManager &pm, const Target &target);

/// TTGIR to the LLVM and ptx dialects: offsets, barriers, control flow, registers.
void buildLoweringPipeline(mlir::OpPassManager &pm);

/// Makes both known to jitk-opt: `--jitk-commonir-to-ttgir-pipeline`, `--jitk-ttgir-to-llvm-pipeline`.
void registerPipelines();

} // namespace jitk::compiler
