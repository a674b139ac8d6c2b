// The reader of launch recipes: what it accepts a launch evaluates without looking again.

#include "src/runtime/Recipe.h"
#include "tests/fakes/StubCompiler.h"
#include "tests/fuzz/Fuzz.h"

using namespace jitk;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<Recipe> recipe = Recipe::deserialize({data, size});
  if (!recipe.ok()) {
    FUZZ_REQUIRE(recipe.status().code() == StatusCode::DataLoss || recipe.status().code() == StatusCode::Internal);
    return 0;
  }
  Result<Recipe> again = Recipe::deserialize(recipe->serialize());
  FUZZ_REQUIRE(again.ok() && *again == *recipe);
  return 0;
}

std::vector<std::vector<uint8_t>> test::fuzzSeeds() {
  std::vector<std::vector<uint8_t>> seeds;
  for (const char *m : {"4", "*", "*%16<=512"}) {
    Description description("stub", {{"m", *Dimension::parse(m)}, {"n", Dimension{64, 1, 0}}});
    seeds.push_back(StubCompiler::makeRecipe(description).serialize());
  }
  return seeds;
}
