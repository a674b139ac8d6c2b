// Each layout of shared memory against the address of every element, typed in from the definition of its encoding.

#include "src/ir/layout/SharedLayouts.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>
#include <functional>

using namespace jitk::ir;

namespace {

using Shape = llvm::SmallVector<int64_t>;

LinearLayout oneCta(unsigned rank) { return clusterLayout(rank, {}); }

/// Checks that each element lies at `address(coordinates)`, in both directions of the layout.
void checkAddresses(const LinearLayout &layout, const Shape &shape,
                    std::function<int64_t(llvm::ArrayRef<int64_t>)> address) {
  CAPTURE(layout.toString());
  LinearLayout inverse = layout.pseudoinvert();
  bool isEqual = true;
  Shape at(shape.size(), 0);
  int64_t total = 1;
  for (int64_t size : shape) {
    total *= size;
  }
  for (int64_t n = 0; n < total; ++n) {
    int64_t rest = n;
    llvm::SmallVector<LinearLayout::Index> index;
    LinearLayout::Basis expected;
    for (int dim = shape.size() - 1; dim >= 0; --dim) {
      at[dim] = rest % shape[dim];
      rest /= shape[dim];
      index.push_back({dimName(dim), int32_t(at[dim])});
    }
    expected.assign(at.begin(), at.end());
    int64_t offset = address(at);
    isEqual &= inverse.apply(index)[0] == offset && layout.apply({{"offset", int32_t(offset)}}) == expected;
  }
  CHECK(isEqual);
}

/// The definition: within each 8-row atom of 8 * S bytes, 16-byte chunk j of row r is stored at chunk j ^ phase(r).
int64_t swizzleBytes(int64_t byte, unsigned width) {
  unsigned chunks = width / 16;
  return width == 0 ? byte : byte ^ (byte / 128 % 8 % chunks * 16);
}

/// The byte-free address of (row, col) among panels of 64 rows or less: panel after panel, row after row.
int64_t nvmmaAddress(int64_t row, int64_t col, int64_t numRows, int64_t numCols, unsigned width, unsigned bits) {
  int64_t panelCols = width == 0 ? std::min<int64_t>(numCols, 256) : 8 * width / bits;
  int64_t panel = col / panelCols;
  int64_t byte = ((panel * numRows + row) * panelCols + col % panelCols) * bits / 8;
  return swizzleBytes(byte, width) * 8 / bits;
}

} // namespace

