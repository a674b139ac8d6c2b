#include "src/kernels/attention/ItemRounds.h"
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

TEST_CASE("items that get shorter are shared evenly") {
  struct Problem {
    const char *text;
    double straight, turned; ///< balance of rounds that only change direction, and of those that are taken
  };
  for (const Problem &problem : {
           Problem{"batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true", 0.970, 0.995},
           Problem{"batch=8 heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true", 0.973, 0.976},
           Problem{"heads=32 kv_heads=8 seq_q=8192 head_dim=128 causal=true", 0.999, 0.999},
           Problem{"batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=64 causal=true", 0.970, 0.987},
       }) {
    CAPTURE(problem.text);
    Result<Description> description = parseDescription(std::string("flash_attention ") + problem.text);
    REQUIRE(description.ok());
    AttentionTile tile = chooseAttentionTile(*description);
    CHECK(balanceOf(*description, tile) > problem.turned);
    tile.turn = 0;
    CHECK(balanceOf(*description, tile) == doctest::Approx(problem.straight).epsilon(0.001));
  }
  CHECK(choose("heads=32 kv_heads=8 seq_q=8192 head_dim=128 causal=true").turn == 0);
  CHECK(choose("batch=4 heads=32 kv_heads=8 seq_q=2048 head_dim=128").turn == 0);
  CHECK(choose("batch=* heads=32 kv_heads=8 seq_q=2048 head_dim=128 causal=true").turn == 0);
  CHECK(choose("batch=1000 heads=1000 seq_q=1000 head_dim=128 causal=true").turn == 0);
}

TEST_CASE("parts of a block are powers of two") {
  CHECK(AttentionTile{.keys = 128}.keyParts() == llvm::SmallVector<int64_t>{128});
  CHECK(AttentionTile{.keys = 176}.keyParts() == llvm::SmallVector<int64_t>{128, 32, 16});
}

TEST_SUITE_END();
