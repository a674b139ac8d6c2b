// How kernels are timed, on a driver whose clock is known.

#include "src/tools/timing/Contender.h"
#include "src/tools/timing/CublasPeer.h"
#include "src/tools/timing/Occupancy.h"
#include "tests/fakes/FoundFakeCuda.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <stdexcept>

using namespace jitk;
using namespace jitk::timing;

TEST_SUITE_BEGIN("tools/timing");

namespace {

Description parse(const char *text) { return *parseDescription(text); }

} // namespace

TEST_CASE("a contender is timed by a graph of calls, replayed once unseen after each rest") {
  test::FakeCuda &cuda = test::foundFakeCuda();
  Gpu gpu(0);
  cuda.callMicroseconds = 50;
  int recorded = 0;
  auto one = [&](void *) { ++recorded, ++cuda.numLaunches; };
  auto three = [&](void *) { cuda.numLaunches += 3; };
  {
    std::vector<Contender> contenders;
    contenders.emplace_back(gpu, Protocol{.calls = 20, .replays = 12, .restMilliseconds = 0}, one);
    contenders.emplace_back(gpu, Protocol{.calls = 20, .replays = 12, .restMilliseconds = 0}, three);
    CHECK(recorded == 21); // once to see how long it takes, then the graph
    cuda.replays.clear();
    takeTurns(contenders);
    // A B B A three times, of each one replay to warm up and two that count.
    std::vector<uint64_t> turns;
    for (int round = 0; round < 3; ++round) {
      for (uint64_t launches : {20, 60, 60, 20}) {
        turns.insert(turns.end(), 3, launches);
      }
    }
    CHECK(cuda.replays == turns);
    // The first replay after another graph's takes ten times as long, and is in no time.
    CHECK(contenders[0].times().size() == 12);
    for (double time : contenders[0].times()) {
      CHECK(time == doctest::Approx(50));
    }
    for (double time : contenders[1].times()) {
      CHECK(time == doctest::Approx(150));
    }
    CHECK(cuda.numGraphs == 2);
  }
  CHECK(cuda.numGraphs == 0);
}

TEST_CASE("a graph has fewer calls where they take long") {
  test::FakeCuda &cuda = test::foundFakeCuda();
  Gpu gpu(0);
  auto enqueue = [&](void *) { ++cuda.numLaunches; };
  const std::pair<double, int> times[] = {{1, 20}, {250, 20}, {1000, 6}, {6000, 1}, {1e6, 1}};
  for (auto [time, calls] : times) {
    cuda.callMicroseconds = time;
    CHECK(Contender(gpu, {}, enqueue).calls() == calls);
  }
}

TEST_CASE("what the driver refuses is named") {
  test::FakeCuda &cuda = test::foundFakeCuda();
  Gpu gpu(0);
  for (const char *symbol : {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphLaunch", "cuEventElapsedTime"}) {
    CAPTURE(symbol);
    cuda.failures = {{symbol, 700}, {std::string(symbol) + "_v2", 700}};
    CHECK_THROWS_WITH_AS(Contender(gpu, {}, [](void *) {}), (std::string(symbol) + " failed with code 700").c_str(),
                         std::runtime_error);
  }
}

TEST_CASE("the median is the middle one, of an even number the upper of two") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 3}) == 3);
  CHECK(median({4, 1, 3, 2}) == 3);
}

TEST_CASE("the peer of a product is the same product, of fp8 the one in bf16") {
  Product product =
      productOf(parse("matmul m=* n=32 k=16 dtype=fp16 out_dtype=fp32 b_layout=col bias=true"), {{"m", 7}});
  CHECK(product.m == 7);
  CHECK(product.n == 32);
  CHECK(product.k == 16);
  CHECK(product.dtype == "fp16");
  CHECK(product.outDtype == "fp32");
  CHECK(product.columnMajorB);
  CHECK(product.hasBias);
  CHECK(!product.hasAddend);
  CHECK_THROWS_AS(productOf(parse("matmul m=* n=32 k=16"), {}), std::invalid_argument);
  CHECK(hasCublasPeer(parse("matmul m=8 n=32 k=16 activation=gelu_tanh")));
  CHECK(!hasCublasPeer(parse("matmul m=8 n=32 k=16 activation=silu")));
  CHECK(!hasCublasPeer(parse("matmul m=8 n=32 k=16 a_stride=24")));
  CHECK(!hasCublasPeer(parse("fp8_block_matmul m=8 n=32 k=128")));
  CHECK(!bf16Yardstick(parse("matmul m=8 n=32 k=16"), {}));
  std::optional<Yardstick> fp8 = bf16Yardstick(parse("fp8_block_matmul m=* n=32 k=128"), {{"m", 9}});
  REQUIRE(fp8);
  CHECK(fp8->product.batch == 1);
  CHECK(fp8->product.m == 9);
  CHECK(fp8->product.columnMajorB);
  CHECK(fp8->tensors == "matmul b_layout=col dtype=bf16 m=9 n=32 k=128");
}

TEST_CASE("the peer of groups has as many products, each with its own B") {
  auto check = [](const char *text, int64_t rows) {
    std::optional<Yardstick> groups = bf16Yardstick(parse(text), {});
    REQUIRE(groups);
    CHECK(groups->product.batch == 6);
    CHECK(groups->product.m == rows);
    CHECK(groups->tensors == "matmul b_layout=col dtype=bf16 m=" + std::to_string(6 * rows) + " n=1536 k=512");
  };
  check("grouped_fp8_block_matmul masked=true groups=6 m=64 expected_m=16 n=256 k=512", 16);
  check("grouped_fp8_block_matmul groups=6 m=768 n=256 k=512", 128);
}

TEST_CASE("occupancy is what the scarcest resource allows") {
  jitk_kernel_info_t info = {};
  CHECK(occupancyOf(info) == 0);
  info.threads = 384;
  info.registers = 168;
  info.shared_bytes = 200 * 1024;
  CHECK(occupancyOf(info) == 12.0 / 64); // shared memory: one block of 12 warps
  info.threads = 256;
  info.shared_bytes = 33 * 1024;
  info.registers = 32;
  CHECK(occupancyOf(info) == 48.0 / 64); // shared memory: 6 blocks of 33 KiB, 8 warps each
  info.shared_bytes = 1024;
  info.registers = 64;
  CHECK(occupancyOf(info) == 32.0 / 64); // registers: 2048 for a warp
  info.registers = 16;
  CHECK(occupancyOf(info) == 1);
}

TEST_SUITE_END();
