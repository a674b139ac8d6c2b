// Real TTGIR modules through the lowering, LLVM and ptxas.

#include "backends/nvidia/codegen/Assembler.h"
#include "backends/nvidia/codegen/EmitPtx.h"
#include "src/compiler/Pipelines.h"
#include "src/ir/Register.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/FormatVariadic.h"

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

/// Lowers what `parse` gives.
Lowered lower(const Target &target, llvm::function_ref<OwningOpRef<ModuleOp>(MLIRContext &)> parse) {
  DialectRegistry registry;
  ir::registerDialects(registry);
  MLIRContext context(registry);
  Lowered lowered;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    lowered.diagnostics += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parse(context);
  REQUIRE_MESSAGE(module, lowered.diagnostics);
  PassManager passes(&context);
  compiler::buildLoweringPipeline(passes);
  if (failed(passes.run(*module))) {
    lowered.ptx = unsupported(lowered.diagnostics);
    return lowered;
  }
  lowered.ptx = nvidia::emitPtx(*module, target);
  return lowered;
}

Lowered lower(const Case &one) {
  return lower(one.target, [&](MLIRContext &context) {
    return parseSourceFile<ModuleOp>(std::string(JITK_CORPUS) + "/" + one.file, &context);
  });
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

  // What few kernels use, and what LLVM has to find instructions for.
  TEST_CASE("functions of f64, 16-bit atomics and tables of constants assemble") {
    const std::string text = R"(
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<f64>, %h: !tt.ptr<bf16>, %w: !tt.ptr<i16>) {
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f64> -> tensor<128x!tt.ptr<f64>, #b>
    %p = tt.addptr %xs, %i : tensor<128x!tt.ptr<f64>, #b>, tensor<128xi32, #b>
    %0 = tt.load %p : tensor<128x!tt.ptr<f64>, #b>
    %1 = math.exp %0 : tensor<128xf64, #b>
    %2 = math.exp2 %1 : tensor<128xf64, #b>
    %3 = math.log %2 : tensor<128xf64, #b>
    %4 = math.log2 %3 : tensor<128xf64, #b>
    %5 = math.log10 %4 : tensor<128xf64, #b>
    %6 = math.rsqrt %5 : tensor<128xf64, #b>
    tt.store %p, %6 : tensor<128x!tt.ptr<f64>, #b>
    %v = arith.truncf %6 : tensor<128xf64, #b> to tensor<128xbf16, #b>
    %hs = tt.splat %h : !tt.ptr<bf16> -> tensor<128x!tt.ptr<bf16>, #b>
    %o = tt.atomic_rmw fadd, relaxed, gpu, %hs, %v : (tensor<128x!tt.ptr<bf16>, #b>, tensor<128xbf16, #b>) -> tensor<128xbf16, #b>
    %c = arith.constant dense<"0xTABLE"> : tensor<128xi16, #b>
    %ws = tt.splat %w : !tt.ptr<i16> -> tensor<128x!tt.ptr<i16>, #b>
    %q = tt.atomic_rmw umax, acq_rel, sys, %ws, %c : (tensor<128x!tt.ptr<i16>, #b>, tensor<128xi16, #b>) -> tensor<128xi16, #b>
    tt.return
  }
})";
    std::string table;
    for (int i = 0; i < 128; ++i) {
      table += llvm::formatv("{0:X-2}00", i * 7 % 256).str();
    }
    std::string source = text;
    source.replace(source.find("TABLE"), 5, table);
    auto assembler = nvidia::openAssembler({.name = "ptxas"});
    if (!assembler) {
      MESSAGE("SKIPPED: the PTX was not assembled: " << assembler.status().toString());
    }
    for (const Target &target : {sm(80), sm(90, true), sm(120, true)}) {
      CAPTURE(target.toString());
      Lowered lowered =
          lower(target, [&](MLIRContext &context) { return parseSourceString<ModuleOp>(source, &context); });
      REQUIRE_MESSAGE(lowered.ptx, lowered.ptx.status().toString());
      CHECK(lowered.ptx->ptx.find("atom.relaxed.gpu.global.cas.b16") != std::string::npos);
      CHECK(lowered.ptx->ptx.find("atom.acq_rel.sys.global.cas.b16") != std::string::npos);
      if (assembler) {
        Result<nvidia::Cubin> cubin = (*assembler)->assemble(lowered.ptx->ptx, target);
        CHECK_MESSAGE(cubin, cubin.status().toString() << cubin.status().toolOutput());
      }
    }
  }
}
