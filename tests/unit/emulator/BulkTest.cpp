// mbarriers, TMA loads, stores and reductions, flat bulk copies, clusters.

#include "src/emulator/Formats.h"
#include "tests/unit/emulator/KernelFixture.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

constexpr uint32_t u32Type = 2, f16Type = 6; // CUtensorMapDataType

struct alignas(64) MapBytes {
  uint8_t bytes[128];
};

const std::string mapParameter = "%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, "
                                 "nvvm.grid_constant}";

/// `%bar` at the end of 2 KiB of data, initialised by thread 0 with `count` and published to the CTA.
std::string initBarrier(int count) {
  return R"(
      %bar_offset = llvm.mlir.constant(2048 : i32) : i32
      %bar = llvm.add %smem, %bar_offset : i32
      %first = llvm.icmp "eq" %tid, %c0 : i32
      %count = llvm.mlir.constant()" +
         std::to_string(count) + R"( : i32) : i32
      ptx.inst "mbarrier.init"(%first, %bar, %count) : (i1, i32, i32) -> ()
      ptx.inst "fence.mbarrier_init"() : () -> ()
      ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
)";
}

const std::string waitPhase0 = R"(ptx.inst "mbarrier.wait.parity"(%true, %bar, %c0) : (i1, i32, i32) -> ()
)";
const std::string barrier = R"(ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
)";
const std::string proxyFence = R"(ptx.inst "fence.proxy.async.shared::cta"() : () -> ()
)";

/// Thread 0 expects `bytes` and loads a box at coordinates (%x, %y) to shared memory.
std::string load2d(int bytes) {
  return "%bytes = llvm.mlir.constant(" + std::to_string(bytes) + R"( : i32) : i32
      ptx.inst "mbarrier.arrive.expect_tx"(%first, %bar, %bytes) : (i1, i32, i32) -> ()
      ptx.inst "cp.async.bulk.tensor.2d.shared.global"(%first, %smem, %map, %x, %y, %bar) : (i1, i32, !llvm.ptr, i32, i32, i32) -> ()
)";
}

/// Each thread copies word `tid` of shared memory to out.
const std::string dump = globalOf("target", "out", 4) + sharedOf("word", 4) + R"(
      %v = ptx.inst "ld.shared.b32"(%true, %word) : (i1, i32) -> i32
      ptx.inst "st.global.b32"(%true, %target, %v) : (i1, !llvm.ptr<1>, i32) -> ()
)";

std::string coordinates(int x, int y) {
  return "%x = llvm.mlir.constant(" + std::to_string(x) + " : i32) : i32\n%y = llvm.mlir.constant(" +
         std::to_string(y) + " : i32) : i32\n";
}

LaunchParameters shared(uint32_t bytes) {
  LaunchParameters parameters;
  parameters.sharedBytes = bytes;
  return parameters;
}

/// A row-major u32 tensor of 12 x 16 with value 100 * row + column, and a map over it.
struct Tensor {
  static constexpr int rows = 12, columns = 16;
  uint64_t address = 0;
  MapBytes map = {};

  Tensor(Machine &machine, std::array<uint32_t, 2> box, uint32_t swizzle) {
    std::vector<uint32_t> values;
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        values.push_back(uint32_t(100 * row + column));
      }
    }
    address = machine.upload(values);
    const std::array<uint64_t, 2> sizes = {columns, rows};
    const std::array<uint64_t, 1> strides = {columns * 4};
    Status status = machine.device.encodeTensorMap(map.bytes, u32Type, address, sizes, strides, box, swizzle);
    REQUIRE_MESSAGE(status.ok(), status.toString());
  }
};

struct Outcome {
  LaunchReport report;
  std::vector<uint32_t> words;
};

