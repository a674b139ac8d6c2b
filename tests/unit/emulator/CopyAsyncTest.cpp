// cp.async: groups, zero fill, and what is found when a wait or a barrier is missing.

#include "tests/unit/emulator/KernelFixture.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

/// Two groups of 16 bytes a thread; waits until `pending` groups are left, meets at a barrier, reads the neighbour's
/// bytes of group `group`, stores them.
std::string twoGroups(int pending, int group, const std::string &barrier) {
  return kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", globalOf("source", "in", 16) + globalOf("target", "out", 4) +
                                                             sharedOf("first", 16) + R"(
      %second = llvm.add %first, %c1024 : i32
      ptx.inst "cp.async.cg.16"(%true, %first, %source, %c16) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.commit_group"() : () -> ()
      ptx.inst "cp.async.cg.16"(%true, %second, %source, %c8) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.commit_group"() : () -> ()
      ptx.inst "cp.async.wait_group"() {imms = array<i64: )" +
                                                             std::to_string(pending) + R"(>} : () -> ()
      )" + barrier + R"(
      %flipped = llvm.xor %)" + (group == 0 ? "first" : "second") +
                                                             R"(, %c16 : i32
      %v:4 = ptx.inst "ld.shared.v4.b32"(%true, %flipped) : (i1, i32) -> (i32, i32, i32, i32)
      %s = llvm.add %v#1, %v#3 : i32
      ptx.inst "st.global.b32"(%true, %target, %s) : (i1, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.wait_group"() {imms = array<i64: 0>} : () -> ())");
}

const std::string barrierText = R"(ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ())";

struct Outcome {
  LaunchReport report;
  std::vector<int32_t> values;
};

Outcome runCopies(const DeviceOptions &options, const std::string &text) {
  Machine machine(options);
  std::vector<int32_t> in(64 * 4);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = int32_t(i);
  }
  const uint64_t out = machine.allocate(4 * 64);
  LaunchParameters parameters;
  parameters.sharedBytes = 2048;
  LaunchReport report = machine.run(text, 64, {machine.upload(in), out}, parameters);
  return {std::move(report), machine.download<int32_t>(out, 64)};
}

} // namespace

TEST_SUITE("emulator/CopyAsync") {
  TEST_CASE("a waited group is there and the rest of a short copy is zero") {
    for (const DeviceOptions &options : allModes()) {
      Outcome first = runCopies(options, twoGroups(1, 0, barrierText));
      CHECK_MESSAGE(first.report.clean(), first.report.toString());
      // Thread 0 reads the bytes of thread 1: numbers 5 and 7.
      CHECK(first.values[0] == 12);
      CHECK(first.values[63] == (62 * 4 + 1) + (62 * 4 + 3));
      Outcome second = runCopies(options, twoGroups(0, 1, barrierText));
      CHECK_MESSAGE(second.report.clean(), second.report.toString());
      CHECK(second.values[0] == 5);
    }
  }

  TEST_CASE("a group that is not waited for is still pending") {
    for (DeviceOptions options : allModes()) {
      if (options.mode == AsyncMode::Immediate) {
        continue;
      }
      Outcome outcome = runCopies(options, twoGroups(1, 1, barrierText));
      REQUIRE(!outcome.report.clean());
      CHECK(outcome.report.findings[0].kind == FindingKind::Pending);
      CHECK(outcome.report.findings[0].form == "ld.shared.v4.b32");
      // A thread that has reached the last wait has completed its copy, which no barrier orders before the read.
      for (const Finding &finding : outcome.report.findings) {
        CHECK((finding.kind == FindingKind::Race || finding.kind == FindingKind::Pending));
      }
    }
  }

  TEST_CASE("without a barrier another thread's copy is a race") {
    for (const DeviceOptions &options : allModes()) {
      Outcome outcome = runCopies(options, twoGroups(0, 0, ""));
      REQUIRE(!outcome.report.clean());
      for (const Finding &finding : outcome.report.findings) {
        CHECK((finding.kind == FindingKind::Race || finding.kind == FindingKind::Pending ||
               finding.kind == FindingKind::Uninitialised));
      }
    }
  }

  TEST_CASE("a copy over bytes that others still read is a race") {
    const std::string text = kernel("%in: !llvm.ptr<1>", globalOf("source", "in", 16) + sharedOf("own", 16) + R"(
      ptx.inst "cp.async.cg.16"(%true, %own, %source, %c16) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.commit_group"() : () -> ()
      ptx.inst "cp.async.wait_group"() {imms = array<i64: 0>} : () -> ()
      ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
      %flipped = llvm.xor %own, %c16 : i32
      %v = ptx.inst "ld.shared.b32"(%true, %flipped) : (i1, i32) -> i32
      ptx.inst "cp.async.cg.16"(%true, %own, %source, %c16) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.commit_group"() : () -> ()
      ptx.inst "cp.async.wait_group"() {imms = array<i64: 0>} : () -> ())");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      LaunchParameters parameters;
      parameters.sharedBytes = 1024;
      const LaunchReport report = machine.run(text, 64, {machine.upload(std::vector<int32_t>(256, 3))}, parameters);
      REQUIRE(!report.clean());
      for (const Finding &finding : report.findings) {
        CHECK((finding.kind == FindingKind::Race || finding.kind == FindingKind::Pending));
      }
    }
  }

  TEST_CASE("a source outside its allocation is found where it was issued") {
    const std::string text = kernel("%in: !llvm.ptr<1>", R"(
      ptx.inst "cp.async.ca.4"(%true, %smem, %in, %c4) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.commit_group"() : () -> ()
      ptx.inst "cp.async.wait_group"() {imms = array<i64: 0>} : () -> ())");
    Machine machine;
    LaunchParameters parameters;
    parameters.sharedBytes = 64;
    const uint64_t in = machine.upload<int32_t>({1});
    const LaunchReport report = machine.run(text, 1, {in + 4}, parameters);
    REQUIRE(foundOnly(report, FindingKind::OutOfBounds));
    CHECK(report.findings[0].form == "cp.async.ca.4");
  }
}
