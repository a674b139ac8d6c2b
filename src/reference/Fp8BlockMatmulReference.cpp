#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <cmath>

namespace jitk::reference {

static constexpr int64_t kBlock = 128;

namespace {
struct Fp8Operands {
  int64_t n, k, blocks;
  std::vector<float> a, b, scaleA, scaleB;

  Fp8Operands(const Sizes &sizes, const Operands &operands)
      : n(sizes["n"]), k(sizes["k"]), blocks((k + kBlock - 1) / kBlock), a(operands.decoded("a")),
        b(operands.decoded("b")), scaleA(operands.decoded("a_scale")), scaleB(operands.decoded("b_scale")) {}

  /// Of row `row` of A by row `column` of B number `group`.
  double product(int64_t row, int64_t group, int64_t column) const {
    const float *left = &a[size_t(row * k)], *right = &b[size_t((group * n + column) * k)];
    int64_t blocksOfN = (n + kBlock - 1) / kBlock, scaleOfB = (group * blocksOfN + column / kBlock) * blocks;
    double sum = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      double partial = 0;
      for (int64_t i = block * kBlock; i < std::min(k, (block + 1) * kBlock); ++i) {
        partial += double(left[i]) * right[i];
      }
      sum += partial * scaleA[size_t(row * blocks + block)] * scaleB[size_t(scaleOfB + block)];
    }
    return sum;
  }
};
} // namespace

/// Against the exact product of the dequantised operands: 2^-8 of the output's RMS, the size of one bf16 rounding of a
/// typical element, covers the fp8 tensor cores' short accumulator (about 14 bits over 128 products); then the result
/// is rounded once.
static void setBounds(const Description &description, Expected &expected) {
  double squares = 0;
  for (double value : expected.values) {
    squares += value * value;
  }
  double rms = std::sqrt(squares / double(std::max<size_t>(1, expected.values.size())));
  double roundoff = unitRoundoff(description.word("out_dtype"));
  for (double value : expected.values) {
    expected.bounds.push_back(0x1p-8 * rms + roundoff * std::fabs(value));
  }
}

std::vector<Expected> expectFp8BlockMatmul(const Description &description, const Sizes &sizes, const Operands &operands,
                                           uint64_t seed) {
  Fp8Operands problem(sizes, operands);
  int64_t m = sizes["m"];
  Expected expected{"c", m, problem.n, chooseRows(m, problem.n * problem.k, seed), {}, {}};
  for (int64_t row : expected.rows) {
    for (int64_t column = 0; column < problem.n; ++column) {
      expected.values.push_back(problem.product(row, 0, column));
    }
  }
  setBounds(description, expected);
  return {std::move(expected)};
}

/// The group of each row of C; -1 where the row is undefined.
static std::vector<int32_t> groupsOfRows(const Description &description, int64_t groups, int64_t m,
                                         const Operands &operands) {
  if (!description.flag("masked")) {
    return operands.integers("row_group");
  }
  std::vector<int32_t> valid = operands.integers("valid_rows"), result;
  for (int64_t row = 0; row < groups * m; ++row) {
    result.push_back(row % m < valid[size_t(row / m)] ? int32_t(row / m) : -1);
  }
  return result;
}

std::vector<Expected> expectGroupedFp8BlockMatmul(const Description &description, const Sizes &sizes,
                                                  const Operands &operands, uint64_t seed) {
  Fp8Operands problem(sizes, operands);
  std::vector<int32_t> groups = groupsOfRows(description, sizes["groups"], sizes["m"], operands);
  Expected expected{"c", int64_t(groups.size()), problem.n, {}, {}, {}};
  for (int64_t row : chooseRows(expected.numRows, problem.n * problem.k, seed)) {
    int32_t group = groups[size_t(row)];
    if (group < 0) {
      continue;
    }
    expected.rows.push_back(row);
    for (int64_t column = 0; column < problem.n; ++column) {
      expected.values.push_back(problem.product(row, group, column));
    }
  }
  setBounds(description, expected);
  return {std::move(expected)};
}

} // namespace jitk::reference
