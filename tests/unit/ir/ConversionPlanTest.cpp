// Plans of convert_layout, carried out on arrays and compared element by element; and the conflicts of those through
// shared memory, counted from the addresses.

#include "src/ir/layout/ConversionPlan.h"

#include "src/ir/layout/DistributedLayouts.h"
#include "tests/unit/ir/SimulatedCta.h"

#include <bit>
#include <random>
#include <string>

using namespace jitk::ir;
using namespace jitk::ir::test;

namespace {

using Shape = std::vector<int64_t>;
using Sizes = std::vector<unsigned>;

LinearLayout oneCta() { return clusterLayout(2, {}); }

LinearLayout blocked(Shape shape, Sizes perThread, Sizes lanes, Sizes warps, Sizes order) {
  return blockedLayout(shape, {perThread, lanes, warps, order}, oneCta());
}

LinearLayout mma(Shape shape, unsigned version, Sizes warps, unsigned n) {
  return mmaLayout(shape, {version, warps, 16, n}, oneCta());
}

LinearLayout operand(Shape shape, unsigned version, Sizes warps, unsigned opIdx, unsigned kWidth) {
  return mmaOperandLayout(shape, {version, warps, 16, 8}, opIdx, kWidth, oneCta());
}

SharedConversionOptions optionsFor(unsigned bits, unsigned capability = 90) {
  return {bits, capability >= 75, capability >= 90};
}

unsigned exchangedRegister(llvm::ArrayRef<RegisterExchange> exchanges, unsigned reg, unsigned lane, unsigned warp) {
  for (const RegisterExchange &exchange : exchanges) {
    bool isOdd = (std::popcount(lane & exchange.laneMask) + std::popcount(warp & exchange.warpMask)) % 2;
    reg ^= isOdd ? exchange.registerXor : 0;
  }
  return reg;
}

Registers runShuffles(const ShufflePlan &plan, const Registers &source, const LinearLayout &target) {
  Registers received = emptyRegisters(target), result = received;
  for (unsigned warp = 0; warp < received.size(); ++warp) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (const ShuffleRound &round : plan.rounds) {
        unsigned origin = plan.laneOfOrigin(round, lane, warp);
        for (unsigned reg : round.targets) {
          received[warp][lane][reg] = source[warp][origin][exchangedRegister(plan.before, round.source, origin, warp)];
        }
      }
      for (unsigned reg = 0; reg < result[warp][lane].size(); ++reg) {
        result[warp][lane][reg] = received[warp][lane][exchangedRegister(plan.after, reg, lane, warp)];
      }
    }
  }
  return result;
}

Registers runShared(const SharedConversion &plan, Registers source, const LinearLayout &target) {
  Registers result = emptyRegisters(target);
  for (auto [storeXor, loadXor] : plan.repetitions) {
    Memory memory(plan.bytes * 8 / plan.store.elementBits, -1);
    runAccess(plan.store, memory, source, /*isStore=*/true, storeXor);
    runAccess(plan.load, memory, result, /*isStore=*/false, loadXor);
  }
  runCopies(plan.load.copies, result);
  return result;
}

Registers runPlan(const ConversionPlan &plan, const LinearLayout &source, const LinearLayout &target) {
  Registers held = fillRegisters(source);
  switch (plan.kind) {
  case ConversionKind::Registers: {
    Registers result = emptyRegisters(target);
    for (size_t warp = 0; warp < result.size(); ++warp) {
      for (size_t lane = 0; lane < result[warp].size(); ++lane) {
        for (size_t reg = 0; reg < result[warp][lane].size(); ++reg) {
          result[warp][lane][reg] = held[warp][lane][plan.sourceRegisters[reg]];
        }
      }
    }
    return result;
  }
  case ConversionKind::Shuffles:
    return runShuffles(plan.shuffles, held, target);
  case ConversionKind::Shared:
    return runShared(plan.shared, held, target);
  case ConversionKind::Cluster:
    break;
  }
  return {};
}

struct Named {
  std::string name;
  LinearLayout layout;
};

