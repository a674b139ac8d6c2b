// Each layout against a formula for the coordinates of (register, lane, warp), typed in from the definition of its
// encoding.

#include "src/ir/layout/DistributedLayouts.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>
#include <functional>

using namespace jitk::ir;

namespace {

using Shape = std::vector<int64_t>;
using Sizes = std::vector<unsigned>;
using Coordinate = LinearLayout::Basis;

LinearLayout oneCta(unsigned rank) { return clusterLayout(rank, {}); }

/// Checks every (register, lane, warp) of one CTA against `formula`.
void checkAll(const LinearLayout &layout, std::function<Coordinate(int, int, int)> formula) {
  CAPTURE(layout.toString());
  bool isEqual = true;
  for (int reg = 0; reg < layout.getInDimSize("register"); ++reg) {
    for (int lane = 0; lane < layout.getInDimSize("lane"); ++lane) {
      for (int warp = 0; warp < layout.getInDimSize("warp"); ++warp) {
        isEqual &= layout.apply({{"register", reg}, {"lane", lane}, {"warp", warp}}) == formula(reg, lane, warp);
      }
    }
  }
  CHECK(isEqual);
}

/// The coordinates of number `n` in a grid of `sizes`, counted in `order`.
Coordinate unravel(int n, const Sizes &sizes, const Sizes &order) {
  Coordinate at(sizes.size(), 0);
  for (unsigned dim : order) {
    at[dim] = n % sizes[dim];
    n /= sizes[dim];
  }
  return at;
}

int product(const Sizes &sizes) {
  int result = 1;
  for (unsigned size : sizes) {
    result *= size;
  }
  return result;
}

/// The blocked encoding's definition: tiles of a thread, in a grid of lanes, in a grid of warps, repeated over the
/// tensor; what reaches beyond the tensor wraps around.
Coordinate blockedAt(const Shape &shape, const BlockedParameters &b, int reg, int lane, int warp) {
  Sizes perThread(b.sizePerThread), lanes(b.threadsPerWarp), warps(b.warpsPerCta), order(b.order), repeats;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    repeats.push_back(std::max<int64_t>(shape[dim] / (perThread[dim] * lanes[dim] * warps[dim]), 1));
  }
  Coordinate in = unravel(reg % product(perThread), perThread, order), l = unravel(lane, lanes, order),
             w = unravel(warp, warps, order), repeat = unravel(reg / product(perThread), repeats, order);
  Coordinate at;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int tile = perThread[dim] * lanes[dim] * warps[dim];
    at.push_back((in[dim] + perThread[dim] * (l[dim] + lanes[dim] * w[dim]) + tile * repeat[dim]) % shape[dim]);
  }
  return at;
}

} // namespace