/// Runs a kernel of (map, out) with 64 threads.
Outcome runMap(const DeviceOptions &options, const std::string &body, std::array<uint32_t, 2> box, uint32_t swizzle) {
  Machine machine(options);
  Tensor tensor(machine, box, swizzle);
  uint64_t out = machine.allocate(64 * 4);
  LaunchReport report = machine.runWithPointers(kernel(mapParameter + ", %out: !llvm.ptr<1>", body), 64,
                                                {tensor.map.bytes, &out}, shared(4096));
  return {std::move(report), machine.download<uint32_t>(out, 64)};
}

} // namespace

TEST_SUITE("emulator/Bulk") {
  TEST_CASE("a box lands row by row and what is outside the tensor is zero") {
    for (const DeviceOptions &options : allModes()) {
      // 8 columns from 12 on, 8 rows from 10 on: two rows and four columns are inside.
      const Outcome outcome =
          runMap(options, initBarrier(1) + coordinates(12, 10) + load2d(256) + waitPhase0 + dump, {8, 8}, 0);
      CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
      CHECK(std::vector<uint32_t>(outcome.words.begin(), outcome.words.begin() + 16) ==
            std::vector<uint32_t>{1012, 1013, 1014, 1015, 0, 0, 0, 0, 1112, 1113, 1114, 1115, 0, 0, 0, 0});
      CHECK(outcome.words[16] == 0);
      CHECK(outcome.words[63] == 0);
      const Outcome before =
          runMap(options, initBarrier(1) + coordinates(-6, -1) + load2d(256) + waitPhase0 + dump, {8, 8}, 0);
      CHECK(before.words[7] == 0);
      CHECK(before.words[13] == 0);
      CHECK(before.words[14] == 0);
      CHECK(before.words[15] == 1);
    }
  }

  TEST_CASE("swizzles permute the 16-byte chunks of a row") {
    for (const DeviceOptions &options : allModes()) {
      // Rows of 32 bytes: two chunks, swapped in every second 128 bytes, that is rows 4 to 7.
      Outcome outcome =
          runMap(options, initBarrier(1) + coordinates(0, 0) + load2d(256) + waitPhase0 + dump, {8, 8}, 1);
      CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
      CHECK(outcome.words[0] == 0);
      CHECK(outcome.words[3 * 8] == 300);
      CHECK(outcome.words[4 * 8] == 404);
      CHECK(outcome.words[4 * 8 + 4] == 400);
      // Rows of 64 bytes: chunk XOR (row / 2).
      outcome = runMap(options, initBarrier(1) + coordinates(0, 0) + load2d(256) + waitPhase0 + dump, {16, 4}, 2);
      CHECK(outcome.words[0] == 0);
      CHECK(outcome.words[1 * 16 + 4] == 104);
      CHECK(outcome.words[2 * 16] == 204);
      CHECK(outcome.words[3 * 16 + 15] == 311); // chunk 3 holds chunk 2
    }
  }

  TEST_CASE("reading before the barrier completes is found") {
    for (const DeviceOptions &options : allModes()) {
      const Outcome outcome =
          runMap(options, initBarrier(1) + coordinates(0, 0) + load2d(256) + dump + waitPhase0, {8, 8}, 0);
      REQUIRE(!outcome.report.clean());
      for (const Finding &finding : outcome.report.findings) {
        CHECK((finding.kind == FindingKind::Race || finding.kind == FindingKind::Pending ||
               finding.kind == FindingKind::Uninitialised));
      }
    }
  }

  TEST_CASE("a load over bytes that threads have read wants a proxy fence after the reads") {
    std::string again = load2d(256);
    again.replace(again.find("%bytes"), 6, "%more").replace(again.find("%bar, %bytes"), 12, "%bar, %more");
    const std::string waitPhase1 = R"(%one = llvm.mlir.constant(1 : i32) : i32
      ptx.inst "mbarrier.wait.parity"(%true, %bar, %one) : (i1, i32, i32) -> ()
)";
    for (const DeviceOptions &options : allModes()) {
      auto reload = [&](const std::string &between) {
        std::string body = initBarrier(1) + coordinates(0, 0) + load2d(256) + waitPhase0 + dump + between + again;
        return runMap(options, body + waitPhase1, {8, 8}, 0).report;
      };
      LaunchReport report = reload(barrier);
      CHECK_MESSAGE(foundOnly(report, FindingKind::MissingProxyFence), report.toString());
      CHECK(report.toString().find("shared memory read by") != std::string::npos);
      // By the readers, or by the thread that loads once it knows of their reads.
      for (const std::string &fenced : {proxyFence + barrier, barrier + proxyFence}) {
        report = reload(fenced);
        CHECK_MESSAGE(report.clean(), report.toString());
      }
      CHECK(!reload(proxyFence).clean());
    }
  }

  TEST_CASE("a load wants a fence after the initialisation of its mbarrier") {
    const auto run = [](const DeviceOptions &options, const std::string &before, const std::string &after) {
      std::string text = initBarrier(1);
      const std::string fence = "ptx.inst \"fence.mbarrier_init\"() : () -> ()\n";
      text.replace(text.find(fence), fence.size(), before);
      return runMap(options, text + after + coordinates(0, 0) + load2d(256) + waitPhase0, {8, 8}, 0).report;
    };
    for (const DeviceOptions &options : allModes()) {
      for (const LaunchReport &report : {run(options, proxyFence, ""), run(options, "", proxyFence)}) {
        CHECK_MESSAGE(report.clean(), report.toString());
      }
      const LaunchReport report = run(options, "", "");
      CHECK_MESSAGE(foundOnly(report, FindingKind::MissingProxyFence), report.toString());
    }
  }

  TEST_CASE("more bytes expected than loaded is a deadlock that says so") {
    const Outcome outcome = runMap({}, initBarrier(1) + coordinates(0, 0) + load2d(260) + waitPhase0 + dump, {8, 8}, 0);
    REQUIRE(foundOnly(outcome.report, FindingKind::Deadlock));
    CHECK(outcome.report.findings[0].detail ==
          "64 threads of warps 0-1 wait for phase 0 of the mbarrier: 0 of 1 arrivals and 4 bytes missing");
  }

  TEST_CASE("a load that nobody waits for is found at the end") {
    DeviceOptions options;
    CHECK(foundOnly(runMap(options, initBarrier(1) + coordinates(0, 0) + load2d(256), {8, 8}, 0).report,
                    FindingKind::AsyncAtExit));
  }

  // Thread t writes word t of an 8 x 8 box, thread 0 stores the box to (x, y).
  static std::string storeBox(const std::string &between, const std::string &form, const std::string &after, int x = 4,
                              int y = 2) {
    return coordinates(x, y) + sharedOf("word", 4) +
           R"(
      %first = llvm.icmp "eq" %tid, %c0 : i32
      ptx.inst "st.shared.b32"(%true, %word, %tid) : (i1, i32, i32) -> ()
)" + between +
           "ptx.inst \"" + form + "\"(%first, %map, %x, %y, %smem) : (i1, !llvm.ptr, i32, i32, i32) -> ()\n" +
           "ptx.inst \"cp.async.bulk.commit_group\"() : () -> ()\n" + after;
  }
  static const std::string waitRead = R"(ptx.inst "cp.async.bulk.wait_group.read"() {imms = array<i64: 0>} : () -> ()
)";

  static LaunchReport runStore(const DeviceOptions &options, const std::string &body, std::vector<uint32_t> &tensor) {
    Machine machine(options);
    Tensor target(machine, {8, 8}, 0);
    LaunchReport report = machine.runWithPointers(kernel(mapParameter, body), 64, {target.map.bytes}, shared(4096));
    tensor = machine.download<uint32_t>(target.address, Tensor::rows * Tensor::columns);
    return report;
  }

  TEST_CASE("a box is stored and added") {
    for (const DeviceOptions &options : allModes()) {
      std::vector<uint32_t> tensor;
      LaunchReport report =
          runStore(options, storeBox(proxyFence + barrier, "cp.async.bulk.tensor.2d.global.shared", waitRead), tensor);
      CHECK_MESSAGE(report.clean(), report.toString());
      CHECK(tensor[2 * 16 + 3] == 203);
      CHECK(tensor[2 * 16 + 4] == 0);
      CHECK(tensor[3 * 16 + 11] == 15);
      CHECK(tensor[9 * 16 + 11] == 63);
      CHECK(tensor[10 * 16 + 4] == 1004);
      report =
          runStore(options, storeBox(proxyFence + barrier, "cp.reduce.async.bulk.tensor.2d.add", waitRead), tensor);
      CHECK_MESSAGE(report.clean(), report.toString());
      CHECK(tensor[3 * 16 + 11] == 311 + 15);
    }
  }

  TEST_CASE("of a box that is stored, what lies outside is left out, and a box before the tensor's begin is refused") {
    for (const DeviceOptions &options : allModes()) {
      for (const char *form : {"cp.async.bulk.tensor.2d.global.shared", "cp.reduce.async.bulk.tensor.2d.add"}) {
        CAPTURE(form);
        auto storeTo = [&](int x, int y, std::vector<uint32_t> &tensor) {
          return runStore(options, storeBox(proxyFence + barrier, form, waitRead, x, y), tensor);
        };
        std::vector<uint32_t> before, tensor;
        Machine machine(options);
        before = machine.download<uint32_t>(Tensor(machine, {8, 8}, 0).address, Tensor::rows * Tensor::columns);
        for (auto [x, y] : {std::pair(Tensor::columns, 0), {0, Tensor::rows}, {0, INT32_MAX - 255}}) {
          LaunchReport report = storeTo(x, y, tensor);
          CHECK_MESSAGE(report.clean(), report.toString());
          CHECK(tensor == before);
        }
        LaunchReport report = storeTo(-7, -7, tensor);
        CHECK_MESSAGE(report.clean(), report.toString());
        CHECK(tensor[0] != before[0]);
        CHECK(std::equal(tensor.begin() + 1, tensor.end(), before.begin() + 1));
        for (auto [x, y] : {std::pair(-8, 0), {0, -8}, {0, -64}}) {
          report = storeTo(x, y, tensor);
          CHECK_MESSAGE(foundOnly(report, FindingKind::TensorMap), report.toString());
          CHECK(tensor == before);
        }
      }
    }
  }

  TEST_CASE("a store without proxy fence, without barrier, or with its source overwritten is found") {
    const std::string form = "cp.async.bulk.tensor.2d.global.shared";
    const std::string overwrite = "ptx.inst \"st.shared.b32\"(%first, %word, %tid) : (i1, i32, i32) -> ()\n";
    for (const DeviceOptions &options : allModes()) {
      std::vector<uint32_t> tensor;
      LaunchReport report = runStore(options, storeBox(barrier, form, waitRead), tensor);
      CHECK_MESSAGE(foundOnly(report, FindingKind::MissingProxyFence), report.toString());
      report = runStore(options, storeBox(proxyFence + barrier, form, overwrite + waitRead), tensor);
      CHECK_MESSAGE(foundOnly(report, FindingKind::InFlightOverwrite), report.toString());
      report = runStore(options, storeBox(proxyFence + barrier, form, waitRead + overwrite), tensor);
      CHECK_MESSAGE(report.clean(), report.toString());
      report = runStore(options, storeBox(proxyFence + barrier, form, ""), tensor);
      CHECK_MESSAGE(foundOnly(report, FindingKind::AsyncAtExit), report.toString());
      report = runStore(options, storeBox(proxyFence, form, waitRead), tensor);
      CHECK(!report.clean());
    }
  }

  TEST_CASE("maps and destinations that no hardware accepts are refused") {
    Machine machine;
    MapBytes map;
    const std::array<uint64_t, 2> sizes = {16, 12};
    const std::array<uint64_t, 1> strides = {64}, oddStrides = {40};
    const std::array<uint32_t, 2> box = {8, 8}, wide = {16, 8}, thin = {2, 8}, huge = {512, 8};
    const uint64_t address = machine.allocate(1024);
    const auto code = [&](uint64_t at, std::span<const uint64_t> s, std::span<const uint32_t> b, uint32_t swizzle) {
      return machine.device.encodeTensorMap(map.bytes, u32Type, at, sizes, s, b, swizzle).code();
    };
    CHECK(code(address, strides, box, 1) == StatusCode::Ok);
    CHECK(code(address + 4, strides, box, 0) == StatusCode::InvalidArgument);
    CHECK(code(address, oddStrides, box, 0) == StatusCode::InvalidArgument);
    CHECK(code(address, strides, wide, 1) == StatusCode::InvalidArgument);
    CHECK(code(address, strides, thin, 0) == StatusCode::InvalidArgument);
    CHECK(code(address, strides, huge, 0) == StatusCode::InvalidArgument);
    // A destination off 128 bytes.
    const std::string off = "%off = llvm.add %smem, %c16 : i32\n";
    std::string body = initBarrier(1) + off + coordinates(0, 0) + load2d(0);
    body.replace(body.find("(%first, %smem, %map"), 20, "(%first, %off, %map");
    CHECK(foundOnly(runMap({}, body, {8, 8}, 0).report, FindingKind::Misaligned));
  }

  TEST_CASE("halves are added in pairs") {
    Machine machine;
    const std::array<uint64_t, 2> sizes = {8, 2};
    const std::array<uint64_t, 1> strides = {16};
    const std::array<uint32_t, 2> box = {8, 2};
    const uint64_t address = machine.upload(std::vector<uint16_t>(16, floatToHalf(1.5f)));
    MapBytes map;
    REQUIRE(machine.device.encodeTensorMap(map.bytes, f16Type, address, sizes, strides, box, 0).ok());
    const std::string text = kernel(mapParameter, coordinates(0, 0) + sharedOf("word", 4) + R"(
      %first = llvm.icmp "eq" %tid, %c0 : i32
      %ones = llvm.mlir.constant(1006648320 : i32) : i32
      ptx.inst "st.shared.b32"(%true, %word, %ones) : (i1, i32, i32) -> ()
      ptx.inst "fence.proxy.async.shared::cta"() : () -> ()
      ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
      ptx.inst "cp.reduce.async.bulk.tensor.2d.add"(%first, %map, %x, %y, %smem) : (i1, !llvm.ptr, i32, i32, i32) -> ()
      ptx.inst "cp.async.bulk.commit_group"() : () -> ()
)" + waitRead);
    const LaunchReport report = machine.runWithPointers(text, 8, {map.bytes}, shared(1024));
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<uint16_t> sums = machine.download<uint16_t>(address, 16);
    CHECK(halfToFloat(sums[0]) == 2.5f);
    CHECK(halfToFloat(sums[15]) == 2.5f);
  }

  TEST_CASE("flat bulk copies move bytes both ways") {
    const std::string text = kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", initBarrier(1) + R"(
      ptx.inst "mbarrier.arrive.expect_tx"(%first, %bar, %c256) : (i1, i32, i32) -> ()
      ptx.inst "cp.async.bulk.shared.global"(%first, %smem, %in, %c256, %bar) : (i1, i32, !llvm.ptr<1>, i32, i32) -> ()
)" + waitPhase0 + R"(
      ptx.inst "cp.async.bulk.global.shared"(%first, %out, %smem, %c256) : (i1, !llvm.ptr<1>, i32, i32) -> ()
      ptx.inst "cp.async.bulk.commit_group"() : () -> ()
      ptx.inst "cp.async.bulk.wait_group"() {imms = array<i64: 0>} : () -> ())");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      std::vector<int32_t> in(64, 7);
      in[63] = 9;
      const uint64_t out = machine.allocate(256);
      const LaunchReport report = machine.run(text, 32, {machine.upload(in), out}, shared(4096));
      CHECK_MESSAGE(report.clean(), report.toString());
      CHECK(machine.download<int32_t>(out, 64) == in);
    }
  }

  // Warp 0 produces four values through a ring of two slots, warp 1 consumes them.
  static std::string ring(const std::string &producerWaits) {
    return kernel("%out: !llvm.ptr<1>", R"(
      %full_offset = llvm.mlir.constant(1024 : i32) : i32
      %full = llvm.add %smem, %full_offset : i32
      %empty = llvm.add %full, %c16 : i32
      %first = llvm.icmp "eq" %tid, %c0 : i32
      %full1 = llvm.add %full, %c8 : i32
      %empty1 = llvm.add %empty, %c8 : i32
      ptx.inst "mbarrier.init"(%first, %full, %c32) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.init"(%first, %full1, %c32) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.init"(%first, %empty, %c32) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.init"(%first, %empty1, %c32) : (i1, i32, i32) -> ()
      ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
      %lane = ptx.inst "sreg.laneid"() : () -> i32
      %lane4 = llvm.mul %lane, %c4 : i32
      %producer = llvm.icmp "ult" %tid, %c32 : i32
      llvm.br ^loop(%c0 : i32)
    ^loop(%i: i32):
      %slot = llvm.and %i, %c1 : i32
      %phase = llvm.lshr %i, %c1 : i32
      %bar_at = llvm.mul %slot, %c8 : i32
      %is_full = llvm.add %full, %bar_at : i32
      %is_empty = llvm.add %empty, %bar_at : i32
      %data_at = llvm.mul %slot, %c128 : i32
      %data0 = llvm.add %smem, %data_at : i32
      %data = llvm.add %data0, %lane4 : i32
      llvm.cond_br %producer, ^produce, ^consume
    ^produce:
      %opposite = llvm.xor %phase, %c1 : i32
      )" + producerWaits +
                                            R"(
      %hundred = llvm.mlir.constant(100 : i32) : i32
      %base = llvm.mul %i, %hundred : i32
      %value = llvm.add %base, %lane : i32
      ptx.inst "st.shared.b32"(%true, %data, %value) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.arrive"(%true, %is_full, %c1) : (i1, i32, i32) -> ()
      llvm.br ^next
    ^consume:
      ptx.inst "mbarrier.wait.parity"(%true, %is_full, %phase) : (i1, i32, i32) -> ()
      %other = llvm.xor %data, %c4 : i32
      %got = ptx.inst "ld.shared.b32"(%true, %other) : (i1, i32) -> i32
      ptx.inst "mbarrier.arrive"(%true, %is_empty, %c1) : (i1, i32, i32) -> ()
      %row = llvm.mul %i, %c32 : i32
      %at = llvm.add %row, %lane : i32
      %at64 = llvm.zext %at : i32 to i64
      %target = llvm.getelementptr %out[%at64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      ptx.inst "st.global.b32"(%true, %target, %got) : (i1, !llvm.ptr<1>, i32) -> ()
      llvm.br ^next
    ^next:
      %i1 = llvm.add %i, %c1 : i32
      %more = llvm.icmp "ult" %i1, %c4 : i32
      llvm.cond_br %more, ^loop(%i1 : i32), ^end
    ^end:)");
  }

  TEST_CASE("a ring of mbarriers hands slots to and fro") {
    const std::string wait = R"(ptx.inst "mbarrier.wait.parity"(%true, %is_empty, %opposite) : (i1, i32, i32) -> ())";
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(4 * 128);
      LaunchReport report = machine.run(ring(wait), 64, {out}, shared(2048));
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<int32_t> values = machine.download<int32_t>(out, 128);
      CHECK(values[0] == 1);
      CHECK(values[32 + 31] == 130);
      CHECK(values[96] == 301);
      // A producer that does not wait for its slot overwrites what is being read.
      report = machine.run(ring(""), 64, {out}, shared(2048));
      CHECK(!report.clean());
    }
  }

  TEST_CASE("mbarriers that were not initialised, or take too many arrivals, are found") {
    const std::string uninitialised = kernel("", R"(
      ptx.inst "mbarrier.arrive"(%true, %smem, %c1) : (i1, i32, i32) -> ())");
    Machine machine;
    CHECK(foundOnly(machine.run(uninitialised, 1, {}, shared(1024)), FindingKind::Mbarrier));
    const std::string twice = kernel("", initBarrier(2) + R"(
      ptx.inst "mbarrier.arrive"(%first, %bar, %c3) : (i1, i32, i32) -> ())");
    CHECK(foundOnly(machine.run(twice, 1, {}, shared(4096)), FindingKind::Mbarrier));
    const std::string again = kernel("", initBarrier(2) + R"(
      ptx.inst "mbarrier.arrive"(%first, %bar, %c1) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.init"(%first, %bar, %count) : (i1, i32, i32) -> ())");
    CHECK(foundOnly(machine.run(again, 1, {}, shared(4096)), FindingKind::Mbarrier));
  }

  TEST_CASE("data written over an mbarrier ends it") {
    const std::string text = kernel("", initBarrier(1) + R"(
      ptx.inst "st.shared.b32"(%first, %bar, %c0) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.arrive"(%first, %bar, %c1) : (i1, i32, i32) -> ())");
    Machine machine;
    const LaunchReport report = machine.run(text, 1, {}, shared(4096));
    REQUIRE(foundOnly(report, FindingKind::Mbarrier));
    CHECK(report.findings[0].form == "mbarrier.arrive");
    // An invalidated one leaves memory for a bulk copy to write.
    const std::string reused = kernel("%in: !llvm.ptr<1>", initBarrier(1) + R"(
      %other = llvm.add %bar, %c16 : i32
      ptx.inst "mbarrier.init"(%first, %other, %c1) : (i1, i32, i32) -> ()
      ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
      ptx.inst "mbarrier.inval"(%first, %other) : (i1, i32) -> ()
      ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
      ptx.inst "mbarrier.arrive.expect_tx"(%first, %bar, %c16) : (i1, i32, i32) -> ()
      ptx.inst "cp.async.bulk.shared.global"(%first, %other, %in, %c16, %bar) : (i1, i32, !llvm.ptr<1>, i32, i32) -> ()
)" + waitPhase0);
    const LaunchReport clean = machine.run(reused, 32, {machine.upload<int32_t>({1, 2, 3, 4})}, shared(4096));
    CHECK_MESSAGE(clean.clean(), clean.toString());
  }

  TEST_CASE("cp.async arrives on an mbarrier when its bytes are there") {
    const std::string text = kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>",
                                    initBarrier(64) + globalOf("source", "in", 4) + sharedOf("own", 4) + R"(
      ptx.inst "cp.async.ca.4"(%true, %own, %source, %c4) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.mbarrier.arrive.noinc"(%bar) : (i32) -> ()
)" + waitPhase0 + globalOf("target", "out", 4) +
                                        R"(
      %flipped = llvm.xor %own, %c128 : i32
      %v = ptx.inst "ld.shared.b32"(%true, %flipped) : (i1, i32) -> i32
      ptx.inst "st.global.b32"(%true, %target, %v) : (i1, !llvm.ptr<1>, i32) -> ())");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      std::vector<int32_t> in(64);
      for (int i = 0; i < 64; ++i) {
        in[size_t(i)] = i;
      }
      const uint64_t out = machine.allocate(256);
      const LaunchReport report = machine.run(text, 64, {machine.upload(in), out}, shared(4096));
      CHECK_MESSAGE(report.clean(), report.toString());
      CHECK(machine.download<int32_t>(out, 64)[0] == 32);
    }
  }

  TEST_CASE("ctas of a cluster read each other's shared memory") {
    const std::string sync = R"(
      ptx.inst "barrier.cluster.arrive"() : () -> ()
      ptx.inst "barrier.cluster.wait"() : () -> ()
)";
    const auto text = [&](const std::string &firstSync) {
      return kernel("%out: !llvm.ptr<1>", sharedOf("own", 4) + R"(
      %rank = ptx.inst "sreg.cluster_ctarank"() : () -> i32
      %base = llvm.mul %rank, %c1024 : i32
      %value = llvm.add %base, %tid : i32
      ptx.inst "st.shared.b32"(%true, %own, %value) : (i1, i32, i32) -> ()
)" + firstSync + R"(
      %peer = llvm.xor %rank, %c1 : i32
      %remote = ptx.inst "mapa"(%own, %peer) : (i32, i32) -> i32
      %v = ptx.inst "ld.shared::cluster.b32"(%true, %remote) : (i1, i32) -> i32
      %x = ptx.inst "sreg.ctaid.x"() : () -> i32
      %row = llvm.mul %x, %c32 : i32
      %at = llvm.add %row, %tid : i32
      %at64 = llvm.zext %at : i32 to i64
      %target = llvm.getelementptr %out[%at64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      ptx.inst "st.global.b32"(%true, %target, %v) : (i1, !llvm.ptr<1>, i32) -> ()
)" + sync);
    };
    LaunchParameters parameters = shared(1024);
    parameters.grid = {4, 1, 1};
    parameters.cluster = {2, 1, 1};
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(4 * 128);
      LaunchReport report = machine.run(text(sync), 32, {out}, parameters);
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<int32_t> values = machine.download<int32_t>(out, 128);
      CHECK(values[0] == 1024);
      CHECK(values[33] == 1);
      CHECK(values[64] == 1024);
      report = machine.run(text(""), 32, {out}, parameters);
      CHECK(!report.clean());
    }
  }

  TEST_CASE("a multicast load lands in every cta of the mask") {
    const std::string text = kernel(mapParameter + ", %out: !llvm.ptr<1>", initBarrier(1) + coordinates(0, 3) + R"(
      ptx.inst "barrier.cluster.arrive"() : () -> ()
      ptx.inst "barrier.cluster.wait"() : () -> ()
      %rank = ptx.inst "sreg.cluster_ctarank"() : () -> i32
      %leader_cta = llvm.icmp "eq" %rank, %c0 : i32
      %issues = llvm.and %leader_cta, %first : i1
      %mask = llvm.mlir.constant(3 : i16) : i16
      ptx.inst "mbarrier.arrive.expect_tx"(%first, %bar, %c256) : (i1, i32, i32) -> ()
      ptx.inst "cp.async.bulk.tensor.2d.shared.global.multicast::cluster"(%issues, %smem, %map, %x, %y, %bar, %mask) : (i1, i32, !llvm.ptr, i32, i32, i32, i16) -> ()
)" + waitPhase0 + sharedOf("word", 4) + R"(
      %v = ptx.inst "ld.shared.b32"(%true, %word) : (i1, i32) -> i32
      %row = llvm.mul %rank, %c64 : i32
      %at = llvm.add %row, %tid : i32
      %at64 = llvm.zext %at : i32 to i64
      %target = llvm.getelementptr %out[%at64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      ptx.inst "st.global.b32"(%true, %target, %v) : (i1, !llvm.ptr<1>, i32) -> ()
)");
    LaunchParameters parameters = shared(4096);
    parameters.grid = parameters.cluster = {2, 1, 1};
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      Tensor tensor(machine, {8, 8}, 0);
      uint64_t out = machine.allocate(4 * 128);
      const LaunchReport report = machine.runWithPointers(text, 64, {tensor.map.bytes, &out}, parameters);
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<uint32_t> values = machine.download<uint32_t>(out, 128);
      CHECK(values[0] == 300);
      CHECK(values[64 + 63] == 1007);
    }
  }
}
