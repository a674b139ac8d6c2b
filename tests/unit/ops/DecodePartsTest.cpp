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

/// How many parts of the schedule get work where all sequences have so many blocks: the dealing of SplitSchedule.h.
static int64_t countParts(int64_t parts, int64_t sequences, int64_t blocks) {
  int64_t cost = blocks + kScheduleOverhead, share = (sequences * cost + parts - 1) / parts + kScheduleOverhead;
  int64_t count = 0, left = blocks;
  for (int64_t sequence = 0; sequence < sequences;) {
    ++count;
    int64_t room = share;
    while (sequence < sequences && left + kScheduleOverhead <= room) {
      room -= left + kScheduleOverhead;
      left = blocks;
      ++sequence;
    }
    if (sequence < sequences) {
      left -= std::max<int64_t>(0, room - kScheduleOverhead);
    }
  }
  return count;
}

TEST_CASE("few sequences have more parts than rounds take, of which no more have work") {
  for (int64_t keyHeads : {1, 2, 4, 8, 20}) {
    int64_t wanted = 132 / keyHeads;
    for (int64_t sequences : {1, 2, 3, 4, 5, 8, 15, 16, 40, 64}) {
      for (int64_t blocks : {1, 2, 3, 5, 8, 16, 31, 64, 512}) {
        CAPTURE(keyHeads);
        CAPTURE(sequences);
        CAPTURE(blocks);
        int64_t parts = partsOf("paged_attention head_dim=64 heads=" + std::to_string(keyHeads) +
                                " batch=" + std::to_string(sequences) + " max_kv=" + std::to_string(64 * blocks));
        int64_t working = countParts(parts, sequences, blocks);
        CHECK(working <= wanted);
        CHECK(working >= countParts(wanted, sequences, blocks));
      }
    }
  }
  // 16 parts have work, not 8.
  CHECK(countParts(16, 4, 8) == 8);
  CHECK(countParts(partsOf("paged_attention batch=4 heads=8 max_kv=512 head_dim=128"), 4, 8) == 16);
  CHECK(partsOf("paged_attention batch=17 heads=8 max_kv=512 head_dim=128") == 16);
}

TEST_CASE("a size that is known at launch counts as its bound, an unknown one as few heads and many keys") {
  CHECK(partsOf("paged_attention batch=*<=64 heads=32 kv_heads=8 max_kv=*<=8192 head_dim=128") == 16);
  CHECK(partsOf("paged_attention batch=*<=2 heads=4 max_kv=*<=100 head_dim=128") ==
        partsOf("paged_attention batch=2 heads=4 max_kv=100 head_dim=128"));
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
