// The conformance suite: every op over its cases on one device, against the float64 references.
//
//   jitk_conformance --device=emulator:sm_90a [--mode=immediate] [--full | --configurations] [--shard=1/4]
//                    [--skip=70] [--launches=200] [--order=8812] [doctest options]
//
// With --configurations each problem runs in each way that its cost model chooses from, not only in the one that it
// takes: on a GPU all edge cases, on an emulator a few.
// With --launches=n each problem is launched n times besides, over changing data, and must leave equal bits on equal
// data. With --order an emulator runs threads in the order of another seed. With --shard=i/n only every n-th problem of
// an op runs, from the i-th on: processes share a lane whose references take most of its time. With --skip=n the first
// n of them are left out, where a run that was ended goes on. A device that is missing is a failure, not a skip.

#define DOCTEST_CONFIG_IMPLEMENT
#include "src/ops/OpSchema.h"
#include "src/tools/checked/Prepare.h"
#include "tests/conformance/Cases.h"
#include "tests/conformance/Session.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
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
  device = openDevice(runtime, lane.seed);
}

const Session &Session::get() {
  static const Session session;
  return session;
}

} // namespace jitk::conformance

using namespace jitk::conformance;

namespace {

std::vector<checked::Problem> problemsOf(std::string_view op) {
  const auto &few = lane.isEmulator() ? conformance::configurationCases() : conformance::edgeCases();
  std::vector<checked::Problem> problems = lane.full             ? conformance::fullSizes()
                                           : lane.configurations ? few
                                                                 : conformance::edgeCases();
  if (Session::get().device.target() == "sm_90a" && !lane.full && !lane.configurations) {
    std::ranges::copy(conformance::severalTilesCases(), std::back_inserter(problems));
  }
  std::erase_if(problems, [&](const auto &each) { return !each.description.starts_with(std::string(op) + " "); });
  return problems;
}

/// The names of a problem's configurations, the cheapest first.
std::vector<std::string> configurationsOf(const std::string &description, const std::string &target) {
  auto all = nlohmann::json::parse(Session::get().runtime.configurations(api::Description::parse(description), target));
  std::vector<std::string> names;
  for (const auto &configuration : all) {
    names.push_back(configuration["name"]);
  }
  return names;
}

/// The problems of an op in each of their configurations; of the many ways to split K one for each tile, the cheapest.
/// With `whole` then those that have not been among them, of the problems that are there for it.
std::vector<checked::Problem> inConfigurations(std::vector<checked::Problem> problems, std::string_view op,
                                               const std::string &target, bool whole) {
  std::vector<checked::Problem> forced;
  std::set<std::string> had;
  auto add = [&](checked::Problem problem, const std::string &name) {
    had.insert(name);
    problem.description += " configuration=" + name;
    forced.push_back(std::move(problem));
  };
  for (const checked::Problem &problem : problems) {
    std::set<std::string> kinds;
    for (const std::string &name : configurationsOf(problem.description, target)) {
      size_t split = std::min(name.find(".k"), name.find(".c"));
      if (kinds.insert(split == std::string::npos ? name : name.substr(0, split + 2)).second) {
        add(problem, name);
      }
    }
  }
  for (const checked::Problem &problem : conformance::chosenConfigurationCases()) {
    if (!whole || !problem.description.starts_with(std::string(op) + " ")) {
      continue;
    }
    for (const std::string &name : configurationsOf(problem.description, target)) {
      if (!had.contains(name)) {
        add(problem, name);
      }
    }
  }
  return forced;
}

/// That a GPU runs each configuration which the op's model chooses over a wide grid of sizes.
void checkChoicesRun(std::string_view op) {
  const std::string target = "sm_90a";
  std::vector<checked::Problem> edges = conformance::edgeCases();
  std::erase_if(edges, [&](const auto &each) { return !each.description.starts_with(std::string(op) + " "); });
  std::set<std::string> runs, chosen;
  for (const checked::Problem &problem : inConfigurations(edges, op, target, /*whole=*/true)) {
    runs.insert(problem.description.substr(problem.description.rfind('=') + 1));
  }
  for (const std::string &description : conformance::gridOfChoices(op)) {
    std::vector<std::string> names = configurationsOf(description, target);
    if (!names.empty() && chosen.insert(names.front()).second && !runs.contains(names.front())) {
      FAIL_CHECK(description << " takes configuration " << names.front() << ", in which no problem runs");
    }
  }
  std::printf("%.*s: of %zu sizes its model chooses %zu configurations; a GPU runs %zu\n", int(op.size()), op.data(),
              conformance::gridOfChoices(op).size(), chosen.size(), runs.size());
}

void keepShard(std::vector<checked::Problem> &problems) {
  size_t index = 0;
  std::erase_if(problems, [&](const auto &) { return index++ % lane.numShards != lane.shard; });
  if (lane.skip > 0) {
    size_t left = std::min(lane.skip, problems.size());
    std::printf("SKIPPED: the first %zu of %zu problems, as --skip says\n", left, problems.size());
    problems.erase(problems.begin(), problems.begin() + std::ptrdiff_t(left));
  }
}

void checkAll(std::string_view op) {
  std::vector<checked::Problem> problems = problemsOf(op);
  if (lane.configurations) {
    problems = inConfigurations(std::move(problems), op, Session::get().device.target(), !lane.isEmulator());
    std::printf("%.*s: %zu problems in a configuration\n", int(op.size()), op.data(), problems.size());
    if (lane.shard == 0) {
      checkChoicesRun(op);
    }
  }
  keepShard(problems);
  checked::prepare(Session::get().runtime, Session::get().device.target(), problems);
  int ran = 0;
  for (const checked::Problem &problem : problems) {
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
      if (lane.launches > 1 && !problem.mayRace) {
        CHECK(checked::differenceBetweenLaunches(Session::get().runtime, Session::get().device, problem,
                                                 lane.launches) == "");
      }
    } catch (const api::Exception &failure) {
      FAIL_CHECK(std::string(failure.what()) << "\n" << failure.toolOutput());
    }
  }
  // Only tiles of sm_90a are chosen by a model.
  bool hasConfigurations =
      (*findOp(op))->attribute("configuration") && Session::get().device.target().ends_with("sm_90a");
  CHECK((ran > 0) == (hasConfigurations || !lane.configurations));
}

} // namespace

