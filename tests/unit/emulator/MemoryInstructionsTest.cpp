// Instructions that name a place or move data between registers and memory, each form against typed-in bits.

#include "tests/unit/emulator/InstructionProgram.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

// ---- special registers ----

struct SregCase {
  std::string form;
  uint64_t value; ///< of thread 37 of 64, CTA (3, 1, 0) of a grid of (4, 3, 2) in clusters of (2, 1, 1)
};

const SregCase sregCases[] = {
    {"sreg.tid.x", 37},           {"sreg.tid.y", 0},       {"sreg.tid.z", 0},        {"sreg.ntid.x", 64},
    {"sreg.ntid.y", 1},           {"sreg.ntid.z", 1},      {"sreg.ctaid.x", 3},      {"sreg.ctaid.y", 1},
    {"sreg.ctaid.z", 0},          {"sreg.nctaid.x", 4},    {"sreg.nctaid.y", 3},     {"sreg.nctaid.z", 2},
    {"sreg.laneid", 5},           {"sreg.warpid", 1},      {"shared.base", 1024},    {"sreg.cluster_ctarank", 1},
    {"sreg.cluster_nctarank", 2}, {"sreg.clusterid.x", 1}, {"sreg.nclusterid.x", 2},
};
const Names sregNames = Names::of(sregCases);
const Names clockNames = {"sreg.clock64", "sreg.globaltimer"};

// ---- loads and stores ----

struct AccessCase {
  std::string width;               ///< "b8", "v4.b32"
  std::vector<uint64_t> registers; ///< of the 16 bytes below, from their begin
};

// Memory holds bytes 0x80, 0x91, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7, 0x08, 0x19, 0x2a, 0x3b, 0x4c, 0x5d, 0x6e, 0x7f.
const std::vector<uint64_t> sixteenBytes = {0xf7e6d5c4b3a29180, 0x7f6e5d4c3b2a1908};

const AccessCase accessCases[] = {
    {"b8", {0x80}},
    {"v2.b8", {0x80, 0x91}},
    {"v4.b8", {0x80, 0x91, 0xa2, 0xb3}},
    {"b16", {0x9180}},
    {"v2.b16", {0x9180, 0xb3a2}},
    {"v4.b16", {0x9180, 0xb3a2, 0xd5c4, 0xf7e6}},
    {"b32", {0xb3a29180}},
    {"v2.b32", {0xb3a29180, 0xf7e6d5c4}},
    {"v4.b32", {0xb3a29180, 0xf7e6d5c4, 0x3b2a1908, 0x7f6e5d4c}},
    {"b64", {0xf7e6d5c4b3a29180}},
    {"v2.b64", {0xf7e6d5c4b3a29180, 0x7f6e5d4c3b2a1908}},
};

/// The forms of all widths: "ld.global." + width, with fallback and without.
Names accessNames() {
  for (const AccessCase &entry : accessCases) {
    for (const std::string space : {"global.", "shared."}) {
      namedForms().insert(
          {"ld." + space + entry.width, "ld." + space + entry.width + ".else", "st." + space + entry.width});
    }
  }
  return {};
}
const Names allAccessNames = accessNames();

/// Bytes of memory that a store of the case writes, then those that it leaves: 0xee.
std::vector<uint64_t> storedWords(const AccessCase &entry) {
  const size_t begin = entry.width.rfind('b') + 1;
  const size_t bytes = std::stoul(entry.width.substr(begin)) / 8 * entry.registers.size();
  std::vector<uint64_t> words = sixteenBytes;
  auto *raw = reinterpret_cast<uint8_t *>(words.data());
  std::fill(raw + bytes, raw + 16, uint8_t(0xee));
  return words;
}

const uint64_t untouched = 0xeeeeeeeeeeeeeeee;

// ---- atomics ----

struct AtomicCase {
  std::string form; ///< after the space
  uint64_t old, value, after;
};

