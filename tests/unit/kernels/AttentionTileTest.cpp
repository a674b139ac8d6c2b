#include "src/kernels/attention/AttentionTile.h"

#include "src/ops/OpSchema.h"

#include <doctest/doctest.h>
#include <string>

using namespace jitk;
using namespace jitk::kernels;

TEST_SUITE_BEGIN("kernels/AttentionTile");

static AttentionTile choose(const char *text) {
  Result<Description> description = parseDescription(std::string("flash_attention ") + text);
  REQUIRE(description.ok());
  return chooseAttentionTile(*description);
}

TEST_CASE("wide heads have fewer keys to a block, and one tile of queries") {
  CHECK(choose("heads=32 seq_q=4096 head_dim=64").keys == 128);
  CHECK(choose("heads=32 seq_q=4096 head_dim=128").keys == 128);
  CHECK(choose("heads=32 seq_q=4096 head_dim=128").queryStages == 2);
  CHECK(choose("heads=32 seq_q=4096 head_dim=192 value_dim=128").keys == 128);
  CHECK(choose("heads=32 seq_q=4096 head_dim=192 value_dim=128").storeSlots == 1);
  CHECK(choose("heads=32 seq_q=4096 head_dim=192").keys == 64);
  CHECK(choose("heads=32 seq_q=4096 head_dim=256").keys == 64);
  CHECK(choose("heads=32 seq_q=4096 head_dim=256").queryStages == 1);
}

TEST_CASE("few queries have one consumer, and so do few items") {
  CHECK(choose("heads=32 seq_q=64 seq_k=4096 head_dim=128").numConsumers() == 1);
  CHECK(choose("heads=32 seq_q=*<=64 seq_k=4096 head_dim=128").numConsumers() == 1);
  CHECK(choose("batch=8 heads=32 seq_q=65 seq_k=4096 head_dim=128").numConsumers() == 2);
  CHECK(choose("heads=32 seq_q=* seq_k=4096 head_dim=128").numConsumers() == 2);
  // Tiles of 128 queries would leave half of the multiprocessors without one.
  CHECK(choose("heads=8 seq_q=1024 head_dim=128").numConsumers() == 1);
  CHECK(choose("heads=16 seq_q=512 head_dim=256").numConsumers() == 1);
  CHECK(choose("heads=16 seq_q=1024 head_dim=128").numConsumers() == 2);
}

TEST_CASE("narrow heads of long sequences have three consumers") {
  CHECK(choose("batch=4 heads=32 seq_q=4096 head_dim=64").numConsumers() == 3);
  CHECK(choose("batch=4 heads=32 seq_q=4096 head_dim=64").keys == 128);
  CHECK(choose("batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=64 causal=true").numConsumers() == 3);
  CHECK(choose("batch=16 heads=32 seq_q=1024 head_dim=64").numConsumers() == 3);
  CHECK(choose("batch=16 heads=32 seq_q=2048 head_dim=64 causal=true varlen=true").numConsumers() == 3);
  // Two where a window's left end takes their registers.
  CHECK(choose("batch=4 heads=32 kv_heads=8 seq_q=8192 head_dim=64 causal=true window_left=4095").numConsumers() == 2);
  CHECK(choose("batch=4 heads=32 seq_q=4096 head_dim=64 window_right=100").numConsumers() == 3);
  // Above the diagonal a tile of 192 queries has more that no query sees.
  CHECK(choose("batch=16 heads=32 seq_q=1024 head_dim=64 causal=true").numConsumers() == 2);
  CHECK(choose("batch=32 heads=32 seq_q=512 head_dim=64 causal=true").numConsumers() == 2);
  CHECK(choose("batch=4 heads=32 seq_q=4096 head_dim=64 value_dim=128").numConsumers() == 2);
  CHECK(choose("batch=4 heads=32 seq_q=4096 head_dim=128").numConsumers() == 2);
}

/// What the model says of a tile of a problem, by the tile's name.
static double clocksOf(const std::string &text, const std::string &name) {
  Result<Description> description = parseDescription("flash_attention " + text);
  REQUIRE(description.ok());
  for (const AttentionTile &tile : attentionTiles(*description)) {
    if (tile.name() == name) {
      return modelledClocks(*description, tile);
    }
  }
  FAIL(text << " has no tile " << name);
  return 0;
}