/// What a launch on made-up addresses is refused with, the tensor of number `misaligned` 8 bytes off; the workspace has
/// the size that is asked for, less `missing`.
static std::string refusal(const std::string &text, const std::vector<int64_t> &sizes, size_t misaligned,
                           std::vector<api::Scalar> scalars = {}, uint64_t missing = 0) {
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
    // In fp16, normalized keys too, once for each of 2 heads: 16384 bytes.
    CHECK(refusal(op + " dtype=fp16 qk_l2norm=true", {64, 2, 4}, none, {}, /*missing=*/1) ==
          "workspace must have at least 85248 bytes: got 85247");
  }
  TEST_CASE(
      "a chunk of gated_delta_rule that shared memory does not hold is refused, and the next smaller one is not") {
    const std::string op = "gated_delta_rule tokens=70 qk_heads=1 key_dim=256 dtype=fp32 chunk=";
    auto obtain = [&](const char *chunk) {
      api::Kernel::obtain(Session::get().runtime, Session::get().device, api::Description::parse(op + chunk));
    };
    if (Session::get().device.target().ends_with("sm_80")) {
      CHECK_THROWS_WITH_AS(obtain("64"), doctest::Contains("the kernel needs more shared memory than sm_80 has: got "),
                           api::Exception);
    } else {
      CHECK_NOTHROW(obtain("64"));
    }
    CHECK_NOTHROW(obtain("32"));
  }
  TEST_CASE("matmul") { checkAll("matmul"); }
  TEST_CASE("flash_attention") { checkAll("flash_attention"); }
  TEST_CASE("gated_delta_rule") { checkAll("gated_delta_rule"); }
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
      checked::Problem problem = {.description = text, .values = {{"cu_seqlens", {0, 30, 7, 90, -5}}}, .mayRace = true};
      checked::Outcome outcome = checked::run(Session::get().runtime, Session::get().device, problem, /*check=*/false);
      CHECK(outcome.damage.empty());
    }
  }
  TEST_CASE("flash_attention stays in its tensors where offsets descend") {
    for (const char *form : {"head_dim=64", "head_dim=64 causal=true", "head_dim=48 causal=true"}) {
      std::string text = "flash_attention batch=5 heads=2 kv_heads=1 seq_q=90 seq_k=100 total_q=120 total_k=150 "
                         "packed=true " +
                         std::string(form);
      CAPTURE(text);
      checked::Problem problem = {
          .description = text,
          .values = {{"cu_seqlens_q", {0, 80, 7, 900, -5, 119}}, {"cu_seqlens_k", {140, 30, 160, -70, INT_MAX, 2}}},
          .mayRace = true};
      checked::Outcome outcome = checked::run(Session::get().runtime, Session::get().device, problem, /*check=*/false);
      CHECK(outcome.damage.empty());
      CHECK_THROWS_WITH_AS(checked::run(Session::get().runtime, Session::get().device, problem),
                           "a check needs sequences that are specified: cu_seqlens_q descends to 7, where sequence 2 "
                           "begins, after 80",
                           std::invalid_argument);
    }
  }
  TEST_CASE("gated_delta_rule is not checked where it is not specified") {
    const std::pair<reference::GivenValues, const char *> open[] = {
        {{{"cu_seqlens", {4, 2, 9}}}, "cu_seqlens descends to 2, where sequence 1 begins, after 4"},
        {{{"state_indices", {1, 1}}}, "state_indices gives slot 1 to sequences 0 and 1"}};
    for (const char *mode : {"chunk", "recurrent"}) {
      for (const auto &[values, says] : open) {
        checked::Problem problem = {.description =
                                        "gated_delta_rule batch=2 tokens=9 qk_heads=1 key_dim=16 chunk=16 varlen=true "
                                        "state_pool=true slots=3 mode=" +
                                        std::string(mode),
                                    .values = values,
                                    .mayRace = true};
        CHECK_THROWS_WITH_AS(checked::run(Session::get().runtime, Session::get().device, problem),
                             (std::string("a check needs sequences that are specified: ") + says).c_str(),
                             std::invalid_argument);
        CHECK(checked::run(Session::get().runtime, Session::get().device, problem, /*check=*/false).damage.empty());
      }
    }
  }
  TEST_CASE("decoding stays in its tensors whatever schedule it is given") {
    // Made for more sequences, or for nothing at all.
    auto schedule = [](std::vector<reference::Number> row) {
      std::vector<reference::Number> rows;
      for (int part = 0; part < 3; ++part) {
        rows.insert(rows.end(), row.begin(), row.end());
      }
      return rows;
    };
    constexpr double kMost = INT32_MAX, kLeast = INT32_MIN;
    const std::vector<std::vector<reference::Number>> rows = {
        {1, 3, 0, 2, 1, 1, 1, 0},
        {0, 1, 99, 99, 99, 1, 1, 0},
        {kLeast, kMost, kMost, kMost, kMost, 1, 1, 0},
        {0, kMost, kLeast, kLeast, kLeast, 1, 1, 0},
        {0, 0, 3, 1, -1, 0, 1, 0},
    };
    for (const char *text :
         {"mla_decode batch=2 heads=16 max_kv=200 num_pages=8 latent_dim=32 rope_dim=16 splits=3 reuse_schedule=true",
          "paged_attention batch=2 heads=4 kv_heads=2 max_kv=200 num_pages=8 head_dim=64 splits=3 "
          "reuse_schedule=true"}) {
      for (const std::vector<reference::Number> &row : rows) {
        for (std::vector<reference::Number> offsets :
             {std::vector<reference::Number>{0, 2, 4}, {-5, kMost, kLeast}, {kMost, 1, kMost}}) {
          CAPTURE(text);
          CAPTURE(row);
          CAPTURE(offsets);
          checked::Problem problem = {.description = text,
                                      .values = {{"schedule", schedule(row)}, {"split_offsets", offsets}},
                                      .mayRace = true};
          checked::Outcome outcome =
              checked::run(Session::get().runtime, Session::get().device, problem, /*check=*/false);
          CHECK(outcome.damage.empty());
        }
      }
    }
  }
  TEST_CASE("mla_decode") { checkAll("mla_decode"); }
  TEST_CASE("paged_attention") { checkAll("paged_attention"); }
  TEST_CASE("fp8_block_matmul") { checkAll("fp8_block_matmul"); }
  TEST_CASE("grouped_fp8_block_matmul") { checkAll("grouped_fp8_block_matmul"); }
}

