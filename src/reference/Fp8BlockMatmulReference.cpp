#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <cmath>

namespace jitk::reference {

static constexpr int64_t kBlock = 128;

std::vector<Expected> expectFp8BlockMatmul(const Description &description, const Sizes &sizes, const Operands &operands,
                                           uint64_t seed) {
  int64_t m = sizes["m"], n = sizes["n"], k = sizes["k"], blocks = (k + kBlock - 1) / kBlock;
  std::vector<float> a = operands.decoded("a"), b = operands.decoded("b");
  std::vector<float> scaleA = operands.decoded("a_scale"), scaleB = operands.decoded("b_scale");

  Expected expected{"c", m, n, chooseRows(m, n * k, seed), {}, {}};
  expected.restIsFinite = true;
  double squares = 0;
  for (int64_t row : expected.rows) {
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int64_t block = 0; block < blocks; ++block) {
        double partial = 0;
        for (int64_t i = block * kBlock; i < std::min(k, (block + 1) * kBlock); ++i) {
          partial += double(a[size_t(row * k + i)]) * b[size_t(column * k + i)];
        }
        sum += partial * scaleA[size_t(row * blocks + block)] * scaleB[size_t(column / kBlock * blocks + block)];
      }
      expected.values.push_back(sum);
      squares += sum * sum;
    }
  }
  // Against the exact product of the dequantised operands: 2^-8 of the output's RMS, the size of one bf16 rounding of a
  // typical element, covers the fp8 tensor cores' short accumulator (about 14 bits over 128 products); then the result
  // is rounded once.
  double rms = std::sqrt(squares / double(std::max<size_t>(1, expected.values.size())));
  double roundoff = unitRoundoff(description.word("out_dtype"));
  for (double value : expected.values) {
    expected.bounds.push_back(0x1p-8 * rms + roundoff * std::fabs(value));
  }
  return {std::move(expected)};
}

} // namespace jitk::reference
