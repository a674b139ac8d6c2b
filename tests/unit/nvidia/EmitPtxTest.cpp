// LLVM dialect to PTX: text, version, gates, and each row of the instruction table through LLVM.

#include "backends/nvidia/codegen/EmitPtx.h"

#include "backends/nvidia/codegen/InstructionGate.h"
#include "src/ir/ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

using namespace mlir;
using namespace jitk;
using namespace jitk::ir;

namespace {
Target sm(uint32_t capability, bool archSpecific = false) {
  return {.kind = Target::Kind::Cuda, .capability = capability, .archSpecific = archSpecific};
}

struct Fixture {
  MLIRContext context;

  Fixture() { context.loadDialect<ptx::PtxDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>(); }

  Result<nvidia::PtxModule> emit(StringRef text, const Target &target) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    return nvidia::emitPtx(*module, target);
  }
  std::string ptxOf(StringRef text, const Target &target) {
    Result<nvidia::PtxModule> result = emit(text, target);
    if (!result) {
      FAIL(result.status().toString() << "\n" << result.status().toolOutput());
    }
    return result->ptx;
  }
  std::string failureOf(StringRef text, const Target &target) {
    Result<nvidia::PtxModule> result = emit(text, target);
    REQUIRE(!result);
    return result.status().toString();
  }
};

bool contains(StringRef text, StringRef part) { return text.contains(part); }

constexpr const char *copyKernel = R"(
  llvm.func @copy(%from: !llvm.ptr<1>, %to: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>,
                                                                      nvvm.maxnreg = 64 : i32} {
    %true = llvm.mlir.constant(true) : i1
    %tid = ptx.inst "sreg.tid.x"() : () -> i32
    %base = ptx.inst "shared.base"() : () -> i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %offset = llvm.mul %tid, %c16 : i32
    %address = llvm.add %base, %offset : i32
    %source = llvm.getelementptr %from[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    ptx.inst "cp.async.cg.16"(%true, %address, %source, %c16) : (i1, i32, !llvm.ptr<1>, i32) -> ()
    ptx.inst "cp.async.commit_group"() : () -> ()
    ptx.inst "cp.async.wait_group"() {imms = array<i64: 0>} : () -> ()
    %v:4 = ptx.inst "ld.shared.v4.b32"(%true, %address) : (i1, i32) -> (i32, i32, i32, i32)
    %target = llvm.getelementptr %to[%offset] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    ptx.inst "st.global.v4.b32"(%true, %target, %v#0, %v#1, %v#2, %v#3)
        : (i1, !llvm.ptr<1>, i32, i32, i32, i32) -> ()
    llvm.return
  })";
} // namespace

TEST_SUITE("nvidia/EmitPtx") {
  TEST_CASE_FIXTURE(Fixture, "a kernel carries its attributes and instructions") {
    std::string ptx = ptxOf(copyKernel, sm(80));
    CAPTURE(ptx);
    CHECK(contains(ptx, ".version 7.0"));
    CHECK(contains(ptx, ".target sm_80"));
    CHECK(contains(ptx, ".visible .entry copy"));
    CHECK(contains(ptx, ".reqntid 128"));
    CHECK(contains(ptx, ".maxnreg 64"));
    CHECK(contains(ptx, ".extern .shared .align 1024 .b8 global_smem[]"));
    CHECK(contains(ptx, "cp.async.cg.shared.global"));
    CHECK(contains(ptx, "cp.async.wait_group 0;"));
  }

  TEST_CASE_FIXTURE(Fixture, "the PTX version is the least that has the target and its instructions") {
    constexpr const char *fp8 = R"(llvm.func @k(%x: i16, %to: !llvm.ptr<1>) attributes {nvvm.kernel} {
      %true = llvm.mlir.constant(true) : i1
      %y = ptx.inst "cvt.rn.f16x2.e4m3x2"(%x) : (i16) -> i32
      ptx.inst "st.global.b32"(%true, %to, %y) : (i1, !llvm.ptr<1>, i32) -> ()
      llvm.return
    })";
    CHECK(emit(copyKernel, sm(86))->version == 71);
    CHECK(emit(copyKernel, sm(90, true))->version == 80);
    CHECK(emit(fp8, sm(89))->version == 81);
    CHECK(emit(fp8, sm(100, true))->version == 86);
    CHECK(contains(ptxOf(fp8, sm(89)), ".version 8.1"));
  }

  TEST_CASE("there is PTX for every architecture that a target may name") {
    for (std::string_view architecture : Target::architectures()) {
      CAPTURE(architecture);
      CHECK(nvidia::leastPtxVersion(*Target::parse(architecture)).ok());
    }
  }

  TEST_CASE_FIXTURE(Fixture, "what the target lacks is refused by name") {
    CHECK(failureOf(copyKernel, sm(75)) == "the least supported architecture is sm_80: got sm_75");
    CHECK(failureOf(copyKernel, sm(95)) == "no code is generated for sm_95");
    std::string message = failureOf(R"(llvm.func @k() attributes {nvvm.kernel} {
      ptx.inst "wgmma.fence"() : () -> ()
      llvm.return
    })",
                                    sm(90));
    CHECK(contains(message, "instruction 'wgmma.fence' needs sm_90a: the target is sm_90; at loc("));
    message = failureOf(R"(llvm.func @sinhf(f32) -> f32
    llvm.func @k(%x: f32, %to: !llvm.ptr<1>) attributes {nvvm.kernel} {
      %y = llvm.call @sinhf(%x) : (f32) -> f32
      llvm.store %y, %to : f32, !llvm.ptr<1>
      llvm.return
    })",
                        sm(80));
    CHECK(message == "no instruction or device function implements 'sinhf'; in function k");
  }

  TEST_CASE_FIXTURE(Fixture, "tied operands share registers with results") {
    std::string ptx = ptxOf(R"(llvm.func @k(%p: i1, %from: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
      %true = llvm.mlir.constant(true) : i1
      %y = ptx.inst "ld.global.b32.else"(%p, %from, %x) : (i1, !llvm.ptr<1>, i32) -> i32
      ptx.inst "st.global.b32"(%true, %from, %y) : (i1, !llvm.ptr<1>, i32) -> ()
      llvm.return
    })",
                            sm(80));
    CAPTURE(ptx);
    size_t load = ptx.find(" ld.global.b32 %");
    REQUIRE(load != std::string::npos);
    std::string reg = ptx.substr(load + 15, ptx.find(',', load) - load - 15);
    CHECK(contains(ptx, "ld.param.b32 \t" + reg + ","));
  }
}
