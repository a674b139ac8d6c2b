#include "src/kernels/attention/SplitSchedule.h"

#include "src/kernels/attention/MlaDecode.h"
#include "src/kernels/vocabulary/KernelProgram.h"
#include "src/ops/OpSchema.h"
#include "src/reference/DecodeSchedule.h"
#include "src/reference/Numeric.h"
#include "tests/unit/kernels/EmulatedKernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::kernels;

namespace {

struct Schedule {
  std::vector<int32_t> parts, splitOffsets;
};

std::vector<uint8_t> bytesOf(const std::vector<int32_t> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<int32_t> integersOf(const std::vector<uint8_t> &bytes) {
  std::vector<int32_t> values(bytes.size() / sizeof(int32_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The step alone, on the emulator.
Schedule scheduleOf(const std::vector<int32_t> &lengths, int64_t longest, int64_t numParts) {
  test::EmulatedKernel kernel([&](const Target &target, mlir::MLIRContext &context) -> Result<BuiltKernel> {
    mlir::Type integer = elementTypeOf("int32", context);
    KernelSignature signature;
    for (const char *name : {"seq_lens", "schedule", "split_offsets"}) {
      signature.tensor(name, integer, 4);
    }
    signature.dimension("batch", {.value = int64_t(lengths.size())});
    signature.dimension("max_kv", {.value = longest});
    signature.dimension("splits", {.value = numParts});
    KernelProgram program(context, signature, target);
    program.step({.symbol = "decode_schedule", .numWarps = 1}, writeSchedule);
    return std::move(program).finish();
  });
  std::vector<std::vector<uint8_t>> images = {
      bytesOf(lengths), std::vector<uint8_t>(size_t(numParts * kScheduleWords) * sizeof(int32_t), 0xEE),
      std::vector<uint8_t>((lengths.size() + 1) * sizeof(int32_t), 0xEE)};
  images = kernel.run(test::deviceOptions(emulator::AsyncMode::Deferred, 0, 1), std::move(images));
  return {integersOf(images[1]), integersOf(images[2])};
}

} // namespace

TEST_SUITE("kernels/SplitSchedule") {
  TEST_CASE("lengths of any 32 bits are dealt as the host deals them") {
    constexpr int64_t kLongest = INT32_MAX;
    const std::vector<std::vector<int32_t>> batches = {
        {INT32_MAX},
        {INT32_MAX - 62, INT32_MAX - 63, INT32_MAX - 64, INT32_MAX},
        {INT32_MIN, -1, 0, 1, 63, 64, 65, INT32_MAX},
        std::vector<int32_t>(130, INT32_MAX), // more blocks in all than 32 bits count
    };
    for (const std::vector<int32_t> &lengths : batches) {
      for (int64_t numParts : {1, 3, 64}) {
        CAPTURE(lengths.size());
        CAPTURE(numParts);
        std::vector<int32_t> taken = lengths;
        std::ranges::for_each(taken, [](int32_t &length) { length = std::max(length, 0); });
        reference::DecodeSchedule wanted = reference::makeDecodeSchedule(taken, numParts);
        Schedule found = scheduleOf(lengths, kLongest, numParts);
        CHECK(found.parts == wanted.parts);
        CHECK(found.splitOffsets == wanted.splitOffsets);
      }
    }
  }

  TEST_CASE("the last blocks of the longest sequence are found") {
    // A schedule that is given says where to begin: nobody waits for the two thousand million keys before.
    constexpr int64_t kLongest = Dimension::kLargest, kPageSize = 65536, kSeen = 2 * kScheduleBlock + 37;
    constexpr int64_t kHeads = 16, kLatent = 16;
    Result<Description> description =
        parseDescription("mla_decode heads=16 max_kv=" + std::to_string(kLongest) +
                         " num_pages=2 page_size=65536 splits=1 latent_dim=16 rope_dim=16 reuse_schedule=true");
    REQUIRE(description.ok());
    test::EmulatedKernel kernel([&](const Target &target, mlir::MLIRContext &context) {
      return buildMlaDecode(*description, target, context);
    });
    constexpr int32_t kLength = kLongest - kScheduleBlock + 37; // a cut block ends it
    constexpr int32_t kEnd = (kLength + kScheduleBlock - 1) / kScheduleBlock;
    // Queries of zeros weigh all keys alike. The values are 1; the last page, at the end, has them all.
    constexpr int64_t kRow = kLatent + 16;
    auto ofFloats = [](int64_t count, float value) {
      return reference::encode("bf16", std::vector<float>(std::size_t(count), value));
    };
    std::vector<uint8_t> cache(size_t(kPageSize * kRow) * 2, 0xFF), last = ofFloats(kPageSize * kRow, 1);
    cache.insert(cache.end(), last.begin(), last.end());
    std::vector<int32_t> table(size_t((kLongest + kPageSize - 1) / kPageSize), 0);
    table.back() = 1;
    std::vector<std::vector<uint8_t>> images = {
        ofFloats(kHeads * kRow, 0),
        cache,
        bytesOf(table),
        bytesOf({kLength}),
        bytesOf({0, 0, kEnd - 3, kEnd, 0, 0, 0, 0}),
        bytesOf({0, 1}),
        std::vector<uint8_t>(size_t(kHeads * kLatent) * 2, 0xFF),
        std::vector<uint8_t>(size_t(kHeads) * 4, 0xFF),
    };
    std::vector<float> scale = {1};
    images = kernel.run(test::deviceOptions(emulator::AsyncMode::Deferred, 0, 1), std::move(images), scale);
    for (float value : reference::decode("bf16", images[6])) {
      CHECK(value == 1);
    }
    for (float value : reference::decode("fp32", images[7])) {
      CHECK(value == doctest::Approx(std::log(double(kSeen))).epsilon(1e-5));
    }
  }
}
