#include "tests/fakes/CacheWalk.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace jitk::test {
namespace {

constexpr size_t kLines = 768, kLineBytes = 64;

struct alignas(kLineBytes) Line {
  uint64_t next;
};

using Step = void (*)(const Line *lines, uint64_t &sum);

/// A line of code of its own, which reads a line of data of its own.
template <size_t Index> [[gnu::noinline, gnu::aligned(kLineBytes)]] void step(const Line *lines, uint64_t &sum) {
  sum = sum * (2 * Index + 3) + lines[(Index * 31) % kLines].next;
}

template <size_t... Index> constexpr std::array<Step, kLines> stepsOf(std::index_sequence<Index...>) {
  return {step<(Index * 439) % kLines>...}; // 439 and 768 have no common factor: each once, far from the one before
}

constexpr std::array<Step, kLines> kSteps = stepsOf(std::make_index_sequence<kLines>());
const Line kData[kLines] = {{1}};

} // namespace

void walkThroughCaches() {
  uint64_t sum = 0;
  for (Step step : kSteps) {
    step(kData, sum);
  }
  asm volatile("" : : "r"(sum)); // the sum is wanted by nobody, the walk is
}

} // namespace jitk::test
