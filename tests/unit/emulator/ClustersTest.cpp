// What the CTAs of a cluster owe each other: the cluster's barrier, and shared memory that lives as long as its CTA.

#include "tests/unit/emulator/KernelFixture.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

const std::string arrive = "ptx.inst \"barrier.cluster.arrive\"() : () -> ()\n";
const std::string wait = "ptx.inst \"barrier.cluster.wait\"() : () -> ()\n";
const std::string meet = arrive + wait;

/// Runs a cluster of two CTAs with a warp each; `%remote` is the base of the other one's shared memory.
LaunchReport runPair(const std::string &body, const DeviceOptions &options) {
  const std::string peer = R"(
      %rank = ptx.inst "sreg.cluster_ctarank"() : () -> i32
      %other = llvm.xor %rank, %c1 : i32
      %first_cta = llvm.icmp "eq" %rank, %c0 : i32
      %first = llvm.icmp "eq" %tid, %c0 : i32
      %remote = ptx.inst "mapa"(%smem, %other) : (i32, i32) -> i32
)";
  LaunchParameters parameters;
  parameters.sharedBytes = 1024;
  parameters.grid = parameters.cluster = {2, 1, 1};
  Machine machine(options);
  return machine.run(kernel("", peer + body), 32, {}, parameters);
}

void checkClean(const std::string &body) {
  for (const DeviceOptions &options : allModes()) {
    const LaunchReport report = runPair(body, options);
    CHECK_MESSAGE(report.clean(), report.toString());
  }
}

void checkFound(FindingKind kind, const std::string &body) {
  for (const DeviceOptions &options : allModes()) {
    const LaunchReport report = runPair(body, options);
    CHECK_MESSAGE(foundOnly(report, kind), report.toString());
  }
}

} // namespace

TEST_SUITE("emulator/Clusters") {
  TEST_CASE("who arrives at the cluster's barrier waits there before it arrives again") {
    checkClean(meet + meet);
    checkFound(FindingKind::Barrier, arrive + arrive + wait);
    checkFound(FindingKind::Barrier, wait);
    checkFound(FindingKind::Barrier, meet + wait);
  }

  TEST_CASE("lanes of a warp come to the cluster's barrier together") {
    const auto inHalves = [](const std::string &body) {
      return "%low = llvm.icmp \"ult\" %tid, %c16 : i32\nllvm.cond_br %low, ^low, ^high\n^low:\n" + body +
             "llvm.br ^end\n^high:\n" + body + "llvm.br ^end\n^end:\n";
    };
    checkFound(FindingKind::Divergence, inHalves(arrive) + wait);
    checkFound(FindingKind::Divergence, arrive + inHalves(wait));
  }

  TEST_CASE("a cta has begun before another reaches into it, and ends afterwards") {
    const std::string store = R"(
      ptx.inst "st.shared::cluster.b32"(%first, %remote, %c1) : (i1, i32, i32) -> ()
)";
    checkClean(meet + store + meet);
    checkFound(FindingKind::Race, store + meet);
    checkFound(FindingKind::Race, meet + store);
    // A barrier that orders no memory leaves the access on its way.
    checkFound(FindingKind::Race, meet + store + "ptx.inst \"barrier.cluster.arrive.relaxed\"() : () -> ()\n" + wait);
  }

  TEST_CASE("a cta waits for the arrivals of others before it ends") {
    const auto text = [](const std::string &after) {
      return R"(
      ptx.inst "mbarrier.init"(%first, %smem, %c1) : (i1, i32, i32) -> ()
      ptx.inst "fence.mbarrier_init"() : () -> ()
)" + meet + R"(
      ptx.inst "mbarrier.arrive.cluster"(%first, %remote, %c1) : (i1, i32, i32) -> ()
)" + after;
    };
    checkClean(text("ptx.inst \"mbarrier.wait.parity\"(%true, %smem, %c0) : (i1, i32, i32) -> ()\n"));
    checkClean(text(meet));
    checkFound(FindingKind::Race, text(""));
    // Only one of the two waits.
    checkFound(FindingKind::Race,
               text("ptx.inst \"mbarrier.wait.parity\"(%first_cta, %smem, %c0) : (i1, i32, i32) -> ()\n"));
  }
}
