// Sizes that a schema takes must be launchable: y and z take 65535 CTAs, x takes 2^31 - 1.

#include "tests/unit/kernels/RecipeOf.h"

#include <doctest/doctest.h>

using namespace jitk;

namespace {

/// The largest extents along y and z of any step, all dynamic dimensions as large as the op takes them.
int64_t largestExtent(const std::string &text, const char *target) {
  constexpr uint32_t kMultiprocessors = 132;
  const Recipe recipe = kernels::test::recipeOf(text, target);
  const OpSchema &op = **findOp(text.substr(0, text.find(' ')));
  std::vector<int64_t> sizes;
  for (const std::string &name : recipe.dimensions) {
    sizes.push_back(op.attribute(name)->maximum);
  }
  int64_t largest = 0;
  for (const LaunchStep &step : recipe.steps) {
    for (size_t axis : {1, 2}) {
      largest = std::max(largest, step.grid[axis].onDevice(kMultiprocessors).evaluate(sizes));
    }
  }
  return largest;
}

} // namespace

TEST_SUITE("kernels/Grid") {
  TEST_CASE("no size that an op takes is too large for y or z") {
    const std::string all[] = {
        "matmul m=* n=* k=*",
        "flash_attention batch=* heads=* kv_heads=* seq_q=* seq_k=* head_dim=64",
        "flash_attention batch=* heads=* kv_heads=* seq_q=* seq_k=* head_dim=128 causal=true varlen=true",
        "flash_attention batch=* heads=* kv_heads=* seq_q=* seq_k=* head_dim=128 packed=true",
        "fp8_block_matmul m=* n=* k=*",
        "grouped_fp8_block_matmul groups=* m=* n=* k=*",
        "grouped_fp8_block_matmul masked=true groups=* m=* n=* k=*",
        "gated_delta_rule batch=* tokens=* qk_heads=* v_heads=* key_dim=64",
        "gated_delta_rule mode=recurrent batch=* tokens=* qk_heads=* v_heads=* key_dim=64",
        "mla_decode batch=* heads=* seq_q=* max_kv=* splits=*",
        "mla_decode batch=* heads=* seq_q=* max_kv=* splits=* page_size=48",
        "paged_attention batch=* heads=* kv_heads=* seq_q=* max_kv=* splits=* head_dim=128",
        "paged_attention batch=* heads=* kv_heads=2 seq_q=* max_kv=* splits=* head_dim=80 page_size=16",
    };
    for (const char *target : {"sm_80", "sm_90a"}) {
      for (const std::string &text : all) {
        CAPTURE(target);
        CAPTURE(text);
        CHECK(largestExtent(text, target) <= UINT16_MAX);
      }
    }
  }
}
