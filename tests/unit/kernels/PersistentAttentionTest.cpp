// The persistent attention in small configurations, on problems that fill none of them evenly: queries and keys that
// end within a tile, one block of keys and rings that wrap, more tiles than CTAs and fewer, rows that see nothing.

#include "src/kernels/attention/PersistentAttention.h"

#include "tests/unit/kernels/ReferenceCheck.h"

#include "mlir/IR/MLIRContext.h"

#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::kernels;
using namespace jitk::kernels::test;

TEST_SUITE_BEGIN("kernels/PersistentAttention");

namespace {

constexpr auto kDeferred = emulator::AsyncMode::Deferred, kImmediate = emulator::AsyncMode::Immediate;

void check(const std::string &problem, const AttentionTile &tile, const std::vector<emulator::DeviceOptions> &devices,
           const reference::GivenValues &given = {}) {
  CAPTURE(tile.rows);
  CAPTURE(tile.keys);
  checkKernel(
      "flash_attention " + problem,
      [&](const Description &description, const Target &target, mlir::MLIRContext &context) {
        REQUIRE(servesPersistentAttention(description, target));
        return buildPersistentAttention(description, tile, target, context);
      },
      devices, given);
}

std::vector<emulator::DeviceOptions> oneDevice(unsigned seed) {
  return {deviceOptions(seed % 2 ? kDeferred : kImmediate, seed, 3)};
}

} // namespace

TEST_CASE("the order of threads and of asynchronous work does not matter") {
  std::vector<emulator::DeviceOptions> devices;
  for (auto mode : {kDeferred, kImmediate}) {
    for (uint64_t seed : {0, 1, 8812}) {
      devices.push_back(deviceOptions(mode, seed, 2));
    }
  }
  check("heads=2 kv_heads=1 seq_q=200 seq_k=150 head_dim=32 causal=true",
        {.rows = 128, .keys = 32, .stages = 2, .queryStages = 1, .storeSlots = 1, .groupHeads = 2}, devices);
  check("heads=3 seq_q=70 seq_k=100 head_dim=16 dtype=fp16 out_dtype=fp32",
        {.rows = 64, .keys = 32, .stages = 3, .queryStages = 2, .groupHeads = 1}, devices);
}

TEST_CASE("three consumers, of which the last have no queries") {
  std::vector<emulator::DeviceOptions> devices = {deviceOptions(kDeferred, 4, 3), deviceOptions(kImmediate, 5, 1)};
  check("heads=3 kv_heads=1 seq_q=250 seq_k=300 head_dim=16 causal=true",
        {.rows = 192, .keys = 32, .queryStages = 2, .groupHeads = 2}, devices);
  check("batch=2 heads=1 seq_q=200 seq_k=70 head_dim=16 value_dim=64 varlen=true", {.rows = 192, .keys = 32}, devices,
        {{"seq_lens_q", {195, 64}}, {"seq_lens_k", {0, 33}}});
}

TEST_CASE("consumers begin with the block of their diagonal") {
  // The diagonals of consumers and blocks are the same, or not; rows that see nothing, rows that are not there.
  for (int keys : {450, 514, 322, 578, 451, 100}) {
    CAPTURE(keys);
    std::string problem = "heads=1 seq_q=450 head_dim=16 causal=true seq_k=" + std::to_string(keys);
    check(problem, {.rows = 192, .keys = 128}, oneDevice(20));
    check(problem, {.rows = 192, .keys = 64}, oneDevice(21));
    check(problem, {.rows = 128, .keys = 64}, oneDevice(22));
    check(problem, {.rows = 128, .keys = 128}, oneDevice(23));
  }
  check("batch=3 heads=1 seq_q=400 seq_k=500 head_dim=16 value_dim=64 causal=true varlen=true",
        {.rows = 192, .keys = 64}, oneDevice(24), {{"seq_lens_q", {400, 65, 130}}, {"seq_lens_k", {500, 300, 20}}});
}

TEST_CASE("CTAs that take their items take each once") {
  for (uint32_t multiprocessors : {1, 2, 3, 5}) {
    std::vector<emulator::DeviceOptions> devices = {deviceOptions(kDeferred, multiprocessors, multiprocessors),
                                                    deviceOptions(kImmediate, 11, multiprocessors)};
    check("batch=2 heads=3 seq_q=200 seq_k=40 head_dim=16 causal=true",
          {.rows = 64, .keys = 32, .groupHeads = 4, .isQueued = true}, devices);
    check("batch=4 heads=2 kv_heads=1 seq_q=200 seq_k=90 head_dim=16 value_dim=64 causal=true varlen=true",
          {.rows = 128, .keys = 64, .groupHeads = 2, .isQueued = true}, devices,
          {{"seq_lens_q", {0, 200, 3, 129}}, {"seq_lens_k", {10, 90, 0, 64}}});
  }
}

