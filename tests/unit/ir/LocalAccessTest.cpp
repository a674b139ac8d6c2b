#include "src/ir/layout/DistributedLayouts.h"
#include "src/ir/layout/SharedLayouts.h"
#include "src/ir/layout/Wavefronts.h"
#include "tests/unit/ir/SimulatedCta.h"

#include <string>

using namespace jitk::ir;
using namespace jitk::ir::test;

namespace {

using Shape = std::vector<int64_t>;
using Sizes = std::vector<unsigned>;

LinearLayout oneCta(unsigned rank = 2) { return clusterLayout(rank, {}); }

LinearLayout blocked(Shape shape, Sizes perThread, Sizes lanes, Sizes warps, Sizes order) {
  return blockedLayout(shape, {perThread, lanes, warps, order}, oneCta(shape.size()));
}

LinearLayout mma(Shape shape, unsigned version, Sizes warps, unsigned n) {
  return mmaLayout(shape, {version, warps, 16, n}, oneCta());
}

LinearLayout operand(Shape shape, Sizes warps, unsigned opIdx, unsigned kWidth) {
  return mmaOperandLayout(shape, {2, warps, 16, 8}, opIdx, kWidth, oneCta());
}

LinearLayout nvmma(Shape shape, unsigned width, unsigned bits, bool isTransposed = false) {
  return nvmmaSharedLayout(shape, {width, isTransposed, bits, false}, oneCta());
}

LinearLayout swizzled(Shape shape, unsigned vec, unsigned perPhase, unsigned maxPhase, Sizes order) {
  return swizzledSharedLayout(shape, {vec, perPhase, maxPhase, order}, oneCta());
}

LocalAccess planOf(const LinearLayout &tensor, const LinearLayout &buffer, unsigned bits, bool hasMatrix = true) {
  auto plan = planLocalAccess(tensor.invertAndCompose(buffer), {bits, 128, hasMatrix});
  REQUIRE(plan.has_value());
  return *plan;
}

/// Loads what a plain loop stored, and stores what a plain loop reads back.
void checkRoundTrip(const LinearLayout &tensor, const LinearLayout &buffer, const LocalAccess &plan) {
  CAPTURE(tensor.toString());
  CAPTURE(buffer.toString());
  Registers expected = fillRegisters(tensor), loaded = emptyRegisters(tensor);
  Memory memory(buffer.getInDimSize(kOffset), -1), stored = memory;
  LinearLayout toOffset = tensor.invertAndCompose(buffer);
  for (size_t warp = 0; warp < expected.size(); ++warp) {
    for (size_t lane = 0; lane < expected[warp].size(); ++lane) {
      for (size_t reg = 0; reg < expected[warp][lane].size(); ++reg) {
        memory[toOffset.apply({{kRegister, int32_t(reg)}, {kLane, int32_t(lane)}, {kWarp, int32_t(warp)}})[0]] =
            expected[warp][lane][reg];
      }
    }
  }
  runAccess(plan, memory, loaded, /*isStore=*/false);
  runCopies(plan.copies, loaded);
  CHECK(loaded == expected);
  runAccess(plan, stored, expected, /*isStore=*/true);
  CHECK(stored == memory);
}

struct Named {
  std::string name;
  LinearLayout layout;
};

std::vector<Named> tensors64x64() {
  return {
      {"rows", blocked({64, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0})},
      {"columns", blocked({64, 64}, {8, 1}, {8, 4}, {1, 4}, {0, 1})},
      {"scalars", blocked({64, 64}, {1, 1}, {1, 32}, {2, 2}, {1, 0})},
      {"wide", blocked({64, 64}, {2, 32}, {16, 2}, {2, 2}, {1, 0})},
      {"copies", blocked({64, 64}, {4, 64}, {16, 2}, {4, 2}, {1, 0})},
      {"mma v2", mma({64, 64}, 2, {2, 2}, 8)},
      {"mma v3", mma({64, 64}, 3, {4, 1}, 64)},
      {"operand a", operand({64, 64}, {2, 2}, 0, 2)},
      {"operand a, narrow", operand({64, 64}, {4, 1}, 0, 4)},
      {"operand b", operand({64, 64}, {2, 2}, 1, 2)},
  };
}

std::vector<Named> buffers64x64() {
  return {
      {"plain", swizzled({64, 64}, 1, 1, 1, {1, 0})},
      {"plain, transposed", swizzled({64, 64}, 1, 1, 1, {0, 1})},
      {"swizzled", swizzled({64, 64}, 8, 1, 8, {1, 0})},
      {"swizzled by 4", swizzled({64, 64}, 4, 2, 4, {0, 1})},
      {"swizzled by 1", swizzled({64, 64}, 1, 1, 16, {1, 0})},
      {"nvmma 128", nvmma({64, 64}, 128, 16)},
      {"nvmma 64, transposed", nvmma({64, 64}, 64, 16, true)},
      {"nvmma 32 of bytes", nvmma({64, 64}, 32, 8)},
      {"nvmma 128 of words", nvmma({64, 64}, 128, 32)},
  };
}

} // namespace

