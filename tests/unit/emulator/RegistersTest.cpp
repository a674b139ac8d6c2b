// The registers that warps exchange by setmaxnreg.

#include "tests/unit/emulator/InstructionProgram.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

/// A kernel whose threads start with `registers`; `%group` is the thread's warpgroup.
std::string starting(int registers, const std::string &body) {
  std::string text = kernel("", "%group = llvm.udiv %tid, %c128 : i32\n" + body);
  const std::string kernelOnly = "{nvvm.kernel}";
  text.replace(text.find(kernelOnly), kernelOnly.size(),
               "{nvvm.kernel, nvvm.maxnreg = " + std::to_string(registers) + " : i32}");
  return text;
}

const Names names = {"setmaxnreg.inc", "setmaxnreg.dec"};

std::string inc(int registers) {
  return "ptx.inst \"setmaxnreg.inc\"() {imms = array<i64: " + std::to_string(registers) + ">} : () -> ()\n";
}
std::string dec(int registers) {
  return "ptx.inst \"setmaxnreg.dec\"() {imms = array<i64: " + std::to_string(registers) + ">} : () -> ()\n";
}
const std::string meet = "ptx.inst \"barrier.sync\"() {imms = array<i64: 1>} : () -> ()\n";

/// A body for each warpgroup.
std::string byGroup(const std::vector<std::string> &bodies) {
  std::string text;
  for (size_t group = 0; group < bodies.size(); ++group) {
    const std::string number = std::to_string(group);
    text += "%is" + number + " = llvm.icmp \"eq\" %group, %c" + number + " : i32\n";
    text += "llvm.cond_br %is" + number + ", ^run" + number + ", ^next" + number + "\n^run" + number + ":\n";
    text += bodies[group] + "llvm.br ^end\n^next" + number + ":\n";
  }
  return text + "llvm.br ^end\n^end:\n";
}

LaunchReport run(const std::string &text, uint32_t groups, const DeviceOptions &options = {}) {
  Machine machine(options);
  return machine.run(text, groups * 128, {});
}

} // namespace