/// Layouts of one shape over four warps.
std::vector<Named> layoutsOf(int64_t rows, int64_t cols) {
  Shape shape{rows, cols};
  return {
      {"rows", blocked(shape, {1, 8}, {4, 8}, {4, 1}, {1, 0})},
      {"rows by 4", blocked(shape, {1, 4}, {8, 4}, {2, 2}, {1, 0})},
      {"columns", blocked(shape, {8, 1}, {8, 4}, {1, 4}, {0, 1})},
      {"scalars", blocked(shape, {1, 1}, {1, 32}, {2, 2}, {1, 0})},
      {"tiles", blocked(shape, {2, 2}, {8, 4}, {1, 4}, {0, 1})},
      {"one row a thread", blocked(shape, {1, unsigned(cols)}, {32, 1}, {4, 1}, {1, 0})},
      {"mma v2", mma(shape, 2, {2, 2}, 8)},
      {"mma v2, tall", mma(shape, 2, {4, 1}, 8)},
      {"mma v3", mma(shape, 3, {4, 1}, unsigned(cols))},
      {"operand a", operand(shape, 2, {2, 2}, 0, 2)},
      {"operand a of v3", operand(shape, 3, {4, 1}, 0, 2)},
      {"operand a, bytes", operand(shape, 2, {4, 1}, 0, 4)},
      {"operand b", operand(shape, 2, {2, 2}, 1, 2)},
  };
}

const LinearLayout &pick(const std::vector<Named> &layouts, llvm::StringRef name) {
  return llvm::find_if(layouts, [&](const Named &named) { return name == named.name; })->layout;
}

void checkPlan(const LinearLayout &source, const LinearLayout &target, const SharedConversionOptions &options) {
  ConversionPlan plan = planConversion(source, target, options);
  CHECK(plan.kind != ConversionKind::Cluster);
  CHECK(runPlan(plan, source, target) == fillRegisters(target));
  // Whatever was chosen, each possible way is right.
  auto shared = planSharedConversion(source, target, options);
  REQUIRE(shared.has_value());
  CHECK(runShared(*shared, fillRegisters(source), target) == fillRegisters(target));
  if (auto shuffles = planShuffles(placesInSource(source, target))) {
    CHECK(runShuffles(*shuffles, fillRegisters(source), target) == fillRegisters(target));
  }
}

void checkAllPairs(const std::vector<Named> &layouts, const SharedConversionOptions &options) {
  for (const Named &source : layouts) {
    for (const Named &target : layouts) {
      CAPTURE(source.name);
      CAPTURE(target.name);
      CAPTURE(options.elementBits);
      CAPTURE(options.hasStmatrix);
      checkPlan(source.layout, target.layout, options);
    }
  }
}

void checkNoConflicts(const LinearLayout &source, const LinearLayout &target, const SharedConversionOptions &options) {
  auto plan = planSharedConversion(source, target, options);
  REQUIRE(plan.has_value());
  CAPTURE(source.toString());
  CAPTURE(target.toString());
  CAPTURE(plan->buffer.toString());
  CHECK(plan->store.countWavefronts() == plan->store.countNeededWavefronts());
  CHECK(plan->load.countWavefronts() == plan->load.countNeededWavefronts());
}

/// A layout that covers a tensor of 2^`numBits` elements: bits dealt out at random, some sums of two, some threads with
/// copies.
LinearLayout randomLayout(std::mt19937 &random, int numBits) {
  std::vector<int32_t> bits;
  for (int bit = 0; bit < numBits; ++bit) {
    bits.push_back(1 << bit);
  }
  std::shuffle(bits.begin(), bits.end(), random);
  for (int i = 1; i < numBits; ++i) {
    bits[i] ^= random() % 8 == 0 ? bits[random() % i] : 0;
  }
  std::vector<LinearLayout::InDim> ins = {{"register", {}}, {"lane", {}}, {"warp", {}}, {"block", {}}};
  for (auto [index, size] : std::vector<std::pair<int, size_t>>{{1, 5}, {2, 2}}) {
    while (ins[index].bases.size() < size) {
      bool isCopy = bits.empty() || random() % 6 == 0;
      ins[index].bases.push_back({isCopy ? 0 : bits.back()});
      if (!isCopy) {
        bits.pop_back();
      }
    }
  }
  for (int32_t bit : bits) {
    ins[0].bases.push_back({bit});
  }
  if (random() % 4 == 0) {
    ins[0].bases.insert(ins[0].bases.begin() + random() % (ins[0].bases.size() + 1), {0});
  }
  return LinearLayout(std::move(ins), {{"dim0", 1 << numBits}});
}

} // namespace

