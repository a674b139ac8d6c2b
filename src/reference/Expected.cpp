#include "src/reference/Expected.h"

#include "src/reference/Parallel.h"

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

namespace {

/// What a comparison finds in some of the rows.
struct Findings {
  ErrorFigures figures;
  double squaresOfError = 0, squaresOfValue = 0;

  /// `message()` is asked for the first failure only.
  template <typename Message> void fail(const Message &message) {
    if (figures.failed++ == 0) {
      figures.firstFailure = message();
    }
  }
  /// Takes in those of rows after these.
  void add(const Findings &next) {
    figures.checked += next.figures.checked;
    figures.maxAbsolute = std::max(figures.maxAbsolute, next.figures.maxAbsolute);
    figures.maxOfBound = std::max(figures.maxOfBound, next.figures.maxOfBound);
    squaresOfError += next.squaresOfError;
    squaresOfValue += next.squaresOfValue;
    if (figures.failed == 0) {
      figures.firstFailure = next.figures.firstFailure;
    }
    figures.failed += next.figures.failed;
  }
};

} // namespace

/// Compares the expected elements from `first` to before `end`.
static Findings compareElements(const Expected &expected, size_t first, size_t end, const std::vector<float> &output,
                                const std::vector<float> &before) {
  Findings found;
  ErrorFigures &figures = found.figures;
  for (size_t i = first; i < end; ++i) {
    int64_t row = expected.rows[i / size_t(expected.rowSize)], column = int64_t(i) % expected.rowSize;
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
        found.squaresOfError += difference * difference;
        found.squaresOfValue += want * want;
      }
    }
    if (!agrees) {
      found.fail([&] { return describe(expected, row, column, got, want, bound); });
    }
  }
  return found;
}

/// Looks at the rows that are not expected.
static Findings checkRest(const Expected &expected, const std::vector<float> &output) {
  std::vector<bool> isExpected(static_cast<size_t>(expected.numRows));
  for (int64_t row : expected.rows) {
    isExpected[size_t(row)] = true;
  }
  Findings found;
  for (size_t at = 0; at < output.size(); ++at) {
    size_t row = at / size_t(expected.rowSize);
    if (!isExpected[row] && !std::isfinite(output[at])) {
      found.fail([&] {
        return expected.tensor + "[" + std::to_string(row) + "," + std::to_string(at % size_t(expected.rowSize)) +
               "]: got " + valueText(output[at]) + ", want a finite number";
      });
    }
  }
  return found;
}

ErrorFigures compare(const Expected &expected, const std::vector<float> &output, const std::vector<float> &before) {
  std::vector<Findings> ofBlocks((expected.values.size() + kBlockOfElements - 1) / kBlockOfElements);
  forEachBlock(expected.values.size(), [&](size_t block, size_t first, size_t end) {
    ofBlocks[block] = compareElements(expected, first, end, output, before);
  });
  Findings all;
  for (const Findings &ofBlock : ofBlocks) {
    all.add(ofBlock);
  }
  if (expected.restIsFinite && int64_t(expected.rows.size()) < expected.numRows) {
    all.add(checkRest(expected, output));
  }
  ErrorFigures &figures = all.figures;
  figures.tensor = expected.tensor;
  figures.rmsRatio = all.squaresOfValue > 0 ? std::sqrt(all.squaresOfError / all.squaresOfValue) : 0;
  constexpr double kNegligible = 1e-6;
  double largest = expected.largestRmsRatio;
  if (largest > 0 && figures.maxAbsolute > kNegligible && figures.rmsRatio >= largest) {
    all.fail([&] {
      return expected.tensor + ": RMS of the errors over RMS of the values: got " + std::to_string(figures.rmsRatio) +
             ", want less than " + std::to_string(largest);
    });
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