TEST_SUITE("emulator/Registers") {
  TEST_CASE("warps that take their registers back before the others have theirs are a deadlock") {
    // 168 registers each. The first group idles and gives 144 away, of which the two others want 72 each.
    const auto text = [](const std::string &idle, const std::string &busy) {
      return starting(168, byGroup({dec(24) + idle, inc(240) + busy, inc(240) + busy}));
    };
    const std::string ofGroup = "ptx.inst \"bar.sync.n\"() {imms = array<i64: 2, 128>} : () -> ()\n";
    const std::string early = text(ofGroup + inc(168) + meet, dec(168) + meet);
    const std::string met = text(meet + inc(168), meet + dec(168));
    for (const DeviceOptions &options : allModes()) {
      const LaunchReport clean = run(met, 3, options);
      CHECK_MESSAGE(clean.clean(), clean.toString());
      // Whether it stands still depends on who comes late; the laziest machine does in any order of threads.
      if (options.mode == AsyncMode::Deferred) {
        const LaunchReport report = run(early, 3, options);
        CHECK_MESSAGE(foundOnly(report, FindingKind::Deadlock), report.toString());
      }
    }
  }

  TEST_CASE("a deadlock says which warps have the registers") {
    const std::string text = starting(168, byGroup({"", dec(160) + meet + meet, inc(200) + meet + meet}));
    for (const DeviceOptions &options : allModes()) {
      const LaunchReport report = run(text, 3, options);
      REQUIRE(foundOnly(report, FindingKind::Deadlock));
      const auto waits = std::ranges::find(report.findings, "setmaxnreg.inc", &Finding::form);
      REQUIRE(waits != report.findings.end());
      CHECK(waits->warp >= 8);
      // 8 were given up by each of four warps: as many as one of the others wants.
      CHECK_MESSAGE(waits->detail.starts_with("96 threads of warps "), report.toString());
      CHECK_MESSAGE(waits->detail.find("wait for 200 registers each: 0 more are free for one warp, warps 0-3 have 168, "
                                       "warps 4-7 have 160, ") != std::string::npos,
                    report.toString());
    }
  }

  TEST_CASE("register counts are multiples of 8 from 24 to 256, more for inc and fewer for dec") {
    const auto found = [](const std::string &body) {
      return foundOnly(run(starting(168, body), 1), FindingKind::Registers);
    };
    for (int count : {24, 160, 168}) {
      CHECK(run(starting(168, dec(count) + meet + inc(168)), 1).clean());
    }
    for (int count : {0, 16, 100, 167}) {
      CHECK(found(dec(count)));
    }
    CHECK(found(inc(264)));
    CHECK(found(inc(164)));
    CHECK(found(dec(176)));
    CHECK(found(inc(160)));
    CHECK(found(dec(24) + meet + dec(32)));
  }

  TEST_CASE("warps start with whole units, and a kernel says how many") {
    CHECK(run(starting(175, dec(168) + meet + inc(168)), 1).clean());
    CHECK(foundOnly(run(starting(175, dec(176)), 1), FindingKind::Registers));
    CHECK(foundOnly(run(kernel("", dec(24)), 1), FindingKind::Registers));
  }

  TEST_CASE("a cta has the registers of an sm") {
    Machine machine;
    Result<std::unique_ptr<HostModule>> module = loadHostObject(Machine::compileOnce(starting(168, "")));
    REQUIRE(module.ok());
    LaunchParameters parameters;
    parameters.threads = 384;
    CHECK(machine.device.run(**(*module)->kernel("k"), parameters).ok());
    parameters.threads = 416;
    const Result<LaunchReport> report = machine.device.run(**(*module)->kernel("k"), parameters);
    REQUIRE(!report.ok());
    CHECK(report.status().message() == "registers of a cta must not exceed 65536: got 69888");
  }

  TEST_CASE("the warps of a warpgroup change registers together") {
    const std::string warp = "%warp = llvm.lshr %tid, %c5 : i32\n%rest = llvm.and %warp, %c3 : i32\n";
    const auto inFirstWarp = [&](const std::string &body, const std::string &otherwise) {
      return warp + "%one = llvm.icmp \"eq\" %rest, %c0 : i32\nllvm.cond_br %one, ^one, ^others\n^one:\n" + body +
             "llvm.br ^end\n^others:\n" + otherwise + "llvm.br ^end\n^end:\n";
    };
    for (const DeviceOptions &options : allModes()) {
      for (const std::string &wrong : {inFirstWarp(dec(24), dec(32)), inFirstWarp(dec(24), ""),
                                       inFirstWarp(dec(24) + meet + inc(32), dec(24) + meet)}) {
        const LaunchReport report = run(starting(168, wrong), 1, options);
        CHECK_MESSAGE(foundOnly(report, FindingKind::Registers), report.toString());
      }
      // The same at two places is the same.
      CHECK(run(starting(168, inFirstWarp(dec(24), dec(24))), 1, options).clean());
    }
    Machine machine;
    CHECK(foundOnly(machine.run(starting(168, dec(24)), 96, {}), FindingKind::Registers));
  }

  TEST_CASE("the warps of a warpgroup meet between two changes") {
    const std::string ofWarp = "ptx.inst \"bar.warp.sync\"() : () -> ()\n";
    for (const DeviceOptions &options : allModes()) {
      for (const std::string &between : {std::string(), ofWarp}) {
        const LaunchReport report = run(starting(168, dec(160) + between + dec(24)), 1, options);
        CHECK_MESSAGE(foundOnly(report, FindingKind::Registers), report.toString());
      }
      CHECK(run(starting(168, dec(160) + meet + dec(24)), 1, options).clean());
    }
  }

  TEST_CASE("lanes of a warp change registers together") {
    const LaunchReport report = run(starting(168, R"(
      %in_warp = llvm.and %tid, %c31 : i32
      %low = llvm.icmp "ult" %in_warp, %c16 : i32
      llvm.cond_br %low, ^low, ^high
    ^low:
      )" + dec(24) + "llvm.br ^end\n^high:\n" + dec(24) +
                                                      "llvm.br ^end\n^end:\n"),
                                    1);
    CHECK_MESSAGE(foundOnly(report, FindingKind::Divergence), report.toString());
  }
}
