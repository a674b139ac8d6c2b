#include "src/kernels/matmul/PersistentMatmul.h"
#include "src/ops/OpSchema.h"

#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::kernels;

TEST_SUITE_BEGIN("kernels/PersistentTile");

static Description describe(const std::string &attributes) {
  Result<Description> description = parseDescription("matmul " + attributes);
  REQUIRE(description.ok());
  return *description;
}

static PersistentTile choose(const std::string &attributes) { return choosePersistentTile(describe(attributes)); }

TEST_CASE("large products take the largest tile, and all stages that fit beside it") {
  for (const char *large : {"m=8192 n=8192 k=8192", "m=4096 n=7168 k=16384", "m=* n=4096 k=7168"}) {
    CAPTURE(large);
    PersistentTile tile = choose(large);
    CHECK(tile.m == 128);
    CHECK(tile.n == 256);
    CHECK(tile.stages == 4);
    CHECK(tile.groupRows == 16);
  }
}

TEST_CASE("smaller products take tiles that fill the multiprocessors") {
  // As many tiles as multiprocessors, or nearly: 8 x 16 of 128 x 64, or as many of 64 x 128.
  PersistentTile cube = choose("m=1024 n=1024 k=1024");
  CHECK(cube.m * cube.n == 128 * 64);
  // Few rows: tiles of 64 rows, narrow enough for one wave over all multiprocessors.
  PersistentTile skinny = choose("m=64 n=7168 k=2048 b_layout=col");
  CHECK(skinny.m == 64);
  CHECK(skinny.n == 64);
  CHECK(skinny.stages >= 8);
  CHECK(choose("m=1 n=4096 k=7168").m == 64);
}

TEST_CASE("every choice fits into shared memory") {
  for (const char *out : {"bf16", "fp32"}) {
    for (int m : {1, 64, 100, 512, 4096}) {
      for (int n : {8, 256, 2112, 24576}) {
        std::string attributes = "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=4096 out_dtype=" + out;
        CAPTURE(attributes);
        PersistentTile tile = choose(attributes);
        int64_t staged = tile.m * std::min<int64_t>(256, tile.n * (std::string(out) == "fp32" ? 4 : 2));
        CHECK((tile.m + tile.n) * 64 * 2 * tile.stages + staged <= 232448 - 1024);
        CHECK(tile.stages >= 3);
        CHECK(tile.groupRows >= 1);
      }
    }
  }
}

TEST_CASE("what the model prefers costs no more than the alternatives") {
  Description description = describe("m=4096 n=2112 k=7168 b_layout=col");
  PersistentTile best = choosePersistentTile(description);
  PersistentTile other = best;
  other.n = 32;
  CHECK(modelledClocks(description, best) <= modelledClocks(description, other));
}

TEST_CASE("the kernel serves what TMA can move on sm_90a, and nothing else") {
  Target hopper = {Target::Kind::Cuda, 90, true};
  auto serves = [&](const char *attributes, const Target &target) {
    return servesPersistently(describe(attributes), target);
  };
  CHECK(serves("m=1 n=8 k=8", hopper));
  CHECK(serves("m=* n=*%8 k=64", hopper));
  CHECK(serves("m=* n=4 k=64 b_layout=col out_dtype=fp32", hopper));
  CHECK_FALSE(serves("m=8 n=8 k=*%8", hopper));
  CHECK_FALSE(serves("m=8 n=8 k=12", hopper));
  CHECK_FALSE(serves("m=8 n=4 k=64 b_layout=col", hopper));
  CHECK_FALSE(serves("m=8 n=4 k=64 out_dtype=fp32", hopper));
  CHECK_FALSE(serves("m=8 n=* k=64 b_layout=col", hopper));
  CHECK_FALSE(serves("m=8 n=8 k=8", {Target::Kind::Cuda, 80, false}));
  CHECK_FALSE(serves("m=8 n=8 k=8", {Target::Kind::Cuda, 100, true}));
}

TEST_SUITE_END();