int main(int argc, char **argv) {
#ifdef __GLIBC__
  // Tensors of gigabytes come and go: the memory of one problem is the next one's, and need not be paged in again.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
  for (int i = 1; i < argc; ++i) {
    for (const char *option : {"--device", "--mode", "--shard", "--skip", "--launches", "--order"}) {
      if (std::strcmp(argv[i], option) == 0) {
        std::fprintf(stderr, "jitk_conformance: %s needs its value behind a '=': got none\n", option);
        return 2;
      }
    }
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
    if (std::strncmp(argv[i], "--order=", 8) == 0) {
      lane.seed = std::strtoull(argv[i] + 8, nullptr, 10);
    }
    if (std::strncmp(argv[i], "--launches=", 11) == 0) {
      lane.launches = std::atoi(argv[i] + 11);
      if (lane.launches < 1) {
        std::fprintf(stderr, "jitk_conformance: --launches must be a number from 1 on: got '%s'\n", argv[i] + 11);
        return 2;
      }
    }
    if (std::strncmp(argv[i], "--shard=", 8) == 0) {
      unsigned shard = 0, numShards = 0;
      if (std::sscanf(argv[i] + 8, "%u/%u", &shard, &numShards) != 2 || shard < 1 || shard > numShards) {
        std::fprintf(stderr, "jitk_conformance: --shard must be i/n, 1 <= i <= n: got '%s'\n", argv[i] + 8);
        return 2;
      }
      lane.shard = shard - 1;
      lane.numShards = numShards;
    }
    if (std::strncmp(argv[i], "--skip=", 7) == 0) {
      char *end = nullptr;
      lane.skip = std::strtoull(argv[i] + 7, &end, 10);
      if (argv[i][7] < '0' || argv[i][7] > '9' || *end) {
        std::fprintf(stderr, "jitk_conformance: --skip must be a number from 0 on: got '%s'\n", argv[i] + 7);
        return 2;
      }
    }
    lane.full |= std::strcmp(argv[i], "--full") == 0;
    lane.configurations |= std::strcmp(argv[i], "--configurations") == 0;
  }
  std::printf("device %s%s\n", lane.device.c_str(), lane.immediate ? ", asynchronous instructions at once" : "");
  doctest::Context context(argc, argv);
  return context.run();
}