TEST_SUITE("ir/SharedLayouts") {
  TEST_CASE("a swizzled row has its vectors permuted by its phase") {
    for (auto [rows, cols, vec, perPhase, maxPhase] : std::vector<std::array<int64_t, 5>>{{64, 64, 8, 1, 8},
                                                                                          {128, 32, 8, 2, 4},
                                                                                          {32, 16, 8, 4, 2},
                                                                                          {32, 128, 4, 1, 8},
                                                                                          {16, 64, 1, 1, 1},
                                                                                          {32, 8, 4, 1, 8},
                                                                                          {8, 256, 16, 1, 8}}) {
      unsigned rowMajor[] = {1, 0}, colMajor[] = {0, 1};
      auto at = [=](int64_t row, int64_t col) {
        return row * cols + (col ^ (vec * (row / perPhase % maxPhase) % cols));
      };
      unsigned v = vec, p = perPhase, m = maxPhase;
      checkAddresses(swizzledSharedLayout({rows, cols}, {v, p, m, rowMajor}, oneCta(2)), {rows, cols},
                     [&](auto i) { return at(i[0], i[1]); });
      checkAddresses(swizzledSharedLayout({cols, rows}, {v, p, m, colMajor}, oneCta(2)), {cols, rows},
                     [&](auto i) { return at(i[1], i[0]); });
    }
  }

  TEST_CASE("a swizzled buffer of rank 1 or 3 is plain in the dimensions beyond the matrix") {
    checkAddresses(swizzledSharedLayout({64}, {1, 1, 1, {0}}, oneCta(1)), {64}, [](auto i) { return i[0]; });
    unsigned order[] = {2, 1, 0};
    checkAddresses(swizzledSharedLayout({4, 16, 32}, {8, 2, 4, order}, oneCta(3)), {4, 16, 32},
                   [](auto i) { return i[0] * 512 + i[1] * 32 + (i[2] ^ (i[1] / 2 % 4 * 8)); });
  }

  TEST_CASE("an nvmma buffer is panels of swizzled rows") {
    for (unsigned width : {0u, 32u, 64u, 128u}) {
      for (unsigned bits : {8u, 16u, 32u}) {
        for (auto [rows, cols] :
             std::vector<std::array<int64_t, 2>>{{8, 128}, {64, 128}, {128, 256}, {256, 128}, {16, 512}}) {
          CAPTURE(width);
          CAPTURE(bits);
          CAPTURE(rows);
          CAPTURE(cols);
          int64_t r = rows, c = cols;
          checkAddresses(nvmmaSharedLayout({r, c}, {width, false, bits, false}, oneCta(2)), {r, c},
                         [&](auto i) { return nvmmaAddress(i[0], i[1], r, c, width, bits); });
          checkAddresses(nvmmaSharedLayout({c, r}, {width, true, bits, false}, oneCta(2)), {c, r},
                         [&](auto i) { return nvmmaAddress(i[1], i[0], r, c, width, bits); });
        }
      }
    }
  }

  TEST_CASE("more rows than a box come in more boxes, before the next columns") {
    checkAddresses(nvmmaSharedLayout({512, 128}, {128, false, 16, false}, oneCta(2)), {512, 128}, [](auto i) {
      int64_t byte = ((i[1] / 64 * 512 + i[0]) * 64 + i[1] % 64) * 2;
      return swizzleBytes(byte, 128) / 2;
    });
    CHECK(tmaBoxShape({512, 128}, {128, false, 16, false}) == Shape{256, 64});
    CHECK(tmaBoxShape({128, 512}, {0, false, 16, false}) == Shape{128, 256});
    CHECK(tmaBoxShape({128, 512}, {64, true, 16, false}) == Shape{32, 256});
    CHECK(tmaBoxShape({2, 64, 64}, {128, false, 32, false}) == Shape{2, 64, 32});
    CHECK(tmaBoxShape({128, 128}, {128, false, 8, true}) == Shape{128, 64});
  }

  TEST_CASE("the outer dimensions of rank 3 are one") {
    for (unsigned width : {0u, 32u, 128u}) {
      checkAddresses(nvmmaSharedLayout({2, 32, 64}, {width, false, 16, false}, oneCta(3)), {2, 32, 64},
                     [&](auto i) { return nvmmaAddress(i[0] * 32 + i[1], i[2], 64, 64, width, 16); });
      // Transposed: the first dimension is contiguous.
      checkAddresses(nvmmaSharedLayout({64, 2, 32}, {width, true, 16, false}, oneCta(3)), {64, 2, 32},
                     [&](auto i) { return nvmmaAddress(i[1] * 32 + i[2], i[0], 64, 64, width, 16); });
    }
    checkAddresses(nvmmaSharedLayout({128}, {0, false, 16, false}, oneCta(1)), {128}, [](auto i) { return i[0]; });
  }

  TEST_CASE("packed fp4 takes the first half of every 16 bytes") {
    LinearLayout layout = nvmmaSharedLayout({64, 128}, {128, false, 8, true}, oneCta(2));
    CHECK(layout.getInDimSize("offset") == 2 * 64 * 128);
    LinearLayout inverse = layout.pseudoinvert();
    bool isEqual = true;
    for (int32_t row = 0; row < 64; ++row) {
      for (int32_t col = 0; col < 128; ++col) {
        int64_t inPanel = col % 64 / 8 * 16 + col % 8;
        int64_t byte = swizzleBytes((col / 64 * 64 + row) * 128 + inPanel, 128);
        isEqual &= inverse.apply({{"dim0", row}, {"dim1", col}})[0] == byte;
      }
    }
    CHECK(isEqual);
  }

  TEST_CASE("a box smaller than the swizzle's atom keeps the addresses of the atom") {
    LinearLayout layout = nvmmaSharedLayout({4, 64}, {128, false, 16, false}, oneCta(2));
    LinearLayout inverse = layout.pseudoinvert();
    for (int32_t row = 0; row < 4; ++row) {
      for (int32_t col = 0; col < 64; ++col) {
        CHECK(inverse.apply({{"dim0", row}, {"dim1", col}})[0] == swizzleBytes(row * 128 + col * 2, 128) / 2);
      }
    }
  }

  TEST_CASE("CTAs have a piece each") {
    LinearLayout whole = nvmmaSharedLayout({128, 64}, {128, false, 16, false}, oneCta(2));
    LinearLayout split = nvmmaSharedLayout({128, 128}, {128, false, 16, false}, clusterLayout(2, {0, 1}));
    for (int32_t offset = 0; offset < 128 * 64; offset += 37) {
      auto at = whole.apply({{"offset", offset}});
      CHECK(split.apply({{"offset", offset}, {"block", 1}}) == LinearLayout::Basis{at[0], at[1] + 64});
    }
  }
}
