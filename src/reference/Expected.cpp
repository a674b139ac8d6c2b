#include "src/reference/Expected.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

namespace jitk::reference {

static std::string valueText(double value) { return std::isnan(value) ? "NaN" : std::to_string(value); }

static std::string describe(const Expected &expected, int64_t row, int64_t column, float got, double want,
                            double bound) {
  return expected.tensor + "[" + std::to_string(row) + "," + std::to_string(column) + "]: got " + valueText(got) +
         ", want " + valueText(want) + (bound < 0 ? " untouched" : " within " + std::to_string(bound));
}

ErrorFigures compare(const Expected &expected, const std::vector<float> &output, const std::vector<float> &before) {
  ErrorFigures figures;
  figures.tensor = expected.tensor;
  double squaresOfError = 0, squaresOfValue = 0;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    int64_t row = expected.rows[i / expected.rowSize], column = int64_t(i) % expected.rowSize;
    size_t at = size_t(row * expected.rowSize + column);
    double want = expected.values[i], bound = expected.bounds[i];
    float got = output[at];
    ++figures.checked;
    bool agrees;
    if (bound < 0) {
      want = before[at];
      agrees = std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(before[at]);
    } else if (std::isinf(want)) {
      agrees = double(got) == want;
    } else {
      double difference = std::fabs(double(got) - want);
      agrees = difference <= bound; // false for NaN
      if (std::isfinite(difference)) {
        figures.maxAbsolute = std::max(figures.maxAbsolute, difference);
        figures.maxOfBound = std::max(figures.maxOfBound, bound > 0 ? difference / bound : difference > 0 ? 2 : 0);
        squaresOfError += difference * difference;
        squaresOfValue += want * want;
      }
    }
    if (!agrees && figures.failed++ == 0) {
      figures.firstFailure = describe(expected, row, column, got, want, bound);
    }
  }
  figures.rmsRatio = squaresOfValue > 0 ? std::sqrt(squaresOfError / squaresOfValue) : 0;
  constexpr double kNegligible = 1e-6;
  double largest = expected.largestRmsRatio;
  if (largest > 0 && figures.maxAbsolute > kNegligible && figures.rmsRatio >= largest && figures.failed++ == 0) {
    figures.firstFailure = expected.tensor + ": RMS of the errors over RMS of the values: got " +
                           std::to_string(figures.rmsRatio) + ", want less than " + std::to_string(largest);
  }
  return figures;
}

std::vector<int64_t> chooseRows(int64_t numRows, int64_t costOfRow, uint64_t seed, int64_t budget) {
  std::vector<int64_t> all(size_t(std::max<int64_t>(numRows, 0)));
  std::iota(all.begin(), all.end(), int64_t(0));
  int64_t affordable = std::max<int64_t>(16, budget / std::max<int64_t>(1, costOfRow));
  if (numRows <= affordable) {
    return all;
  }
  std::set<int64_t> chosen = {0, numRows - 1};
  std::mt19937_64 random(seed);
  while (int64_t(chosen.size()) < affordable) {
    chosen.insert(int64_t(random() % uint64_t(numRows)));
  }
  return {chosen.begin(), chosen.end()};
}

} // namespace jitk::reference
