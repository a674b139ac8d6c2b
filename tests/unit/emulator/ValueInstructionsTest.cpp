// Instructions that compute in registers: exchange within a warp, conversions, approximate functions, byte permutation,
// and those that compute nothing. Each form against typed-in bits.

#include "tests/unit/emulator/InstructionProgram.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

/// Results of a warp whose lane l has the value 100 + l, in lanes 0, 5 and 30.
struct ShuffleCase {
  std::string form;
  uint64_t operand, lane0, lane5, lane30;
};

const ShuffleCase shuffleCases[] = {
    {"shfl.sync.idx", 7, 107, 107, 107},  {"shfl.sync.idx", 33, 101, 101, 101}, // five bits name a lane
    {"shfl.sync.bfly", 5, 105, 100, 127}, {"shfl.sync.bfly", 16, 116, 121, 114}, {"shfl.sync.up", 3, 100, 102, 127},
    {"shfl.sync.up", 0, 100, 105, 130},   {"shfl.sync.down", 3, 103, 108, 130},  {"shfl.sync.down", 31, 131, 105, 130},
};

struct VoteCase {
  std::string form;
  uint32_t trueLanes; ///< the predicate, a bit a lane
  uint64_t result;
};

const VoteCase voteCases[] = {
    {"vote.sync.ballot", 0x80000101, 0x80000101},
    {"vote.sync.ballot", 0, 0},
    {"vote.sync.any", 0x00000400, 1},
    {"vote.sync.any", 0, 0},
    {"vote.sync.all", 0xffffffff, 1},
    {"vote.sync.all", 0xfffffffe, 0},
};

struct ReduxCase {
  std::string form;
  uint64_t lane0, others, result; ///< others: the value of lanes 1 to 31
};

const ReduxCase reduxCases[] = {
    {"redux.sync.add.s32", 0xffffffff, 2, 61},
    {"redux.sync.min.s32", 0xfffffff0, 5, 0xfffffff0},
    {"redux.sync.max.s32", 0xfffffff0, 5, 5},
    {"redux.sync.min.u32", 0xfffffff0, 5, 5},
    {"redux.sync.max.u32", 0xfffffff0, 5, 0xfffffff0},
    {"redux.sync.and.b32", 0xff00ff00, 0x0ff00ff0, 0x0f000f00},
    {"redux.sync.or.b32", 0xf0000000, 0x00000ff0, 0xf0000ff0},
    {"redux.sync.xor.b32", 0xf0f0f0f0, 0x0000ffff, 0xf0f00f0f}, // an odd number of others
};

struct ValueCase {
  std::string form;
  std::vector<Lanes> operands;
  uint64_t result;
};

constexpr uint64_t one = 0x3f800000, infinity = 0x7f800000, quietNan = 0x7fc00000;

