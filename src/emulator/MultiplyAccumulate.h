// The arithmetic of the tensor cores: c += a * b over dense row-major arrays.

#pragma once

#include <cstdint>

namespace jitk::emulator {

/// c[m][n] += sum over k of a[m][k] * b[k][n]; m is even, n a multiple of 8. Products of the tensor cores' input types
/// are exact in float; they are added one at a time, in order of k.
void multiplyAccumulate(float *c, const float *a, const float *b, unsigned m, unsigned n, unsigned k);
void multiplyAccumulate(int32_t *c, const int32_t *a, const int32_t *b, unsigned m, unsigned n, unsigned k);

} // namespace jitk::emulator
