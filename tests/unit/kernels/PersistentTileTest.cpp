#include "src/kernels/matmul/PersistentMatmul.h"
#include "src/ops/OpSchema.h"

#include <algorithm>
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
    CHECK(tile.rows == 128);
    CHECK(tile.columns == 256);
    CHECK(tile.stages == 4);
    CHECK(tile.groupRows == 16);
  }
}

TEST_CASE("smaller products take tiles that fill the multiprocessors") {
  // As many tiles as multiprocessors, or nearly: 8 x 16 of 128 x 64, or as many of 64 x 128.
  PersistentTile cube = choose("m=1024 n=1024 k=1024");
  CHECK(cube.rows * cube.columns == 128 * 64);
  // 12 tiles of 176 columns in each of 32 rows are three rounds.
  PersistentTile uneven = choose("m=4096 n=2112 k=7168 b_layout=col");
  CHECK(uneven.rows == 128);
  CHECK(uneven.columns == 176);
}

TEST_CASE("few tiles split K so that they fill the multiprocessors") {
  for (const char *few : {"m=128 n=2112 k=7168 b_layout=col", "m=64 n=576 k=7168 b_layout=col", "m=64 n=64 k=4096"}) {
    CAPTURE(few);
    PersistentTile tile = choose(few);
    CHECK(tile.splits > 1);
    CHECK_FALSE(tile.defersStores);
  }
  // In small tiles and few parts, as was measured.
  auto nameOf = [](const char *attributes) { return choose(attributes).name(); };
  CHECK(nameOf("m=128 n=2112 k=7168 b_layout=col") == "64x64.k2");
  CHECK(nameOf("m=256 n=512 k=7168 b_layout=col") == "64x64.k4");
  CHECK(nameOf("m=128 n=576 k=7168 b_layout=col") == "64x64.k6");
  CHECK(nameOf("m=96 n=2112 k=7168 b_layout=col") == "64x96.t.k3");
  // Over the CTAs of a cluster where no two tiles share columns of B.
  CHECK(nameOf("m=64 n=576 k=7168 b_layout=col") == "64x64.c8");
  CHECK(nameOf("m=16 n=576 k=7168 b_layout=col") == "64x16.t.c8");
  CHECK(nameOf("m=1 n=576 k=7168 b_layout=col") == "64x8.t.c8");
  CHECK(nameOf("m=1 n=2112 k=7168 b_layout=col") == "64x8.t.k4");
  CHECK(nameOf("m=16 n=2112 k=7168 b_layout=col") == "64x16.t.k4");
  // 32 clusters of 4 do not run at a time.
  CHECK(nameOf("m=16 n=2048 k=4096 b_layout=col") == "64x16.t.k3");
  // Enough tiles, little K, or bound by memory.
  for (const char *many : {"m=4096 n=2112 k=7168 b_layout=col", "m=128 n=128 k=128", "m=1024 n=1024 k=1024",
                           "m=128 n=7168 k=2048 b_layout=col", "m=1 n=7168 k=16384 b_layout=col"}) {
    CAPTURE(many);
    CHECK(choose(many).splits == 1);
  }
  // Parts of whole blocks, none of them empty.
  for (const PersistentTile &tile : persistentTiles(describe("m=64 n=512 k=5000"))) {
    int64_t blocks = (5000 + tile.k - 1) / tile.k, depth = (blocks + tile.splits - 1) / tile.splits;
    CHECK(depth * (tile.splits - 1) < blocks);
  }
}

