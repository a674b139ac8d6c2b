#include "src/kernels/attention/AttentionTile.h"

#include "src/ops/OpSchema.h"

#include <doctest/doctest.h>

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

TEST_CASE("few queries have one consumer") {
  CHECK(choose("heads=32 seq_q=64 seq_k=4096 head_dim=128").numConsumers() == 1);
  CHECK(choose("heads=32 seq_q=*<=64 seq_k=4096 head_dim=128").numConsumers() == 1);
  CHECK(choose("heads=32 seq_q=65 seq_k=4096 head_dim=128").numConsumers() == 2);
  CHECK(choose("heads=32 seq_q=* seq_k=4096 head_dim=128").numConsumers() == 2);
}

TEST_CASE("narrow heads of long sequences have three consumers") {
  CHECK(choose("heads=32 seq_q=4096 head_dim=64").numConsumers() == 3);
  CHECK(choose("heads=32 seq_q=4096 head_dim=64").keys == 128);
  CHECK(choose("heads=32 seq_q=2047 head_dim=64").numConsumers() == 2);
  CHECK(choose("heads=32 seq_q=4096 head_dim=64 varlen=true").numConsumers() == 2);
  CHECK(choose("heads=32 seq_q=4096 head_dim=64 value_dim=128").numConsumers() == 2);
  CHECK(choose("heads=32 seq_q=4096 head_dim=128").numConsumers() == 2);
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
