#include "src/ir/layout/LinearLayout.h"

#include "src/ir/layout/F2Span.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>
#include <random>
#include <set>

using namespace jitk::ir;

namespace {

constexpr unsigned kStart = 8812;

/// A random map between inputs and outputs of random sizes.
class LayoutGenerator {
public:
  LinearLayout make(std::vector<std::pair<std::string, int>> inBits, std::vector<std::pair<std::string, int>> outBits) {
    std::vector<LinearLayout::OutDim> outs;
    for (auto &[name, bits] : outBits) {
      outs.push_back({name, 1 << bits});
    }
    std::vector<LinearLayout::InDim> ins;
    for (auto &[name, bits] : inBits) {
      LinearLayout::InDim in{name, {}};
      for (int bit = 0; bit < bits; ++bit) {
        LinearLayout::Basis basis;
        for (auto &out : outs) {
          basis.push_back(engine_() % out.size);
        }
        in.bases.push_back(basis);
      }
      ins.push_back(in);
    }
    return LinearLayout(ins, outs);
  }

  int upTo(int bound) { return engine_() % (bound + 1); }

  LinearLayout makeSmall() {
    return make({{"register", upTo(3)}, {"lane", upTo(3)}, {"warp", upTo(2)}}, {{"dim0", upTo(4)}, {"dim1", upTo(3)}});
  }

  /// An invertible one: a random one, tried again until it is.
  LinearLayout makeInvertible(int bits0, int bits1) {
    while (true) {
      LinearLayout layout = make({{"register", bits1}, {"lane", bits0}}, {{"dim0", bits0}, {"dim1", bits1}});
      if (layout.isInvertible()) {
        return layout;
      }
    }
  }

private:
  std::mt19937 engine_{kStart};
};

uint64_t totalIn(const LinearLayout &layout) { return uint64_t(1) << layout.getTotalInDimSizeLog2(); }

std::set<uint64_t> imageOf(const LinearLayout &layout) {
  std::set<uint64_t> image;
  for (uint64_t x = 0; x < totalIn(layout); ++x) {
    image.insert(layout.applyFlat(x));
  }
  return image;
}

} // namespace

TEST_SUITE("ir/F2Span") {
  TEST_CASE("a span contains the sums of its vectors and no others") {
    std::mt19937 engine(kStart);
    for (int round = 0; round < 100; ++round) {
      CAPTURE(round);
      llvm::SmallVector<uint64_t> vectors;
      for (unsigned i = 0, n = engine() % 6; i < n; ++i) {
        vectors.push_back(engine() % 64);
      }
      std::set<uint64_t> sums;
      for (uint64_t x = 0; x < uint64_t(1) << vectors.size(); ++x) {
        sums.insert(multiplyF2(vectors, x));
      }
      F2Span span(vectors);
      CHECK((size_t(1) << span.dimension()) == sums.size());
      for (uint64_t v = 0; v < 64; ++v) {
        auto solution = span.solve(v);
        CHECK(solution.has_value() == sums.count(v) > 0);
        CHECK((!solution || multiplyF2(vectors, *solution) == v));
      }
      llvm::SmallVector<uint64_t> complement = complementF2(vectors, 6);
      CHECK(complement.size() + span.dimension() == 6);
    }
  }

  TEST_CASE("an intersection holds what lies in both spans") {
    std::mt19937 engine(kStart);
    for (int round = 0; round < 100; ++round) {
      CAPTURE(round);
      llvm::SmallVector<uint64_t> a, b;
      F2Span spanA, spanB;
      for (int i = 0; i < 4; ++i) {
        uint64_t v = engine() % 64, w = engine() % 64;
        if (spanA.insert(v)) {
          a.push_back(v);
        }
        if (spanB.insert(w)) {
          b.push_back(w);
        }
      }
      F2Span common(intersectF2(a, b)), onlyA(a), onlyB(b);
      for (uint64_t v = 0; v < 64; ++v) {
        CHECK(common.contains(v) == (onlyA.contains(v) && onlyB.contains(v)));
      }
    }
  }
}

