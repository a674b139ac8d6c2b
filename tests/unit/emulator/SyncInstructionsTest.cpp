// Instructions that order threads and memory: barriers, mbarriers, fences, clusters. Each form in a kernel that is
// right with it and is found to be wrong, or gives other bits, without it.

#include "tests/unit/emulator/InstructionProgram.h"

#include <functional>

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

const Names names = {"bar.sync",
                     "bar.sync.n",
                     "bar.sync.r",
                     "bar.arrive.n",
                     "barrier.sync",
                     "barrier.sync.n",
                     "barrier.sync.r",
                     "barrier.arrive.n",
                     "bar.warp.sync",
                     "barrier.cluster.arrive",
                     "barrier.cluster.arrive.relaxed",
                     "barrier.cluster.wait",
                     "mapa",
                     "fence.acq_rel.cta",
                     "fence.acq_rel.cluster",
                     "fence.acq_rel.gpu",
                     "fence.acq_rel.sys",
                     "fence.proxy.async.shared::cta",
                     "fence.proxy.async.shared::cluster",
                     "fence.proxy.async.global",
                     "fence.mbarrier_init",
                     "mbarrier.init",
                     "mbarrier.inval",
                     "mbarrier.arrive",
                     "mbarrier.arrive.cluster",
                     "mbarrier.arrive.expect_tx",
                     "mbarrier.expect_tx",
                     "mbarrier.wait.parity"};

using Synchronize = std::function<void(Program &)>;

void nothing(Program &) {}

/// 64 threads write their numbers and read the one of thread 63 - t. `prepare` comes before that.
Program exchange(const Synchronize &synchronize, size_t &read, const Synchronize &prepare = nothing) {
  Program program(64);
  prepare(program);
  program.add("st.shared.b32", {1, Lanes::counting(smem, 4, 64), Lanes::counting(0, 1, 64)});
  synchronize(program);
  read = program.add("ld.shared.b32", {1, Lanes::counting(smem + 252, uint64_t(-4), 64)});
  return program;
}

void checkOrders(const Synchronize &synchronize, const Synchronize &prepare = nothing) {
  for (const DeviceOptions &options : allModes()) {
    size_t read = 0;
    const Outcome outcome = exchange(synchronize, read, prepare).runClean(options);
    CHECK(outcome.at(read, 0, 0) == 63);
    CHECK(outcome.at(read, 0, 40) == 23);
  }
}

void checkOrdersNothing(const Synchronize &synchronize) {
  for (const DeviceOptions &options : allModes()) {
    size_t read = 0;
    const Program program = exchange(synchronize, read);
    Machine machine(options);
    const LaunchReport report = program.run(machine).report;
    REQUIRE(!report.clean());
    CHECK((report.findings[0].kind == FindingKind::Race || report.findings[0].kind == FindingKind::Uninitialised));
  }
}

const Lanes onFirst = [] {
  std::vector<uint64_t> predicates(64);
  predicates[0] = 1;
  return Lanes(predicates);
}();

constexpr uint64_t bar = smem + 1024;

} // namespace

