// What an op must give: for each output element the exact value, and how far a correct implementation may be from it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jitk::reference {

/// The expectation for one output tensor. Rows outside of `rows` are not computed: large problems are sampled.
struct Expected {
  std::string tensor;
  int64_t numRows = 0, rowSize = 0; ///< the tensor as a matrix: its leading dimensions, its last
  std::vector<int64_t> rows;        ///< the rows computed, ascending
  std::vector<double> values;       ///< rows.size() * rowSize, float64
  std::vector<double> bounds;       ///< the same: largest error allowed; -1 = the element must keep its bytes
  /// Where errors are a random walk: RMS of the errors over RMS of the values may not be larger, unless no error is
  /// above 1e-6. 0 = the bounds say all.
  double largestRmsRatio = 0;
  /// Elements of rows that are not computed must be finite; what lay there before is not, so that they were written.
  bool restIsFinite = false;
  int64_t numUndefined = 0; ///< rows that have no value, and are none of those computed

  /// Whether rows that have a value are not computed.
  bool isSample() const { return int64_t(rows.size()) + numUndefined < numRows; }
};

/// Differences of an output from what is expected.
struct ErrorFigures {
  std::string tensor;
  int64_t checked = 0, failed = 0;
  double maxAbsolute = 0;   ///< largest |difference|
  double rmsRatio = 0;      ///< RMS of the differences over RMS of the values
  double maxOfBound = 0;    ///< largest |difference| / bound: above 1 the output is wrong
  std::string firstFailure; ///< "o[3,17]: got 1.5, want 1.25 within 0.01"; empty if none
};

/// Compares an output (decoded, all rows) with what is expected. Equal infinities agree; NaN agrees with nothing. Where
/// the element must keep its bytes it must equal `before`.
ErrorFigures compare(const Expected &expected, const std::vector<float> &output, const std::vector<float> &before);

/// The rows of an output to compute: all, or, where all would cost more than `budget` multiplications, the first, the
/// last and others drawn with `seed`.
std::vector<int64_t> chooseRows(int64_t numRows, int64_t costOfRow, uint64_t seed, int64_t budget = int64_t(1) << 31);

} // namespace jitk::reference
