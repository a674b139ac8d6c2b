// The conformance suite: every op over its cases on one device, against the float64 references.
//
//   jitk_conformance --device=emulator:sm_90a [--mode=immediate] [--full] [doctest options]
//
// A device that is missing is a failure, not a skip.

#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/conformance/Cases.h"

#include <cstdio>
#include <cstring>
#include <doctest/doctest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace jitk;

namespace {

struct Lane {
  std::string device = "emulator:sm_90a";
  bool immediate = false;
  bool full = false;
};

Lane lane;

/// On the emulator, the seed decides in which order threads run.
api::Device openDevice(const api::Runtime &runtime, uint64_t seed) {
  jitk_device_options_t options = {};
  options.struct_size = sizeof options;
  if (lane.device.starts_with("emulator:")) {
    options.emulator_immediate = lane.immediate;
    options.emulator_seed = seed;
  }
  return api::Device::open(runtime, lane.device, &options);
}

/// One runtime and one device for the suite.
struct Session {
  api::Runtime runtime;
  api::Device device;

  static const Session &get() {
    static const Session session;
    return session;
  }

private:
  Session() {
    jitk_runtime_options_t options = {};
    options.struct_size = sizeof options;
    options.store_path = ""; // each run compiles what it tests
    runtime = api::Runtime::create(&options);
    device = openDevice(runtime, 20);
  }
};

void checkAll(const std::vector<checked::Problem> &problems, std::string_view op) {
  int ran = 0;
  for (const checked::Problem &problem : problems) {
    if (!problem.description.starts_with(std::string(op) + " ")) {
      continue;
    }
    std::string sizes;
    for (const auto &[name, size] : problem.sizes) {
      sizes += " " + name + ":" + std::to_string(size);
    }
    CAPTURE(problem.description);
    CAPTURE(sizes);
    CAPTURE(problem.seed);
    ++ran;
    try {
      checked::Outcome outcome = checked::run(Session::get().runtime, Session::get().device, problem);
      CHECK_MESSAGE(outcome.damage.empty(), (outcome.damage.empty() ? std::string() : outcome.damage.front()));
      CHECK_FALSE(outcome.figures.empty());
      for (const reference::ErrorFigures &figures : outcome.figures) {
        CHECK_MESSAGE(figures.failed == 0, figures.failed << " of " << figures.checked << " elements are wrong, first "
                                                          << figures.firstFailure);
      }
    } catch (const api::Exception &failure) {
      FAIL_CHECK(std::string(failure.what()) << "\n" << failure.toolOutput());
    }
  }
  CHECK(ran > 0);
}

const std::vector<checked::Problem> &problems() {
  return lane.full ? conformance::fullSizes() : conformance::edgeCases();
}

} // namespace

TEST_SUITE("conformance") {
  TEST_CASE("matmul") { checkAll(problems(), "matmul"); }
  TEST_CASE("flash_attention") { checkAll(problems(), "flash_attention"); }
  TEST_CASE("gated_delta_rule") { checkAll(problems(), "gated_delta_rule"); }
  TEST_CASE("gated_delta_rule gives equal bits in any order of threads") {
    for (const char *text : {"gated_delta_rule tokens=40 qk_heads=1 v_heads=2 key_dim=32 chunk=16 qk_l2norm=true",
                             "gated_delta_rule mode=recurrent tokens=3 qk_heads=1 key_dim=32"}) {
      CAPTURE(text);
      std::vector<std::vector<uint8_t>> first;
      for (uint64_t seed : {1, 2, 3}) {
        api::Device device = openDevice(Session::get().runtime, seed);
        checked::Outcome outcome = checked::run(Session::get().runtime, device, {text, {}}, /*check=*/false);
        first = first.empty() ? outcome.tensors : std::move(first);
        CHECK(outcome.tensors == first);
      }
    }
  }
  TEST_CASE("mla_decode") { checkAll(problems(), "mla_decode"); }
  TEST_CASE("fp8_block_matmul") { checkAll(problems(), "fp8_block_matmul"); }
  TEST_CASE("grouped_fp8_block_matmul") { checkAll(problems(), "grouped_fp8_block_matmul"); }
}

int main(int argc, char **argv) {
#ifdef __GLIBC__
  // Tensors of gigabytes come and go: the memory of one problem is the next one's, and need not be paged in again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--device=", 9) == 0) {
      lane.device = argv[i] + 9;
    }
    lane.immediate |= std::strcmp(argv[i], "--mode=immediate") == 0;
    lane.full |= std::strcmp(argv[i], "--full") == 0;
  }
  std::printf("device %s%s\n", lane.device.c_str(), lane.immediate ? ", asynchronous instructions at once" : "");
  doctest::Context context(argc, argv);
  return context.run();
}
