// Layouts of tensor memory against the place of every element, typed in from the definition of the encoding.

#include "src/ir/layout/TensorMemoryLayouts.h"

#include <doctest/doctest.h>
#include <functional>

using namespace jitk::ir;

namespace {

using Place = std::pair<int32_t, int32_t>; ///< row, column

/// Checks that element (i, j) of the first CTA lies at `place(i, j)`.
void checkPlaces(const LinearLayout &layout, int rows, int cols, std::function<Place(int, int)> place) {
  CAPTURE(layout.toString());
  LinearLayout inverse = layout.pseudoinvert();
  bool isEqual = true;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      auto found = inverse.apply({{"dim0", i}, {"dim1", j}});
      isEqual &= Place(found[inverse.getOutDimIndex("row")], found[inverse.getOutDimIndex("col")]) == place(i, j);
    }
  }
  CHECK(isEqual);
}

} // namespace

TEST_SUITE("ir/TensorMemoryLayouts") {
  TEST_CASE("a block of 128 rows has a row of tensor memory each") {
    for (int stride : {1, 2, 4}) {
      checkPlaces(tensorMemoryLayout({128, 64}, {128, 64, unsigned(stride), 1, 1, false}), 128, 64,
                  [&](int i, int j) { return Place(i, j * stride); });
    }
  }

  TEST_CASE("more blocks follow along the columns, those below first") {
    checkPlaces(tensorMemoryLayout({256, 128}, {128, 64, 1, 1, 1, false}), 256, 128,
                [](int i, int j) { return Place(i % 128, j % 64 + 64 * (i / 128) + 128 * (j / 64)); });
  }

  TEST_CASE("a block of 64 rows takes half of the rows, and the next block the rest") {
    auto row = [](int i) { return i % 16 + 32 * (i / 16 % 4); };
    checkPlaces(tensorMemoryLayout({64, 32}, {64, 32, 1, 1, 1, false}), 64, 32,
                [&](int i, int j) { return Place(row(i), j); });
    checkPlaces(tensorMemoryLayout({128, 32}, {64, 32, 1, 1, 1, false}), 128, 32,
                [&](int i, int j) { return Place(row(i % 64) + 16 * (i / 64), j); });
    checkPlaces(tensorMemoryLayout({64, 64}, {64, 32, 2, 1, 1, false}), 64, 64,
                [&](int i, int j) { return Place(row(i) + 16 * (j / 32), j % 32 * 2); });
    checkPlaces(tensorMemoryLayout({128, 64}, {64, 32, 1, 1, 1, false}), 128, 64,
                [&](int i, int j) { return Place(row(i % 64) + 16 * (i / 64), j); });
  }

  TEST_CASE("two CTAs fold a block of 64 rows") {
    checkPlaces(tensorMemoryLayout({128, 64}, {64, 64, 1, 2, 1, true}), 64, 64,
                [](int i, int j) { return Place(i + 64 * (j / 32), j % 32); });
  }

  TEST_CASE("the CTAs of a cluster have a piece each") {
    LinearLayout layout = tensorMemoryLayout({256, 128}, {128, 64, 1, 2, 2, false});
    CHECK(layout.apply({{"block", 1}}) == LinearLayout::Basis{128, 0});
    CHECK(layout.apply({{"block", 2}}) == LinearLayout::Basis{0, 64});
    CHECK(layout.getInDimSize("col") == 64);
  }

  TEST_CASE("scales are the same for every group of warps") {
    LinearLayout layout = tensorMemoryScalesLayout({128, 8}, 1, 1);
    for (int group = 0; group < 4; ++group) {
      for (int row = 0; row < 32; ++row) {
        for (int col = 0; col < 32; ++col) {
          CHECK(layout.apply({{"row", row + 32 * group}, {"col", col}}) ==
                LinearLayout::Basis{row + 32 * (col / 4 % 4), col % 4 + 4 * (col / 16)});
        }
      }
    }
  }
}