const ValueCase permuteCases[] = {
    // Bytes 0..3 are those of the first operand, 4..7 those of the second.
    {"prmt.b32", {0x33221100, 0x77665544, 0x3210}, 0x33221100},
    {"prmt.b32", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
    {"prmt.b32", {0x33221100, 0x77665544, 0x0246}, 0x00224466},
    // Bit 3 of a selector takes the byte's sign.
    {"prmt.b32", {0x80017f00, 0xff000000, 0xfcb8}, 0xff00ff00},
    // Bits above the four selectors do not count.
    {"prmt.b32", {0x33221100, 0x77665544, 0xffff4567}, 0x44556677},
};

const ValueCase conversionCases[] = {
    // e4m3: 1.0 is 0x38, -448 0xfe, 2^-9 0x01, the NaN 0x7f.
    {"cvt.rn.f16x2.e4m3x2", {0xfe38}, 0xdf003c00},
    {"cvt.rn.f16x2.e4m3x2", {0x0180}, 0x18008000},
    {"cvt.rn.f16x2.e4m3x2", {0x7f01}, 0x7fff1800},
    // e5m2 is the upper half of a half.
    {"cvt.rn.f16x2.e5m2x2", {0xfb3c}, 0xfb003c00},
    {"cvt.rn.f16x2.e5m2x2", {0x7c01}, 0x7c000100},
    {"cvt.rn.satfinite.e4m3x2.f16x2", {0xdf003c00}, 0xfe38},
    {"cvt.rn.satfinite.e4m3x2.f16x2", {0x7c00fc00}, 0x7efe}, // the infinities
    {"cvt.rn.satfinite.e4m3x2.f16x2", {0x7e001400}, 0x7f00}, // NaN; 2^-10, halfway to the least, to even
    {"cvt.rn.satfinite.e4m3x2.f16x2", {0x3c403cc0}, 0x383a}, // 1.0625 to 1, 1.1875 to 1.25
    {"cvt.rn.satfinite.e5m2x2.f16x2", {0xfb003c00}, 0xfb3c},
    {"cvt.rn.satfinite.e5m2x2.f16x2", {0x7bff7c00}, 0x7b7b},           // 65504 and infinity become 57344
    {"cvt.rn.satfinite.e5m2x2.f16x2", {0x3c803d80}, 0x3c3e},           // 1.125 to 1, 1.375 to 1.5
    {"cvt.rn.satfinite.e4m3x2.f32", {one, 0xc47a0000}, 0xfe38},        // -1000
    {"cvt.rn.satfinite.e4m3x2.f32", {0x43e00000, 0x43e80000}, 0x7e7e}, // 448, 464
    {"cvt.rn.satfinite.e4m3x2.f32", {quietNan, 0x80000000}, 0x807f},
    {"cvt.rn.satfinite.e5m2x2.f32", {one, 0xc7c35000}, 0xfb3c},        // -100000
    {"cvt.rn.satfinite.e5m2x2.f32", {0x37800000, 0x37000000}, 0x0001}, // 2^-16; 2^-17 is halfway to it, to even
    {"cvt.rn.f16x2.f32", {one, 0xc7c35000}, 0xfc003c00},
    {"cvt.rn.f16x2.f32", {0x3f801000, 0x3f803000}, 0x3c023c00}, // halfway: to even, down and up
    {"cvt.rn.f16x2.f32", {0x33800000, 0x477ff000}, 0x7c000001}, // 2^-24; 65520 rounds up to infinity
    {"cvt.rn.bf16x2.f32", {one, 0xc47a0000}, 0xc47a3f80},
    {"cvt.rn.bf16x2.f32", {0x3f808000, 0x3f818000}, 0x3f823f80}, // halfway: to even, down and up
    {"cvt.rn.bf16x2.f32", {quietNan, 0x7f7fffff}, 0x7f807fff},
    {"cvt.rna.tf32.f32", {0x3f801000}, 0x3f802000}, // halfway: away from zero
    {"cvt.rna.tf32.f32", {0xbf803000}, 0xbf804000},
    {"cvt.rna.tf32.f32", {0x3f800fff}, 0x3f800000},
};

constexpr uint64_t leastSubnormal = 0x00000001, half = 0x3f000000, two = 0x40000000, three = 0x40400000,
                   four = 0x40800000, minusOne = 0xbf800000;

// Exact where the value is; the functions are the C library's elsewhere. `.ftz` forms take and give no subnormals.
const ValueCase mathCases[] = {
    {"ex2.approx.f32", {three}, 0x41000000},
    {"ex2.approx.f32", {0xc3020000}, 0x00080000}, // 2^-130
    {"ex2.approx.ftz.f32", {three}, 0x41000000},
    {"ex2.approx.ftz.f32", {0xc3020000}, 0}, // 2^-130
    {"ex2.approx.ftz.f32", {0x80000001}, one},
    {"lg2.approx.f32", {0x41000000}, three},
    {"lg2.approx.f32", {leastSubnormal}, 0xc3150000}, // -149
    {"lg2.approx.ftz.f32", {half}, minusOne},
    {"lg2.approx.ftz.f32", {leastSubnormal}, 0xff800000},
    {"rcp.approx.f32", {four}, 0x3e800000},
    {"rcp.approx.f32", {0x00400000}, 0x7f000000}, // 2^-127
    {"rcp.approx.ftz.f32", {four}, 0x3e800000},
    {"rcp.approx.ftz.f32", {0x80400000}, 0xff800000},
    {"rcp.approx.ftz.f32", {0x7f000000}, 0}, // 2^-127
    {"rsqrt.approx.f32", {four}, half},
    {"rsqrt.approx.f32", {0x00080000}, 0x60000000}, // 2^-130: 2^65
    {"rsqrt.approx.ftz.f32", {four}, half},
    {"rsqrt.approx.ftz.f32", {0x00080000}, infinity},
    {"sqrt.approx.f32", {0x41100000}, three},
    {"sqrt.approx.f32", {0x00080000}, 0x1f000000}, // 2^-130: 2^-65
    {"sqrt.approx.ftz.f32", {0x41100000}, three},
    {"sqrt.approx.ftz.f32", {0x00080000}, 0},
    {"tanh.approx.f32", {0}, 0},
    {"tanh.approx.f32", {0xc2c80000}, minusOne}, // -100
    {"sin.approx.f32", {0x80000000}, 0x80000000},
    {"cos.approx.f32", {0}, one},
    {"div.full.f32", {three, two}, 0x3fc00000},
    {"div.full.f32", {0x00800000, two}, 0x00400000},
    {"div.full.ftz.f32", {three, two}, 0x3fc00000},
    {"div.full.ftz.f32", {0x00800000, two}, 0},
    {"ex2.approx.f16x2", {0x42003c00}, 0x48004000}, // 3 and 1
    {"ex2.approx.f16x2", {0xcc000000}, 0x01003c00}, // -16: the subnormal 2^-16
    {"ex2.approx.ftz.bf16x2", {0x40403f80}, 0x41004000},
    {"ex2.approx.ftz.bf16x2", {0xc3028001}, 0x00003f80}, // -130; a subnormal
    {"tanh.approx.f16x2", {0xd6400000}, 0xbc000000},     // -100 and 0
    {"tanh.approx.bf16x2", {0xc2c80000}, 0xbf800000},
};

const Names names[] = {Names::of(shuffleCases), Names::of(voteCases),       Names::of(reduxCases),
                       Names::of(permuteCases), Names::of(conversionCases), Names::of(mathCases)};
const Names otherNames = {"elect.sync",
                          "createpolicy.fractional.L2::evict_first",
                          "createpolicy.fractional.L2::evict_last",
                          "createpolicy.fractional.L2::evict_normal",
                          "nanosleep",
                          "trap",
                          "griddepcontrol.wait",
                          "griddepcontrol.launch_dependents"};

template <typename Cases> void checkValues(const Cases &cases) {
  Program program(1);
  for (const ValueCase &entry : cases) {
    program.add(entry.form, entry.operands);
  }
  const Outcome outcome = program.runClean();
  for (size_t i = 0; i < std::size(cases); ++i) {
    CAPTURE(i);
    CAPTURE(cases[i].form);
    CHECK(outcome.at(i, 0, 0) == cases[i].result);
  }
}

} // namespace