TEST_CASE("columns that tiles do not cut evenly are cut into even ones where one round takes them") {
  // 32 rows of tiles on 132 multiprocessors: four tiles to a row.
  CHECK(choose("m=4096 n=576 k=7168 b_layout=col").name() == "128x144");
  CHECK(choose("m=4096 n=640 k=7168 b_layout=col").name() == "128x160");
  // Two rows of tiles: 64 tiles to a row. One product takes the three parts.
  CHECK(choose("m=128 n=7168 k=2048 b_layout=col").name() == "64x112");
  CHECK(choose("m=128 n=7168 k=2048 b_layout=col").joinsParts);
  CHECK(choose("m=2048 n=640 k=7168 b_layout=col").name() == "128x80");
  // Two and more rounds.
  CHECK(choose("m=768 n=9216 k=2048 b_layout=col").name() == "128x144");
  CHECK(choose("m=384 n=4096 k=7168 b_layout=col").name() == "128x96");
  // The last tile would lie mostly outside.
  CHECK(choose("m=1024 n=576 k=7168 b_layout=col").name() == "128x64");
  // With row-major B each part has a product of its own: 176 columns have three; 192 are as many as there are anyway.
  for (const char *other : {"m=4096 n=704 k=7168", "m=4096 n=768 k=7168", "m=4096 n=512 k=7168", "m=* n=576 k=7168"}) {
    CAPTURE(other);
    int64_t columns = choose(other).columns;
    CHECK((columns & (columns - 1)) * (columns - 192) == 0);
  }
}

TEST_CASE("what memory feeds is stored in small tiles") {
  // Their last results leave while others are still on their way; larger ones would all be stored at the end.
  CHECK(choose("m=128 n=32768 k=512 b_layout=col").name() == "64x256");
  CHECK(choose("m=256 n=32768 k=512 b_layout=col").name() == "128x256");
}

TEST_CASE("where the last round would be short its tiles are narrower") {
  // 32 rows of tiles, 11 tiles of 192 columns wide: two rounds of 132 and 88 tiles, or two and 132 of 128.
  llvm::SmallVector<PersistentTile> all = persistentTiles(describe("m=4096 n=2112 k=7168 b_layout=col"));
  const auto *uneven = std::ranges::find(all, "128x192", &PersistentTile::name);
  REQUIRE(uneven != all.end());
  CHECK(uneven->mix == PersistentTile::Mix{20, {9, 7}, {3, 6}});
  unsigned numMixed = 0;
  for (int m : {500, 1000, 2048, 4000, 4096, 8192}) {
    for (int n : {576, 1536, 2112, 3072, 4096, 4608, 7168}) {
      CAPTURE(m);
      CAPTURE(n);
      std::string sizes = "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=4096 b_layout=col";
      CHECK(choose(sizes + " bias=true residual=true").mix.rows == 0);
      for (const PersistentTile &tile : persistentTiles(describe(sizes))) {
        const PersistentTile::Mix &mix = tile.mix;
        if (mix.rows == 0) {
          continue;
        }
        ++numMixed;
        int64_t rows = (m + tile.rows - 1) / tile.rows, others = rows - mix.rows;
        CHECK(others >= 0);
        CHECK((mix.rows * mix.wide[0] + others * mix.wide[1]) % 132 == 0);
        CHECK(mix.rows * mix.narrow[0] + others * mix.narrow[1] <= 132);
        for (int kind : {0, 1}) {
          int64_t covered = mix.wide[kind] * tile.columns + mix.narrow[kind] * tile.parts().front();
          CHECK(covered >= n);
          CHECK(covered < n + tile.parts().front());
        }
      }
    }
  }
  CHECK(numMixed > 3);
  CHECK(choose("m=* n=2112 k=7168 b_layout=col").mix.rows == 0);
}

TEST_CASE("results wait for the next tile's products where there is one") {
  CHECK(choose("m=4096 n=7168 k=2048 b_layout=col").defersStores);
  CHECK(choose("m=4096 n=7168 k=2048 b_layout=col out_dtype=fp32").defersStores);
  CHECK_FALSE(choose("m=1024 n=1024 k=1024").defersStores);
  // In the slots of what is added.
  PersistentTile adds = choose("m=4096 n=7168 k=2048 b_layout=col bias=true residual=true");
  CHECK(adds.defersStores);
  CHECK(adds.stages == choose("m=4096 n=7168 k=2048 b_layout=col").stages);
}