TEST_CASE("windows and caps count") {
  const std::string text = "batch=4 heads=32 seq_q=8192 head_dim=64", name = "128x128.q2.s2";
  double whole = clocksOf(text, name), window = clocksOf(text + " causal=true window_left=1024", name);
  CHECK(window < clocksOf(text + " causal=true", name) / 2);
  CHECK(window > whole / 16);
  CHECK(clocksOf(text + " softcap=30", name) > 1.3 * whole);
}

TEST_CASE("the model orders tiles as they were measured on an H200") {
  // Ratios of times in one process, of the page of the day's measurements.
  constexpr struct {
    const char *text, *slower, *faster;
    double ratio;
  } kMeasured[] = {
      {"batch=4 heads=32 seq_q=4096 head_dim=128", "128x64.q2.s2", "128x128.q2.s2", 1.08},
      {"batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true", "128x128.q1.s2", "128x128.q2.s2", 1.043},
      {"batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true", "64x128.q2.s2", "128x128.q2.s2", 1.35},
      {"batch=4 heads=32 seq_q=4096 head_dim=64", "128x128.q2.s2", "192x128.q2.s2", 1.17},
      {"batch=4 heads=32 seq_q=4096 head_dim=64", "128x64.q2.s2", "192x128.q2.s2", 1.29},
      {"batch=16 heads=32 seq_q=1024 head_dim=64", "128x128.q2.s2", "192x128.q2.s2", 1.05},
      {"heads=128 seq_q=4096 head_dim=192 value_dim=128 causal=true", "128x64.q2.s2", "128x128.q1.s1", 1.05},
      {"heads=8 seq_q=1024 head_dim=128", "128x128.q2.s2", "64x128.q2.s2", 1.31},
      {"heads=16 seq_q=512 head_dim=256", "128x64.q1.s2", "64x64.q2.s2", 1.36},
      {"heads=32 seq_q=1024 head_dim=128 causal=true", "64x128.q2.s2", "128x128.q2.s2", 1.10},
  };
  for (const auto &[text, slower, faster, ratio] : kMeasured) {
    CAPTURE(text);
    double modelled = clocksOf(text, slower) / clocksOf(text, faster);
    CHECK(modelled > 1);
    CHECK(modelled == doctest::Approx(ratio).epsilon(0.2));
  }
}

TEST_CASE("heads of causal problems are worked on together, as far as L2 goes, in even groups") {
  // 2048 keys and values of 128 are 1 MiB a head.
  CHECK(choose("batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true").groupHeads == 32 * 4);
  CHECK(choose("batch=5 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true").groupHeads == 20 * 4);
  CHECK(choose("heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true").groupHeads == 8 * 4);
  CHECK(choose("batch=* heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true").groupHeads == 32 * 4);
  CHECK(choose("batch=8 heads=32 seq_q=4096 head_dim=128 causal=true").groupHeads == 16);
  CHECK(choose("batch=8 heads=32 kv_heads=8 seq_q=262144 head_dim=128 causal=true").groupHeads == 8 * 4);
  CHECK(choose("heads=32 kv_heads=8 seq_q=4096 head_dim=128").groupHeads == 4);
  CHECK(choose("heads=32 seq_q=4096 head_dim=128").groupHeads == 1);
}

TEST_CASE("items that differ in length are queued, where there are more than multiprocessors") {
  CHECK(choose("batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true").isQueued);
  CHECK(choose("batch=4 heads=32 seq_q=2048 head_dim=128 varlen=true").isQueued);
  CHECK(choose("heads=8 seq_q=* head_dim=128 causal=true").isQueued);
  CHECK(choose("batch=* heads=2 seq_q=64 head_dim=128 causal=true").isQueued);
  CHECK(!choose("batch=4 heads=32 seq_q=2048 head_dim=128").isQueued);
  CHECK(choose("heads=33 seq_q=513 head_dim=128 causal=true").isQueued);
  CHECK(!choose("heads=33 seq_q=512 head_dim=128 causal=true").isQueued);
  CHECK(choose("heads=67 seq_q=129 head_dim=128 causal=true").isQueued);
  CHECK(!choose("heads=32 seq_q=*<=64 head_dim=128 causal=true").isQueued);
}

TEST_CASE("parts of a block are powers of two") {
  CHECK(AttentionTile{.keys = 128}.keyParts() == llvm::SmallVector<int64_t>{128});
  CHECK(AttentionTile{.keys = 176}.keyParts() == llvm::SmallVector<int64_t>{128, 32, 16});
}

TEST_SUITE_END();
