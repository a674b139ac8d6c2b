// Special registers, global and shared memory, barriers, exchange within a warp.

#include "tests/unit/emulator/KernelFixture.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

static LaunchParameters shared(uint32_t bytes) {
  LaunchParameters parameters;
  parameters.sharedBytes = bytes;
  return parameters;
}

TEST_SUITE("emulator/Threads") {
  TEST_CASE("a thread loads, adds and stores") {
    const std::string text = kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %bias: i64",
                                    globalOf("source", "in", 4) + globalOf("target", "out", 4) + R"(
      %x = ptx.inst "ld.global.b32"(%true, %source) : (i1, !llvm.ptr<1>) -> i32
      %b = llvm.trunc %bias : i64 to i32
      %y = llvm.add %x, %b : i32
      ptx.inst "st.global.b32"(%true, %target, %y) : (i1, !llvm.ptr<1>, i32) -> ())");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t in = machine.upload<int32_t>({1, 2, 3, 4});
      const uint64_t out = machine.allocate(16);
      const LaunchReport report = machine.run(text, 4, {in, out, 10});
      CHECK_MESSAGE(report.clean(), report.toString());
      CHECK(machine.download<int32_t>(out, 4) == std::vector<int32_t>{11, 12, 13, 14});
    }
  }

  TEST_CASE("a false predicate gives the fallback and stores nothing") {
    const std::string text = kernel("%out: !llvm.ptr<1>", R"(
      %false = llvm.mlir.constant(false) : i1
      %null = llvm.mlir.zero : !llvm.ptr<1>
      %v:2 = ptx.inst "ld.global.v2.b32.else"(%false, %null, %c5, %c7) : (i1, !llvm.ptr<1>, i32, i32) -> (i32, i32)
      ptx.inst "st.global.b32"(%false, %null, %c1) : (i1, !llvm.ptr<1>, i32) -> ()
      ptx.inst "st.global.v2.b32"(%true, %out, %v#0, %v#1) : (i1, !llvm.ptr<1>, i32, i32) -> ())");
    Machine machine;
    const uint64_t out = machine.allocate(8);
    const LaunchReport report = machine.run(text, 1, {out});
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(machine.download<int32_t>(out, 2) == std::vector<int32_t>{5, 7});
  }

  TEST_CASE("ctas and threads know their place") {
    const std::string text = kernel("%out: !llvm.ptr<1>", R"(
      %x = ptx.inst "sreg.ctaid.x"() : () -> i32
      %y = ptx.inst "sreg.ctaid.y"() : () -> i32
      %n = ptx.inst "sreg.ntid.x"() : () -> i32
      %w = ptx.inst "sreg.warpid"() : () -> i32
      %l = ptx.inst "sreg.laneid"() : () -> i32
      %nx = ptx.inst "sreg.nctaid.x"() : () -> i32
      %row = llvm.mul %y, %nx : i32
      %cta = llvm.add %row, %x : i32
      %first = llvm.mul %cta, %n : i32
      %index = llvm.add %first, %tid : i32
      %index64 = llvm.zext %index : i32 to i64
      %target = llvm.getelementptr %out[%index64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
      %h = llvm.mul %w, %c1024 : i32
      %value = llvm.add %h, %l : i32
      ptx.inst "st.global.b32"(%true, %target, %value) : (i1, !llvm.ptr<1>, i32) -> ())");
    DeviceOptions options;
    options.workers = 3;
    Machine machine(options);
    const uint64_t out = machine.allocate(4 * 64 * 6);
    LaunchParameters parameters;
    parameters.grid = {3, 2, 1};
    const LaunchReport report = machine.run(text, 64, {out}, parameters);
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<int32_t> values = machine.download<int32_t>(out, 64 * 6);
    for (int cta = 0; cta < 6; ++cta) {
      CHECK(values[cta * 64 + 0] == 0);
      CHECK(values[cta * 64 + 31] == 31);
      CHECK(values[cta * 64 + 63] == 1024 + 31);
    }
  }

  // Thread t writes t to shared memory and reads what thread t ^ 64 wrote.
  static std::string exchange(const std::string &barrier) {
    return kernel("%out: !llvm.ptr<1>", globalOf("target", "out", 4) + sharedOf("own", 4) + R"(
      ptx.inst "st.shared.b32"(%true, %own, %tid) : (i1, i32, i32) -> ()
      )" + barrier + R"(
      %other_id = llvm.xor %tid, %c64 : i32
      %other_offset = llvm.mul %other_id, %c4 : i32
      %other = llvm.add %smem, %other_offset : i32
      %v = ptx.inst "ld.shared.b32"(%true, %other) : (i1, i32) -> i32
      ptx.inst "st.global.b32"(%true, %target, %v) : (i1, !llvm.ptr<1>, i32) -> ())");
  }

  TEST_CASE("a barrier makes shared memory visible") {
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(4 * 128);
      const LaunchReport report =
          machine.run(exchange(R"(ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ())"), 128, {out}, shared(512));
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<int32_t> values = machine.download<int32_t>(out, 128);
      CHECK(values[0] == 64);
      CHECK(values[5] == 69);
      CHECK(values[127] == 63);
    }
  }

  TEST_CASE("without the barrier it is a race or an uninitialised read") {
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(4 * 128);
      const LaunchReport report = machine.run(exchange(""), 128, {out}, shared(512));
      REQUIRE(!report.clean());
      for (const Finding &finding : report.findings) {
        CHECK((finding.kind == FindingKind::Race || finding.kind == FindingKind::Uninitialised));
        CHECK((finding.form == "ld.shared.b32" || finding.form == "st.shared.b32"));
      }
    }
  }

  // Thread 0 clears a word and meets the others; all add to it, and `after` follows.
  static std::string sumInSharedMemory(const std::string &between, const std::string &after) {
    return kernel("%out: !llvm.ptr<1>", globalOf("target", "out", 4) + R"(
      %first = llvm.icmp "eq" %tid, %c0 : i32
      ptx.inst "st.shared.b32"(%first, %smem, %c0) : (i1, i32, i32) -> ()
      )" + between + R"(
      %old = ptx.inst "atom.relaxed.cta.shared.add.u32"(%true, %smem, %c1) : (i1, i32, i32) -> i32
      )" + after);
  }

  TEST_CASE("atomic operations race with plain accesses, and not with each other") {
    const std::string barrier = R"(ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
      )";
    const std::string load = R"(%v = ptx.inst "ld.shared.b32"(%true, %smem) : (i1, i32) -> i32
      ptx.inst "st.global.b32"(%true, %target, %v) : (i1, !llvm.ptr<1>, i32) -> ())";
    const std::string store = R"(ptx.inst "st.shared.b32"(%first, %smem, %c5) : (i1, i32, i32) -> ())";
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(4 * 64);
      const LaunchReport ordered = machine.run(sumInSharedMemory(barrier, barrier + load), 64, {out}, shared(512));
      CHECK_MESSAGE(ordered.clean(), ordered.toString());
      CHECK(machine.download<int32_t>(out, 64) == std::vector<int32_t>(64, 64));
      for (const std::string &after : {load, store}) {
        CAPTURE(after);
        const LaunchReport raced = machine.run(sumInSharedMemory(barrier, after), 64, {out}, shared(512));
        CHECK_MESSAGE(foundOnly(raced, FindingKind::Race), raced.toString());
      }
    }
  }

  TEST_CASE("a named barrier joins the threads that name it") {
    // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
    const std::string text = kernel("%out: !llvm.ptr<1>", globalOf("target", "out", 4) + sharedOf("own", 4) + R"(
      ptx.inst "st.shared.b32"(%true, %own, %tid) : (i1, i32, i32) -> ()
      %low = llvm.icmp "ult" %tid, %c64 : i32
      llvm.cond_br %low, ^first, ^second
    ^first:
      ptx.inst "bar.sync.n"() {imms = array<i64: 1, 64>} : () -> ()
      llvm.br ^join
    ^second:
      ptx.inst "bar.sync.n"() {imms = array<i64: 2, 64>} : () -> ()
      llvm.br ^join
    ^join:
      %other_id = llvm.xor %tid, %c32 : i32
      %other_offset = llvm.mul %other_id, %c4 : i32
      %other = llvm.add %smem, %other_offset : i32
      %v = ptx.inst "ld.shared.b32"(%true, %other) : (i1, i32) -> i32
      ptx.inst "st.global.b32"(%true, %target, %v) : (i1, !llvm.ptr<1>, i32) -> ())");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(4 * 128);
      const LaunchReport report = machine.run(text, 128, {out}, shared(512));
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<int32_t> values = machine.download<int32_t>(out, 128);
      CHECK(values[0] == 32);
      CHECK(values[100] == 68);
    }
  }

  TEST_CASE("a barrier that not all threads reach is a deadlock with places") {
    const std::string text = kernel("", R"(
      %low = llvm.icmp "ult" %tid, %c32 : i32
      llvm.cond_br %low, ^wait, ^done
    ^wait:
      ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
      llvm.br ^done
    ^done:)");
    Machine machine;
    const LaunchReport report = machine.run(text, 64, {});
    REQUIRE(foundOnly(report, FindingKind::Deadlock));
    CHECK(report.findings[0].form == "bar.sync");
    CHECK(report.findings[0].detail ==
          "32 threads of warp 0 wait at barrier 0: 32 of 64 threads arrived, 32 have ended");
  }

  TEST_CASE("lanes of a warp at different aligned instructions are a divergence") {
    const std::string text = kernel("", R"(
      %low = llvm.icmp "ult" %tid, %c16 : i32
      llvm.cond_br %low, ^a, ^b
    ^a:
      %x = ptx.inst "shfl.sync.bfly"(%tid, %c1) : (i32, i32) -> i32
      llvm.br ^done
    ^b:
      ptx.inst "bar.warp.sync"() : () -> ()
      llvm.br ^done
    ^done:)");
    Machine machine;
    const LaunchReport report = machine.run(text, 32, {});
    CHECK_MESSAGE(foundOnly(report, FindingKind::Divergence), report.toString());
  }

  TEST_CASE("shuffles, votes and reductions exchange within the warp") {
    const std::string text = kernel("%out: !llvm.ptr<1>", globalOf("target", "out", 32) + R"(
      %idx = ptx.inst "shfl.sync.idx"(%tid, %c5) : (i32, i32) -> i32
      %bfly = ptx.inst "shfl.sync.bfly"(%tid, %c3) : (i32, i32) -> i32
      %up = ptx.inst "shfl.sync.up"(%tid, %c4) : (i32, i32) -> i32
      %down = ptx.inst "shfl.sync.down"(%tid, %c4) : (i32, i32) -> i32
      %odd32 = llvm.and %tid, %c1 : i32
      %odd = llvm.trunc %odd32 : i32 to i1
      %ballot = ptx.inst "vote.sync.ballot"(%odd) : (i1) -> i32
      %all = ptx.inst "vote.sync.all"(%odd) : (i1) -> i1
      %any = ptx.inst "vote.sync.any"(%odd) : (i1) -> i1
      %all32 = llvm.zext %all : i1 to i32
      %any32 = llvm.zext %any : i1 to i32
      %any2 = llvm.shl %any32, %c1 : i32
      %votes = llvm.or %all32, %any2 : i32
      %sum = ptx.inst "redux.sync.add.s32"(%tid) : (i32) -> i32
      %max = ptx.inst "redux.sync.max.s32"(%tid) : (i32) -> i32
      %second = llvm.getelementptr %target[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      ptx.inst "st.global.v4.b32"(%true, %target, %idx, %bfly, %up, %down) : (i1, !llvm.ptr<1>, i32, i32, i32, i32) -> ()
      ptx.inst "st.global.v4.b32"(%true, %second, %ballot, %votes, %sum, %max) : (i1, !llvm.ptr<1>, i32, i32, i32, i32) -> ())");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t base = machine.allocate(32 * 32);
      const LaunchReport report = machine.run(text, 32, {base});
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<uint32_t> v = machine.download<uint32_t>(base, 32 * 8);
      CHECK(std::vector<uint32_t>(v.begin(), v.begin() + 8) ==
            std::vector<uint32_t>{5, 3, 0, 4, 0xaaaaaaaa, 2, 496, 31});
      CHECK(std::vector<uint32_t>(v.begin() + 8 * 30, v.begin() + 8 * 31) ==
            std::vector<uint32_t>{5, 29, 26, 30, 0xaaaaaaaa, 2, 496, 31});
    }
  }

  TEST_CASE("accesses outside an allocation or off alignment are found and do nothing") {
    const std::string text = kernel("%out: !llvm.ptr<1>", R"(
      %behind = llvm.getelementptr %out[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %odd = llvm.getelementptr %out[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      ptx.inst "st.global.b32"(%true, %behind, %c1) : (i1, !llvm.ptr<1>, i32) -> ()
      ptx.inst "st.global.b32"(%true, %odd, %c1) : (i1, !llvm.ptr<1>, i32) -> ()
      %low = llvm.sub %smem, %c4 : i32
      ptx.inst "st.shared.b32"(%true, %low, %c1) : (i1, i32, i32) -> ()
      %high = llvm.add %smem, %c64 : i32
      %x = ptx.inst "ld.shared.b32"(%true, %high) : (i1, i32) -> i32)");
    Machine machine;
    const uint64_t out = machine.upload<int32_t>({9, 9, 9, 9});
    const LaunchReport report = machine.run(text, 1, {out}, shared(64));
    REQUIRE(report.findings.size() == 4);
    CHECK(report.findings[0].kind == FindingKind::OutOfBounds);
    CHECK(report.findings[0].address == out + 16);
    CHECK(report.findings[1].kind == FindingKind::Misaligned);
    CHECK(report.findings[1].address == out + 2);
    CHECK(report.findings[2].kind == FindingKind::OutOfBounds);
    CHECK(report.findings[2].address == 1020);
    CHECK(report.findings[3].kind == FindingKind::OutOfBounds);
    CHECK(report.findings[3].address == 1088);
    CHECK(machine.download<int32_t>(out, 4) == std::vector<int32_t>{9, 9, 9, 9});
    CHECK(!machine.device.synchronize().ok());
    CHECK(machine.device.synchronize().ok());
  }

  TEST_CASE("reads of global memory that nobody wrote are found when asked for") {
    const std::string text = kernel("%in: !llvm.ptr<1>", R"(
      %x = ptx.inst "ld.global.b32"(%true, %in) : (i1, !llvm.ptr<1>) -> i32)");
    DeviceOptions options;
    options.checks.globalInitialisation = true;
    Machine machine(options);
    CHECK(foundOnly(machine.run(text, 1, {machine.allocate(4)}), FindingKind::Uninitialised));
    CHECK(machine.run(text, 1, {machine.upload<int32_t>({1})}).clean());
  }

  TEST_CASE("atomics of many ctas add up") {
    const std::string text = kernel("%out: !llvm.ptr<1>", R"(
      %half = llvm.mlir.constant(5.000000e-01 : f32) : f32
      %second = llvm.getelementptr %out[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
      %old = ptx.inst "atom.relaxed.gpu.global.add.u32"(%true, %out, %c2) : (i1, !llvm.ptr<1>, i32) -> i32
      %oldf = ptx.inst "atom.relaxed.gpu.global.add.f32"(%true, %second, %half) : (i1, !llvm.ptr<1>, f32) -> f32)");
    DeviceOptions options;
    options.workers = 4;
    Machine machine(options);
    const uint64_t out = machine.upload<uint32_t>({0, 0});
    LaunchParameters parameters;
    parameters.grid = {8, 1, 1};
    const LaunchReport report = machine.run(text, 32, {out}, parameters);
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(machine.download<uint32_t>(out, 1)[0] == 512);
    CHECK(machine.download<float>(out + 4, 1)[0] == 128.0f);
  }

  TEST_CASE("a spin on a flag lets the other thread set it") {
    const std::string text = kernel("%flag: !llvm.ptr<1>", R"(
      %waits = llvm.icmp "eq" %tid, %c0 : i32
      llvm.cond_br %waits, ^spin, ^set
    ^spin:
      %seen = ptx.inst "ld.acquire.gpu.global.b32"(%true, %flag) : (i1, !llvm.ptr<1>) -> i32
      %done = llvm.icmp "eq" %seen, %c1 : i32
      llvm.cond_br %done, ^end, ^spin
    ^set:
      ptx.inst "st.release.gpu.global.b32"(%true, %flag, %c1) : (i1, !llvm.ptr<1>, i32) -> ()
      llvm.br ^end
    ^end:)");
    Machine machine;
    const LaunchReport report = machine.run(text, 2, {machine.upload<int32_t>({0})});
    CHECK_MESSAGE(report.clean(), report.toString());
  }

  TEST_CASE("a thread that never ends is stopped") {
    const std::string text = kernel("%flag: !llvm.ptr<1>", R"(
      llvm.br ^spin
    ^spin:
      %seen = ptx.inst "ld.volatile.global.b32"(%true, %flag) : (i1, !llvm.ptr<1>) -> i32
      %done = llvm.icmp "eq" %seen, %c1 : i32
      llvm.cond_br %done, ^end, ^spin
    ^end:)");
    DeviceOptions options;
    options.maxInstructions = 1000;
    Machine machine(options);
    CHECK(foundOnly(machine.run(text, 1, {machine.upload<int32_t>({0})}), FindingKind::Limit));
  }

  TEST_CASE("a call hands the thread on and a trap names its place") {
    const std::string text = R"(
    llvm.func @helper(%x: i32) -> i32 {
      %lane = ptx.inst "sreg.laneid"() : () -> i32
      %y = llvm.add %x, %lane : i32
      llvm.return %y : i32
    }
    )" + kernel("%out: !llvm.ptr<1>", globalOf("target", "out", 4) + R"(
      %y = llvm.call @helper(%c32) : (i32) -> i32
      ptx.inst "st.global.b32"(%true, %target, %y) : (i1, !llvm.ptr<1>, i32) -> ()
      %three = llvm.icmp "eq" %tid, %c3 : i32
      ptx.inst "trap"(%three) : (i1) -> ())");
    Machine machine;
    const uint64_t out = machine.allocate(16);
    const LaunchReport report = machine.run(text, 4, {out});
    REQUIRE(foundOnly(report, FindingKind::Trap));
    CHECK(report.findings[0].lane == 3);
    CHECK(report.findings[0].location.find(':') != std::string::npos);
    CHECK(machine.download<int32_t>(out, 4) == std::vector<int32_t>{32, 33, 34, 35});
  }

  TEST_CASE("an integer division by zero does not stop the process") {
    const std::string text = kernel("%out: !llvm.ptr<1>, %zero: i64", R"(
      %z = llvm.trunc %zero : i64 to i32
      %q = llvm.sdiv %c8, %z : i32
      %r = llvm.urem %c8, %z : i32
      %s = llvm.add %q, %r : i32
      ptx.inst "st.global.b32"(%true, %out, %s) : (i1, !llvm.ptr<1>, i32) -> ())");
    Machine machine;
    CHECK(machine.run(text, 1, {machine.allocate(4), 0}).clean());
  }

  TEST_CASE("an instruction that the target lacks is found") {
    const std::string text = kernel("", R"(ptx.inst "wgmma.fence"() : () -> ())");
    DeviceOptions options;
    options.target.capability = 80;
    options.target.archSpecific = false;
    Machine machine(options);
    CHECK(foundOnly(machine.run(text, 128, {}), FindingKind::Unsupported));
  }
}
