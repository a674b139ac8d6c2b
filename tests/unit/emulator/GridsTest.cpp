// Grids: which ones are launched at all, and what one owes to those before it.

#include "tests/unit/emulator/KernelFixture.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

const std::string gridWait = "ptx.inst \"griddepcontrol.wait\"() : () -> ()\n";
const std::string barrier = "ptx.inst \"bar.sync\"() {imms = array<i64: 0>} : () -> ()\n";
const std::string first = "%first = llvm.icmp \"eq\" %tid, %c0 : i32\n";

LaunchReport run(const std::string &body, const DeviceOptions &options, bool programmatic = true) {
  Machine machine(options);
  LaunchParameters parameters;
  parameters.sharedBytes = 2048;
  parameters.programmaticLaunch = programmatic;
  return machine.run(kernel("%data: !llvm.ptr<1>", first + body), 64, {machine.upload(std::vector<uint32_t>(256, 7))},
                     parameters);
}

} // namespace

TEST_SUITE("emulator/Grids") {
  TEST_CASE("a launch that may begin early waits for the grids before it uses global memory") {
    const std::string drain = R"(
      ptx.inst "cp.async.commit_group"() : () -> ()
      ptx.inst "cp.async.wait_group"() {imms = array<i64: 0>} : () -> ()
      ptx.inst "cp.async.bulk.commit_group"() : () -> ()
      ptx.inst "cp.async.bulk.wait_group"() {imms = array<i64: 0>} : () -> ()
)";
    const std::string before = R"(
      ptx.inst "st.shared.v4.b32"(%first, %smem, %tid, %tid, %tid, %tid) : (i1, i32, i32, i32, i32, i32) -> ()
      ptx.inst "fence.proxy.async.shared::cta"() : () -> ()
)";
    for (const std::string access :
         {"%x = ptx.inst \"ld.global.b32\"(%first, %data) : (i1, !llvm.ptr<1>) -> i32\n",
          "ptx.inst \"st.global.b32\"(%first, %data, %c1) : (i1, !llvm.ptr<1>, i32) -> ()\n",
          "%x = ptx.inst \"atom.relaxed.gpu.global.add.u32\"(%first, %data, %c1) : (i1, !llvm.ptr<1>, i32) -> i32\n",
          "ptx.inst \"cp.async.ca.4\"(%first, %smem, %data, %c4) : (i1, i32, !llvm.ptr<1>, i32) -> ()\n",
          "ptx.inst \"cp.async.bulk.global.shared\"(%first, %data, %smem, %c16) : (i1, !llvm.ptr<1>, i32, i32) -> "
          "()\n"}) {
      CAPTURE(access);
      for (const DeviceOptions &options : allModes()) {
        const LaunchReport early = run(before + access + gridWait + drain, options);
        CHECK_MESSAGE(foundOnly(early, FindingKind::Race), early.toString());
        for (const LaunchReport &report : {run(before + gridWait + access + drain, options),
                                           run(before + access + drain, options, /*programmatic=*/false)}) {
          CHECK_MESSAGE(report.clean(), report.toString());
        }
      }
    }
  }

  TEST_CASE("one thread waits for the grids before, others meet it") {
    const auto text = [](const std::string &sync) {
      return R"(
      %second = llvm.icmp "eq" %tid, %c32 : i32
      llvm.cond_br %second, ^waits, ^goes
    ^waits:
      )" + gridWait +
             R"(
      llvm.br ^goes
    ^goes:
      )" + sync +
             R"(
      %x = ptx.inst "ld.global.b32"(%first, %data) : (i1, !llvm.ptr<1>) -> i32
)";
    };
    for (const DeviceOptions &options : allModes()) {
      const LaunchReport met = run(text(barrier), options);
      CHECK_MESSAGE(met.clean(), met.toString());
      const LaunchReport unordered = run(text(""), options);
      CHECK_MESSAGE(foundOnly(unordered, FindingKind::Race), unordered.toString());
    }
  }

  TEST_CASE("grids and clusters that no launch accepts are refused") {
    Machine machine;
    Result<std::unique_ptr<HostModule>> module = loadHostObject(Machine::compileOnce(kernel("", "")));
    REQUIRE(module.ok());
    const auto launch = [&](std::array<uint32_t, 3> grid, std::array<uint32_t, 3> cluster) {
      LaunchParameters parameters;
      parameters.threads = 1;
      parameters.grid = grid;
      parameters.cluster = cluster;
      const Result<LaunchReport> report = machine.device.run(**(*module)->kernel("k"), parameters);
      return report.ok() ? std::string() : std::string(report.status().message());
    };
    CHECK(launch({65536, 1, 1}, {1, 1, 1}).empty());
    CHECK(launch({1, 65536, 1}, {1, 1, 1}) == "the grid must be 1 to 65535 on axis 1: got 65536");
    CHECK(launch({1, 1, 65536}, {1, 1, 1}) == "the grid must be 1 to 65535 on axis 2: got 65536");
    CHECK(launch({0, 1, 1}, {1, 1, 1}) == "the grid must be 1 to 2147483647 on axis 0: got 0");
    CHECK(launch({8, 1, 1}, {8, 1, 1}).empty());
    CHECK(launch({16, 1, 1}, {16, 1, 1}) == "no cluster of 16 ctas on sm_90");
  }
}
