// Real TTGIR modules through the lowering, LLVM and ptxas.

#include "backends/nvidia/codegen/Assembler.h"
#include "backends/nvidia/codegen/EmitPtx.h"
#include "src/compiler/Pipelines.h"
#include "src/ir/Register.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <doctest/doctest.h>

using namespace mlir;
using namespace jitk;

namespace {
/// A module of tests/ir/corpus, and what its PTX must hold.
struct Case {
  const char *file;
  Target target;
  std::vector<const char *> instructions;
  uint32_t mostSpilled = 0; ///< bytes
};

Target sm(uint32_t capability, bool archSpecific = false) {
  return {.kind = Target::Kind::Cuda, .capability = capability, .archSpecific = archSpecific};
}

const Case cases[] = {
    {"copy.sm86.ttgir", sm(86), {"ld.global", "st.global"}},
    {"mm_ptr.sm80.ttgir", sm(80), {"cp.async.cg.shared.global", "ldmatrix", "mma.sync.aligned.m16n8k16"}},
    {"mm_ptr.sm90.ttgir", sm(90, true), {"cp.async.cg.shared.global", "wgmma.mma_async"}},
    {"mm_desc.sm90.ttgir", sm(90, true), {"cp.async.bulk.tensor.2d", "mbarrier.try_wait", "wgmma.mma_async"}},
    {"fa.sm90.ttgir", sm(90, true), {"wgmma.mma_async", "ex2.approx"}},
    {"fa_causal.sm120.ttgir", sm(120, true), {"mma.sync.aligned.m16n8k16", "cp.async.bulk.tensor.2d"}, 256},
    {"fa_causal_ws.sm90.ttgir", sm(90, true), {"wgmma.mma_async"}},
    {"misc.sm90.ttgir", sm(90, true), {"atom.", "shfl.sync", "vprintf", "__assertfail"}},
    {"misc.sm120.ttgir", sm(120, true), {"atom.", "shfl.sync", "vprintf"}},
    {"mm_pers.sm90.ttgir", sm(90, true), {"tensormap.replace", "wgmma.mma_async"}},
    {"mm_pers.sm120.ttgir", sm(120, true), {"tensormap.replace", "mma.sync"}},
    {"mm_pers_ws_nw4.sm90.ttgir", sm(90, true), {"setmaxnreg", "wgmma.mma_async"}},
    {"mm_ptr_cta2.sm90.ttgir", sm(90, true), {"wgmma.mma_async"}},
    {"mm_ptr_fp8.sm90.ttgir", sm(90, true), {"wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3"}},
    {"mm_ptr_tf32.sm80.ttgir", sm(80), {"mma.sync.aligned.m16n8k8"}},
    {"mm_ptr_tf32.sm120.ttgir", sm(120, true), {"mma.sync.aligned.m16n8k8"}},
    {"scaled_mxfp8.sm90.ttgir", sm(90, true), {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16"}, 512},
    {"topk.sm80.ttgir", sm(80), {"shfl.sync"}},
    {"topk.sm100.ttgir", sm(100, true), {"shfl.sync"}},
    {"transp.sm90.ttgir", sm(90, true), {"st.global"}},
    {"transp.sm120.ttgir", sm(120, true), {"st.global"}},
    {"fa_causal.sm80.ttgir", sm(80), {"mma.sync.aligned.m16n8k16", "ldmatrix", "ex2.approx"}, 1024},
};

struct Lowered {
  std::string diagnostics;
  Result<nvidia::PtxModule> ptx = internalError("not lowered");
};

Lowered lower(const Case &one) {
  DialectRegistry registry;
  ir::registerDialects(registry);
  MLIRContext context(registry);
  Lowered lowered;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    lowered.diagnostics += diagnostic.str() + "\n";
    return success();
  });
  std::string path = std::string(JITK_CORPUS) + "/" + one.file;
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
  REQUIRE_MESSAGE(module, path << ": " << lowered.diagnostics);
  PassManager passes(&context);
  compiler::buildLoweringPipeline(passes);
  if (failed(passes.run(*module))) {
    lowered.ptx = unsupported(lowered.diagnostics);
    return lowered;
  }
  lowered.ptx = nvidia::emitPtx(*module, one.target);
  return lowered;
}
} // namespace

TEST_SUITE("nvidia/Corpus") {
  TEST_CASE("real modules compile to machine code") {
    auto assembler = nvidia::openAssembler({.name = "ptxas"});
    if (!assembler) {
      MESSAGE("SKIPPED: the PTX was not assembled: " << assembler.status().toString());
    }
    for (const Case &one : cases) {
      CAPTURE(std::string(one.file));
      Lowered lowered = lower(one);
      if (!lowered.ptx) {
        FAIL_CHECK(lowered.ptx.status().toString() << lowered.ptx.status().toolOutput());
        continue;
      }
      for (const char *instruction : one.instructions) {
        CAPTURE(instruction);
        CHECK(lowered.ptx->ptx.find(instruction) != std::string::npos);
      }
      if (!assembler) {
        continue;
      }
      Result<nvidia::Cubin> cubin = (*assembler)->assemble(lowered.ptx->ptx, one.target);
      if (!cubin) {
        FAIL_CHECK(cubin.status().toString() << cubin.status().toolOutput());
        continue;
      }
      MESSAGE(std::string(one.file) << ": " << cubin->registers << " registers, " << cubin->spillBytes
                                    << " bytes spilled");
      CHECK(cubin->spillBytes <= one.mostSpilled);
    }
  }
}
