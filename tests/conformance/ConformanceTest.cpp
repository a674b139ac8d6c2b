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

using namespace jitk;

namespace {

struct Lane {
  std::string device = "emulator:sm_90a";
  bool immediate = false;
  bool full = false;
};

Lane lane;

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
    jitk_device_options_t deviceOptions = {};
    deviceOptions.struct_size = sizeof deviceOptions;
    deviceOptions.emulator_immediate = lane.immediate;
    deviceOptions.emulator_seed = 20;
    device = api::Device::open(runtime, lane.device, &deviceOptions);
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
      FAIL_CHECK(failure.what() << "\n" << failure.toolOutput());
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
  TEST_CASE("fp8_block_matmul") { checkAll(problems(), "fp8_block_matmul"); }
}

int main(int argc, char **argv) {
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