TEST_SUITE("emulator/SyncInstructions") {
  TEST_CASE("barriers of all threads, by id and by count") {
    checkOrders([](Program &program) { program.add("bar.sync", {}, {0}); });
    checkOrders([](Program &program) { program.add("bar.sync", {}, {15}); });
    checkOrders([](Program &program) { program.add("bar.sync.n", {}, {1, 64}); });
    checkOrders([](Program &program) { program.add("bar.sync.r", {5}, {64}); });
    checkOrders([](Program &program) { program.add("barrier.sync.r", {5}, {64}); });
    checkOrders([](Program &program) { program.add("barrier.sync", {}, {0}); });
    checkOrders([](Program &program) { program.add("barrier.sync.n", {}, {1, 64}); });
    // Of 32 threads each warp is one.
    checkOrdersNothing([](Program &program) { program.add("bar.sync.n", {}, {1, 32}); });
    checkOrdersNothing([](Program &program) { program.add("barrier.sync.n", {}, {1, 32}); });
    // Each warp at a barrier of its own.
    std::vector<uint64_t> ids(64, 1);
    std::fill(ids.begin() + 32, ids.end(), 2);
    checkOrdersNothing([&](Program &program) { program.add("bar.sync.r", {Lanes(ids)}, {32}); });
    checkOrdersNothing(nothing);
  }

  TEST_CASE("numbers of barriers and threads that no hardware accepts are found") {
    for (const auto &[form, immediates] :
         std::initializer_list<std::pair<std::string, std::vector<int64_t>>>{{"bar.sync", {16}},
                                                                             {"bar.sync", {-1}},
                                                                             {"bar.sync.n", {1, 33}},
                                                                             {"bar.arrive.n", {1, 0}},
                                                                             {"barrier.sync", {16}},
                                                                             {"barrier.sync.n", {1, 96}},
                                                                             {"barrier.arrive.n", {1, 40}}}) {
      CAPTURE(form);
      Program program(64);
      program.add(form, {}, immediates);
      Machine machine;
      CHECK(foundOnly(program.run(machine).report, FindingKind::Barrier));
    }
  }

  TEST_CASE("who arrives goes on, and what it did is known to who waits") {
    // Warp 0 produces and arrives, warp 1 waits and consumes; in the second kernel warp 0 reads what warp 1 wrote.
    for (const std::string name : {"bar", "barrier"}) {
      const auto text = [&](bool arriverReads) {
        const std::string arrive = "ptx.inst \"" + name + ".arrive.n\"() {imms = array<i64: 1, 64>} : () -> ()\n";
        const std::string sync = "ptx.inst \"" + name + ".sync.n\"() {imms = array<i64: 1, 64>} : () -> ()\n";
        const std::string read = R"(
      %far_id = llvm.xor %tid, %c32 : i32
      %far_offset = llvm.mul %far_id, %c4 : i32
      %far = llvm.add %smem, %far_offset : i32
      %x = ptx.inst "ld.shared.b32"(%true, %far) : (i1, i32) -> i32
      ptx.inst "st.global.b32"(%true, %target, %x) : (i1, !llvm.ptr<1>, i32) -> ()
)";
        return kernel("%out: !llvm.ptr<1>", globalOf("target", "out", 4) + sharedOf("own", 4) + R"(
      ptx.inst "st.shared.b32"(%true, %own, %tid) : (i1, i32, i32) -> ()
      %low = llvm.icmp "ult" %tid, %c32 : i32
      llvm.cond_br %low, ^arrive, ^wait
    ^arrive:
      )" + arrive + (arriverReads ? read : std::string()) +
                                                R"(
      llvm.br ^end
    ^wait:
      )" + sync + (arriverReads ? std::string() : read) +
                                                R"(
      llvm.br ^end
    ^end:)");
      };
      LaunchParameters parameters;
      parameters.sharedBytes = 1024;
      for (const DeviceOptions &options : allModes()) {
        Machine machine(options);
        const uint64_t out = machine.allocate(256);
        const LaunchReport report = machine.run(text(false), 64, {out}, parameters);
        CHECK_MESSAGE(report.clean(), report.toString());
        CHECK(machine.download<uint32_t>(out, 64)[32] == 0);
        CHECK(machine.download<uint32_t>(out, 64)[63] == 31);
        CHECK(!machine.run(text(true), 64, {out}, parameters).clean());
      }
    }
  }

  TEST_CASE("lanes of a warp meet, and fences of threads order nothing by themselves") {
    const auto run = [](const DeviceOptions &options, const std::string &form) {
      Program program(32);
      program.add("st.shared.b32", {1, Lanes::counting(smem, 4, 32), Lanes::counting(0, 1, 32)});
      program.add(form);
      const size_t read = program.add("ld.shared.b32", {1, Lanes::counting(smem + 124, uint64_t(-4), 32)});
      Machine machine(options);
      const Outcome outcome = program.run(machine);
      if (outcome.report.clean()) {
        CHECK(outcome.at(read, 0, 3) == 28);
      }
      return outcome.report;
    };
    for (const DeviceOptions &options : allModes()) {
      const LaunchReport report = run(options, "bar.warp.sync");
      CHECK_MESSAGE(report.clean(), report.toString());
      for (const char *fence :
           {"fence.acq_rel.cta", "fence.acq_rel.cluster", "fence.acq_rel.gpu", "fence.acq_rel.sys"}) {
        CHECK(!run(options, fence).clean());
      }
    }
  }

  TEST_CASE("proxy fences make what threads wrote visible to bulk copies, each in its space") {
    const auto run = [](const DeviceOptions &options, const std::string &form) {
      Machine machine(options);
      const uint64_t out = machine.allocate(256);
      Program program(64);
      program.add("st.shared.b32", {1, Lanes::counting(smem, 4, 64), Lanes::counting(100, 1, 64)});
      program.add(form);
      program.barrier();
      program.add("cp.async.bulk.global.shared", {onFirst, out, smem, 256});
      program.add("cp.async.bulk.commit_group");
      program.add("cp.async.bulk.wait_group", {}, {0});
      Outcome outcome = program.run(machine);
      CHECK(machine.download<uint32_t>(out, 64)[63] == 163);
      return outcome.report;
    };
    for (const DeviceOptions &options : allModes()) {
      CHECK(run(options, "fence.proxy.async.shared::cta").clean());
      CHECK(run(options, "fence.proxy.async.shared::cluster").clean());
      CHECK(foundOnly(run(options, "fence.proxy.async.global"), FindingKind::MissingProxyFence));
      CHECK(foundOnly(run(options, "fence.acq_rel.cta"), FindingKind::MissingProxyFence));
    }
  }

  TEST_CASE("an mbarrier completes a phase when its arrivals are there, and starts the next") {
    const auto initialise = [](uint64_t count) -> Synchronize {
      return [count](Program &program) {
        program.add("mbarrier.init", {onFirst, bar, count});
        program.add("fence.mbarrier_init");
        program.barrier();
      };
    };
    checkOrders(
        [](Program &program) {
          program.add("mbarrier.arrive", {1, bar, 1});
          program.add("mbarrier.wait.parity", {1, bar, 0});
        },
        initialise(64));
    // Three phases; each time all come before any goes on.
    checkOrders(
        [](Program &program) {
          for (uint64_t phase : {0, 1, 0}) {
            program.add("mbarrier.arrive", {1, bar, 1});
            program.add("mbarrier.wait.parity", {1, bar, phase});
          }
        },
        initialise(64));
    // Counts above one, of every second thread: what the others wrote is handed on by nobody.
    std::vector<uint64_t> even;
    for (int thread = 0; thread < 64; ++thread) {
      even.push_back(thread % 2 == 0);
    }
    const auto counted = [&](Program &program) {
      program.add("mbarrier.arrive", {even, bar, 2});
      program.add("mbarrier.arrive", {even, bar, 1});
      program.add("mbarrier.wait.parity", {1, bar, 0});
    };
    for (const DeviceOptions &options : allModes()) {
      size_t read = 0;
      Machine machine(options);
      const LaunchReport report = exchange(counted, read, initialise(96)).run(machine).report;
      REQUIRE(!report.clean());
      for (const Finding &finding : report.findings) {
        CHECK((finding.kind == FindingKind::Race || finding.kind == FindingKind::Uninitialised));
        CHECK(finding.lane % 2 == (finding.form == "st.shared.b32"));
      }
    }
    // The phase before the first counts as complete.
    Program program(64);
    initialise(64)(program);
    program.add("mbarrier.wait.parity", {1, bar, 1});
    program.runClean();
  }

  TEST_CASE("an mbarrier waits for the bytes that it is told to expect") {
    for (const bool arrives : {true, false}) {
      for (const DeviceOptions &options : allModes()) {
        Machine machine(options);
        const uint64_t in = machine.upload(std::vector<uint64_t>{11, 12, 13, 14});
        Program program(2);
        const Lanes first = std::vector<uint64_t>{1, 0};
        program.add("mbarrier.init", {first, bar, 1});
        program.add("fence.mbarrier_init");
        program.barrier();
        if (arrives) {
          program.add("mbarrier.arrive.expect_tx", {first, bar, 32});
        } else {
          // Expected beforehand, so that the arrival below does not complete the phase by itself.
          program.add("mbarrier.expect_tx", {first, bar, 32});
          program.add("mbarrier.arrive", {first, bar, 1});
        }
        program.add("cp.async.bulk.shared.global", {first, smem, in, 32, bar});
        program.add("mbarrier.wait.parity", {1, bar, 0});
        const size_t read = program.add("ld.shared.v2.b64", {1, smem + 16});
        const Outcome outcome = program.run(machine);
        CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
        CHECK(outcome.at(read, 0, 1) == 13);
        CHECK(outcome.at(read, 1, 1) == 14);
      }
      // Without the bytes it never completes.
      Program program(1);
      program.add("mbarrier.init", {1, bar, 1});
      program.add(arrives ? "mbarrier.arrive.expect_tx" : "mbarrier.expect_tx", {1, bar, 32});
      if (!arrives) {
        program.add("mbarrier.arrive", {1, bar, 1});
      }
      program.add("mbarrier.wait.parity", {1, bar, 0});
      Machine machine;
      const LaunchReport report = program.run(machine).report;
      REQUIRE(foundOnly(report, FindingKind::Deadlock));
      CHECK(report.findings[0].detail ==
            "1 threads of warp 0 wait for phase 0 of the mbarrier: 0 of 1 arrivals and 32 bytes missing");
    }
  }

  TEST_CASE("counts of an mbarrier lie in their ranges") {
    const auto found = [](uint64_t count, const std::vector<uint64_t> &expected) {
      Program program(1);
      program.add("mbarrier.init", {1, bar, count});
      for (uint64_t bytes : expected) {
        program.add("mbarrier.expect_tx", {1, bar, bytes});
      }
      Machine machine;
      return foundOnly(program.run(machine).report, FindingKind::Mbarrier);
    };
    constexpr uint64_t most = (1 << 20) - 1;
    CHECK(!found(1, {}));
    CHECK(!found(most, {}));
    CHECK(found(0, {}));
    CHECK(found(most + 1, {}));
    CHECK(!found(1, {most - 1, 1}));
    CHECK(found(1, {most, 1}));
    CHECK(found(1, {most + 1}));
  }

  TEST_CASE("an mbarrier that was ended is none, and may begin anew with another count") {
    Program program(1);
    program.add("mbarrier.init", {1, bar, 5});
    program.add("mbarrier.inval", {1, bar});
    program.add("mbarrier.inval", {0, bar});
    program.add("mbarrier.init", {1, bar, 1});
    program.add("mbarrier.arrive", {1, bar, 1});
    program.add("mbarrier.wait.parity", {1, bar, 0});
    program.add("mbarrier.inval", {1, bar});
    program.runClean();
    program.add("mbarrier.arrive", {1, bar, 1});
    Machine machine;
    CHECK(foundOnly(program.run(machine).report, FindingKind::Mbarrier));
  }

  TEST_CASE("addresses of another cta of the cluster") {
    Program program(1);
    const size_t own = program.add("mapa", {smem + 20, 0});
    const size_t peer = program.add("mapa", {smem + 20, 1});
    program.add("sreg.cluster_ctarank");
    LaunchParameters parameters;
    parameters.grid = parameters.cluster = {2, 1, 1};
    Machine machine;
    const Outcome outcome = program.run(machine, parameters);
    CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
    // Whoever computes it, the address names the cta of the rank: its number plus one above 24 bits of address.
    for (size_t cta : {0, 1}) {
      CHECK(outcome.at(own, 0, 0, cta) == 0x01000414);
      CHECK(outcome.at(peer, 0, 0, cta) == 0x02000414);
    }
    Program outside(1);
    outside.add("mapa", {smem, 2});
    CHECK(foundOnly(outside.run(machine, parameters).report, FindingKind::OutOfBounds));
  }

  // Each CTA of a pair writes its rank plus 7 and reads the peer's word; then they meet again, so that none ends while
  // it is read.
  static Program pair(const std::string &arrive, size_t &read) {
    Program program(1);
    program.add("st.shared.b32", {1, smem, 7});
    program.add(arrive);
    program.add("barrier.cluster.wait");
    read = program.add("ld.shared::cluster.b32", {1, 0x02000000 + smem});
    program.add("barrier.cluster.arrive");
    program.add("barrier.cluster.wait");
    return program;
  }

  TEST_CASE("the cluster barrier orders memory unless its arrival is relaxed") {
    LaunchParameters parameters;
    parameters.grid = parameters.cluster = {2, 1, 1};
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      size_t read = 0;
      const Outcome ordered = pair("barrier.cluster.arrive", read).run(machine, parameters);
      CHECK_MESSAGE(ordered.report.clean(), ordered.report.toString());
      CHECK(ordered.at(read, 0, 0, 0) == 7);
      const Outcome relaxed = pair("barrier.cluster.arrive.relaxed", read).run(machine, parameters);
      CHECK(foundOnly(relaxed.report, FindingKind::Race));
    }
  }

  TEST_CASE("an arrival in another cta of the cluster") {
    LaunchParameters parameters;
    parameters.grid = parameters.cluster = {2, 1, 1};
    for (const DeviceOptions &options : allModes()) {
      // Both CTAs arrive at the barrier of CTA 0, where CTA 0 waits; CTA 1 has one of its own that it waits at.
      Program program(1);
      program.add("mbarrier.init", {1, bar, 2});
      program.add("fence.mbarrier_init");
      program.add("barrier.cluster.arrive.relaxed");
      program.add("barrier.cluster.wait");
      program.add("mbarrier.arrive.cluster", {1, 0x01000000 + bar, 1});
      program.add("mbarrier.arrive.cluster", {1, 0x02000000 + bar, 1});
      program.add("mbarrier.wait.parity", {1, bar, 0});
      Machine machine(options);
      const LaunchReport report = program.run(machine, parameters).report;
      CHECK_MESSAGE(report.clean(), report.toString());
    }
  }
}
