// NVRTC, where this machine has it. It compiles without a GPU.

#include "backends/nvidia/codegen/Nvrtc.h"

#include "backends/nvidia/codegen/Assembler.h"

#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::nvidia;

namespace {

const Target sm90a = {.kind = Target::Kind::Cuda, .capability = 90, .archSpecific = true};

/// NVRTC, or null with a line that says that the test is skipped.
std::shared_ptr<const CudaCompiler> compilerHere() {
  Result<std::shared_ptr<const CudaCompiler>> opened = openCudaCompiler();
  if (!opened.ok()) {
    MESSAGE("skipped: " << opened.status().message());
    return nullptr;
  }
  return *opened;
}

} // namespace

TEST_SUITE("nvidia/Nvrtc") {
  TEST_CASE("a kernel of C linkage keeps its name, an instance of a template is found") {
    std::shared_ptr<const CudaCompiler> compiler = compilerHere();
    if (!compiler) {
      return;
    }
    Result<CudaPtx> plain =
        compiler->compile({"extern \"C\" __global__ void k(int *p, float a, long long n) {}", "k", {}, {}}, sm90a);
    REQUIRE_MESSAGE(plain.ok(), plain.status().toolOutput());
    CHECK(plain->symbol == "k");
    CHECK(plain->ptx.find(".target sm_90a") != std::string::npos);
    Result<std::vector<KernelParameter>> parameters = parametersOf(plain->ptx, "k");
    REQUIRE(parameters.ok());
    CHECK(*parameters == std::vector<KernelParameter>{{8, 8}, {4, 4}, {8, 8}});

    Result<CudaPtx> instance = compiler->compile(
        {"struct S { int v[5]; };\ntemplate <typename T, int n> __global__ void k(T *p, S s) { p[n] = s.v[n]; }",
         "k<float, 4>",
         {},
         {}},
        sm90a);
    REQUIRE_MESSAGE(instance.ok(), instance.status().toolOutput());
    CHECK(*parametersOf(instance->ptx, instance->symbol) == std::vector<KernelParameter>{{8, 8}, {20, 4}});
  }

  TEST_CASE("options and headers reach NVRTC, and the toolkit's headers are found") {
    std::shared_ptr<const CudaCompiler> compiler = compilerHere();
    if (!compiler || compiler->identity().ends_with("headers 0")) {
      return;
    }
    CudaSource source{"#include <cuda_fp16.h>\n#include \"mine.cuh\"\nextern \"C\" __global__ void k(__half *p) { *p = "
                      "mine(VALUE); }",
                      "k",
                      {"-DVALUE=3"},
                      {{"mine.cuh", "__device__ __half mine(int v) { return __int2half_rn(v); }"}}};
    Result<CudaPtx> ptx = compiler->compile(source, sm90a);
    CHECK_MESSAGE(ptx.ok(), ptx.status().toolOutput());
  }

  TEST_CASE("a wrong source is refused with its log, a missing kernel too") {
    std::shared_ptr<const CudaCompiler> compiler = compilerHere();
    if (!compiler) {
      return;
    }
    Result<CudaPtx> wrong =
        compiler->compile({"extern \"C\" __global__ void k() {\n  undeclared = 1;\n}", "k", {}, {}}, sm90a);
    REQUIRE(!wrong.ok());
    CHECK(wrong.status().code() == StatusCode::InvalidArgument);
    CHECK(wrong.status().stage() == "build");
    CHECK(wrong.status().message().find("kernel.cu(2): error: identifier \"undeclared\" is undefined") !=
          std::string::npos);
    CHECK(wrong.status().toolOutput().find("1 error detected") != std::string::npos);
    CHECK(compiler->compile({"extern \"C\" __global__ void k() {}", "absent", {}, {}}, sm90a).status().code() ==
          StatusCode::InvalidArgument);
  }

  TEST_CASE("a library that is none is unavailable, with the places that were searched") {
    Result<std::shared_ptr<const CudaCompiler>> opened = openCudaCompiler("/nowhere/libnvrtc.so");
    REQUIRE(!opened.ok());
    CHECK(opened.status().code() == StatusCode::Unavailable);
    CHECK(opened.status().message() ==
          "no NVRTC library, which kernels in CUDA C++ need: searched /nowhere/libnvrtc.so");
  }
}
