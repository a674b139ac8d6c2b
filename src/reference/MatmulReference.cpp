#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <cmath>

namespace jitk::reference {

/// Right operand in rows of the contraction: [n][k], whatever its layout.
static std::vector<float> contractionRows(const std::vector<float> &b, int64_t n, int64_t k, bool columnMajor) {
  if (columnMajor) {
    return b;
  }
  std::vector<float> rows(b.size());
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      rows[size_t(j * k + i)] = b[size_t(i * n + j)];
    }
  }
  return rows;
}

std::vector<Expected> expectMatmul(const Description &description, const Sizes &sizes, const Operands &operands,
                                   uint64_t seed) {
  int64_t m = sizes["m"], n = sizes["n"], k = sizes["k"];
  std::vector<float> a = operands.decoded("a");
  std::vector<float> b = contractionRows(operands.decoded("b"), n, k, description.word("b_layout") == "col");
  const std::string &outType = description.word("out_dtype");

  Expected expected{"c", m, n, chooseRows(m, n * k, seed), {}, {}};
  expected.restIsFinite = true;
  for (int64_t row : expected.rows) {
    for (int64_t column = 0; column < n; ++column) {
      const float *left = &a[size_t(row * k)], *right = &b[size_t(column * k)];
      double sum = 0, magnitude = 0;
      for (int64_t i = 0; i < k; ++i) {
        double product = double(left[i]) * right[i];
        sum += product;
        magnitude += std::fabs(product);
      }
      expected.values.push_back(sum);
      // Each of k additions in fp32 rounds (tensor cores truncate: 2^-23) relative to a partial sum, which is at most
      // the sum of magnitudes; then the result is rounded once. 2^-24: half of fp16's least subnormal.
      expected.bounds.push_back(double(k) * 0x1p-23 * magnitude + unitRoundoff(outType) * std::fabs(sum) + 0x1p-24);
    }
  }
  return {std::move(expected)};
}

} // namespace jitk::reference
