// One problem of each family and each way to build it on every architecture that a target may name: what is offered
// compiles, and gives right results on the emulator.

#include "src/ops/OpSchema.h"
#include "src/tools/checked/CheckedRun.h"
#include "src/tools/checked/Prepare.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace jitk;

namespace {

/// Large enough for the instructions of the largest tiles.
const std::vector<checked::Problem> problems = {
    {"matmul m=128 n=256 k=64 b_layout=col", {}},
    {"matmul m=33 n=65 k=47 dtype=fp16 bias=true", {}},
    {"flash_attention heads=2 kv_heads=1 seq_q=70 seq_k=100 head_dim=64 causal=true", {}},
    {"flash_attention heads=1 seq_q=70 seq_k=80 head_dim=80 value_dim=48 dtype=fp16", {}},
    {"fp8_block_matmul m=100 n=136 k=144", {}},
    {"fp8_block_matmul m=70 n=72 k=136 out_dtype=fp16", {}},
    {"grouped_fp8_block_matmul groups=2 m=256 n=136 k=144", {}},
    {"gated_delta_rule tokens=70 qk_heads=1 key_dim=64 chunk=32", {}},
    {"gated_delta_rule mode=recurrent batch=2 tokens=1 qk_heads=1 key_dim=64", {}},
    {"mla_decode batch=2 heads=16 max_kv=100 num_pages=8 splits=4", {}},
    {"paged_attention batch=2 heads=4 kv_heads=2 max_kv=100 num_pages=8 splits=4 head_dim=64", {}},
};

std::vector<std::string> emulators(const api::Runtime &runtime) {
  std::vector<std::string> names;
  nlohmann::json report = nlohmann::json::parse(runtime.report());
  for (const auto &[target, assembler] : report.at("compiler").at("assemblers").items()) {
    if (target.starts_with("emulator:")) {
      names.push_back(target);
    }
  }
  return names;
}

api::Runtime withoutStore() {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  return api::Runtime::create(&options);
}

} // namespace

TEST_CASE("every op of the library is among the problems") {
  std::set<std::string_view> ops;
  for (const checked::Problem &problem : problems) {
    ops.insert(std::string_view(problem.description).substr(0, problem.description.find(' ')));
  }
  for (const OpSchema &op : allOps()) {
    CAPTURE(op.name);
    CHECK(op.ownDimensions != ops.contains(op.name)); // those with dimensions of their own are kernels of the user
  }
}

TEST_CASE("every architecture runs every family") {
  api::Runtime runtime = withoutStore();
  std::vector<std::string> targets = emulators(runtime);
  CHECK(targets.size() > 2);
  for (const std::string &target : targets) {
    checked::prepare(runtime, target, problems);
    api::Device device = api::Device::open(runtime, target);
    for (const checked::Problem &problem : problems) {
      CAPTURE(target);
      CAPTURE(problem.description);
      try {
        CHECK(checked::run(runtime, device, problem).passed());
      } catch (const api::Exception &failure) {
        FAIL_CHECK(std::string(failure.what()) << "\n" << failure.toolOutput());
      }
    }
  }
}
