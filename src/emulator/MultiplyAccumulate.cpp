#include "src/emulator/MultiplyAccumulate.h"

namespace jitk::emulator {

namespace {

// Eight columns at a time stay in registers over the whole of k. Integer sums wrap.
template <typename Value, typename Sum>
[[gnu::always_inline]] inline void accumulate(Value *c, const Value *a, const Value *b, unsigned m, unsigned n,
                                              unsigned k) {
  for (unsigned row = 0; row < m; ++row) {
    for (unsigned column = 0; column < n; column += 8) {
      Sum sum[8];
      for (unsigned i = 0; i < 8; ++i) {
        sum[i] = Sum(c[row * n + column + i]);
      }
      for (unsigned step = 0; step < k; ++step) {
        const auto left = Sum(a[row * k + step]);
        for (unsigned i = 0; i < 8; ++i) {
          sum[i] += left * Sum(b[step * n + column + i]);
        }
      }
      for (unsigned i = 0; i < 8; ++i) {
        c[row * n + column + i] = Value(sum[i]);
      }
    }
  }
}

#if defined(__x86_64__)
// A fused multiplication gives the same result, since the products are exact.
[[gnu::target("avx2,fma")]] void accumulateAvx2(float *c, const float *a, const float *b, unsigned m, unsigned n,
                                                unsigned k) {
  accumulate<float, float>(c, a, b, m, n, k);
}
#endif

} // namespace

void multiplyAccumulate(float *c, const float *a, const float *b, unsigned m, unsigned n, unsigned k) {
#if defined(__x86_64__)
  static const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (hasAvx2) {
    accumulateAvx2(c, a, b, m, n, k);
    return;
  }
#endif
  accumulate<float, float>(c, a, b, m, n, k);
}

void multiplyAccumulate(int32_t *c, const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k) {
  accumulate<int32_t, uint32_t>(c, a, b, m, n, k);
}

} // namespace jitk::emulator