TEST_CASE("what memory adds to takes no slots") {
  std::string fp32 = "m=4096 n=7168 k=2048 b_layout=col out_dtype=fp32";
  CHECK(choose(fp32 + " accumulate=true").stages == choose(fp32).stages);
  CHECK(choose(fp32 + " accumulate=true activation=relu").stages < choose(fp32).stages);
  CHECK(choose(fp32 + " residual=true").stages < choose(fp32).stages);
}

TEST_CASE("few rows of A become the columns of a tile, in eights") {
  for (auto [m, columns] : {std::pair(1, 8), {8, 8}, {17, 24}, {33, 40}, {50, 64}, {64, 64}}) {
    CAPTURE(m);
    PersistentTile tile = choose("m=" + std::to_string(m) + " n=7168 k=16384 b_layout=col");
    CHECK(tile.transposed);
    CHECK(tile.rows == 64);
    CHECK(tile.columns == columns);
    CHECK(tile.stages >= 10);
  }
  CHECK_FALSE(choose("m=193 n=7168 k=16384 b_layout=col").transposed);
}

TEST_CASE("rows that are known at launch only have a tile for few of them, and one for many") {
  auto rowsOf = [](const std::string &m) {
    llvm::SmallVector<int64_t> rows;
    for (const PersistentVariant &variant :
         choosePersistentVariants(describe("m=" + m + " n=7168 k=2048 b_layout=col"))) {
      rows.push_back(variant.mostRows);
    }
    return rows;
  };
  CHECK(rowsOf("100") == llvm::SmallVector<int64_t>{INT64_MAX});
  CHECK(rowsOf("*<=8") == llvm::SmallVector<int64_t>{INT64_MAX});
  CHECK(rowsOf("*<=32") == llvm::SmallVector<int64_t>{8, 16, INT64_MAX});
  CHECK(rowsOf("*") == llvm::SmallVector<int64_t>{8, 16, 32, 64, INT64_MAX});
  auto variants = choosePersistentVariants(describe("m=* n=7168 k=2048 b_layout=col"));
  CHECK(variants[0].tile.columns == 8);
  CHECK(variants[1].tile.columns == 16);
  CHECK(variants.back().tile.rows == 128);
}

TEST_CASE("a tile's columns are a sum of powers of two") {
  auto partsOf = [](int64_t columns) { return PersistentTile{.rows = 64, .columns = columns}.parts(); };
  CHECK(partsOf(256) == llvm::SmallVector<int64_t>{256});
  CHECK(partsOf(192) == llvm::SmallVector<int64_t>{128, 64});
  CHECK(partsOf(56) == llvm::SmallVector<int64_t>{32, 16, 8});
}

TEST_CASE("every candidate fits into shared memory") {
  for (const char *out : {"bf16", "fp32"}) {
    for (int m : {1, 64, 100, 512, 4096}) {
      for (int n : {8, 256, 2112, 24576}) {
        std::string attributes = "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=4096 out_dtype=" + out;
        CAPTURE(attributes);
        for (const PersistentTile &tile : persistentTiles(describe(attributes))) {
          CAPTURE(tile.columns);
          int64_t outputBytes = std::string(out) == "fp32" ? 4 : 2, staged = 0;
          for (int64_t part : tile.parts()) {
            staged += tile.rows * (tile.transposed ? part * outputBytes : std::min<int64_t>(256, part * outputBytes));
          }
          CHECK((tile.rows + tile.columns) * 64 * 2 * tile.stages + staged <= 232448 - 1024);
          CHECK(tile.stages >= 3);
          CHECK(tile.groupRows >= 1);
        }
      }
    }
  }
}

TEST_CASE("what is chosen costs no more than any candidate") {
  for (const char *attributes : {"m=4096 n=2112 k=7168 b_layout=col", "m=128 n=7168 k=2048", "m=16 n=4096 k=7168"}) {
    CAPTURE(attributes);
    Description description = describe(attributes);
    double least = modelledClocks(description, choosePersistentTile(description));
    for (const PersistentTile &tile : persistentTiles(description)) {
      CHECK(least <= modelledClocks(description, tile));
    }
  }
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
