#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <cmath>
#include <numbers>

namespace jitk::reference {

/// An operand in rows of the contraction: [size][k], in which it lies already if `isKContiguous`.
static std::vector<float> contractionRows(const std::vector<float> &operand, int64_t size, int64_t k,
                                          bool isKContiguous) {
  if (isKContiguous) {
    return operand;
  }
  std::vector<float> rows(operand.size());
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      rows[size_t(j * k + i)] = operand[size_t(i * size + j)];
    }
  }
  return rows;
}

/// A value in float64, and how far from it what fp32 arithmetic makes of it may lie.
struct Bounded {
  double value, bound;
};

/// x sigmoid(s) for some s; `inexact` bounds the relative error of the exponent s as fp32 has it. ex2.approx and the
/// division err by 2^-22 of their results, additions and products by 2^-24. An error e of the exponent s changes the
/// sigmoid by a part of (1 - sigmoid) |s| e.
static Bounded timesSigmoid(Bounded x, double s, double inexact, double slope) {
  double sigmoid = 1 / (1 + std::exp(-s));
  double value = x.value * sigmoid;
  double relative = (1 - sigmoid) * std::fabs(s) * inexact + 0x1p-20;
  return {value, slope * x.bound + std::fabs(value) * relative};
}

static Bounded activate(const std::string &activation, Bounded x) {
  if (activation == "relu") {
    return {x.value < 0 ? 0 : x.value, x.bound};
  }
  // The slopes are at most 1.1 (silu) and 1.13 (gelu).
  if (activation == "silu") {
    return timesSigmoid(x, x.value, 0x1p-22, 1.1);
  }
  if (activation == "gelu_tanh") {
    double u = std::sqrt(2 / std::numbers::pi) * (x.value + 0.044715 * x.value * x.value * x.value);
    return timesSigmoid(x, 2 * u, 0x1p-20, 1.13);
  }
  return x;
}

std::vector<Expected> expectMatmul(const Description &description, const Sizes &sizes, const Operands &operands,
                                   uint64_t seed) {
  int64_t m = sizes["m"], n = sizes["n"], k = sizes["k"];
  std::vector<float> a = contractionRows(operands.decoded("a"), m, k, description.word("a_layout") == "row");
  std::vector<float> b = contractionRows(operands.decoded("b"), n, k, description.word("b_layout") == "col");
  const std::string &outType = description.word("out_dtype"), &activation = description.word("activation");
  std::vector<float> bias, addend;
  if (description.flag("bias")) {
    bias = operands.decoded("bias");
  }
  if (description.flag("residual") || description.flag("accumulate")) {
    addend = operands.decoded(description.flag("residual") ? "residual" : "c");
  }

  Expected expected{"c", m, n, chooseRows(m, n * k, seed), {}, {}};
  expected.restIsFinite = true;
  for (int64_t row : expected.rows) {
    for (int64_t column = 0; column < n; ++column) {
      const float *left = a.data() + row * k, *right = b.data() + column * k;
      double sum = 0, magnitude = 0;
      auto add = [&](double term) {
        sum += term;
        magnitude += std::fabs(term);
      };
      for (int64_t i = 0; i < k; ++i) {
        add(double(left[i]) * right[i]);
      }
      if (!bias.empty()) {
        add(bias[size_t(column)]);
      }
      if (!addend.empty()) {
        add(addend[size_t(row * n + column)]);
      }
      // Each of k + 2 additions in fp32 rounds (tensor cores truncate: 2^-23) relative to a partial sum, which is at
      // most the sum of magnitudes; then the result is rounded once. 2^-24: half of fp16's least subnormal.
      Bounded result = activate(activation, {sum, double(k + 2) * 0x1p-23 * magnitude});
      expected.values.push_back(result.value);
      expected.bounds.push_back(result.bound + unitRoundoff(outType) * std::fabs(result.value) + 0x1p-24);
    }
  }
  return {std::move(expected)};
}

} // namespace jitk::reference