TEST_SUITE("ir/LocalAccess") {
  TEST_CASE("a plan of any form moves every element to its place") {
    for (const Named &tensor : tensors64x64()) {
      for (const Named &buffer : buffers64x64()) {
        for (unsigned bits : {8u, 16u, 32u, 64u}) {
          for (LocalAccessForm form :
               {LocalAccessForm::Vector, LocalAccessForm::Matrix, LocalAccessForm::MatrixTransposed}) {
            CAPTURE(tensor.name);
            CAPTURE(buffer.name);
            CAPTURE(bits);
            CAPTURE(int(form));
            auto plan = planLocalAccess(form, tensor.layout.invertAndCompose(buffer.layout), {bits, 128, true});
            CHECK((plan.has_value() || form != LocalAccessForm::Vector));
            if (plan) {
              CHECK(plan->bitsPerStep() <= 128);
              checkRoundTrip(tensor.layout, buffer.layout, *plan);
            }
          }
        }
      }
    }
  }

  TEST_CASE("the widest vector that layout and buffer share is used") {
    auto rows = tensors64x64()[0].layout;
    CHECK(planOf(rows, nvmma({64, 64}, 128, 16), 16).elementsPerStep() == 8);
    CHECK(planOf(rows, nvmma({64, 64}, 128, 16), 16).steps.size() == 4);
    CHECK(planOf(rows, swizzled({64, 64}, 4, 1, 8, {1, 0}), 16, false).elementsPerStep() == 4);
    CHECK(planOf(rows, swizzled({64, 64}, 1, 1, 1, {0, 1}), 16, false).elementsPerStep() == 1);
    CHECK(planOf(blocked({64, 64}, {1, 16}, {4, 4}, {4, 1}, {1, 0}), nvmma({64, 64}, 64, 8), 8).elementsPerStep() ==
          16);
    // A row of registers along the other dimension: contiguous all the same.
    CHECK(planOf(blocked({64, 64}, {2, 8}, {4, 8}, {4, 1}, {0, 1}), swizzled({64, 64}, 1, 1, 1, {1, 0}), 16)
              .elementsPerStep() == 8);
  }

  TEST_CASE("tensor-core operands come by ldmatrix") {
    for (bool isB : {false, true}) {
      LinearLayout tensor = operand({64, 64}, {2, 2}, isB, 2);
      LocalAccess along = planOf(tensor, nvmma({64, 64}, 128, 16, isB), 16);
      CHECK(along.form == LocalAccessForm::Matrix);
      CHECK(along.numMatrices() == 4);
      CHECK(along.countWavefronts() == along.countNeededWavefronts());
      LocalAccess across = planOf(tensor, nvmma({64, 64}, 128, 16, !isB), 16);
      CHECK(across.form == LocalAccessForm::MatrixTransposed);
      CHECK(across.numMatrices() == 4);
      CHECK(across.countWavefronts() == across.countNeededWavefronts());
    }
    CHECK(planOf(operand({64, 64}, {4, 1}, 0, 4), nvmma({64, 64}, 64, 8), 8).form == LocalAccessForm::Matrix);
    CHECK(planOf(operand({64, 64}, {4, 1}, 0, 1), nvmma({64, 64}, 128, 32), 32).form == LocalAccessForm::Matrix);
    CHECK(planOf(operand({64, 64}, {4, 1}, 0, 2), nvmma({64, 64}, 128, 16), 16, false).form == LocalAccessForm::Vector);
  }

  TEST_CASE("accumulators go to swizzled panels by stmatrix without conflicts") {
    for (unsigned version : {2u, 3u}) {
      LocalAccess plan = planOf(mma({64, 64}, version, {4, 1}, version == 2 ? 8 : 64), nvmma({64, 64}, 128, 16), 16);
      CHECK(plan.form == LocalAccessForm::Matrix);
      CHECK(plan.numMatrices() == 4);
      CHECK(plan.countWavefronts() == plan.countNeededWavefronts());
    }
  }

  TEST_CASE("constants that no thread touches are immediates") {
    LocalAccess plan = planOf(blocked({128, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0}), nvmma({128, 64}, 128, 16), 16);
    // Rows 16 and up are beyond lanes and warps.
    REQUIRE(plan.steps.size() == 8);
    CHECK(plan.steps[0].addOffset == 0);
    CHECK(plan.steps[1].addOffset == 16 * 64);
    CHECK(plan.steps[7].addOffset == 7 * 16 * 64);
    CHECK(llvm::all_of(plan.steps, [](const LocalAccessStep &step) { return step.xorOffset == 0; }));
  }

  TEST_CASE("a slice's offset is kept out of the immediates and of the vector") {
    LinearLayout buffer = nvmma({128, 64}, 128, 16), tensor = blocked({64, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0});
    LinearLayout toOffset = tensor.invertAndCompose(buffer);
    Registers expected = fillRegisters(tensor), loaded = emptyRegisters(tensor);
    int32_t viewOffset = buffer.pseudoinvert().apply({{"dim0", 64}})[0];
    auto plan = planLocalAccess(toOffset, {16}, viewOffset);
    REQUIRE(plan.has_value());
    Memory memory(128 * 64, -1);
    runAccess(*plan, memory, expected, /*isStore=*/true, 0, viewOffset);
    runAccess(*plan, memory, loaded, /*isStore=*/false, 0, viewOffset);
    CHECK(loaded == expected);
    CHECK(llvm::all_of(llvm::ArrayRef(memory).take_front(64 * 64), [](int64_t number) { return number == -1; }));
    CHECK(planLocalAccess(toOffset, {16}, 4)->elementsPerStep() == 4);
  }

  TEST_CASE("elements of another CTA have no plan") {
    Sizes perThread{1, 8}, lanes{4, 8}, warps{4, 1}, order{1, 0};
    LinearLayout split = blockedLayout({128, 64}, {perThread, lanes, warps, order}, clusterLayout(2, {1, 0}));
    LinearLayout whole = blockedLayout({128, 64}, {perThread, lanes, warps, order}, clusterLayout(2, {0, 0}));
    LinearLayout buffer = nvmmaSharedLayout({128, 64}, {128, false, 16, false}, clusterLayout(2, {1, 0}));
    CHECK(planLocalAccess(split.invertAndCompose(buffer), {16}).has_value());
    CHECK_FALSE(planLocalAccess(whole.invertAndCompose(buffer), {16}).has_value());
  }

  TEST_CASE("wavefronts are the largest number of words of one bank") {
    auto strided = [](int64_t stride, unsigned bytes) {
      std::vector<int64_t> addresses;
      for (int64_t lane = 0; lane < 32; ++lane) {
        addresses.push_back(stride * lane);
      }
      return countWavefronts(addresses, bytes);
    };
    CHECK(strided(4, 4) == 1);
    CHECK(strided(2, 2) == 1);
    CHECK(strided(0, 4) == 1);
    CHECK(strided(8, 4) == 2);
    CHECK(strided(128, 4) == 32);
    CHECK(strided(132, 4) == 1);
    CHECK(strided(8, 8) == 2);
    CHECK(strided(16, 16) == 4);
    CHECK(strided(128, 16) == 32);
    CHECK(strided(144, 16) == 4);
  }
}
