#include "tests/unit/kernels/RecipeOf.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace jitk;

/// What a launch holds the address of a tensor to.
static uint32_t alignmentOf(const char *text, const std::string &tensor) {
  const Recipe recipe = kernels::test::recipeOf(text);
  const std::vector<std::string> &tensors = recipe.tensors;
  auto found = std::ranges::find(tensors, tensor);
  REQUIRE(found != tensors.end());
  return recipe.alignments[size_t(found - tensors.begin())];
}

TEST_SUITE("kernels/Alignment") {
  TEST_CASE("what is loaded in vectors of 16 bytes must lie at them") {
    const char *decode = "mla_decode heads=16 max_kv=64 num_pages=1";
    CHECK(alignmentOf(decode, "kv_cache") == 16);
    CHECK(alignmentOf(decode, "q") == 16);
    CHECK(alignmentOf(decode, "block_table") == 4);
    CHECK(alignmentOf(decode, "seq_lens") == 4);
    const char *rule = "gated_delta_rule tokens=64 qk_heads=2 key_dim=64 initial_state=true";
    for (const char *tensor : {"q", "k", "v", "initial_state", "final_state"}) {
      CAPTURE(tensor);
      CHECK(alignmentOf(rule, tensor) == 16);
    }
  }
}
