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

  TEST_CASE("clusters of a grid that use the same bytes of global memory are found, unless one hears of the other") {
    // Each of two CTAs writes a word, or half of one, at its own place, and `body` does more.
    const auto run = [](const DeviceOptions &options, const std::string &body, std::array<uint32_t, 3> cluster) {
      LaunchParameters parameters;
      parameters.sharedBytes = 1024;
      parameters.grid = {2, 1, 1};
      parameters.cluster = cluster;
      Machine machine(options);
      const uint64_t data = machine.upload(std::vector<uint32_t>(64, 0));
      const std::string text = kernel("%data: !llvm.ptr<1>", R"(
      %cta = ptx.inst "sreg.ctaid.x"() : () -> i32
      %cta64 = llvm.zext %cta : i32 to i64
      %first = llvm.icmp "eq" %cta, %c0 : i32
      %second = llvm.icmp "eq" %cta, %c1 : i32
      %half = llvm.trunc %tid : i32 to i16
      %own = llvm.getelementptr %data[%cta64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %own_half = llvm.getelementptr %data[%cta64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
      %flag = llvm.getelementptr %data[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
)" + body);
      LaunchReport report = machine.run(text, 1, {data}, parameters);
      // What the launch before wrote is no matter.
      CHECK(machine.run(text, 1, {data}, parameters).numFindings == report.numFindings);
      return report;
    };
    const std::string writesOwn = "ptx.inst \"st.global.b32\"(%true, %own, %c1) : (i1, !llvm.ptr<1>, i32) -> ()\n";
    const std::string writesHalf =
        "ptx.inst \"st.global.b16\"(%true, %own_half, %half) : (i1, !llvm.ptr<1>, i16) -> ()\n";
    const std::string writesSame = "ptx.inst \"st.global.b32\"(%true, %data, %c1) : (i1, !llvm.ptr<1>, i32) -> ()\n";
    const std::string secondReads = "%x = ptx.inst \"ld.global.b32\"(%second, %data) : (i1, !llvm.ptr<1>) -> i32\n";
    const std::string adds =
        "%old = ptx.inst \"atom.acq_rel.gpu.global.add.u32\"(%true, %flag, %c1) : (i1, !llvm.ptr<1>, i32) -> i32\n";
    const std::string acquires =
        "%seen = ptx.inst \"ld.acquire.gpu.global.b32\"(%true, %flag) : (i1, !llvm.ptr<1>) -> i32\n";
    const std::array<uint32_t, 3> alone = {1, 1, 1}, together = {2, 1, 1};
    for (DeviceOptions options : allModes()) {
      options.workers = 1; // CTAs in order
      for (const std::string &clean : {writesOwn, writesHalf, writesOwn + adds + secondReads,
                                       writesOwn + acquires + secondReads, adds + writesSame}) {
        CAPTURE(clean);
        const LaunchReport report = run(options, clean, alone);
        CHECK_MESSAGE(report.clean(), report.toString());
      }
      for (const std::string &wrong : {writesSame, writesOwn + secondReads, secondReads + writesHalf}) {
        CAPTURE(wrong);
        const LaunchReport report = run(options, wrong, alone);
        REQUIRE_MESSAGE(foundOnly(report, FindingKind::GridRace), report.toString());
        CHECK(report.findings[0].cta[0] == 1);
        CHECK(report.findings[0].detail.find("that cluster 0 of the grid has written") != std::string::npos);
      }
      CHECK(run(options, writesSame, together).clean()); // what the CTAs of a cluster do is not looked for
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