const AtomicCase atomicCases[] = {
    {"add.u32", 0xfffffffe, 5, 3},
    {"add.u64", 0xfffffffffffffffe, 5, 3},
    {"add.f32", 0x3f800000, 0x40200000, 0x40600000},                         // 1 + 2.5
    {"add.f64", 0x3ff0000000000000, 0x3fe0000000000000, 0x3ff8000000000000}, // 1 + 0.5
    {"add.noftz.f16", 0x3c00, 0x0001, 0x3c00},                               // 1 + 2^-24
    {"add.noftz.f16", 0x0001, 0x0002, 0x0003},                               // subnormals
    {"add.noftz.f16x2", 0x00014000, 0x0001c200, 0x0002bc00},                 // 2 - 3, subnormals above
    {"add.noftz.bf16", 0x3f80, 0xc000, 0xbf80},                              // 1 - 2
    {"add.noftz.bf16", 0x0001, 0x0002, 0x0003},                              // subnormals
    {"add.noftz.bf16x2", 0x3f804000, 0x3f80c040, 0x4000bf80},                // 2 - 3; 1 + 1
    {"min.s32", 0xffffffff, 3, 0xffffffff},
    {"min.u32", 0xffffffff, 3, 3},
    {"min.s64", 0xffffffffffffffff, 3, 0xffffffffffffffff},
    {"min.u64", 0xffffffffffffffff, 3, 3},
    {"max.s32", 0xffffffff, 3, 3},
    {"max.u32", 0xffffffff, 3, 0xffffffff},
    {"max.s64", 0xffffffffffffffff, 3, 3},
    {"max.u64", 0xffffffffffffffff, 3, 0xffffffffffffffff},
    {"and.b32", 0x0ff00ff0, 0x00ffff00, 0x00f00f00},
    {"and.b64", 0x0ff00ff0ff00ff00, 0x00ffff000000ffff, 0x00f00f000000ff00},
    {"or.b32", 0x0ff00000, 0x000ff00f, 0x0ffff00f},
    {"or.b64", 0x0ff0000000000001, 0x000ff00f80000000, 0x0ffff00f80000001},
    {"xor.b32", 0x0ff0aaaa, 0x00ffffff, 0x0f0f5555},
    {"xor.b64", 0x0ff0aaaa00000001, 0x00ffffff80000001, 0x0f0f555580000000},
    {"exch.b32", 0x12345678, 0x9abcdef0, 0x9abcdef0},
    {"exch.b64", 0x1234567800000001, 0x9abcdef000000002, 0x9abcdef000000002},
    {"inc.u32", 4, 5, 5},
    {"inc.u32", 5, 5, 0},
    {"inc.u32", 9, 5, 0},
    {"dec.u32", 4, 5, 3},
    {"dec.u32", 0, 5, 5},
    {"dec.u32", 9, 5, 5},
};

struct SwapCase {
  std::string form;
  uint64_t old, expected, value, after;
};

const SwapCase swapCases[] = {
    {"cas.b16", 0x1234, 0x1234, 0xabcd, 0xabcd},
    {"cas.b16", 0x1234, 0x1235, 0xabcd, 0x1234},
    {"cas.b32", 0x12345678, 0x12345678, 0xabcdef01, 0xabcdef01},
    {"cas.b32", 0x12345678, 0x02345678, 0xabcdef01, 0x12345678},
    {"cas.b64", 0x1234567800000001, 0x1234567800000001, 0xabcdef0100000002, 0xabcdef0100000002},
    {"cas.b64", 0x1234567800000001, 0x1234567800000000, 0xabcdef0100000002, 0x1234567800000001},
};

const std::string globalAtomic = "atom.relaxed.gpu.global.", sharedAtomic = "atom.relaxed.cta.shared.";

Names atomicNames() {
  for (const AtomicCase &entry : atomicCases) {
    namedForms().insert({globalAtomic + entry.form, sharedAtomic + entry.form});
  }
  for (const SwapCase &entry : swapCases) {
    namedForms().insert(globalAtomic + entry.form);
  }
  return {};
}
const Names allAtomicNames = atomicNames();

// ---- asynchronous copies ----

struct CopyCase {
  std::string form;
  uint64_t sourceBytes;
  std::vector<uint64_t> target; ///< 16 bytes; those not copied were 0xee
};

