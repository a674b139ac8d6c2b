// paged_attention in small tiles: rings that wrap within a sequence and between sequences, parts that begin and end
// within blocks, pages smaller and larger than a block.

#include "src/kernels/attention/PagedAttention.h"

#include "src/kernels/attention/BulkDecode.h"
#include "tests/unit/kernels/ReferenceCheck.h"

#include "mlir/IR/MLIRContext.h"

#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::kernels;
using namespace jitk::kernels::test;

TEST_SUITE_BEGIN("kernels/PagedAttention");

namespace {

void check(const std::string &problem, std::optional<BulkTile> tile,
           const std::vector<emulator::DeviceOptions> &devices, const reference::GivenValues &given = {}) {
  checkKernel(
      "paged_attention " + problem,
      [&](const Description &description, const Target &target, mlir::MLIRContext &context) {
        return buildPagedAttention(description, tile, target, context);
      },
      devices, given);
}

std::vector<emulator::DeviceOptions> orders() {
  std::vector<emulator::DeviceOptions> devices = inBothModes({0, 3, 4217}, 2);
  return devices;
}

std::vector<emulator::DeviceOptions> oneOrder(uint64_t seed) {
  return {deviceOptions(seed % 2 ? emulator::AsyncMode::Deferred : emulator::AsyncMode::Immediate, seed, 3)};
}

} // namespace

TEST_CASE("the order of threads and of asynchronous work does not matter") {
  check("batch=3 heads=4 kv_heads=2 max_kv=400 num_pages=40 page_size=16 splits=3 head_dim=64",
        BulkTile{.keys = 64, .stages = 2}, orders(), {{"seq_lens", {391, 5, 130}}});
  check("batch=3 heads=4 kv_heads=2 max_kv=400 num_pages=240 page_size=5 splits=3 head_dim=64",
        BulkTile{.keys = 64, .stages = 2, .gathers = true}, orders(), {{"seq_lens", {391, 5, 130}}});
  check("batch=2 heads=2 kv_heads=1 max_kv=200 num_pages=10 splits=2 head_dim=64 dtype=fp16", std::nullopt, orders(),
        {{"seq_lens", {200, 64}}});
}

TEST_CASE("pages smaller than a block, as large and larger, cut anywhere") {
  // None, one, the edges of a piece of 8 rows, of a page, of a block, and all.
  reference::GivenValues lengths = {{"seq_lens", {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 200}}};
  for (int pageSize : {16, 48, 64, 128, 192}) {
    for (int keys : {64, 128}) {
      check("batch=15 heads=2 max_kv=200 num_pages=90 splits=4 head_dim=64 page_size=" + std::to_string(pageSize),
            BulkTile{.keys = keys, .stages = 2}, oneOrder(uint64_t(pageSize / 16 + keys)), lengths);
    }
  }
}

TEST_CASE("rows that are gathered, of pages of any size") {
  reference::GivenValues lengths = {{"seq_lens", {0, 1, 2, 7, 8, 63, 64, 65, 127, 128, 129, 200}}};
  for (int pageSize : {1, 2, 3, 8, 16, 24, 40, 64, 200, 1000}) {
    for (int keys : {64, 128}) {
      check("batch=12 heads=2 max_kv=200 num_pages=1300 splits=4 head_dim=64 page_size=" + std::to_string(pageSize),
            BulkTile{.keys = keys, .stages = 2, .gathers = true}, oneOrder(uint64_t(pageSize + keys / 64)), lengths);
    }
  }
  check("batch=3 heads=4 kv_heads=2 max_kv=140 num_pages=40 page_size=12 splits=2 head_dim=192 value_dim=128",
        BulkTile{.keys = 64, .stages = 3, .gathers = true}, oneOrder(3), {{"seq_lens", {140, 0, 77}}});
  check("batch=6 heads=50 kv_heads=1 seq_q=2 max_kv=190 num_pages=70 page_size=20 splits=2 head_dim=64 causal=true",
        BulkTile{.keys = 64, .stages = 3, .gathers = true}, oneOrder(4), {{"seq_lens", {1, 3, 64, 66, 129, 190}}});
}

TEST_CASE("queries whose diagonals lie anywhere, in several tiles of rows") {
  reference::GivenValues lengths = {{"seq_lens", {1, 3, 64, 66, 129, 190}}};
  check("batch=6 heads=4 kv_heads=2 seq_q=3 max_kv=190 num_pages=30 splits=5 head_dim=64 causal=true",
        BulkTile{.keys = 128, .stages = 2}, oneOrder(1), lengths);
  check("batch=6 heads=50 kv_heads=1 seq_q=2 max_kv=190 num_pages=30 splits=2 head_dim=64 causal=true",
        BulkTile{.keys = 64, .stages = 3}, oneOrder(2), lengths);
}

TEST_CASE("the tile follows from the dims and from shared memory") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadKernelDialects(context);
  auto choose = [&](int64_t keyDim, int64_t valueDim, int64_t pageSize, const char *target) {
    PagedDecodeProblem problem = {.keyCache = "k_cache",
                                  .valueCache = "v_cache",
                                  .keyDim = keyDim,
                                  .valueDim = valueDim,
                                  .pageSize = pageSize,
                                  .keyHeads = Dimension{.value = 1},
                                  .isCausal = false,
                                  .type = elementTypeOf("bf16", context),
                                  .outputType = elementTypeOf("bf16", context),
                                  .lseOfNothing = 0};
    return chooseBulkTile(problem, *Target::parse(target));
  };
  CHECK(choose(64, 64, 64, "sm_90a") == BulkTile{.keys = 128, .stages = 3});
  CHECK(choose(128, 128, 16, "sm_90a") == BulkTile{.keys = 64, .stages = 3});
  CHECK(choose(192, 128, 64, "sm_90a") == BulkTile{.keys = 64, .stages = 2});
  CHECK(choose(256, 256, 48, "sm_90a") == BulkTile{.keys = 64, .stages = 2});
  CHECK(choose(128, 128, 8, "sm_90a") == BulkTile{.keys = 128, .stages = 2, .gathers = true});
  CHECK(choose(64, 64, 100, "sm_90a") == BulkTile{.keys = 128, .stages = 3, .gathers = true});
  CHECK(choose(256, 128, 1, "sm_90a") == BulkTile{.keys = 64, .stages = 2, .gathers = true});
  CHECK(choose(96, 96, 64, "sm_90a") == std::nullopt);
  CHECK(choose(128, 128, 64, "sm_80") == std::nullopt);
}

TEST_SUITE_END();