TEST_CASE("CTAs that skip items without queries take each of the others once") {
  // One long sequence among short ones and empty ones; heads of a sequence in several groups, in one, and with others.
  reference::GivenValues ends = {{"cu_seqlens_q", {0, 3, 3, 400, 401, 470, 470}},
                                 {"cu_seqlens_k", {0, 10, 20, 120, 150, 150, 170}}};
  reference::GivenValues lengths = {{"seq_lens_q", {3, 0, 397, 1, 69, 0}}, {"seq_lens_k", {10, 10, 100, 30, 0, 20}}};
  for (int64_t groupHeads : {1, 2, 4, 6, 8, 24}) {
    CAPTURE(groupHeads);
    auto multiprocessors = uint32_t(groupHeads % 5 + 1);
    std::vector<emulator::DeviceOptions> devices = {deviceOptions(kDeferred, 1, multiprocessors),
                                                    deviceOptions(kImmediate, 2, 7)};
    AttentionTile tile = {.rows = 64, .keys = 32, .groupHeads = groupHeads, .isQueued = true};
    check("batch=6 heads=4 kv_heads=2 seq_q=448 seq_k=110 total_q=470 total_k=170 head_dim=16 value_dim=64 packed=true",
          tile, devices, ends);
    check("batch=6 heads=4 kv_heads=2 seq_q=448 seq_k=110 head_dim=16 value_dim=64 causal=true varlen=true", tile,
          devices, lengths);
  }
}

TEST_CASE("the diagonals of tiles and of blocks are the same") {
  check("heads=1 seq_q=200 seq_k=200 head_dim=16 causal=true", {.rows = 64, .keys = 64}, oneDevice(6));
  check("heads=1 seq_q=130 seq_k=194 head_dim=16 causal=true", {.rows = 64, .keys = 64}, oneDevice(7));
  check("heads=1 seq_q=194 seq_k=66 head_dim=16 causal=true", {.rows = 64, .keys = 64}, oneDevice(8));
  check("heads=1 seq_q=200 seq_k=328 head_dim=16 causal=true", {.rows = 128, .keys = 128}, oneDevice(9));
  check("heads=1 seq_q=200 seq_k=329 head_dim=16 causal=true", {.rows = 128, .keys = 128}, oneDevice(10));
}

TEST_CASE("blocks of one part and of several, heads of one part and of two") {
  check("heads=1 seq_q=140 seq_k=200 head_dim=64", {.keys = 112, .queryStages = 2, .storeSlots = 1}, oneDevice(1));
  check("heads=2 seq_q=130 seq_k=170 head_dim=48 causal=true", {.keys = 48}, oneDevice(2));
  check("heads=1 seq_q=70 seq_k=90 head_dim=96 value_dim=80 causal=true", {.rows = 64, .keys = 16}, oneDevice(3));
  check("heads=1 seq_q=40 seq_k=64 head_dim=16 value_dim=256", {.rows = 64, .keys = 64}, oneDevice(4));
  check("heads=1 seq_q=40 seq_k=64 head_dim=16 value_dim=192", {.rows = 64, .keys = 64, .storeSlots = 1}, oneDevice(5));
}

TEST_CASE("one block of keys, a cut one, and whole ones") {
  for (int keys : {1, 31, 32, 33, 64}) {
    check("heads=1 seq_q=66 seq_k=" + std::to_string(keys) + " head_dim=16", {.rows = 64, .keys = 32},
          oneDevice(unsigned(keys)));
  }
}

TEST_CASE("the diagonal lies anywhere in a block, and some rows see nothing") {
  for (int keys : {10, 64, 65, 100, 130}) {
    check("heads=1 seq_q=100 seq_k=" + std::to_string(keys) + " head_dim=16 causal=true", {.rows = 128, .keys = 32},
          oneDevice(unsigned(keys)));
  }
}

TEST_CASE("as many CTAs as tiles, fewer, and more multiprocessors than tiles") {
  std::vector<emulator::DeviceOptions> devices;
  for (uint32_t multiprocessors : {1, 5, 12, 100}) {
    devices.push_back(deviceOptions(kDeferred, multiprocessors, multiprocessors));
  }
  check("batch=2 heads=2 kv_heads=1 seq_q=150 head_dim=16 causal=true", {.rows = 64, .keys = 64, .groupHeads = 3},
        devices);
}

TEST_CASE("sequences that end anywhere in a tile") {
  // None, one, the edges of a piece of 8 rows, of a block and of a tile, and all: of queries beside all of keys.
  std::vector<reference::Number> lengths = {0, 1, 7, 8, 9, 31, 32, 33, 64, 65, 100, 130};
  std::vector<reference::Number> backwards(lengths.rbegin(), lengths.rend());
  std::string problem = "batch=12 heads=2 kv_heads=1 seq_q=130 head_dim=16 value_dim=64 varlen=true";
  std::vector<emulator::DeviceOptions> devices = {deviceOptions(kDeferred, 3, 4), deviceOptions(kImmediate, 8, 5)};
  for (const char *causal : {"", " causal=true"}) {
    check(problem + causal, {.rows = 128, .keys = 32, .groupHeads = 3}, devices,
          {{"seq_lens_q", lengths}, {"seq_lens_k", backwards}});
    check(problem + causal, {.rows = 64, .keys = 48, .storeSlots = 1}, oneDevice(5),
          {{"seq_lens_q", backwards}, {"seq_lens_k", backwards}});
  }
}