TEST_SUITE("ir/LinearLayout") {
  TEST_CASE("the builders give multiples") {
    auto layout = LinearLayout::strided1D(8, 4, "lane", "dim0");
    CHECK(layout.getOutDimSize("dim0") == 32);
    for (int x = 0; x < 8; ++x) {
      CHECK(layout.apply({{"lane", x}})[0] == 4 * x);
      CHECK(LinearLayout::identity1D(8, "lane", "dim0").apply({{"lane", x}})[0] == x);
      CHECK(LinearLayout::zeros1D(8, "lane", "dim0", 16).apply({{"lane", x}})[0] == 0);
    }
  }

  TEST_CASE("a layout is linear and apply agrees with its flat form") {
    LayoutGenerator random;
    for (int round = 0; round < 50; ++round) {
      CAPTURE(round);
      LinearLayout layout = random.makeSmall();
      for (uint64_t x = 0; x < totalIn(layout); ++x) {
        uint64_t y = x * 7 % totalIn(layout);
        CHECK((layout.applyFlat(x) ^ layout.applyFlat(y)) == layout.applyFlat(x ^ y));
        int32_t registers = layout.getInDimSize("register"), lanes = layout.getInDimSize("lane");
        auto out = layout.apply({{"register", int32_t(x) & (registers - 1)},
                                 {"warp", int32_t(x / registers / lanes)},
                                 {"lane", int32_t(x) / registers & (lanes - 1)}});
        CHECK(layout.applyFlat(x) == uint64_t(out[0] + out[1] * layout.getOutDimSize("dim0")));
      }
    }
  }

  TEST_CASE("rank, injectivity and surjectivity count images") {
    LayoutGenerator random;
    for (int round = 0; round < 100; ++round) {
      LinearLayout layout = random.makeSmall();
      CAPTURE(layout.toString());
      size_t reached = imageOf(layout).size();
      CHECK((size_t(1) << layout.rank()) == reached);
      CHECK(layout.isInjective() == (reached == totalIn(layout)));
      CHECK(layout.isSurjective() == (reached == size_t(layout.getTotalOutDimSize())));
    }
  }

  TEST_CASE("zeroing free variables loses no output") {
    LayoutGenerator random;
    for (int round = 0; round < 50; ++round) {
      LinearLayout layout = random.makeSmall();
      CAPTURE(layout.toString());
      auto masks = layout.getFreeVariableMasks();
      std::set<std::vector<int32_t>> all, bound;
      for (int r = 0; r < layout.getInDimSize("register"); ++r) {
        for (int l = 0; l < layout.getInDimSize("lane"); ++l) {
          for (int w = 0; w < layout.getInDimSize("warp"); ++w) {
            auto out = layout.apply({{"register", r}, {"lane", l}, {"warp", w}});
            all.insert({out.begin(), out.end()});
            if (!(r & masks["register"]) && !(l & masks["lane"]) && !(w & masks["warp"])) {
              CHECK(bound.insert({out.begin(), out.end()}).second);
            }
          }
        }
      }
      CHECK(all == bound);
    }
  }

  TEST_CASE("a product puts the bits of the outer layout above") {
    LayoutGenerator random;
    for (int round = 0; round < 50; ++round) {
      LinearLayout a = random.make({{"register", 2}, {"lane", 1}}, {{"dim0", 2}, {"dim1", 1}});
      LinearLayout b = random.make({{"warp", 2}, {"register", 1}}, {{"dim1", 2}, {"dim2", 1}});
      LinearLayout product = a * b;
      CHECK(product.getOutDimNames() == LinearLayout::Names{"dim0", "dim1", "dim2"});
      CHECK(product.getInDimNames() == LinearLayout::Names{"register", "lane", "warp"});
      for (int r = 0; r < 8; ++r) {
        for (int l = 0; l < 2; ++l) {
          for (int w = 0; w < 4; ++w) {
            auto out = product.apply({{"register", r}, {"lane", l}, {"warp", w}});
            auto low = a.apply({{"register", r % 4}, {"lane", l}}), high = b.apply({{"register", r / 4}, {"warp", w}});
            CHECK(out == LinearLayout::Basis{low[0], low[1] + 2 * high[0], high[1]});
          }
        }
      }
      CHECK(
          product.divideLeft(a)->sublayout({"warp", "register"}, {"dim1", "dim2"}).transposeIns({"warp", "register"}) ==
          b);
      CHECK(product.divideRight(b)->sublayout({"register", "lane"}, {"dim0", "dim1"}) == a);
    }
  }

  TEST_CASE("a quotient times its divisor is the original, and there is none where that is impossible") {
    LayoutGenerator random;
    for (int round = 0; round < 300; ++round) {
      LinearLayout a = random.makeSmall(), b = random.makeSmall();
      CAPTURE(a.toString());
      CAPTURE(b.toString());
      CHECK((a * b).divideLeft(a).has_value());
      CHECK(*(a * b).divideLeft(a) == b);
      CHECK(*(a * b).divideRight(b) == a);
      if (auto left = a.divideLeft(b)) {
        CHECK(b * *left == a);
      }
      if (auto right = a.divideRight(b)) {
        CHECK(*right * b == a);
      }
    }
    auto tile = LinearLayout::identity1D(4, "register", "dim0");
    CHECK_FALSE(LinearLayout::strided1D(8, 2, "register", "dim0").divideLeft(tile));
    CHECK_FALSE(LinearLayout::identity1D(2, "register", "dim0").divideLeft(tile));
    CHECK_FALSE((tile * LinearLayout::identity1D(2, "register", "dim0"))
                    .divideLeft(LinearLayout::identity1D(2, "lane", "dim0")));
  }

  TEST_CASE("a quotient by dimensions takes identities away") {
    auto inner = LinearLayout::strided1D(4, 2, "register", "register") * LinearLayout::zeros1D(4, "lane", "register");
    auto layout = inner * LinearLayout::identity1D(8, "warp", "warp") * LinearLayout::identity1D(2, "block", "block");
    CHECK(*layout.quotient({"warp", "block"}) == inner);
    CHECK(*layout.quotient({"block"}) == inner * LinearLayout::identity1D(8, "warp", "warp"));
    CHECK_FALSE(layout.quotient({"register"}));
    CHECK_FALSE(layout.quotient({"lane"}));
  }

  TEST_CASE("composition is pointwise") {
    LayoutGenerator random;
    for (int round = 0; round < 50; ++round) {
      LinearLayout inner = random.make({{"register", 3}, {"lane", 2}}, {{"dim0", 2}, {"dim1", 2}});
      LinearLayout outer = random.make({{"dim1", 3}, {"dim0", 2}}, {{"offset", 4}});
      LinearLayout composed = inner.compose(outer);
      for (int r = 0; r < 8; ++r) {
        for (int l = 0; l < 4; ++l) {
          auto mid = inner.apply({{"register", r}, {"lane", l}});
          CHECK(composed.apply({{"register", r}, {"lane", l}}) == outer.apply({{"dim0", mid[0]}, {"dim1", mid[1]}}));
        }
      }
    }
  }

  TEST_CASE("an inverse undoes its layout on both sides") {
    LayoutGenerator random;
    for (int round = 0; round < 30; ++round) {
      LinearLayout layout = random.makeInvertible(3, 2);
      CHECK(layout.compose(layout.invert()).isIdentity());
      CHECK(layout.invert().compose(layout).isIdentity());
      CHECK(layout.invert().invert() == layout);
    }
  }

  TEST_CASE("a pseudo-inverse P satisfies L P L = L") {
    LayoutGenerator random;
    for (int round = 0; round < 100; ++round) {
      LinearLayout layout = random.makeSmall();
      CAPTURE(layout.toString());
      LinearLayout pseudo = layout.pseudoinvert();
      auto masks = layout.getFreeVariableMasks();
      CHECK(layout.compose(pseudo).compose(layout) == layout);
      CHECK((!layout.isInjective() || layout.compose(pseudo).isIdentity()));
      CHECK((!layout.isSurjective() || pseudo.compose(layout).isIdentity()));
      for (auto [out, in] : llvm::enumerate(pseudo.getOutDimNames())) {
        for (auto &bases : pseudo.getInDims()) {
          for (auto &basis : bases.bases) {
            CHECK((basis[out] & masks[in]) == 0);
          }
        }
      }
    }
  }

  TEST_CASE("invertAndCompose finds the place of the same element") {
    LayoutGenerator random;
    for (int round = 0; round < 50; ++round) {
      LinearLayout source = random.make({{"register", 3}, {"lane", 2}}, {{"dim0", 2}, {"dim1", 2}});
      LinearLayout target = random.makeInvertible(2, 2).transposeOuts({"dim1", "dim0"}).renameInDim("lane", "warp");
      LinearLayout map = source.invertAndCompose(target.transposeOuts({"dim0", "dim1"}));
      CHECK(map.getOutDimNames() == LinearLayout::Names{"register", "warp"});
      CHECK(map == source.invertAndCompose(target));
      for (int r = 0; r < 8; ++r) {
        for (int l = 0; l < 4; ++l) {
          auto place = map.apply({{"register", r}, {"lane", l}});
          auto found = target.apply({{"register", place[0]}, {"warp", place[1]}});
          CHECK(source.apply({{"register", r}, {"lane", l}}) == LinearLayout::Basis{found[1], found[0]});
        }
      }
    }
  }

  TEST_CASE("reshapes and transpositions relabel bits") {
    LayoutGenerator random;
    for (int round = 0; round < 50; ++round) {
      LinearLayout layout = random.make({{"register", 2}, {"lane", 3}}, {{"dim0", 3}, {"dim1", 2}});
      LinearLayout reshaped = layout.reshapeOuts({{"a", 2}, {"b", 16}}).reshapeIns({{"x", 8}, {"y", 4}});
      LinearLayout swapped = layout.transposeOuts({"dim1", "dim0"}).transposeIns({"lane", "register"});
      for (int x = 0; x < 32; ++x) {
        CHECK(reshaped.applyFlat(x) == layout.applyFlat(x));
        CHECK(layout.flattenIns().flattenOuts().apply({{"register", x}})[0] == int32_t(layout.applyFlat(x)));
        auto out = layout.apply({{"register", x % 4}, {"lane", x / 4}});
        CHECK(swapped.apply({{"register", x % 4}, {"lane", x / 4}}) == LinearLayout::Basis{out[1], out[0]});
      }
      CHECK(swapped.transposeOuts({"dim0", "dim1"}).transposeIns({"register", "lane"}) == layout);
    }
  }

  TEST_CASE("sublayouts, concatenations and sizes") {
    LayoutGenerator random;
    LinearLayout layout = random.make({{"register", 2}, {"lane", 3}}, {{"dim0", 3}, {"dim1", 2}});
    LinearLayout::Names outs = {"dim0", "dim1"}, ins = {"register", "lane"};
    CHECK(layout.sublayout({"register"}, outs).concatIns(layout.sublayout({"lane"}, outs)) == layout);
    CHECK(layout.sublayout(ins, {"dim0"}).concatOuts(layout.sublayout(ins, {"dim1"})) == layout);
    CHECK(layout.resizeInDim("lane", 32).resizeInDim("lane", 8) == layout);
    CHECK(layout.resizeOutDim("dim0", 32).resizeOutDim("dim0", 8) == layout);
    CHECK(layout.resizeInDim("lane", 32).removeZeroBasesAlongDim("lane").getInDimSize("lane") <= 8);
    CHECK(layout.getInDimSize("block") == 1);
    CHECK(LinearLayout::zeros1D(4, "warp", "dim0").sublayoutIsZero({"warp"}, {"dim0"}));
    CHECK_FALSE(LinearLayout::identity1D(4, "warp", "dim0").sublayoutIsZero({"warp"}, {"dim0"}));
  }

  TEST_CASE("the width of a vector access is the length of whole runs") {
    auto registers = [](int32_t n) { return LinearLayout::identity1D(n, "register", "offset"); };
    CHECK(registers(8).getNumConsecutiveInOut() == 8);
    CHECK(LinearLayout::strided1D(8, 2, "register", "offset").getNumConsecutiveInOut() == 1);
    CHECK((registers(4) * LinearLayout::identity1D(8, "lane", "offset")).getNumConsecutiveInOut() == 4);
    // A lane that moves by 2 cuts runs of 4 in half.
    LinearLayout broken({{"register", {{1}, {2}}}, {"lane", {{6}}}}, {{"offset", 8}});
    CHECK(broken.getNumConsecutiveInOut() == 2);
  }

  TEST_CASE("a layout prints its bases") {
    LinearLayout layout({{"register", {{0, 1}}}, {"lane", {{1, 0}, {2, 0}}}}, {{"dim0", 4}, {"dim1", 2}});
    CHECK(layout.toString() == " - register (size 2): 1->(0, 1)\n"
                               " - lane (size 4): 1->(1, 0) 2->(2, 0)\n"
                               " - to: dim0 (size 4) dim1 (size 2)\n");
  }
}
