#include "src/emulator/MultiplyAccumulate.h"

#include <cstring>

namespace jitk::emulator {

namespace {

constexpr unsigned width = 8;

// Vector types, and not loops for the compiler to find, so that unoptimized builds are fast enough for tests too.
using Floats [[gnu::vector_size(width * 4)]] = float;
using Words [[gnu::vector_size(width * 4)]] = uint32_t; // sums of integers wrap

/// Eight columns of two rows at a time stay in registers over the whole of k. `m` is even, `n` a multiple of 8.
template <typename Vector, typename Number>
[[gnu::always_inline]] inline void accumulate(Number *c, const Number *a, const Number *b, unsigned m, unsigned n,
                                              unsigned k) {
  using Lane = std::remove_cvref_t<decltype(Vector()[0])>;
  for (unsigned row = 0; row < m; row += 2) {
    for (unsigned column = 0; column < n; column += width) {
      Number *const upper = c + size_t(row) * n + column;
      Number *const lower = upper + n;
      Vector sums[2];
      std::memcpy(&sums[0], upper, sizeof(Vector));
      std::memcpy(&sums[1], lower, sizeof(Vector));
      for (unsigned step = 0; step < k; ++step) {
        Vector right;
        std::memcpy(&right, b + size_t(step) * n + column, sizeof(Vector));
        sums[0] += right * Lane(a[size_t(row) * k + step]);
        sums[1] += right * Lane(a[size_t(row + 1) * k + step]);
      }
      std::memcpy(upper, &sums[0], sizeof(Vector));
      std::memcpy(lower, &sums[1], sizeof(Vector));
    }
  }
}

#if defined(__x86_64__)
// A fused multiplication gives the same result, since the products are exact.
[[gnu::target("avx2,fma")]] void accumulateAvx2(float *c, const float *a, const float *b, unsigned m, unsigned n,
                                                unsigned k) {
  accumulate<Floats>(c, a, b, m, n, k);
}

[[gnu::target("avx2,fma")]] void accumulateAvx2(int32_t *c, const int32_t *a, const int32_t *b, unsigned m, unsigned n,
                                                unsigned k) {
  accumulate<Words>(c, a, b, m, n, k);
}

bool hasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#endif

template <typename Vector, typename Number>
void dispatch(Number *c, const Number *a, const Number *b, unsigned m, unsigned n, unsigned k) {
#if defined(__x86_64__)
  if (hasAvx2()) {
    accumulateAvx2(c, a, b, m, n, k);
    return;
  }
#endif
  accumulate<Vector>(c, a, b, m, n, k);
}

} // namespace

void multiplyAccumulate(float *c, const float *a, const float *b, unsigned m, unsigned n, unsigned k) {
  dispatch<Floats>(c, a, b, m, n, k);
}

void multiplyAccumulate(int32_t *c, const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k) {
  dispatch<Words>(c, a, b, m, n, k);
}

} // namespace jitk::emulator