TEST_SUITE("ir/DistributedLayouts") {
  TEST_CASE("a blocked layout deals tiles to lanes and warps in order") {
    struct Case {
      Shape shape;
      Sizes perThread, lanes, warps, order;
    };
    for (const Case &c : std::vector<Case>{
             {{128}, {4}, {32}, {1}, {0}},
             {{1024}, {2}, {32}, {4}, {0}},
             {{16}, {4}, {32}, {4}, {0}},
             {{128, 64}, {1, 8}, {4, 8}, {4, 1}, {1, 0}},
             {{64, 128}, {8, 1}, {16, 2}, {1, 4}, {0, 1}},
             {{128, 128}, {2, 4}, {8, 4}, {2, 2}, {1, 0}},
             {{16, 16}, {1, 4}, {8, 4}, {4, 1}, {1, 0}},
             {{1, 256}, {1, 8}, {1, 32}, {4, 1}, {1, 0}},
             {{256, 4}, {1, 8}, {4, 8}, {1, 8}, {1, 0}},
             {{4, 32, 32}, {1, 2, 2}, {1, 4, 8}, {2, 2, 1}, {2, 1, 0}},
             {{8, 16, 64}, {2, 1, 4}, {2, 4, 4}, {1, 1, 4}, {0, 2, 1}},
         }) {
      BlockedParameters blocked{c.perThread, c.lanes, c.warps, c.order};
      LinearLayout layout = blockedLayout(c.shape, blocked, oneCta(c.shape.size()));
      CHECK(layout.getInDimNames() == LinearLayout::Names{"register", "lane", "warp", "block"});
      CHECK(layout.isSurjective());
      checkAll(layout, [&](int reg, int lane, int warp) { return blockedAt(c.shape, blocked, reg, lane, warp); });
    }
  }

  TEST_CASE("the CTAs of a cluster split or share a tensor") {
    Sizes perThread{1, 8}, lanes{4, 8}, warps{4, 1}, order{1, 0};
    BlockedParameters blocked{perThread, lanes, warps, order};
    LinearLayout whole = blockedLayout({128, 64}, blocked, oneCta(2));
    LinearLayout split = blockedLayout({128, 128}, blocked, clusterLayout(2, {0, 1}));
    LinearLayout shared = blockedLayout({128, 64}, blocked, clusterLayout(2, {0, 0}));
    LinearLayout both = blockedLayout({256, 128}, blocked, clusterLayout(2, {1, 0, 0, 1}));
    for (int reg = 0; reg < whole.getInDimSize("register"); ++reg) {
      for (int block = 0; block < 2; ++block) {
        auto at = whole.apply({{"register", reg}, {"lane", 13}, {"warp", 2}});
        CHECK(split.apply({{"register", reg}, {"lane", 13}, {"warp", 2}, {"block", block}}) ==
              Coordinate{at[0], at[1] + 64 * block});
        CHECK(shared.apply({{"register", reg}, {"lane", 13}, {"warp", 2}, {"block", block}}) == at);
        CHECK(both.apply({{"register", reg}, {"lane", 13}, {"warp", 2}, {"block", 2 + block}}) ==
              Coordinate{at[0] + 128 * block, at[1] + 64});
      }
    }
  }

  TEST_CASE("an accumulator of mma.sync has pairs of columns and rows eight apart") {
    for (auto [rows, cols, warpsM, warpsN] : std::vector<std::array<int, 4>>{
             {16, 8, 1, 1}, {64, 64, 2, 2}, {128, 32, 4, 1}, {32, 128, 1, 4}, {16, 8, 2, 2}}) {
      Sizes warps{unsigned(warpsM), unsigned(warpsN)};
      LinearLayout layout = mmaLayout({rows, cols}, {2, warps, 16, 8}, oneCta(2));
      int repeatsN = std::max(cols / (8 * warpsN), 1);
      checkAll(layout, [&, rows = rows, cols = cols, warpsM = warpsM, warpsN = warpsN](int reg, int lane, int warp) {
        int row = lane / 4 + 8 * (reg / 2 % 2) + 16 * (warp / warpsN) + 16 * warpsM * (reg / 4 / repeatsN);
        int col = 2 * (lane % 4) + reg % 2 + 8 * (warp % warpsN) + 8 * warpsN * (reg / 4 % repeatsN);
        return Coordinate{row % rows, col % cols};
      });
    }
  }

  TEST_CASE("an accumulator of wgmma gives a warp 16 rows of n columns") {
    for (auto [rows, cols, n, warpsM, warpsN] : std::vector<std::array<int, 5>>{{64, 64, 64, 4, 1},
                                                                                {128, 128, 128, 4, 1},
                                                                                {128, 256, 256, 8, 1},
                                                                                {128, 128, 64, 4, 2},
                                                                                {64, 16, 8, 4, 1}}) {
      Sizes warps{unsigned(warpsM), unsigned(warpsN)};
      LinearLayout layout = mmaLayout({rows, cols}, {3, warps, 16, unsigned(n)}, oneCta(2));
      int perTile = n / 2, repeatsN = std::max(cols / (n * warpsN), 1);
      checkAll(
          layout, [&, rows = rows, cols = cols, n = n, warpsM = warpsM, warpsN = warpsN](int reg, int lane, int warp) {
            int in = reg % perTile, repeat = reg / perTile;
            int row = lane / 4 + 8 * (in / 2 % 2) + 16 * (warp % warpsM) + 16 * warpsM * (repeat / repeatsN);
            int col = 2 * (lane % 4) + in % 2 + 8 * (in / 4) + n * (warp / warpsM) + n * warpsN * (repeat % repeatsN);
            return Coordinate{row % rows, col % cols};
          });
    }
  }

  TEST_CASE("a batch of accumulators goes to warps by batch") {
    Sizes warps{2, 2, 1};
    LinearLayout layout = mmaLayout({4, 32, 16}, {2, warps, 16, 8}, oneCta(3));
    checkAll(layout, [&](int reg, int lane, int warp) {
      return Coordinate{warp / 2 + 2 * (reg / 8), lane / 4 + 8 * (reg / 2 % 2) + 16 * (warp % 2),
                        2 * (lane % 4) + reg % 2 + 8 * (reg / 4 % 2)};
    });
  }

  TEST_CASE("operand A of a tensor-core dot has kWidth elements along K, copied over the warps of N") {
    for (auto [rows, depth, kWidth, warpsM, warpsN] : std::vector<std::array<int, 5>>{
             {16, 16, 2, 1, 1}, {64, 32, 2, 2, 2}, {64, 32, 4, 4, 1}, {32, 64, 1, 1, 4}, {128, 64, 8, 2, 4}}) {
      for (unsigned version : {2u, 3u}) {
        Sizes warps{unsigned(warpsM), unsigned(warpsN)};
        LinearLayout layout = mmaOperandLayout({rows, depth}, {version, warps, 16, 8}, 0, kWidth, oneCta(2));
        int repeatsK = depth / (8 * kWidth);
        checkAll(layout, [&, rows = rows, w = kWidth, warpsM = warpsM, warpsN = warpsN](int reg, int lane, int warp) {
          int in = reg % (4 * w), repeat = reg / (4 * w);
          int warpM = version == 2 ? warp / warpsN : warp % warpsM;
          int row = lane / 4 + 8 * (in / w % 2) + 16 * warpM + 16 * warpsM * (repeat / repeatsK);
          int k = in % w + w * (lane % 4) + 4 * w * (in / w / 2) + 8 * w * (repeat % repeatsK);
          return Coordinate{row % rows, k};
        });
      }
    }
  }

  TEST_CASE("operand B of a tensor-core dot has kWidth elements along K, copied over the warps of M") {
    for (auto [depth, cols, kWidth, warpsM, warpsN] :
         std::vector<std::array<int, 5>>{{16, 8, 2, 1, 1}, {32, 64, 2, 2, 2}, {64, 32, 4, 4, 1}, {64, 64, 1, 1, 4}}) {
      Sizes warps{unsigned(warpsM), unsigned(warpsN)};
      LinearLayout layout = mmaOperandLayout({depth, cols}, {2, warps, 16, 8}, 1, kWidth, oneCta(2));
      int repeatsK = depth / (8 * kWidth);
      checkAll(layout, [&, cols = cols, w = kWidth, warpsN = warpsN](int reg, int lane, int warp) {
        int in = reg % (2 * w), repeat = reg / (2 * w);
        int k = in % w + w * (lane % 4) + 4 * w * (in / w) + 8 * w * (repeat % repeatsK);
        int col = lane / 4 + 8 * (warp % warpsN) + 8 * warpsN * (repeat / repeatsK);
        return Coordinate{k, col % cols};
      });
    }
  }

  TEST_CASE("an operand of a dot without tensor cores has all of K in each thread") {
    Sizes perThread{2, 4}, lanes{4, 8}, warps{2, 2}, order{1, 0};
    BlockedParameters blocked{perThread, lanes, warps, order};
    LinearLayout a = fmaOperandLayout({32, 16}, blocked, 0, oneCta(2));
    checkAll(a, [&](int reg, int lane, int warp) {
      return Coordinate{reg / 16 % 2 + 2 * (lane / 8) + 8 * (warp / 2) + 16 * (reg / 32), reg % 16};
    });
    LinearLayout b = fmaOperandLayout({16, 128}, blocked, 1, oneCta(2));
    checkAll(b, [&](int reg, int lane, int warp) {
      return Coordinate{reg / 4 % 16, reg % 4 + 4 * (lane % 8) + 32 * (warp % 2) + 64 * (reg / 64)};
    });
  }

  TEST_CASE("a slice forgets a coordinate and the registers that moved it alone") {
    Sizes perThread{2, 4}, lanes{4, 8}, warps{2, 2}, order{1, 0};
    BlockedParameters blocked{perThread, lanes, warps, order};
    LinearLayout rows = sliceLayout(blockedLayout({64, 1}, blocked, oneCta(2)), 1);
    checkAll(rows, [&](int reg, int lane, int warp) {
      return Coordinate{reg % 2 + 2 * (lane / 8) + 8 * (warp / 2) + 16 * (reg / 2)};
    });
    LinearLayout cols = sliceLayout(blockedLayout({1, 256}, blocked, oneCta(2)), 0);
    checkAll(cols, [&](int reg, int lane, int warp) {
      return Coordinate{reg % 4 + 4 * (lane % 8) + 32 * (warp % 2) + 64 * (reg / 4)};
    });
    LinearLayout ofMma = sliceLayout(mmaLayout({64, 1}, {3, Sizes{4, 1}, 16, 64}, oneCta(2)), 1);
    checkAll(ofMma, [&](int reg, int lane, int warp) { return Coordinate{lane / 4 + 8 * reg + 16 * warp}; });
  }
}
