// The conformance suite: every op over its cases on one device, against the float64 references.
//
//   jitk_conformance --device=emulator:sm_90a [--mode=immediate] [--full] [doctest options]
//
// A device that is missing is a failure, not a skip.

#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/conformance/Cases.h"
#include "tests/conformance/Session.h"

#include <cstdio>
#include <cstring>
#include <doctest/doctest.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace jitk;

namespace jitk::conformance {

Lane lane;

api::Device openDevice(const api::Runtime &runtime, uint64_t seed) {
  jitk_device_options_t options = {};
  options.struct_size = sizeof options;
  if (lane.device.starts_with("emulator:")) {
    options.emulator_immediate = lane.immediate;
    options.emulator_seed = seed;
  }
  return api::Device::open(runtime, lane.device, &options);
}

Session::Session() {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = ""; // each run compiles what it tests
  runtime = api::Runtime::create(&options);
  device = openDevice(runtime, 20);
}

const Session &Session::get() {
  static const Session session;
  return session;
}

} // namespace jitk::conformance

using namespace jitk::conformance;

namespace {

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

/// What a launch on made-up addresses is refused with, the tensor of number `misaligned` 8 bytes off; the workspace has
/// the size that is asked for, less `missing`.
static std::string refusal(const std::string &text, const std::vector<int64_t> &sizes, size_t misaligned,
                           std::vector<float> scalars = {}, uint64_t missing = 0) {
  api::Kernel kernel =
      api::Kernel::obtain(Session::get().runtime, Session::get().device, api::Description::parse(text));
  std::vector<uint64_t> addresses(kernel.tensors().size(), 0x10000);
  if (misaligned < addresses.size()) {
    addresses[misaligned] += 8;
  }
  try {
    uint64_t bytes = kernel.workspaceBytes(sizes);
    kernel.launch(addresses, sizes, scalars, /*workspace=*/0x100000, bytes - missing);
  } catch (const api::Exception &refused) {
    CHECK(refused.status() == JITK_STATUS_INVALID_ARGUMENT);
    return refused.what();
  }
  return "accepted";
}

TEST_SUITE("conformance") {
  TEST_CASE("launches of mla_decode that cannot be are refused") {
    const std::string op = "mla_decode batch=2 heads=* max_kv=100 num_pages=9 splits=* latent_dim=32 rope_dim=16";
    const size_t none = 99;
    CHECK(refusal(op, {16, 3}, /*kv_cache=*/1, {1}) ==
          "address of tensor kv_cache must be aligned to 16 bytes: got 0x10008");
    CHECK(refusal(op, {16, 0}, none, {1}) == "dimension splits must be 1 or more: got 0");
    CHECK(refusal(op, {16}, none, {1}) == "number of dimensions must be 2: got 1");
    CHECK(refusal(op, {16, 3}, none, {}) == "number of scalars must be 1: got 0");
    // (2 + 3) slots of 16 rows in fp32: 32 channels, 10240 bytes; then a sum, 320 bytes, of which regions take 512.
    CHECK(refusal(op, {16, 3}, none, {1}, /*missing=*/1) == "workspace must have at least 10752 bytes: got 10751");
  }
  TEST_CASE("launches of paged_attention that cannot be are refused") {
    const std::string op = "paged_attention batch=2 heads=* kv_heads=* max_kv=100 num_pages=9 splits=* head_dim=64";
    const size_t none = 99;
    CHECK(refusal(op, {16, 4, 3}, /*v_cache=*/2, {1}) ==
          "address of tensor v_cache must be aligned to 16 bytes: got 0x10008");
    CHECK(refusal(op, {16, 3, 3}, none, {1}) == "dimension heads must be a multiple of kv_heads 3: got 16");
    CHECK(refusal(op, {16, 0, 3}, none, {1}) == "dimension kv_heads must be 1 or more: got 0");
    // (2 + 3) slots of 16 rows in fp32: 64 channels, 20480 bytes; then a sum, 320 bytes, of which regions take 512.
    CHECK(refusal(op, {16, 4, 3}, none, {1}, /*missing=*/1) == "workspace must have at least 20992 bytes: got 20991");
  }
  TEST_CASE("launches of gated_delta_rule that cannot be are refused") {
    const std::string op = "gated_delta_rule tokens=* qk_heads=* v_heads=* key_dim=64 chunk=64";
    const size_t none = 99;
    CHECK(refusal(op, {64, 2, 3}, none) == "dimension v_heads must be a multiple of qk_heads 2: got 3");
    CHECK(refusal(op, {-1, 2, 4}, none) == "dimension tokens must be zero or more: got -1");
    CHECK(refusal(op, {64, 2, 4}, /*k=*/1) == "address of tensor k must be aligned to 16 bytes: got 0x10008");
    // One chunk and 4 heads: two bf16 matrices of 64 x 64, 3 x 64 factors in fp32, and a decay, of which regions take
    // 65536, 3072 and 256 bytes.
    CHECK(refusal(op, {64, 2, 4}, none, {}, /*missing=*/1) == "workspace must have at least 68864 bytes: got 68863");
  }
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
  TEST_CASE("gated_delta_rule stays in its tensors where offsets descend") {
    for (const char *text :
         {"gated_delta_rule batch=4 tokens=40 qk_heads=1 key_dim=32 varlen=true chunk=16",
          "gated_delta_rule mode=recurrent batch=4 tokens=40 qk_heads=1 key_dim=32 varlen=true initial_state=true"}) {
      CAPTURE(text);
      // What the values are is not said; the emulator finds every access that leaves a tensor.
      checked::Outcome outcome = checked::run(Session::get().runtime, Session::get().device,
                                              {text, {}, 1, {{"cu_seqlens", {0, 30, 7, 90, -5}}}}, /*check=*/false);
      CHECK(outcome.damage.empty());
    }
  }
  TEST_CASE("mla_decode") { checkAll(problems(), "mla_decode"); }
  TEST_CASE("paged_attention") { checkAll(problems(), "paged_attention"); }
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
    if (std::strncmp(argv[i], "--mode=", 7) == 0) {
      lane.immediate = std::strcmp(argv[i] + 7, "immediate") == 0;
      if (!lane.immediate && std::strcmp(argv[i] + 7, "deferred") != 0) {
        std::fprintf(stderr, "jitk_conformance: --mode must be deferred or immediate: got '%s'\n", argv[i] + 7);
        return 2;
      }
    }
    lane.full |= std::strcmp(argv[i], "--full") == 0;
  }
  std::printf("device %s%s\n", lane.device.c_str(), lane.immediate ? ", asynchronous instructions at once" : "");
  doctest::Context context(argc, argv);
  return context.run();
}
