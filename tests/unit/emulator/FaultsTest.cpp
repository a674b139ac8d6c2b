// Kernels that break one rule each, and their twins that keep it: what is found, and that nothing else is.

#include "tests/unit/emulator/KernelFixture.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

LaunchParameters shared(uint32_t bytes) {
  LaunchParameters parameters;
  parameters.sharedBytes = bytes;
  return parameters;
}

LaunchReport runShared(const std::string &body, const DeviceOptions &options = {}, uint32_t threads = 64) {
  Machine machine(options);
  return machine.run(kernel("", body), threads, {}, shared(1024));
}

/// In each mode and order: nothing is found, or something of the kind and nothing else.
void checkClean(const std::string &body, uint32_t threads = 64) {
  for (const DeviceOptions &options : allModes()) {
    const LaunchReport report = runShared(body, options, threads);
    CHECK_MESSAGE(report.clean(), report.toString());
  }
}

void checkFound(FindingKind kind, const std::string &body, uint32_t threads = 64) {
  for (const DeviceOptions &options : allModes()) {
    const LaunchReport report = runShared(body, options, threads);
    CHECK_MESSAGE(foundOnly(report, kind), report.toString());
  }
}

const std::string barrier = R"(ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
)";
const std::string first = R"(%first = llvm.icmp "eq" %tid, %c0 : i32
)";
const std::string init = first + R"(ptx.inst "mbarrier.init"(%first, %smem, %c64) : (i1, i32, i32) -> ()
)";
const std::string arrive = R"(ptx.inst "mbarrier.arrive"(%true, %smem, %c1) : (i1, i32, i32) -> ()
)";
const std::string wait = R"(ptx.inst "mbarrier.wait.parity"(%true, %smem, %c0) : (i1, i32, i32) -> ()
)";

/// `body` in the lower half of each warp, `otherwise` in the upper one.
std::string inHalves(const std::string &body, const std::string &otherwise) {
  return R"(
      %in_warp = llvm.and %tid, %c31 : i32
      %low = llvm.icmp "ult" %in_warp, %c16 : i32
      llvm.cond_br %low, ^low, ^high
    ^low:
      )" +
         body +
         R"(
      llvm.br ^joined
    ^high:
      )" +
         otherwise +
         R"(
      llvm.br ^joined
    ^joined:
)";
}

} // namespace