const CopyCase copyCases[] = {
    {"cp.async.ca.4", 4, {0xeeeeeeeeb3a29180, untouched}},
    {"cp.async.ca.4", 1, {0xeeeeeeee00000080, untouched}},
    {"cp.async.ca.8", 8, {0xf7e6d5c4b3a29180, untouched}},
    {"cp.async.ca.8", 3, {0x0000000000a29180, untouched}},
    {"cp.async.ca.16", 16, {0xf7e6d5c4b3a29180, 0x7f6e5d4c3b2a1908}},
    {"cp.async.cg.16", 16, {0xf7e6d5c4b3a29180, 0x7f6e5d4c3b2a1908}},
    {"cp.async.cg.16", 9, {0xf7e6d5c4b3a29180, 0x0000000000000008}},
    {"cp.async.cg.16", 0, {0, 0}},
};
const Names copyNames = Names::of(copyCases);
const Names copyGroupNames = {"cp.async.commit_group", "cp.async.wait_group", "cp.async.mbarrier.arrive",
                              "cp.async.mbarrier.arrive.noinc", "prefetch.global.L2"};

} // namespace

TEST_SUITE("emulator/MemoryInstructions") {
  TEST_CASE("special registers") {
    Program program(64);
    for (const SregCase &entry : sregCases) {
      program.add(entry.form);
    }
    Machine machine;
    LaunchParameters parameters;
    parameters.grid = {4, 3, 2};
    parameters.cluster = {2, 1, 1};
    const Outcome outcome = program.run(machine, parameters);
    CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
    for (size_t i = 0; i < std::size(sregCases); ++i) {
      CAPTURE(sregCases[i].form);
      CHECK(outcome.at(i, 0, 37, /*cta=*/7) == sregCases[i].value);
    }
    CHECK(outcome.at(8, 0, 0, /*cta=*/23) == 1); // ctaid.z of the last one
  }

  TEST_CASE("clocks go forward") {
    Program program(1);
    for (const char *form : {"sreg.clock64", "sreg.globaltimer", "sreg.clock64", "sreg.globaltimer"}) {
      program.add(form);
    }
    const Outcome outcome = program.runClean();
    CHECK(outcome.at(0, 0, 0) < outcome.at(2, 0, 0));
    CHECK(outcome.at(1, 0, 0) < outcome.at(3, 0, 0));
  }

  TEST_CASE("loads of every width") {
    Machine machine;
    const uint64_t global = machine.upload(sixteenBytes);
    for (const bool isShared : {false, true}) {
      Program program(1);
      program.fillShared(smem, sixteenBytes);
      const uint64_t address = isShared ? smem : global;
      std::vector<std::pair<size_t, size_t>> steps;
      for (const AccessCase &entry : accessCases) {
        const std::string form = (isShared ? "ld.shared." : "ld.global.") + entry.width;
        const size_t plain = program.add(form, {1, address});
        std::vector<Lanes> fallback = {0, 0xffffffffffff0000};
        for (size_t i = 0; i < entry.registers.size(); ++i) {
          fallback.emplace_back(0x51 + i);
        }
        steps.emplace_back(plain, program.add(form + ".else", fallback));
      }
      const Outcome outcome = program.run(machine);
      CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
      for (size_t i = 0; i < std::size(accessCases); ++i) {
        CAPTURE(accessCases[i].width);
        for (size_t r = 0; r < accessCases[i].registers.size(); ++r) {
          CHECK(outcome.at(steps[i].first, r, 0) == accessCases[i].registers[r]);
          CHECK(outcome.at(steps[i].second, r, 0) == 0x51 + r);
        }
      }
    }
  }

  TEST_CASE("stores of every width") {
    Machine machine;
    const size_t count = std::size(accessCases);
    const uint64_t global = machine.upload(std::vector<uint64_t>(2 * count, untouched));
    Program program(1);
    program.fillShared(smem, std::vector<uint64_t>(2 * count, untouched));
    for (size_t i = 0; i < count; ++i) {
      for (const bool isShared : {false, true}) {
        const std::string form = (isShared ? "st.shared." : "st.global.") + accessCases[i].width;
        const uint64_t address = (isShared ? smem : global) + 16 * i;
        std::vector<Lanes> operands = {1, address}, refused = {0, 0};
        for (uint64_t value : accessCases[i].registers) {
          // A 16-bit register of which only the low byte is stored.
          operands.emplace_back(accessCases[i].width.ends_with("b8") ? value | 0x5500 : value);
          refused.emplace_back(value);
        }
        program.add(form, operands);
        program.add(form, refused);
      }
    }
    std::vector<size_t> back;
    for (size_t i = 0; i < count; ++i) {
      back.push_back(program.add("ld.shared.v2.b64", {1, smem + 16 * i}));
    }
    const Outcome outcome = program.run(machine);
    CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
    const std::vector<uint64_t> stored = machine.download<uint64_t>(global, 2 * count);
    for (size_t i = 0; i < count; ++i) {
      CAPTURE(accessCases[i].width);
      const std::vector<uint64_t> wanted = storedWords(accessCases[i]);
      CHECK(std::vector<uint64_t>{stored[2 * i], stored[2 * i + 1]} == wanted);
      CHECK(std::vector<uint64_t>{outcome.at(back[i], 0, 0), outcome.at(back[i], 1, 0)} == wanted);
    }
  }

  TEST_CASE("atomic operations give the old value and leave the new one") {
    Machine machine;
    const size_t count = std::size(atomicCases);
    std::vector<uint64_t> before;
    for (const AtomicCase &entry : atomicCases) {
      before.push_back(entry.old);
    }
    const uint64_t global = machine.upload(before);
    Program program(1);
    program.fillShared(smem, before);
    std::vector<size_t> steps;
    for (size_t i = 0; i < count; ++i) {
      steps.push_back(program.add(globalAtomic + atomicCases[i].form, {1, global + 8 * i, atomicCases[i].value}));
      program.add(sharedAtomic + atomicCases[i].form, {1, smem + 8 * i, atomicCases[i].value});
      program.add(globalAtomic + atomicCases[i].form, {0, 0, 0});
    }
    std::vector<size_t> back;
    for (size_t i = 0; i < count; ++i) {
      back.push_back(program.add("ld.shared.b64", {1, smem + 8 * i}));
    }
    const Outcome outcome = program.run(machine);
    CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
    const std::vector<uint64_t> after = machine.download<uint64_t>(global, count);
    for (size_t i = 0; i < count; ++i) {
      CAPTURE(atomicCases[i].form);
      CHECK(after[i] == atomicCases[i].after);
      CHECK(outcome.at(back[i], 0, 0) == atomicCases[i].after);
      CHECK(outcome.at(steps[i], 0, 0) == atomicCases[i].old);
      CHECK(outcome.at(steps[i] + 1, 0, 0) == atomicCases[i].old);
    }
  }

  TEST_CASE("the float32 adder of global memory flushes subnormals, that of shared memory does not") {
    Machine machine;
    // A subnormal operand; a subnormal sum of normal numbers; a negative subnormal that keeps its sign.
    const std::vector<uint64_t> old = {0x00000001, 0x00800001, 0x80000001};
    const std::vector<uint64_t> value = {0x00000002, 0x80800000, 0x80000000};
    const uint64_t global = machine.upload(old);
    Program program(1);
    program.fillShared(smem, old);
    for (size_t i = 0; i < old.size(); ++i) {
      program.add(globalAtomic + "add.f32", {1, global + 8 * i, value[i]});
      program.add(sharedAtomic + "add.f32", {1, smem + 8 * i, value[i]});
    }
    const size_t first = program.add("ld.shared.b64", {1, smem});
    program.add("ld.shared.b64", {1, smem + 8});
    program.add("ld.shared.b64", {1, smem + 16});
    const Outcome outcome = program.run(machine);
    CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
    CHECK(machine.download<uint64_t>(global, 3) == std::vector<uint64_t>{0, 0, 0x80000000});
    CHECK(outcome.at(first, 0, 0) == 0x00000003);
    CHECK(outcome.at(first + 1, 0, 0) == 0x00000001);
    CHECK(outcome.at(first + 2, 0, 0) == 0x80000001);
  }

  TEST_CASE("compare and swap") {
    Machine machine;
    const size_t count = std::size(swapCases);
    std::vector<uint64_t> before;
    for (const SwapCase &entry : swapCases) {
      before.push_back(entry.old);
    }
    const uint64_t global = machine.upload(before);
    Program program(1);
    for (size_t i = 0; i < count; ++i) {
      program.add(globalAtomic + swapCases[i].form, {1, global + 8 * i, swapCases[i].expected, swapCases[i].value});
    }
    const Outcome outcome = program.run(machine);
    CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
    const std::vector<uint64_t> after = machine.download<uint64_t>(global, count);
    for (size_t i = 0; i < count; ++i) {
      CAPTURE(swapCases[i].form);
      CHECK(outcome.at(i, 0, 0) == swapCases[i].old);
      CHECK(after[i] == swapCases[i].after);
    }
  }

  TEST_CASE("asynchronous copies of every size fill with zeros what they do not read") {
    const size_t count = std::size(copyCases);
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t source = machine.upload(sixteenBytes);
      Program program(1);
      program.fillShared(smem, std::vector<uint64_t>(2 * count, untouched));
      for (size_t i = 0; i < count; ++i) {
        program.add(copyCases[i].form, {1, smem + 16 * i, source, copyCases[i].sourceBytes});
        program.add(copyCases[i].form, {0, 0, 0, 16});
      }
      program.add("cp.async.commit_group");
      program.add("cp.async.wait_group", {}, {0});
      std::vector<size_t> back;
      for (size_t i = 0; i < count; ++i) {
        back.push_back(program.add("ld.shared.v2.b64", {1, smem + 16 * i}));
      }
      const Outcome outcome = program.run(machine);
      CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
      for (size_t i = 0; i < count; ++i) {
        CAPTURE(copyCases[i].form);
        CHECK(outcome.at(back[i], 0, 0) == copyCases[i].target[0]);
        CHECK(outcome.at(back[i], 1, 0) == copyCases[i].target[1]);
      }
    }
  }

  TEST_CASE("a wait leaves the latest groups in flight") {
    Machine machine;
    const uint64_t source = machine.upload(sixteenBytes);
    Program program(1);
    for (int group = 0; group < 3; ++group) {
      program.add("cp.async.ca.4", {1, smem + 4 * group, source + 4 * group, 4});
      program.add("cp.async.commit_group");
    }
    program.add("cp.async.wait_group", {}, {2});
    const size_t first = program.add("ld.shared.b32", {1, smem});
    const size_t second = program.add("ld.shared.b32", {1, smem + 4}); // still pending: a finding
    program.add("cp.async.wait_group", {}, {1});
    const size_t again = program.add("ld.shared.b32", {1, smem + 4});
    program.add("cp.async.wait_group", {}, {0});
    const size_t third = program.add("ld.shared.b32", {1, smem + 8});
    const Outcome outcome = program.run(machine);
    CHECK(foundOnly(outcome.report, FindingKind::Pending));
    CHECK(outcome.report.numFindings == 1);
    CHECK(outcome.at(first, 0, 0) == 0xb3a29180);
    CHECK(outcome.at(second, 0, 0) == 0xffffffff);
    CHECK(outcome.at(again, 0, 0) == 0xf7e6d5c4);
    CHECK(outcome.at(third, 0, 0) == 0x3b2a1908);
  }

  TEST_CASE("copies arrive on an mbarrier, which counts them beforehand or does it itself") {
    for (const DeviceOptions &options : allModes()) {
      for (const bool counted : {true, false}) {
        Machine machine(options);
        const uint64_t source = machine.upload(sixteenBytes);
        Program program(4);
        // Counted: the four arrivals are all. Otherwise each makes the barrier expect it, on top of the own one.
        const Lanes first = std::vector<uint64_t>{1, 0, 0, 0};
        program.add("mbarrier.init", {first, smem + 64, counted ? 4 : 1});
        program.barrier();
        program.add("cp.async.ca.4", {1, Lanes::counting(smem, 4, 4), Lanes::counting(source, 4, 4), 4});
        program.add(counted ? "cp.async.mbarrier.arrive.noinc" : "cp.async.mbarrier.arrive", {smem + 64});
        if (!counted) {
          program.barrier(); // all are counted before the last one arrives
          program.add("mbarrier.arrive", {first, smem + 64, 1});
        }
        program.add("mbarrier.wait.parity", {1, smem + 64, 0});
        const size_t back =
            program.add("ld.shared.b32", {1, std::vector<uint64_t>{smem + 12, smem + 8, smem + 4, smem}});
        const Outcome outcome = program.run(machine);
        CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
        CHECK(outcome.all(back) == std::vector<uint64_t>{0x7f6e5d4c, 0x3b2a1908, 0xf7e6d5c4, 0xb3a29180});
      }
    }
  }

  TEST_CASE("a prefetch reads nothing") {
    Machine machine;
    Program program(1);
    program.add("prefetch.global.L2", {1, machine.allocate(16)});
    program.add("prefetch.global.L2", {0, 0});
    CHECK(program.run(machine).report.clean());
  }
}
