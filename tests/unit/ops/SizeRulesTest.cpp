#include "src/ops/SizeRules.h"

#include "src/ops/TensorShape.h"

#include <doctest/doctest.h>

using namespace jitk;

static std::string verdict(const char *description, std::vector<std::string> names, std::vector<int64_t> sizes) {
  Result<Description> parsed = parseDescription(description);
  REQUIRE(parsed.ok());
  return SizeRules(*parsed, std::move(names)).check(sizes).toString();
}

TEST_SUITE("ops/SizeRules") {
  TEST_CASE("sizes keep to their bounds and divisors") {
    const char *matmul = "matmul m=*%8<=64 n=* k=16";
    CHECK(verdict(matmul, {"m", "n"}, {64, 0}) == SizeRules().check({}).toString());
    CHECK(verdict(matmul, {"m", "n"}, {8}) == "number of dimensions must be 2: got 1");
    CHECK(verdict(matmul, {"m", "n"}, {-8, 1}) == "dimension m must be zero or more: got -8");
    CHECK(verdict(matmul, {"m", "n"}, {72, 1}) == "dimension m must be at most 64: got 72");
    CHECK(verdict(matmul, {"n", "m"}, {1, 12}) == "dimension m must be a multiple of 8: got 12");
    const char *decode = "mla_decode heads=16 max_kv=64 num_pages=1 splits=*";
    CHECK(verdict(decode, {"splits"}, {0}) == "dimension splits must be 1 or more: got 0");
  }

  TEST_CASE("a dimension without a bound is as large as a static one may be") {
    CHECK(verdict("matmul m=* n=8 k=8", {"m"}, {INT32_MAX}).find("dimension") == std::string::npos);
    CHECK(verdict("matmul m=* n=8 k=8", {"m"}, {int64_t(INT32_MAX) + 1}) ==
          "dimension m must be at most 2147483647: got 2147483648");
  }

  TEST_CASE("what the schema demands between dimensions holds for sizes known at launch only") {
    const char *both = "flash_attention heads=* kv_heads=* seq_q=1 head_dim=64";
    CHECK(verdict(both, {"heads", "kv_heads"}, {6, 3}) == SizeRules().check({}).toString());
    CHECK(verdict(both, {"heads", "kv_heads"}, {0, 0}) == SizeRules().check({}).toString());
    CHECK(verdict(both, {"kv_heads", "heads"}, {4, 6}) == "dimension heads must be a multiple of kv_heads 4: got 6");
    CHECK(verdict(both, {"heads", "kv_heads"}, {6, 0}) == "dimension heads must be a multiple of kv_heads 0: got 6");
    CHECK(verdict("flash_attention heads=2 kv_heads=* seq_q=1 head_dim=64", {"kv_heads"}, {3}) ==
          "dimension heads must be a multiple of kv_heads 3: got 2");
    CHECK(verdict("flash_attention heads=* kv_heads=2 seq_q=1 head_dim=64", {"heads"}, {5}) ==
          "dimension heads must be a multiple of kv_heads 2: got 5");
  }

  TEST_CASE("every such demand is about dimensions of its op") {
    for (const OpSchema &op : allOps()) {
      for (const auto &[multiple, factor] : op.multiples) {
        for (std::string_view name : {multiple, factor}) {
          CAPTURE(name);
          CHECK(op.attribute(name)->maximum == INT32_MAX);
        }
      }
    }
  }

  TEST_CASE("tensors of sizes that break a rule have no shape") {
    Result<Description> parsed = parseDescription("flash_attention heads=* kv_heads=2 seq_q=1 head_dim=64");
    REQUIRE(parsed.ok());
    CHECK(tensorShapes(*parsed, {{"heads", 4}}).ok());
    CHECK(tensorShapes(*parsed, {{"heads", 5}}).status().toString() ==
          "dimension heads must be a multiple of kv_heads 2: got 5");
  }
}