TEST_SUITE("emulator/Faults") {
  TEST_CASE("an mbarrier is used after a barrier that follows its initialisation") {
    checkClean(init + barrier + arrive + wait);
    for (const DeviceOptions &options : allModes()) {
      const LaunchReport report = runShared(init + arrive + wait, options);
      REQUIRE(!report.clean());
      // In an order where somebody comes before the first thread, there is no mbarrier yet.
      const Finding &found = report.findings.front();
      CHECK_MESSAGE((found.kind == FindingKind::Race || found.kind == FindingKind::Mbarrier), report.toString());
    }
    CHECK(foundOnly(runShared(init + arrive + wait), FindingKind::Race));
    const std::string expect = R"(ptx.inst "mbarrier.expect_tx"(%true, %smem, %c0) : (i1, i32, i32) -> ()
)";
    CHECK(foundOnly(runShared(init + expect), FindingKind::Race));
    CHECK(foundOnly(runShared(init + wait.substr(0, wait.find("%c0")) + "%c1) : (i1, i32, i32) -> ()\n"),
                    FindingKind::Race));
  }

  TEST_CASE("a fence.mbarrier_init hands the initialisation over a relaxed cluster barrier") {
    const auto text = [](const std::string &fence) {
      return kernel("", R"(
      %rank = ptx.inst "sreg.cluster_ctarank"() : () -> i32
      %peer = llvm.xor %rank, %c1 : i32
      ptx.inst "mbarrier.init"(%true, %smem, %c1) : (i1, i32, i32) -> ()
      )" + fence + R"(
      ptx.inst "barrier.cluster.arrive.relaxed"() : () -> ()
      ptx.inst "barrier.cluster.wait"() : () -> ()
      %remote = ptx.inst "mapa"(%smem, %peer) : (i32, i32) -> i32
      ptx.inst "mbarrier.arrive.cluster"(%true, %remote, %c1) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.wait.parity"(%true, %smem, %c0) : (i1, i32, i32) -> ()
)");
    };
    LaunchParameters parameters = shared(1024);
    parameters.grid = parameters.cluster = {2, 1, 1};
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      LaunchReport report = machine.run(text(R"(ptx.inst "fence.mbarrier_init"() : () -> ())"), 1, {}, parameters);
      CHECK_MESSAGE(report.clean(), report.toString());
      report = machine.run(text(""), 1, {}, parameters);
      CHECK_MESSAGE(foundOnly(report, FindingKind::Race), report.toString());
    }
  }

  TEST_CASE("an mbarrier is initialised once, until mbarrier.inval ends it") {
    checkFound(FindingKind::Mbarrier, init + barrier + init.substr(first.size()));
    checkClean(init + barrier + R"(ptx.inst "mbarrier.inval"(%first, %smem) : (i1, i32) -> ()
)" + barrier + init.substr(first.size()));
  }

  TEST_CASE("a parity is 0 or 1") {
    const std::string wrong = R"(ptx.inst "mbarrier.wait.parity"(%true, %smem, %c2) : (i1, i32, i32) -> ()
)";
    checkFound(FindingKind::Mbarrier, init + barrier + arrive + wrong);
  }

  // Warp 0 writes a word and all meet. Each of four warps reads it, those of `named` meet at barrier 1, and thread 0
  // writes it again.
  static std::string readByFour(const std::string &named, int threads) {
    return first + R"(
      ptx.inst "st.shared.b32"(%first, %smem, %tid) : (i1, i32, i32) -> ()
      )" + barrier +
           R"(
      %x = ptx.inst "ld.shared.b32"(%true, %smem) : (i1, i32) -> i32
      )" + named +
           R"(
      llvm.cond_br %meets, ^meet, ^end
    ^meet:
      ptx.inst "bar.sync.n"() {imms = array<i64: 1, )" +
           std::to_string(threads) + R"(>} : () -> ()
      ptx.inst "st.shared.b32"(%first, %smem, %c5) : (i1, i32, i32) -> ()
      llvm.br ^end
    ^end:
)";
  }

  TEST_CASE("each of many readers of a word counts") {
    checkClean(readByFour("%meets = llvm.icmp \"ult\" %tid, %c128 : i32", 128), 128);
    for (int absent : {1, 2, 3}) {
      CAPTURE(absent);
      const std::string named =
          "%warp = llvm.lshr %tid, %c5 : i32\n%meets = llvm.icmp \"ne\" %warp, %c" + std::to_string(absent) + " : i32";
      checkFound(FindingKind::Race, readByFour(named, 96), 128);
    }
  }

  TEST_CASE("who reads one byte of a word does not hinder who writes another") {
    // Thread t reads byte t of a word, then writes it, with no barrier between; thread 4 has read byte 0 as well.
    const auto text = [](const std::string &readers) {
      return first + R"(
      ptx.inst "st.shared.b32"(%first, %smem, %tid) : (i1, i32, i32) -> ()
      )" + barrier +
             R"(
      %few = llvm.icmp "ult" %tid, )" +
             readers + R"( : i32
      %at = llvm.and %tid, %c3 : i32
      %own = llvm.add %smem, %at : i32
      %x = ptx.inst "ld.shared.b8"(%few, %own) : (i1, i32) -> i16
      %writes = llvm.icmp "ult" %tid, %c4 : i32
      ptx.inst "st.shared.b8"(%writes, %own, %x) : (i1, i32, i16) -> ()
)";
    };
    checkClean(text("%c4"));
    checkFound(FindingKind::Race, text("%c5"));
  }

  TEST_CASE("each of the atomic operations that nothing orders counts") {
    // All warps add to a word; some meet at barrier 1, then thread 0 reads it.
    const auto text = [](const std::string &meets, int threads) {
      return first + R"(
      ptx.inst "st.shared.b32"(%first, %smem, %c0) : (i1, i32, i32) -> ()
      )" + barrier +
             R"(
      %old = ptx.inst "atom.relaxed.cta.shared.add.u32"(%true, %smem, %c1) : (i1, i32, i32) -> i32
      )" + meets +
             R"(
      llvm.cond_br %meets, ^meet, ^end
    ^meet:
      ptx.inst "bar.sync.n"() {imms = array<i64: 1, )" +
             std::to_string(threads) + R"(>} : () -> ()
      %sum = ptx.inst "ld.shared.b32"(%first, %smem) : (i1, i32) -> i32
      llvm.br ^end
    ^end:
)";
    };
    checkClean(text("%meets = llvm.icmp \"ult\" %tid, %c128 : i32", 128), 128);
    for (int absent : {1, 2, 3}) {
      CAPTURE(absent);
      checkFound(FindingKind::Race,
                 text("%warp = llvm.lshr %tid, %c5 : i32\n%meets = llvm.icmp \"ne\" %warp, %c" +
                          std::to_string(absent) + " : i32",
                      96),
                 128);
    }
  }

  TEST_CASE("writers of different bytes of a word each count") {
    // Threads 0 and 1 write a half each, meet, and thread `reader` reads the whole word; thread 64 has not met them.
    const auto text = [](const std::string &reader) {
      return R"(
      %half = llvm.shl %tid, %c1 : i32
      %at = llvm.add %smem, %half : i32
      %writes = llvm.icmp "ult" %tid, %c2 : i32
      %value = llvm.trunc %tid : i32 to i16
      ptx.inst "st.shared.b16"(%writes, %at, %value) : (i1, i32, i16) -> ()
      %meets = llvm.icmp "ult" %tid, %c64 : i32
      llvm.cond_br %meets, ^meet, ^read
    ^meet:
      ptx.inst "bar.sync.n"() {imms = array<i64: 1, 64>} : () -> ()
      llvm.br ^read
    ^read:
      %reads = llvm.icmp "eq" %tid, )" +
             reader + R"( : i32
      %x = ptx.inst "ld.shared.b32"(%reads, %smem) : (i1, i32) -> i32
)";
    };
    checkClean(text("%c5"), 96);
    const LaunchReport report = runShared(text("%c64"), {}, 96);
    CHECK_MESSAGE(foundOnly(report, FindingKind::Race), report.toString());
    // Each byte has its last writer: here only that of the lower half is unknown.
    const std::string late = first + R"(
      ptx.inst "st.shared.b32"(%first, %smem, %c0) : (i1, i32, i32) -> ()
      )" + barrier + R"(
      %second = llvm.icmp "eq" %tid, %c1 : i32
      %third = llvm.icmp "eq" %tid, %c2 : i32
      %value = llvm.trunc %tid : i32 to i16
      %up = llvm.add %smem, %c2 : i32
      ptx.inst "st.shared.b16"(%second, %smem, %value) : (i1, i32, i16) -> ()
      ptx.inst "st.shared.b16"(%third, %up, %value) : (i1, i32, i16) -> ()
)";
    checkClean(late + "%x = ptx.inst \"ld.shared.b16\"(%third, %up) : (i1, i32) -> i16\n");
    const LaunchReport lower = runShared(late + "%x = ptx.inst \"ld.shared.b16\"(%third, %smem) : (i1, i32) -> i16\n");
    CHECK_MESSAGE(foundOnly(lower, FindingKind::Race), lower.toString());
  }

  TEST_CASE("what is released for the next phase is not known to who waited for this one") {
    // Thread 32 completes a phase and at once writes another word and arrives for the next phase. Warp 0 has waited for
    // the first phase.
    const auto text = [](const std::string &read) {
      return first + R"(
      %other = llvm.add %smem, %c128 : i32
      %bar = llvm.add %smem, %c512 : i32
      %producer = llvm.icmp "eq" %tid, %c32 : i32
      ptx.inst "mbarrier.init"(%first, %bar, %c2) : (i1, i32, i32) -> ()
      )" + barrier +
             R"(
      %high = llvm.icmp "uge" %tid, %c32 : i32
      llvm.cond_br %high, ^produce, ^consume
    ^produce:
      ptx.inst "st.shared.b32"(%producer, %smem, %c1) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.arrive"(%producer, %bar, %c2) : (i1, i32, i32) -> ()
      ptx.inst "st.shared.b32"(%producer, %other, %c2) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.arrive"(%producer, %bar, %c1) : (i1, i32, i32) -> ()
      llvm.br ^end
    ^consume:
      ptx.inst "mbarrier.wait.parity"(%true, %bar, %c0) : (i1, i32, i32) -> ()
      %x = ptx.inst "ld.shared.b32"(%true, )" +
             read + R"() : (i1, i32) -> i32
      llvm.br ^end
    ^end:
)";
    };
    checkClean(text("%smem"));
    checkFound(FindingKind::Race, text("%other"));
  }

  TEST_CASE("halves of a warp at different barrier instructions are a divergence") {
    for (const std::string name : {"bar.sync", "bar.sync.n", "bar.arrive.n"}) {
      CAPTURE(name);
      const std::string imms = name == "bar.sync" ? "0" : "0, 64";
      const std::string one = "ptx.inst \"" + name + "\"() {imms = array<i64: " + imms + ">} : () -> ()\n";
      checkFound(FindingKind::Divergence, inHalves(one, one));
    }
    // Without `.aligned`, any thread may come from anywhere.
    const std::string any = R"(ptx.inst "barrier.sync"() {imms = array<i64: 0>} : () -> ()
)";
    checkClean(inHalves(any, any));
  }

  TEST_CASE("halves of a warp at different matrix loads are a divergence") {
    const std::string fill = sharedOf("own", 16) + R"(
      ptx.inst "st.shared.v4.b32"(%true, %own, %tid, %tid, %tid, %tid) : (i1, i32, i32, i32, i32, i32) -> ()
      ptx.inst "bar.warp.sync"() : () -> ()
)";
    const std::string load = "ptx.inst \"ldmatrix.x1\"(%own) : (i32) -> i32\n";
    checkClean(fill + "%x = " + load, 32);
    checkFound(FindingKind::Divergence, fill + inHalves("%x = " + load, "%y = " + load), 32);
  }

  TEST_CASE("lanes that have ended never come to an aligned barrier") {
    const LaunchReport report = runShared(inHalves(barrier, ""), {}, 32);
    REQUIRE(foundOnly(report, FindingKind::Deadlock));
    CHECK(report.findings[0].form == "bar.sync");
    CHECK(report.findings[0].detail == "16 threads of warp 0 wait for lane 16, which has ended");
  }

  TEST_CASE("a cp.async is waited for before its thread ends") {
    const auto text = [](const std::string &after) {
      return kernel("%in: !llvm.ptr<1>", globalOf("source", "in", 4) + sharedOf("own", 4) + R"(
      ptx.inst "cp.async.ca.4"(%true, %own, %source, %c4) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      )" + after);
    };
    const std::string commit = "ptx.inst \"cp.async.commit_group\"() : () -> ()\n";
    const auto waitFor = [](int groups) {
      return "ptx.inst \"cp.async.wait_group\"() {imms = array<i64: " + std::to_string(groups) + ">} : () -> ()\n";
    };
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t in = machine.upload(std::vector<int32_t>(32, 7));
      const auto run = [&](const std::string &after) { return machine.run(text(after), 32, {in}, shared(1024)); };
      for (const std::string &wrong : {std::string(), commit, waitFor(0), commit + waitFor(1)}) {
        CAPTURE(wrong);
        const LaunchReport report = run(wrong);
        REQUIRE_MESSAGE(foundOnly(report, FindingKind::AsyncAtExit), report.toString());
        CHECK(report.findings[0].form == "cp.async.ca.4");
      }
      const LaunchReport waited = run(commit + waitFor(0));
      CHECK_MESSAGE(waited.clean(), waited.toString());
      // An mbarrier that it arrives on takes the place of the wait; nobody waits there in the second kernel.
      const std::string arrives = R"(
      %bar = llvm.add %smem, %c512 : i32
      )" + first + R"(
      ptx.inst "mbarrier.init"(%first, %bar, %c32) : (i1, i32, i32) -> ()
      )" + barrier + R"(
      ptx.inst "cp.async.mbarrier.arrive.noinc"(%bar) : (i32) -> ()
)";
      const LaunchReport arrived =
          run(arrives + R"(ptx.inst "mbarrier.wait.parity"(%first, %bar, %c0) : (i1, i32, i32) -> ())");
      CHECK_MESSAGE(arrived.clean(), arrived.toString());
      if (options.mode == AsyncMode::Deferred) {
        CHECK(foundOnly(run(arrives), FindingKind::AsyncAtExit));
      }
    }
  }

  // Each thread copies into two slots, each of which has an mbarrier that its copies arrive at; then `body`.
  static std::string copiesIntoTwoSlots(const std::string &body) {
    return kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>",
                  globalOf("source", "in", 4) + sharedOf("own", 4) + first + R"(
      %bar = llvm.add %smem, %c512 : i32
      %bar2 = llvm.add %bar, %c8 : i32
      %slot2 = llvm.add %smem, %c256 : i32
      %own2 = llvm.add %own, %c256 : i32
      ptx.inst "mbarrier.init"(%first, %bar, %c32) : (i1, i32, i32) -> ()
      ptx.inst "mbarrier.init"(%first, %bar2, %c32) : (i1, i32, i32) -> ()
      )" + barrier + R"(
      ptx.inst "cp.async.ca.4"(%true, %own, %source, %c4) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.mbarrier.arrive.noinc"(%bar) : (i32) -> ()
      ptx.inst "cp.async.ca.4"(%true, %own2, %source, %c4) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "cp.async.mbarrier.arrive.noinc"(%bar2) : (i32) -> ()
      ptx.inst "mbarrier.wait.parity"(%true, %bar, %c0) : (i1, i32, i32) -> ()
)" + body);
  }

  TEST_CASE("a proxy fence after one arrival of cp.async covers no copies of the next") {
    // A bulk store reads the second slot.
    const auto text = [](const std::string &fence) {
      return copiesIntoTwoSlots(R"(
      ptx.inst "fence.proxy.async.shared::cta"() : () -> ()
      ptx.inst "mbarrier.wait.parity"(%true, %bar2, %c0) : (i1, i32, i32) -> ()
      )" + fence + R"(
      ptx.inst "cp.async.bulk.global.shared"(%first, %out, %slot2, %c128) : (i1, !llvm.ptr<1>, i32, i32) -> ()
      ptx.inst "cp.async.bulk.commit_group"() : () -> ()
      ptx.inst "cp.async.bulk.wait_group"() {imms = array<i64: 0>} : () -> ()
)");
    };
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t in = machine.upload(std::vector<int32_t>(32, 7)), out = machine.allocate(128);
      const LaunchReport fenced =
          machine.run(text(R"(ptx.inst "fence.proxy.async.shared::cta"() : () -> ())"), 32, {in, out}, shared(1024));
      CHECK_MESSAGE(fenced.clean(), fenced.toString());
      CHECK(machine.download<int32_t>(out, 32) == std::vector<int32_t>(32, 7));
      const LaunchReport unfenced = machine.run(text(""), 32, {in, out}, shared(1024));
      CHECK_MESSAGE(foundOnly(unfenced, FindingKind::MissingProxyFence), unfenced.toString());
    }
  }

  TEST_CASE("an arrival of cp.async leaves later copies in flight") {
    const std::string text = copiesIntoTwoSlots(R"(
      %v = ptx.inst "ld.shared.b32"(%true, %own2) : (i1, i32) -> i32
      ptx.inst "mbarrier.wait.parity"(%true, %bar2, %c0) : (i1, i32, i32) -> ()
)");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t in = machine.upload(std::vector<int32_t>(32, 7)), out = machine.allocate(128);
      if (options.mode == AsyncMode::Deferred) {
        CHECK(foundOnly(machine.run(text, 32, {in, out}, shared(1024)), FindingKind::Pending));
      }
    }
  }

  TEST_CASE("a copy after the last arrival on an mbarrier is waited for too") {
    const std::string text = kernel("%in: !llvm.ptr<1>", globalOf("source", "in", 4) + sharedOf("own", 4) + first + R"(
      %bar = llvm.add %smem, %c512 : i32
      ptx.inst "mbarrier.init"(%first, %bar, %c32) : (i1, i32, i32) -> ()
      )" + barrier + R"(
      ptx.inst "cp.async.mbarrier.arrive.noinc"(%bar) : (i32) -> ()
      ptx.inst "cp.async.ca.4"(%true, %own, %source, %c4) : (i1, i32, !llvm.ptr<1>, i32) -> ()
      ptx.inst "mbarrier.wait.parity"(%true, %bar, %c0) : (i1, i32, i32) -> ()
)");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t in = machine.upload(std::vector<int32_t>(32, 7));
      CHECK(foundOnly(machine.run(text, 32, {in}, shared(1024)), FindingKind::AsyncAtExit));
    }
  }

  TEST_CASE("a fence of global memory is none of shared memory") {
    // A flat bulk store reads what the threads wrote.
    const auto text = [](const std::string &space) {
      return kernel("%out: !llvm.ptr<1>", sharedOf("own", 4) + first + R"(
      ptx.inst "st.shared.b32"(%true, %own, %tid) : (i1, i32, i32) -> ()
      ptx.inst "fence.proxy.async.)" + space +
                                              R"("() : () -> ()
      )" + barrier + R"(
      ptx.inst "cp.async.bulk.global.shared"(%first, %out, %smem, %c128) : (i1, !llvm.ptr<1>, i32, i32) -> ()
      ptx.inst "cp.async.bulk.commit_group"() : () -> ()
      ptx.inst "cp.async.bulk.wait_group"() {imms = array<i64: 0>} : () -> ()
)");
    };
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(128);
      for (const std::string space : {"shared::cta", "shared::cluster"}) {
        const LaunchReport report = machine.run(text(space), 32, {out}, shared(1024));
        CHECK_MESSAGE(report.clean(), report.toString());
      }
      const LaunchReport report = machine.run(text("global"), 32, {out}, shared(1024));
      CHECK_MESSAGE(foundOnly(report, FindingKind::MissingProxyFence), report.toString());
    }
  }

  TEST_CASE("a loop of arithmetic alone that never ends is stopped in seconds, with the options that devices have") {
    const LaunchReport report = runShared(R"(
      llvm.br ^a(%c0 : i32)
    ^a(%i: i32):
      %j = llvm.add %i, %c1 : i32
      llvm.br ^a(%j : i32)
    ^b:)",
                                          DeviceOptions(), 128);
    REQUIRE_MESSAGE(foundOnly(report, FindingKind::Limit), report.toString());
    CHECK(report.toString().find("went 4194304 rounds of a loop without an instruction") != std::string::npos);
  }

  TEST_CASE("loops that never end are stopped, whatever they execute") {
    DeviceOptions options;
    options.maxInstructions = 100000;
    const std::string counting = R"(
      llvm.br ^a(%c0 : i32)
    ^a(%i: i32):
      %j = llvm.add %i, %c1 : i32
      %same = llvm.icmp "eq" %j, %i : i32
      llvm.cond_br %same, ^b, ^a(%j : i32)
    ^b:)";
    const std::string empty = R"(
      llvm.br ^a
    ^a:
      llvm.br ^a
    ^b:)";
    // Two blocks that enter each other, neither above the other.
    const std::string tangled = R"(
      %odd = llvm.trunc %tid : i32 to i1
      llvm.cond_br %odd, ^a, ^b
    ^a:
      llvm.br ^b
    ^b:
      llvm.br ^a
    ^c:)";
    const std::string masked = R"(
      %false = llvm.mlir.constant(false) : i1
      llvm.br ^a
    ^a:
      ptx.inst "st.shared.b32"(%false, %smem, %tid) : (i1, i32, i32) -> ()
      llvm.br ^a
    ^b:)";
    for (const std::string &body : {counting, empty, tangled, masked}) {
      CAPTURE(body);
      const LaunchReport report = runShared(body, options, 32);
      REQUIRE_MESSAGE(foundOnly(report, FindingKind::Limit), report.toString());
      CHECK(report.findings[0].location.find(':') != std::string::npos);
    }
    // One that ends does so with its result.
    Machine machine(options);
    const uint64_t out = machine.allocate(4);
    const LaunchReport report = machine.run(kernel("%out: !llvm.ptr<1>", R"(
      llvm.br ^a(%c0, %c0 : i32, i32)
    ^a(%i: i32, %sum: i32):
      %next = llvm.add %sum, %i : i32
      %j = llvm.add %i, %c1 : i32
      %more = llvm.icmp "ult" %j, %c1024 : i32
      llvm.cond_br %more, ^a(%j, %next : i32, i32), ^b
    ^b:
      ptx.inst "st.global.b32"(%true, %out, %next) : (i1, !llvm.ptr<1>, i32) -> ())"),
                                            1, {out});
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(machine.download<int32_t>(out, 1)[0] == 523776);
  }

  TEST_CASE("a recursion without end uses up the stack, one that ends does not") {
    const std::string text = R"(
    llvm.func @sum(%x: i32) -> i32 {
      %zero = llvm.mlir.constant(0 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %end = llvm.icmp "eq" %x, %zero : i32
      llvm.cond_br %end, ^stop, ^go
    ^go:
      %less = llvm.sub %x, %one : i32
      %rest = llvm.call @other(%less) : (i32) -> i32
      %all = llvm.mul %rest, %x : i32
      %more = llvm.add %all, %x : i32
      llvm.return %more : i32
    ^stop:
      llvm.return %zero : i32
    }
    llvm.func @other(%x: i32) -> i32 attributes {passthrough = ["noinline"]} {
      %y = llvm.call @sum(%x) : (i32) -> i32
      llvm.return %y : i32
    }
    )" + kernel("%out: !llvm.ptr<1>, %depth: i64", R"(
      %d = llvm.trunc %depth : i64 to i32
      %x = llvm.call @sum(%d) : (i32) -> i32
      ptx.inst "st.global.b32"(%true, %out, %x) : (i1, !llvm.ptr<1>, i32) -> ())");
    Machine machine;
    const uint64_t out = machine.allocate(4);
    LaunchReport report = machine.run(text, 1, {out, 4});
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(machine.download<int32_t>(out, 1)[0] == 64); // 4 * (3 * (2 * (1 * 0 + 1) + 2) + 3) + 4
    report = machine.run(text, 1, {out, 0xffffffff});
    REQUIRE(foundOnly(report, FindingKind::Limit));
    CHECK(report.findings[0].detail == "the thread's stack is used up");
  }

  TEST_CASE("traps and places marked unreachable are findings") {
    const std::string onFirst = first + R"(
      llvm.cond_br %first, ^a, ^b
    ^a:
      )";
    for (const std::string trap : {"llvm.intr.trap", "llvm.intr.debugtrap"}) {
      const LaunchReport report = runShared(onFirst + trap + "\n      llvm.br ^b\n    ^b:");
      REQUIRE_MESSAGE(foundOnly(report, FindingKind::Trap), report.toString());
      CHECK(report.findings[0].detail == "the kernel trapped");
      CHECK(report.findings[0].lane == 0);
      CHECK(report.findings[0].location.find(':') != std::string::npos);
    }
    const LaunchReport report = runShared(onFirst + "llvm.unreachable\n    ^b:");
    REQUIRE_MESSAGE(foundOnly(report, FindingKind::Trap), report.toString());
    CHECK(report.findings[0].detail == "the kernel reached a place marked unreachable");
  }

  TEST_CASE("a fill that no allocation holds is refused at once") {
    Machine machine;
    const uint64_t address = machine.allocate(100);
    for (size_t bytes : {size_t(101), size_t(100) << 30, SIZE_MAX - 40, SIZE_MAX}) {
      CHECK(machine.device.fill(address, 1, bytes).code() == StatusCode::InvalidArgument);
    }
    CHECK(machine.device.fill(address + 1, 7, 98).ok());
    const std::vector<uint8_t> bytes = machine.download<uint8_t>(address, 100);
    CHECK(bytes[0] == 0xff);
    CHECK(bytes[1] == 7);
    CHECK(bytes[98] == 7);
    CHECK(bytes[99] == 0xff);
  }
}