TEST_CASE("the ends of a window lie anywhere in a block") {
  // Narrower than a block, as wide, wider, and wider than a tile; consumers whose first blocks or last ones differ.
  unsigned seed = 0;
  for (int left : {0, 1, 31, 32, 63, 64, 65, 127, 128, 200}) {
    for (const char *right : {"causal=true", "window_right=33", "window_right=128", ""}) {
      std::string window = "window_left=" + std::to_string(left) + " " + right;
      CAPTURE(window);
      ++seed;
      check("heads=1 seq_q=450 head_dim=16 " + window, {.rows = 192, .keys = 64}, oneDevice(seed));
      check("heads=1 seq_q=300 seq_k=428 head_dim=16 " + window, {.rows = 128, .keys = 128}, oneDevice(seed + 1));
      check("heads=1 seq_q=200 seq_k=333 head_dim=16 " + window, {.rows = 128, .keys = 32}, oneDevice(seed));
      check("heads=1 seq_q=200 seq_k=100 head_dim=16 " + window, {.rows = 64, .keys = 48}, oneDevice(seed + 1));
    }
  }
  check("batch=3 heads=1 seq_q=400 seq_k=500 head_dim=16 value_dim=64 window_left=70 window_right=5 varlen=true",
        {.rows = 192, .keys = 64, .isQueued = true}, oneDevice(24),
        {{"seq_lens_q", {400, 65, 130}}, {"seq_lens_k", {500, 300, 20}}});
}

TEST_CASE("a cap on the scores, beside each mask and in each number of parts") {
  check("heads=1 seq_q=450 head_dim=16 softcap=0.3 causal=true", {.rows = 192, .keys = 64}, oneDevice(1));
  check("heads=1 seq_q=130 seq_k=200 head_dim=16 softcap=1 window_left=40", {.rows = 128, .keys = 112}, oneDevice(2));
  check("heads=1 seq_q=60 seq_k=70 head_dim=96 softcap=2", {.rows = 64, .keys = 48}, oneDevice(3));
  check("batch=2 heads=1 seq_q=75 seq_k=90 head_dim=16 value_dim=64 softcap=0.5 varlen=true", {.rows = 128, .keys = 32},
        oneDevice(4), {{"seq_lens_q", {70, 3}}, {"seq_lens_k", {45, 90}}});
}

TEST_CASE("packed sequences begin and end anywhere in a tile") {
  // Sequences of every length above, one right behind the other: where one ends the next one's rows lie in its tile.
  std::vector<reference::Number> queries = {0}, keys = {0};
  for (int length : {0, 1, 7, 8, 9, 31, 32, 33, 64, 65, 100, 130}) {
    queries.push_back(queries.back() + length);
  }
  for (int length : {130, 100, 65, 64, 33, 32, 31, 9, 8, 7, 1, 0}) {
    keys.push_back(keys.back() + length);
  }
  std::string problem =
      "batch=12 heads=2 kv_heads=1 seq_q=130 total_q=485 total_k=484 head_dim=16 value_dim=64 packed=true";
  std::vector<emulator::DeviceOptions> devices = {deviceOptions(kDeferred, 3, 4), deviceOptions(kImmediate, 8, 5)};
  for (const char *causal : {"", " causal=true"}) {
    check(problem + causal, {.rows = 128, .keys = 32, .groupHeads = 3}, devices,
          {{"cu_seqlens_q", queries}, {"cu_seqlens_k", keys}});
    check(problem + causal, {.rows = 64, .keys = 48, .storeSlots = 1}, oneDevice(5),
          {{"cu_seqlens_q", queries}, {"cu_seqlens_k", queries}});
    check(problem + causal, {.rows = 192, .keys = 64, .isQueued = true}, oneDevice(6),
          {{"cu_seqlens_q", queries}, {"cu_seqlens_k", keys}});
  }
}

TEST_CASE("sequences with lengths, in every shape of result") {
  reference::GivenValues lengths = {{"seq_lens_q", {70, 3}}, {"seq_lens_k", {45, 90}}};
  for (const char *shape : {"head_dim=32 value_dim=128", "head_dim=16 value_dim=64 out_dtype=fp32",
                            "head_dim=32 value_dim=128 out_dtype=fp32 dtype=fp16", "head_dim=16 value_dim=192"}) {
    check(std::string("batch=2 heads=1 seq_q=75 seq_k=90 causal=true varlen=true ") + shape,
          {.rows = 64, .keys = 32, .storeSlots = 1}, oneDevice(1), lengths);
    check(std::string("batch=2 heads=1 seq_q=75 seq_k=90 varlen=true ") + shape, {.rows = 128, .keys = 32},
          oneDevice(2), lengths);
  }
}

TEST_SUITE_END();
