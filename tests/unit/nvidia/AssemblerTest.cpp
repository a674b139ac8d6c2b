// Every assembler that this machine has, and stubs in place of ptxas.

#include "backends/nvidia/codegen/Assembler.h"

#include "src/runtime/Compiler.h"
#include "tests/support/TemporaryFolder.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace jitk;
using namespace jitk::nvidia;
using namespace std::chrono_literals;

namespace {
const Target sm90a = {.kind = Target::Kind::Cuda, .capability = 90, .archSpecific = true};

constexpr const char *kernel = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 to) {
.reg .b64 p; .reg .b32 v;
.shared .align 4 .b8 scratch[512];
ld.param.u64 p, [to];
mov.u32 v, %tid.x;
st.shared.u32 [scratch], v;
bar.sync 0;
ld.shared.u32 v, [scratch];
st.global.u32 [p], v;
ret;
}
)";

/// A shell script that plays ptxas: it answers --version, then runs `body`.
class StubPtxas {
public:
  explicit StubPtxas(const std::string &body, const std::string &version = "1.2.3") {
    char pattern[] = "/tmp/jitk-stub-XXXXXX";
    REQUIRE(mkdtemp(pattern));
    folder_ = pattern;
    std::ofstream(path()) << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release, V" << version
                          << "'; exit 0; fi\n"
                          << body << "\n";
    chmod(path().c_str(), 0755);
  }
  ~StubPtxas() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/ptxas"; }

private:
  std::string folder_;
};
} // namespace