TEST_SUITE("ir/ConversionPlan") {
  TEST_CASE("every conversion brings each element to its place") {
    for (unsigned bits : {8u, 16u, 32u, 64u}) {
      checkAllPairs(layoutsOf(32, 32), optionsFor(bits, 90));
    }
    checkAllPairs(layoutsOf(32, 32), optionsFor(16, 70));
    checkAllPairs(layoutsOf(32, 32), optionsFor(8, 80));
    checkAllPairs(layoutsOf(16, 64), optionsFor(16));
    checkAllPairs(layoutsOf(128, 16), optionsFor(32));
    checkAllPairs(layoutsOf(16, 16), optionsFor(8));
  }

  TEST_CASE("conversions between random layouts") {
    for (unsigned start = 8812; start < 8812 + 400; ++start) {
      CAPTURE(start);
      std::mt19937 random(start);
      int numBits = 4 + random() % 8;
      LinearLayout source = randomLayout(random, numBits), target = randomLayout(random, numBits);
      CAPTURE(source.toString());
      CAPTURE(target.toString());
      SharedConversionOptions options = optionsFor(8 << random() % 4, random() % 2 ? 90 : 70);
      options.maxBytes = 64 << random() % 8;
      checkPlan(source, target, options);
    }
  }

  TEST_CASE("a large conversion repeats over a small buffer") {
    auto layouts = layoutsOf(64, 64);
    SharedConversionOptions options = optionsFor(32);
    options.maxBytes = 2048;
    checkAllPairs(layouts, options);
    auto plan = planSharedConversion(pick(layouts, "rows"), pick(layouts, "rows by 4"), options);
    CHECK(plan->repetitions.size() == 4);
    CHECK(plan->bytes == 4096);
    options.maxBytes = 4096;
    plan = planSharedConversion(pick(layouts, "rows"), pick(layouts, "mma v3"), options);
    CHECK(plan->repetitions.size() == 2);
    CHECK(plan->bytes == 64 * 64 * 4 / 2);
  }

  TEST_CASE("tensors with copies over threads convert") {
    std::vector<Named> layouts = {
        {"rows", blocked({16, 16}, {1, 4}, {8, 4}, {4, 1}, {1, 0})},
        {"rows on every warp", blocked({16, 16}, {2, 4}, {8, 4}, {1, 4}, {1, 0})},
        {"all on every lane", blocked({16, 16}, {16, 16}, {8, 4}, {2, 2}, {1, 0})},
        {"columns", blocked({16, 16}, {4, 1}, {4, 8}, {1, 4}, {0, 1})},
        {"copies in lanes", blocked({16, 16}, {1, 8}, {1, 32}, {4, 1}, {1, 0})},
        {"slice",
         sliceLayout(blockedLayout({16, 1, 16}, {Sizes{1, 4, 1}, Sizes{2, 4, 4}, Sizes{2, 2, 1}, Sizes{2, 1, 0}},
                                   clusterLayout(3, {})),
                     1)},
    };
    for (unsigned bits : {8u, 16u, 32u}) {
      checkAllPairs(layouts, optionsFor(bits));
    }
  }

  TEST_CASE("copies in registers are filled in every repetition") {
    LinearLayout source = blocked({16, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0}),
                 target = blocked({16, 64}, {1, 128}, {8, 4}, {2, 2}, {1, 0});
    SharedConversionOptions options = optionsFor(32);
    options.maxBytes = 512;
    auto plan = planSharedConversion(source, target, options);
    REQUIRE(plan.has_value());
    CHECK(plan->repetitions.size() > 1);
    CHECK_FALSE(plan->load.copies.empty());
    CHECK(runShared(*plan, fillRegisters(source), target) == fillRegisters(target));
  }

  TEST_CASE("what stays in its thread is renamed") {
    auto layouts = layoutsOf(64, 64);
    LinearLayout rows = pick(layouts, "rows");
    CHECK(planConversion(rows, rows, optionsFor(16)).kind == ConversionKind::Registers);
    CHECK(planConversion(pick(layouts, "mma v3"), pick(layouts, "operand a of v3"), optionsFor(16)).kind ==
          ConversionKind::Registers);
    LinearLayout columnsFirst = blocked({64, 64}, {2, 4}, {8, 4}, {4, 1}, {0, 1}),
                 rowsFirst = blocked({64, 64}, {2, 4}, {8, 4}, {4, 1}, {0, 1});
    CHECK(planConversion(columnsFirst, rowsFirst, optionsFor(32)).kind == ConversionKind::Registers);
  }

  TEST_CASE("a copy on every warp is read where it is") {
    LinearLayout everywhere = blocked({16, 16}, {16, 16}, {8, 4}, {2, 2}, {1, 0}),
                 spread = blocked({16, 16}, {1, 2}, {8, 4}, {2, 2}, {1, 0});
    ConversionPlan plan = planConversion(everywhere, spread, optionsFor(32));
    CHECK(plan.kind == ConversionKind::Shuffles);
    CHECK(plan.shuffles.numShuffles() == 0);
  }

  TEST_CASE("one exchange between registers and lanes is shuffled") {
    LinearLayout pairs = blocked({32, 64}, {1, 2}, {1, 32}, {4, 1}, {1, 0}),
                 halves = blocked({32, 64}, {1, 1}, {1, 32}, {4, 1}, {1, 0});
    ConversionPlan plan = planConversion(pairs, halves, optionsFor(32));
    CHECK(plan.kind == ConversionKind::Shuffles);
    CHECK(plan.shuffles.before.size() == 1);
    CHECK(plan.shuffles.after.size() == 1);
    // Accumulators to the operand of bytes: the words of four lanes change places.
    LinearLayout accumulator = mma({64, 32}, 2, {4, 1}, 8), bytes = operand({64, 32}, 2, {4, 1}, 0, 4);
    plan = planConversion(accumulator, bytes, optionsFor(8));
    CHECK(plan.kind == ConversionKind::Shuffles);
    CHECK(plan.isWithinWarp == false);
  }

  TEST_CASE("a transposition goes through shared memory") {
    auto layouts = layoutsOf(64, 64);
    CHECK(planConversion(pick(layouts, "rows"), pick(layouts, "columns"), optionsFor(16)).kind ==
          ConversionKind::Shared);
    CHECK(planConversion(pick(layouts, "mma v3"), pick(layouts, "rows"), optionsFor(16)).kind ==
          ConversionKind::Shared);
  }

  TEST_CASE("a conversion within warps needs no barrier of the CTA") {
    LinearLayout a = blocked({64, 64}, {1, 8}, {16, 2}, {4, 1}, {1, 0}), b = mma({64, 64}, 2, {4, 1}, 8);
    // Each warp has rows 16 w to 16 w + 15 on both sides.
    ConversionPlan plan = planConversion(a, b, optionsFor(16));
    CHECK(plan.kind == ConversionKind::Shared);
    CHECK(plan.isWithinWarp);
    CHECK_FALSE(planConversion(pick(layoutsOf(64, 64), "rows"), b, optionsFor(16)).isWithinWarp);
  }

  TEST_CASE("elements that change their CTA have no plan") {
    Sizes perThread{1, 8}, lanes{4, 8}, warps{4, 1}, order{1, 0};
    BlockedParameters parameters{perThread, lanes, warps, order};
    LinearLayout byRow = blockedLayout({128, 128}, parameters, clusterLayout(2, {1, 0}));
    LinearLayout byColumn = blockedLayout({128, 128}, parameters, clusterLayout(2, {0, 1}));
    LinearLayout copies = blockedLayout({128, 128}, parameters, clusterLayout(2, {0, 0}));
    CHECK(planConversion(byRow, byColumn, optionsFor(16)).kind == ConversionKind::Cluster);
    CHECK(planConversion(byRow, copies, optionsFor(16)).kind == ConversionKind::Cluster);
    CHECK(planConversion(byRow, byRow, optionsFor(16)).kind == ConversionKind::Registers);
  }

  TEST_CASE("pieces of a cluster convert within their CTA") {
    Sizes perThread{1, 8}, lanes{4, 8}, warps{4, 1}, order{1, 0}, tall{8, 1}, flat{1, 4}, columnOrder{0, 1};
    LinearLayout source = blockedLayout({128, 64}, {perThread, lanes, warps, order}, clusterLayout(2, {1, 0}));
    LinearLayout target = blockedLayout({128, 64}, {tall, lanes, flat, columnOrder}, clusterLayout(2, {1, 0}));
    CHECK(planConversion(source, target, optionsFor(16)).kind == ConversionKind::Shared);
    checkPlan(source, target, optionsFor(16));
  }

  TEST_CASE("no bank conflicts where none are needed") {
    for (auto [rows, cols] : std::vector<std::array<int64_t, 2>>{{64, 64}, {128, 128}, {64, 256}}) {
      auto layouts = layoutsOf(rows, cols);
      CAPTURE(rows);
      CAPTURE(cols);
      for (auto [from, to] : std::vector<std::array<std::string, 2>>{{"rows", "mma v2"},
                                                                     {"rows", "mma v3"},
                                                                     {"mma v2", "rows"},
                                                                     {"mma v2, tall", "rows by 4"},
                                                                     {"mma v3", "rows"},
                                                                     {"mma v3", "columns"},
                                                                     {"rows", "columns"},
                                                                     {"columns", "rows"},
                                                                     {"rows", "operand a"},
                                                                     {"rows by 4", "operand b"},
                                                                     {"columns", "operand b"},
                                                                     {"mma v2", "operand a"},
                                                                     {"scalars", "tiles"}}) {
        for (unsigned bits : {8u, 16u, 32u, 64u}) {
          for (unsigned capability : {70u, 80u, 90u}) {
            CAPTURE(from);
            CAPTURE(to);
            CAPTURE(bits);
            CAPTURE(capability);
            checkNoConflicts(pick(layouts, from), pick(layouts, to), optionsFor(bits, capability));
          }
        }
      }
    }
  }

  TEST_CASE(
      "accumulators leave for wide rows in accesses of 16 bytes, by matrix instructions where vectors are narrow") {
    LinearLayout rows = blocked({64, 128}, {1, 8}, {2, 16}, {4, 1}, {1, 0}),
                 accumulator = mma({64, 128}, 3, {4, 1}, 128);
    SharedConversionOptions options = optionsFor(16, 90);
    auto plan = planSharedConversion(accumulator, rows, options);
    CHECK(plan->store.steps.size() == 8);
    CHECK(plan->load.steps.size() == 8);
    CHECK(plan->bytes == 16 * 1024);
    options.hasLdmatrix = false;
    plan = planSharedConversion(accumulator, rows, options);
    CHECK(plan->store.form == LocalAccessForm::Matrix);
    CHECK(plan->store.numMatrices() == 4);
    CHECK(plan->load.form == LocalAccessForm::Vector);
    CHECK(plan->load.bitsPerStep() == 128);
    // Without either, pairs of columns and of rows are what a thread holds on both sides.
    options.hasStmatrix = false;
    plan = planSharedConversion(accumulator, rows, options);
    CHECK(plan->store.bitsPerStep() == 64);
    CHECK(plan->load.bitsPerStep() == 64);
  }
}
