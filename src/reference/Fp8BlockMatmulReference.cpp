#include "src/reference/Numeric.h"
#include "src/reference/Parallel.h"
#include "src/reference/References.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace jitk::reference {

static constexpr int64_t kBlock = 128;

namespace {

/// The values of e4m3 by their bits.
struct E4m3Values {
  std::array<float, 256> of;

  E4m3Values() {
    for (size_t bits = 0; bits < of.size(); ++bits) {
      of[bits] = decodeE4m3(uint8_t(bits));
    }
  }
};

/// The operands; A and B as they are, four times smaller than as floats.
struct Fp8Operands {
  int64_t m, n, k, blocks;
  bool hasColumnScales; ///< of A
  const std::vector<uint8_t> &a, &b;
  std::vector<float> scaleA, scaleB;
  E4m3Values values;

  Fp8Operands(const Description &description, const Sizes &sizes, const Operands &operands)
      : m(sizes["m"]), n(sizes["n"]), k(sizes["k"]), blocks((k + kBlock - 1) / kBlock),
        hasColumnScales(description.word("a_scale_layout") == "col"), a(operands.tensor("a").bytes),
        b(operands.tensor("b").bytes), scaleA(operands.decoded("a_scale")), scaleB(operands.decoded("b_scale")) {}

  /// Row `row` of C, whose group is `group`.
  void multiply(int64_t row, int64_t group, double *results) const {
    std::vector<double> left;
    for (int64_t i = 0; i < k; ++i) {
      left.push_back(values.of[a[size_t(row * k + i)]]);
    }
    for (int64_t column = 0; column < n; ++column) {
      results[column] = product(left, row, group, column);
    }
  }

private:
  /// Where the scale of a block of row `row` of A lies; rows of all groups are counted.
  size_t scaleIndex(int64_t row, int64_t block) const {
    return size_t(hasColumnScales ? (row / m * blocks + block) * m + row % m : row * blocks + block);
  }
  /// Of row `row` of A by row `column` of B number `group`.
  double product(const std::vector<double> &left, int64_t row, int64_t group, int64_t column) const {
    const uint8_t *right = b.data() + (group * n + column) * k;
    int64_t blocksOfN = (n + kBlock - 1) / kBlock, scaleOfB = (group * blocksOfN + column / kBlock) * blocks;
    double sum = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      double partial = 0;
      for (int64_t i = block * kBlock; i < std::min(k, (block + 1) * kBlock); ++i) {
        partial += left[size_t(i)] * values.of[right[i]];
      }
      sum += partial * scaleA[scaleIndex(row, block)] * scaleB[size_t(scaleOfB + block)];
    }
    return sum;
  }
};

} // namespace

/// Fills in the values of the expected rows; `groupOf(row)` is the group of one.
template <typename GroupOf>
static void multiplyRows(const Fp8Operands &problem, const GroupOf &groupOf, Expected &expected) {
  auto n = size_t(problem.n);
  expected.values.resize(expected.rows.size() * n);
  onAllCores(expected.rows.size(), [&](size_t i) {
    int64_t row = expected.rows[i];
    problem.multiply(row, groupOf(row), expected.values.data() + i * n);
  });
}

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
  Fp8Operands problem(description, sizes, operands);
  int64_t m = sizes["m"];
  Expected expected{"c", m, problem.n, chooseRows(m, problem.n * problem.k, seed), {}, {}};
  multiplyRows(problem, [](int64_t) { return int64_t(0); }, expected);
  setBounds(description, expected);
  return {std::move(expected)};
}

/// The group of each row of C; -1 where the row is undefined.
static std::vector<int32_t> groupsOfRows(const Description &description, int64_t groups, int64_t m,
                                         const Operands &operands) {
  if (!description.flag("masked")) {
    std::vector<int32_t> named = operands.integers("row_group");
    std::ranges::replace_if(named, [groups](int32_t group) { return group >= groups; }, -1);
    return named;
  }
  std::vector<int32_t> valid = operands.integers("valid_rows"), result;
  for (int64_t row = 0; row < groups * m; ++row) {
    result.push_back(row % m < valid[size_t(row / m)] ? int32_t(row / m) : -1);
  }
  return result;
}

std::vector<Expected> expectGroupedFp8BlockMatmul(const Description &description, const Sizes &sizes,
                                                  const Operands &operands, uint64_t seed) {
  Fp8Operands problem(description, sizes, operands);
  std::vector<int32_t> groups = groupsOfRows(description, sizes["groups"], sizes["m"], operands);
  Expected expected{"c", int64_t(groups.size()), problem.n, {}, {}, {}};
  expected.numUndefined = std::ranges::count_if(groups, [](int32_t group) { return group < 0; });
  for (int64_t row : chooseRows(expected.numRows, problem.n * problem.k, seed)) {
    if (groups[size_t(row)] >= 0) {
      expected.rows.push_back(row);
    }
  }
  multiplyRows(problem, [&](int64_t row) { return int64_t(groups[size_t(row)]); }, expected);
  setBounds(description, expected);
  return {std::move(expected)};
}

} // namespace jitk::reference