TEST_SUITE("nvidia/Assembler") {
  TEST_CASE("each assembler found here makes an ELF image and reports its figures") {
    unsigned found = 0;
    for (const char *name : {"nvjitlink", "ptxas", "driver"}) {
      CAPTURE(name);
      auto assembler = openAssembler({.name = name});
      if (!assembler) {
        MESSAGE("SKIPPED: " << assembler.status().toString());
        continue;
      }
      ++found;
      CHECK((*assembler)->identity().starts_with(name));
      Result<Cubin> cubin = (*assembler)->assemble(kernel, sm90a);
      REQUIRE_MESSAGE(cubin, cubin.status().toString() << "\n" << cubin.status().toolOutput());
      REQUIRE(cubin->code.size() > 64);
      CHECK(std::memcmp(cubin->code.data(),
                        "\x7f"
                        "ELF",
                        4) == 0);
      CHECK(cubin->registers > 0);
      CHECK(cubin->spillBytes == 0);
      CHECK(cubin->sharedBytes >= 512);

      Result<Cubin> refused = (*assembler)->assemble(".version 8.0\n.target sm_90a\nnonsense", sm90a);
      REQUIRE(!refused);
      CHECK(refused.status().code() == StatusCode::Internal);
      CHECK(refused.status().stage() == "assemble");
      CHECK(refused.status().toolOutput().find("nonsense") != std::string_view::npos);
    }
    if (found == 0) {
      MESSAGE("SKIPPED: no assembler on this machine");
    } else {
      CHECK(openAssembler());
    }
  }

  TEST_CASE("the first one found is the default") {
    auto first = openAssembler({.name = "ptxas"});
    auto any = openAssembler();
    if (first && any) {
      CHECK((*any)->identity() == (*first)->identity());
    }
  }

  TEST_CASE("the default one honors the register budgets of specialized warps") {
    if (!openAssembler({.name = "ptxas"})) {
      MESSAGE("SKIPPED: no ptxas on this machine");
      return;
    }
    Result<Cubin> cubin = (*openAssembler())
                              ->assemble(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry budget() .reqntid 256 .maxnreg 128 {
  setmaxnreg.inc.sync.aligned.u32 160;
  ret;
}
)",
                                         sm90a);
    REQUIRE(cubin);
    INFO(cubin->log);
    CHECK(cubin->log.find("'setmaxnreg' ignored") == std::string::npos);
  }

  TEST_CASE("the names that a runtime lets through are those of the assemblers") {
    for (std::string_view name : kAssemblerNames) {
      auto opened = openAssembler({.name = std::string(name), .path = "/no/such/file"});
      CHECK(opened.status().code() == StatusCode::Unavailable);
    }
  }

  TEST_CASE("a wrong choice is refused") {
    auto unknown = openAssembler({.name = "gas"});
    REQUIRE(!unknown);
    CHECK(unknown.status().code() == StatusCode::InvalidArgument);
    CHECK(unknown.status().message() == "assembler must be nvjitlink, ptxas or driver: got gas");
    auto missing = openAssembler({.name = "ptxas", .path = "/no/such/ptxas"});
    REQUIRE(!missing);
    CHECK(missing.status().code() == StatusCode::Unavailable);
    CHECK(missing.status().message() == "no ptxas: searched /no/such/ptxas");
  }

  TEST_CASE("the identity of ptxas has its version") {
    StubPtxas stub("exit 0");
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    CHECK((*assembler)->identity() == "ptxas 1.2.3");
  }

  TEST_CASE("what PTX a tool knows is told by its version") {
    CHECK(ptxVersionOf("ptxas 11.8.89") == 78);
    CHECK(ptxVersionOf("nvjitlink 12.0") == 80);
    CHECK(ptxVersionOf("driver 12.6") == 85); // as 12.5
    CHECK(ptxVersionOf("nvrtc 12.8 headers 12080") == 87);
    CHECK(ptxVersionOf("ptxas 13.0.88") == 90);
    CHECK(ptxVersionOf("ptxas 99.0") >= 91);
    for (const char *untold : {"", "ptxas", "ptxas ", "ptxas 13", "ptxas x.y", "ptxas 1.2.3"}) {
      CAPTURE(untold);
      CHECK(ptxVersionOf(untold) == 0);
    }
  }

  TEST_CASE("an assembler that is too old is passed over, and told of with what to do") {
    StubPtxas old("exit 1", "11.8.89"), fit("exit 1", "12.0.1");
    auto open = [](const StubPtxas &stub) {
      return openAssembler({.name = "ptxas", .path = stub.path(), .ptxVersion = 80});
    };
    CHECK(open(fit));
    auto refused = open(old);
    CHECK(refused.status().code() == StatusCode::Unavailable);
    CHECK(refused.status().message() == "ptxas 11.8.89 is too old: " + old.path() +
                                            " knows PTX 7.8, and 8.0 is needed: install one of CUDA 12.0 or newer");
    CHECK(openAssembler({.ptxVersion = 999}).status().code() == StatusCode::Unavailable);
  }

  TEST_CASE("a failing ptxas reports its log") {
    StubPtxas stub("echo 'line 7: no such register' >&2; exit 255");
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    Result<Cubin> cubin = (*assembler)->assemble(kernel, sm90a);
    REQUIRE(!cubin);
    CHECK(cubin.status().message() == "ptxas refused the kernel: exit code 255");
    CHECK(cubin.status().toolOutput() == "line 7: no such register\n");
  }

  TEST_CASE("a ptxas that writes nothing is a failure") {
    StubPtxas stub("exit 0");
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    Result<Cubin> cubin = (*assembler)->assemble(kernel, sm90a);
    REQUIRE(!cubin);
    CHECK(cubin.status().message() == "ptxas gave no code");
  }

  TEST_CASE("a hanging ptxas is killed at the deadline") {
    StubPtxas stub("sleep 100");
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    Result<Cubin> cubin = (*assembler)->assemble(kernel, sm90a, {.deadline = 200ms});
    REQUIRE(!cubin);
    CHECK(cubin.status().code() == StatusCode::DeadlineExceeded);
    CHECK(cubin.status().stage() == "assemble");
  }

  TEST_CASE("serialized warpgroup products are a failure") {
    StubPtxas stub(
        "echo 'ptxas info : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized'; "
        "while [ $# -gt 1 ]; do if [ $1 = --output-file ]; then echo code > $2; fi; shift; done");
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    Result<Cubin> cubin = (*assembler)->assemble(kernel, sm90a);
    REQUIRE(!cubin);
    CHECK(cubin.status().message() == "the assembler serializes warpgroup products (C7510)");
    CHECK(cubin.status().toolOutput().find("mma_async") != std::string::npos);
  }

  TEST_CASE("a ptxas that ignores signals, and whose child holds its output, is left at the deadline") {
    StubPtxas stub("trap '' TERM INT HUP; sleep 5 & sleep 5");
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    auto begin = std::chrono::steady_clock::now();
    Result<Cubin> cubin = (*assembler)->assemble(kernel, sm90a, {.deadline = 200ms});
    REQUIRE(!cubin);
    CHECK(cubin.status().code() == StatusCode::DeadlineExceeded);
    CHECK(std::chrono::steady_clock::now() - begin < 3s);
  }

  TEST_CASE("a ptxas that crashes is a failure, and each kernel is one run") {
    StubPtxas stub("echo run >> \"$0.runs\"; kill -SEGV $$");
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    for (int i = 0; i < 3; ++i) {
      Result<Cubin> cubin = (*assembler)->assemble(kernel, sm90a);
      REQUIRE(!cubin);
      CHECK(cubin.status().stage() == "assemble");
      CHECK(cubin.status().message().find("signal 11") != std::string_view::npos);
    }
    std::ifstream runs(stub.path() + ".runs");
    CHECK(std::count(std::istreambuf_iterator<char>(runs), {}, '\n') == 3);
  }

  TEST_CASE("many processes with one folder for temporary files do not get in each other's way, and leave nothing") {
    // What it makes is what it was given, some time later.
    StubPtxas stub("for word; do case $word in *.ptx) from=$word;; *.cubin) to=$word;; esac; done; sleep 0.02; "
                   "cp $from $to");
    test::TemporaryFolder scratch;
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    std::vector<pid_t> processes;
    for (int i = 0; i < 16; ++i) {
      processes.push_back(::fork());
      if (processes.back() == 0) {
        ::setenv("TMPDIR", scratch.path().c_str(), /*overwrite=*/1);
        bool right = true;
        for (int k = 0; k < 4; ++k) {
          const std::string ptx = "// of process " + std::to_string(i) + ", kernel " + std::to_string(k) + "\n";
          Result<Cubin> cubin = (*assembler)->assemble(ptx, sm90a);
          right = right && cubin.ok() && std::string(cubin->code.begin(), cubin->code.end()) == ptx;
        }
        ::_exit(right ? 0 : 1);
      }
    }
    for (pid_t process : processes) {
      int status = -1;
      ::waitpid(process, &status, 0);
      CHECK(status == 0);
    }
    CHECK(std::filesystem::is_empty(scratch.path()));
  }

  TEST_CASE("figures are read from the log, the largest of several kernels") {
    StubPtxas stub("echo 'ptxas info : Used 168 registers, 1024 bytes smem'; echo '8 bytes stack frame, 12 bytes spill "
                   "stores, 20 bytes spill loads'; echo 'ptxas info : Used 40 registers'; "
                   "while [ $# -gt 1 ]; do if [ $1 = --output-file ]; then echo code > $2; fi; shift; done");
    auto assembler = openAssembler({.name = "ptxas", .path = stub.path()});
    REQUIRE(assembler);
    Result<Cubin> cubin = (*assembler)->assemble(kernel, sm90a);
    REQUIRE(cubin);
    CHECK(cubin->registers == 168);
    CHECK(cubin->spillBytes == 32);
    CHECK(cubin->sharedBytes == 1024);
  }
}
