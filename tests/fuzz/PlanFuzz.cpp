// The reader of plan files: what it accepts it writes and reads back as the same.

#include "src/runtime/PlanFile.h"
#include "tests/fuzz/Fuzz.h"

#include <string>

using namespace jitk;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<std::vector<Plan::Item>> items = parsePlanFile({reinterpret_cast<const char *>(data), size});
  if (!items.ok()) {
    FUZZ_REQUIRE(items.status().code() == StatusCode::InvalidArgument);
    return 0;
  }
  Result<std::vector<Plan::Item>> again = parsePlanFile(writePlanFile(*items));
  FUZZ_REQUIRE(again.ok() && again->size() == items->size());
  for (size_t i = 0; i < items->size(); ++i) {
    FUZZ_REQUIRE((*again)[i].problem->text == (*items)[i].problem->text);
    FUZZ_REQUIRE((*again)[i].priority == (*items)[i].priority);
  }
  return 0;
}

std::vector<std::vector<uint8_t>> test::fuzzSeeds() {
  std::vector<std::vector<uint8_t>> seeds;
  for (std::string text :
       {R"({"jitk_plan": 1, "kernels": []})",
        R"({"jitk_plan": 1, "kernels": [{"op": "matmul", "attributes": {"m": "*<=64", "n": 64, "k": 64}}]})",
        R"({"jitk_plan": 1, "kernels": [{"op": "matmul", "attributes": {"m": 1, "n": 8, "k": 8, "dtype": "f16"},
            "priority": -3}, {"op": "matmul", "attributes": {"m": "*%16<=4096", "n": 2147483647, "k": 1}}]})",
        R"json({"jitk_plan": 1, "kernels": [{"op": "user_kernel", "attributes": {"language": "cuda", "entry": "k<1>",
            "source": ["#include \"a\"", "x"], "headers": "#header a\nb", "options": "-DA=1", "n": "*%2", "k": 3,
            "arguments": "x: read fp32[n, ceil(n/2)] align 16, a: fp32, i: int64 = 4*(n-1), w: workspace = min(n, k)",
            "grid": "ceil(n/8), multiprocessors", "block": "k, 2", "workspace": "8*n", "shared": "64"}}]})json"}) {
    seeds.emplace_back(text.begin(), text.end());
  }
  return seeds;
}
