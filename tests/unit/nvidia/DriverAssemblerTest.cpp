// The driver's linker, on a driver without a GPU: what it is told, and what is made of its answers.

#include "backends/nvidia/codegen/Assembler.h"
#include "tests/fakes/FakeCuda.h"

#include <algorithm>
#include <dlfcn.h>
#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::nvidia;
using jitk::test::FakeCuda;
using jitk::test::FakeLink;

namespace {

// Of CUjit_option.
enum : int { InfoLog = 3, ErrorLog = 5, OptimizationLevel = 7, JitTarget = 9, LogVerbose = 12, LineInfo = 13 };

const Target sm90a = {.kind = Target::Kind::Cuda, .capability = 90, .archSpecific = true};
const Target sm80 = {.kind = Target::Kind::Cuda, .capability = 80};

/// The assembler on the fake library, with nothing remembered of other tests.
struct Fixture {
  Fixture() {
    void *library = ::dlopen(JITK_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    fake = reinterpret_cast<decltype(&fake_cuda)>(::dlsym(library, "fake_cuda"))();
    *fake = FakeCuda();
    contexts = reinterpret_cast<decltype(&fake_cuda_contexts)>(::dlsym(library, "fake_cuda_contexts"))();
    contexts->clear();
    fake->linkCode = {0x7f, 'E', 'L', 'F'};
    fake->linkInfo = "ptxas info : Used 40 registers, 16 bytes smem\n";
    fake->linkError = "error : bad luck\n";
  }

  Result<std::shared_ptr<const Assembler>> open() { return openAssembler({.name = "driver", .path = JITK_FAKE_CUDA}); }
  Result<Cubin> assemble(const Target &target = sm90a, const AssembleOptions &options = {}) {
    Result<std::shared_ptr<const Assembler>> assembler = open();
    REQUIRE(assembler);
    return (*assembler)->assemble("// some PTX", target, options);
  }
  /// Nothing is left of what was begun.
  void checkClean() const {
    CHECK(fake->numLinks == 0);
    CHECK(fake->numContexts == 0);
    CHECK(contexts->empty());
  }

  FakeCuda *fake;
  std::vector<void *> *contexts; ///< of this thread
};

} // namespace

TEST_SUITE("nvidia/DriverAssembler") {
  TEST_CASE("its name has the driver's version") {
    Fixture fixture;
    auto assembler = fixture.open();
    REQUIRE(assembler);
    CHECK((*assembler)->identity() == "driver 12.8");
  }

  TEST_CASE("a driver whose linker does not know the PTX is passed over, and both versions are named") {
    for (int version : {11080, 12000, 13000}) {
      CAPTURE(version);
      Fixture fixture;
      fixture.fake->version = version;
      auto assembler = openAssembler({.name = "driver", .path = JITK_FAKE_CUDA, .ptxVersion = 80});
      CHECK(assembler.ok() == (version >= 12000));
      if (!assembler) {
        CHECK(assembler.status().code() == StatusCode::Unavailable);
        CHECK(assembler.status().message() == "driver 11.8 is too old: " JITK_FAKE_CUDA
                                              " knows PTX 7.8, and 8.0 is needed: install one of CUDA 12.0 or newer");
      }
    }
  }

  TEST_CASE("the linker is told the architecture, to optimize, and to say what it did") {
    Fixture fixture;
    REQUIRE(fixture.assemble(sm90a));
    REQUIRE(fixture.assemble(sm80, {.lineInfo = true}));
    REQUIRE(fixture.fake->links.size() == 2);
    const FakeLink &first = fixture.fake->links[0], &second = fixture.fake->links[1];
    CHECK(first.options.at(JitTarget) == 0x1005a); // 90, and what stands for the a
    CHECK(second.options.at(JitTarget) == 80);
    CHECK(first.options.at(LineInfo) == 0);
    CHECK(second.options.at(LineInfo) == 1);
    for (const FakeLink &link : fixture.fake->links) {
      CHECK(link.options.at(OptimizationLevel) == 4);
      CHECK(link.options.at(LogVerbose) == 1);
      CHECK(link.options.at(InfoLog) != 0);
      CHECK(link.options.at(ErrorLog) != 0);
      CHECK(link.inputType == 1); // PTX
      CHECK(link.text == std::string("// some PTX") + '\0');
      CHECK(link.completed);
    }
    fixture.checkClean();
  }

  TEST_CASE("code and log come back whole, with the figures of the log") {
    Fixture fixture;
    fixture.fake->linkInfo += "8 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n";
    Result<Cubin> cubin = fixture.assemble();
    REQUIRE(cubin);
    CHECK(cubin->code == std::vector<uint8_t>{0x7f, 'E', 'L', 'F'});
    CHECK(cubin->registers == 40);
    CHECK(cubin->sharedBytes == 16);
    CHECK(cubin->spillBytes == 32);
    CHECK(cubin->log == fixture.fake->linkInfo);
    fixture.checkClean();
  }

  TEST_CASE("a refusal at any step is a failure with what the linker said") {
    for (const char *step : {"cuLinkAddData_v2", "cuLinkComplete"}) {
      CAPTURE(step);
      Fixture fixture;
      fixture.fake->failures[step] = 218;
      Result<Cubin> cubin = fixture.assemble();
      REQUIRE(!cubin);
      CHECK(cubin.status().code() == StatusCode::Internal);
      CHECK(cubin.status().message() == "the driver's linker refused the kernel: error 218");
      CHECK(cubin.status().toolOutput() == fixture.fake->linkError + fixture.fake->linkInfo);
      CHECK(cubin.status().stage() == "assemble");
      fixture.checkClean();
    }
    Fixture fixture;
    fixture.fake->failures["cuLinkCreate_v2"] = 2;
    CHECK(fixture.assemble().status().message() == "the driver's linker refused the kernel: error 2");
    fixture.checkClean();
  }

  TEST_CASE("serialized warpgroup products are a failure here too") {
    Fixture fixture;
    fixture.fake->linkInfo = "Potential Performance Loss: wgmma.mma_async instructions are serialized (C7510)\n";
    CHECK(fixture.assemble().status().code() == StatusCode::Internal);
    fixture.checkClean();
  }

  TEST_CASE("without a device it says so") {
    for (const char *step : {"cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent_v2"}) {
      CAPTURE(step);
      Fixture fixture;
      fixture.fake->failures[step] = 100;
      Result<Cubin> cubin = fixture.assemble();
      REQUIRE(!cubin);
      CHECK(cubin.status().code() == StatusCode::Unavailable);
      CHECK(cubin.status().message() == "the driver's linker needs a device");
      CHECK(fixture.fake->links.empty());
      fixture.checkClean();
    }
  }

  TEST_CASE("a driver that does not start, or is none, is named") {
    Fixture fixture;
    fixture.fake->failures["cuInit"] = 999;
    auto broken = fixture.open();
    REQUIRE(!broken);
    CHECK(broken.status().code() == StatusCode::Unavailable);
    CHECK(broken.status().message() == std::string("the CUDA driver does not start: ") + JITK_FAKE_CUDA);
    auto missing = openAssembler({.name = "driver", .path = "/no/such/libcuda.so"});
    REQUIRE(!missing);
    CHECK(missing.status().message() == "no CUDA driver: searched /no/such/libcuda.so");
  }
}
