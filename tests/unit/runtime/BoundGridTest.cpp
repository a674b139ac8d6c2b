#include "src/runtime/BoundGrid.h"

#include <doctest/doctest.h>
#include <random>

using namespace jitk;
using Op = Expression::Op;

TEST_SUITE_BEGIN("runtime/BoundGrid");

namespace {

/// One where a dimension is above `bound`, else zero.
Expression isAbove(uint32_t dimension, int64_t bound) {
  return Expression::binary(
      Op::Max, Expression::constant(0),
      Expression::binary(Op::Min, Expression::constant(1),
                         Expression::binary(Op::Sub, Expression::dimension(dimension), Expression::constant(bound))));
}

Expression isAtMost(uint32_t dimension, int64_t bound) {
  return Expression::binary(Op::Sub, Expression::constant(1), isAbove(dimension, bound));
}

Expression product(const Expression &lhs, const Expression &rhs) { return Expression::binary(Op::Mul, lhs, rhs); }

std::array<Expression, 3> along(const Expression &x) { return {x, Expression::constant(1), Expression::constant(1)}; }

} // namespace

TEST_CASE("a grid that is taken apart is the grid") {
  const Expression m = Expression::dimension(0), n = Expression::dimension(1);
  const Expression tiles = Expression::binary(Op::CeilDiv, m, Expression::constant(8));
  const Expression resident = Expression::binary(Op::Min, tiles, Expression::constant(132));
  const std::vector<Expression> grids = {
      Expression::constant(0),
      m,
      tiles,
      isAbove(0, 8),
      isAtMost(0, 8),
      product(tiles, isAbove(0, 8)),
      product(isAbove(0, 8), tiles),
      product(product(resident, n), product(isAbove(0, 8), isAtMost(0, 16))),
      product(product(isAbove(0, 8), isAtMost(1, 7)), product(n, m)),
      // What looks like a range and is none: a difference the other way round, other ends, a sum.
      Expression::binary(Op::Max, Expression::constant(0),
                         Expression::binary(Op::Min, Expression::constant(1),
                                            Expression::binary(Op::Sub, Expression::constant(8), m))),
      Expression::binary(Op::Max, Expression::constant(0),
                         Expression::binary(Op::Min, Expression::constant(2),
                                            Expression::binary(Op::Sub, m, Expression::constant(8)))),
      Expression::binary(Op::Sub, Expression::constant(2), isAbove(0, 8)),
      Expression::binary(Op::Add, m, product(n, isAbove(0, 8))),
  };
  std::mt19937_64 random(11);
  size_t numSkipped = 0, numRun = 0;
  for (size_t i = 0; i < grids.size(); ++i) {
    CAPTURE(i);
    const BoundGrid bound(along(grids[i]));
    for (int round = 0; round < 400; ++round) {
      const int64_t sizes[] = {int64_t(random() % 24), int64_t(random() % 12)};
      CAPTURE(sizes[0]);
      CAPTURE(sizes[1]);
      const int64_t wanted = grids[i].evaluate(sizes);
      bound.isSkipped(sizes) ? ++numSkipped : ++numRun;
      CHECK((bound.isSkipped(sizes) ? 0 : bound.extent(0, sizes)) == wanted);
      CHECK(bound.extent(1, sizes) == 1);
    }
  }
  CHECK(numSkipped > 500);
  CHECK(numRun > 500);
}

TEST_CASE("a range is no more than a comparison") {
  const Expression m = Expression::dimension(0);
  const BoundGrid bound(along(product(m, product(isAbove(0, 16), isAtMost(0, 32)))));
  for (int64_t size : {0, 16, 33, 4096}) {
    CHECK(bound.isSkipped({&size, 1}));
  }
  for (int64_t size : {17, 32}) {
    CHECK_FALSE(bound.isSkipped({&size, 1}));
  }
  // Of any axis.
  const BoundGrid flat({m, isAbove(0, 16), Expression::constant(1)});
  int64_t size = 16;
  CHECK(flat.isSkipped({&size, 1}));
}

TEST_SUITE_END();
