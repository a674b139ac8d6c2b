#include "src/ops/DecodeParts.h"

#include "src/ops/OpSchema.h"
#include "src/ops/TensorShape.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <string>

using namespace jitk;

TEST_SUITE_BEGIN("ops/DecodeParts");

static Description describe(const std::string &line) {
  Result<Description> description = parseDescription(line);
  REQUIRE_MESSAGE(description.ok(), description.status().toString());
  return *description;
}

static int64_t partsOf(const std::string &line) { return describe(line).dimension("splits").value; }

/// Of sequences of 8192 keys, which leave a part keys enough however many parts there are.
static int64_t partsOfHeads(int64_t keyHeads, int64_t group, int64_t queries = 1) {
  return partsOf("paged_attention batch=64 max_kv=8192 head_dim=128 heads=" + std::to_string(keyHeads * group) +
                 " kv_heads=" + std::to_string(keyHeads) + " seq_q=" + std::to_string(queries));
}

TEST_CASE("parts fill the multiprocessors once") {
  CHECK(partsOfHeads(8, 4) == 16);
  CHECK(partsOfHeads(4, 4) == 33);
  CHECK(partsOfHeads(2, 8) == 66);
  CHECK(partsOfHeads(1, 8) == 132);
  CHECK(partsOfHeads(64, 1) == 2);
  CHECK(partsOfHeads(128, 1) == 1);
  // A key head's rows in two tiles.
  CHECK(partsOfHeads(8, 4, 17) == 8);
  CHECK(partsOf("mla_decode batch=128 heads=128 max_kv=4096") == 66);
  CHECK(partsOf("mla_decode batch=16 heads=16 seq_q=2 max_kv=8192") == 132);
}

TEST_CASE("where one round of CTAs leaves many multiprocessors idle there are more rounds") {
  for (int64_t keyHeads = 1; keyHeads <= 200; ++keyHeads) {
    CAPTURE(keyHeads);
    int64_t ctas = keyHeads * partsOfHeads(keyHeads, 1), rounds = (ctas + 131) / 132;
    CHECK(double(ctas) > 0.84 * 132 * double(rounds));
    CHECK(rounds <= 8);
  }
  CHECK(partsOfHeads(96, 1) == 4);
  CHECK(partsOfHeads(2000, 1) == 1);
}

TEST_CASE("no part has fewer than two blocks of keys") {
  CHECK(partsOf("paged_attention heads=4 max_kv=1 head_dim=64") == 1);
  CHECK(partsOf("paged_attention heads=4 max_kv=192 head_dim=64") == 1);
  CHECK(partsOf("paged_attention heads=4 max_kv=193 head_dim=64") == 2);
  CHECK(partsOf("paged_attention batch=3 heads=4 max_kv=193 head_dim=64") == 6);
  CHECK(partsOf("paged_attention batch=300 heads=4 max_kv=193 head_dim=64") == 33);
  CHECK(partsOf("mla_decode heads=16 max_kv=200") == 2);
}

TEST_CASE("a size that is known at launch counts as its bound, an unknown one as few heads and many keys") {
  CHECK(partsOf("paged_attention batch=*<=64 heads=32 kv_heads=8 max_kv=*<=8192 head_dim=128") == 16);
  CHECK(partsOf("paged_attention batch=*<=2 heads=4 max_kv=*<=100 head_dim=128") == 2);
  CHECK(partsOf("paged_attention batch=* heads=32 kv_heads=8 max_kv=* head_dim=128") == 16);
  CHECK(partsOf("paged_attention batch=* heads=* kv_heads=* max_kv=* head_dim=128") == 132);
  CHECK(partsOf("mla_decode batch=* heads=* max_kv=*") == 132);
}

TEST_CASE("what the caller gives is what it is, and the number that is chosen says the same when it is given") {
  const std::string line = "paged_attention batch=64 heads=32 kv_heads=8 max_kv=8192 head_dim=128";
  CHECK(partsOf(line + " splits=7") == 7);
  CHECK(!describe(line + " splits=*").dimension("splits").isStatic());
  CHECK(describe(line + " splits=16") == describe(line));
  CHECK(!(describe(line + " splits=17") == describe(line)));
  // A schedule is shared by the launch that makes it and those that reuse it.
  CHECK(partsOf(line + " reuse_schedule=true") == partsOf(line));
  Result<std::vector<TensorForm>> tensors = tensorForms(describe(line));
  REQUIRE(tensors.ok());
  auto schedule = std::ranges::find(*tensors, "schedule", &TensorForm::name);
  REQUIRE(schedule != tensors->end());
  CHECK(schedule->extents.front().addend == 16);
  // Sizes that are too large are refused as ever.
  CHECK(!parseDescription("paged_attention heads=2147483392 seq_q=2147483392 max_kv=1 head_dim=64").ok());
}

TEST_SUITE_END();