TEST_SUITE("emulator/ValueInstructions") {
  TEST_CASE("shuffles") {
    Program program(32);
    for (const ShuffleCase &entry : shuffleCases) {
      program.add(entry.form, {Lanes::counting(100, 1, 32), entry.operand});
    }
    const Outcome outcome = program.runClean(allModes()[2]);
    for (size_t i = 0; i < std::size(shuffleCases); ++i) {
      CAPTURE(shuffleCases[i].form);
      CHECK(outcome.at(i, 0, 0) == shuffleCases[i].lane0);
      CHECK(outcome.at(i, 0, 5) == shuffleCases[i].lane5);
      CHECK(outcome.at(i, 0, 30) == shuffleCases[i].lane30);
    }
  }

  TEST_CASE("each lane of a shuffle may read another") {
    Program program(32);
    const size_t turned = program.add("shfl.sync.idx", {Lanes::counting(100, 1, 32), Lanes::counting(1, 1, 32)});
    const Outcome outcome = program.runClean();
    CHECK(outcome.at(turned, 0, 0) == 101);
    CHECK(outcome.at(turned, 0, 31) == 100);
  }

  TEST_CASE("votes") {
    Program program(32);
    for (const VoteCase &entry : voteCases) {
      std::vector<uint64_t> predicates;
      for (int lane = 0; lane < 32; ++lane) {
        predicates.push_back(entry.trueLanes >> lane & 1);
      }
      program.add(entry.form, {predicates});
    }
    const Outcome outcome = program.runClean();
    for (size_t i = 0; i < std::size(voteCases); ++i) {
      CAPTURE(voteCases[i].form);
      CHECK(outcome.all(i) == std::vector<uint64_t>(32, voteCases[i].result));
    }
  }

  TEST_CASE("reductions over a warp") {
    Program program(32);
    for (const ReduxCase &entry : reduxCases) {
      std::vector<uint64_t> values(32, entry.others);
      values[0] = entry.lane0;
      program.add(entry.form, {values});
    }
    const Outcome outcome = program.runClean();
    for (size_t i = 0; i < std::size(reduxCases); ++i) {
      CAPTURE(reduxCases[i].form);
      CHECK(outcome.all(i) == std::vector<uint64_t>(32, reduxCases[i].result));
    }
  }

  TEST_CASE("one lane is elected, each time the same, and which one is not promised") {
    std::set<size_t> elected;
    for (uint64_t seed : {0, 1, 2, 3}) {
      Program program(32);
      program.add("elect.sync");
      program.add("elect.sync");
      DeviceOptions options;
      options.seed = seed;
      const Outcome outcome = program.runClean(options);
      CHECK(outcome.all(0) == outcome.all(1));
      const std::vector<uint64_t> lanes = outcome.all(0);
      CHECK(std::count(lanes.begin(), lanes.end(), 1) == 1);
      CHECK(std::count(lanes.begin(), lanes.end(), 0) == 31);
      elected.insert(size_t(std::find(lanes.begin(), lanes.end(), 1) - lanes.begin()));
    }
    CHECK(elected.contains(0));
    CHECK(elected.size() > 1);
  }

  TEST_CASE("byte permutations") { checkValues(permuteCases); }
  TEST_CASE("conversions") { checkValues(conversionCases); }
  TEST_CASE("approximate functions") { checkValues(mathCases); }

  TEST_CASE("instructions without effect on values") {
    Program program(128);
    const size_t policy = program.add("createpolicy.fractional.L2::evict_first");
    program.add("createpolicy.fractional.L2::evict_last");
    program.add("createpolicy.fractional.L2::evict_normal");
    program.add("griddepcontrol.wait");
    program.add("griddepcontrol.launch_dependents");
    program.add("nanosleep", {20});
    program.add("trap", {0});
    const Outcome outcome = program.runClean();
    for (size_t i : {policy, policy + 1, policy + 2}) {
      CHECK(outcome.at(i, 0, 0) == 0);
    }
  }

  TEST_CASE("a sleep lets others run") {
    // Thread 0 sleeps until thread 1 has set a flag.
    Machine machine;
    const LaunchReport report = machine.run(kernel("%flag: !llvm.ptr<1>", R"(
      %waits = llvm.icmp "eq" %tid, %c0 : i32
      llvm.cond_br %waits, ^sleep, ^set
    ^sleep:
      ptx.inst "nanosleep"(%c1) : (i32) -> ()
      %seen = ptx.inst "ld.volatile.global.b32"(%true, %flag) : (i1, !llvm.ptr<1>) -> i32
      %done = llvm.icmp "eq" %seen, %c1 : i32
      llvm.cond_br %done, ^end, ^sleep
    ^set:
      ptx.inst "st.volatile.global.b32"(%true, %flag, %c1) : (i1, !llvm.ptr<1>, i32) -> ()
      llvm.br ^end
    ^end:)"),
                                            2, {machine.upload<int32_t>({0})});
    CHECK_MESSAGE(report.clean(), report.toString());
    DeviceOptions impatient;
    impatient.maxInstructions = 1000; // fewer than the calls after which a thread gives way unasked
    Machine other(impatient);
    Program program(1);
    program.add("nanosleep", {1});
    CHECK(program.run(other).report.clean());
  }

  TEST_CASE("a trap ends the kernel") {
    Program program(4);
    program.add("trap", {std::vector<uint64_t>{0, 0, 1, 0}});
    Machine machine;
    const LaunchReport report = program.run(machine).report;
    REQUIRE(foundOnly(report, FindingKind::Trap));
    CHECK(report.findings[0].form == "trap");
    CHECK(report.findings[0].lane == 2);
  }
}
