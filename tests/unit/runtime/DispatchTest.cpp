#include "src/runtime/Plan.h"
#include "tests/unit/runtime/Stub.h"

#include <doctest/doctest.h>
#include <random>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/Dispatch");

namespace {

/// A sealed plan of these shapes: m and n as text.
struct SealedPlan {
  explicit SealedPlan(const std::vector<std::pair<std::string, int64_t>> &shapes) {
    for (const auto &[m, n] : shapes) {
      REQUIRE(plan.add({{stubProblem(m, n), 0}}).ok());
    }
    PrepareOptions options;
    options.device = stub.device;
    REQUIRE(plan.prepare(std::move(options)).ok());
    REQUIRE(plan.seal().ok());
  }

  /// The text of the kernel for these sizes, or "".
  std::string find(const Dispatch &dispatch, std::initializer_list<int64_t> sizes) const {
    std::optional<size_t> found = dispatch.find({sizes.begin(), sizes.size()});
    return found ? dispatch.kernels()[*found]->problem().text : "";
  }

  StubRuntime stub;
  Plan plan{stub.runtime};
};

} // namespace

TEST_CASE("the least bucket that holds the size serves, an exact kernel before all buckets") {
  SealedPlan sealed({{"*<=64", 8}, {"*<=16", 8}, {"*", 8}, {"7", 8}, {"*%32", 9}, {"*<=16", 9}});
  Result<Dispatch> dispatch = sealed.plan.dispatch(*sealed.stub.device, *stubProblem("*"), {"m", "n"});
  REQUIRE(dispatch.ok());
  CHECK(dispatch->kernels().size() == 6);
  CHECK(sealed.find(*dispatch, {7, 8}) == "stub m=7 n=8");
  CHECK(sealed.find(*dispatch, {8, 8}) == "stub m=*<=16 n=8");
  CHECK(sealed.find(*dispatch, {16, 8}) == "stub m=*<=16 n=8");
  CHECK(sealed.find(*dispatch, {17, 8}) == "stub m=*<=64 n=8");
  CHECK(sealed.find(*dispatch, {65, 8}) == "stub m=* n=8");
  CHECK(sealed.find(*dispatch, {0, 8}) == "stub m=*<=16 n=8");
  CHECK(sealed.find(*dispatch, {-1, 8}).empty());
  CHECK(sealed.find(*dispatch, {16, 9}) == "stub m=*<=16 n=9");
  CHECK(sealed.find(*dispatch, {64, 9}) == "stub m=*%32 n=9");
  CHECK(sealed.find(*dispatch, {65, 9}).empty());
  CHECK(sealed.find(*dispatch, {8, 10}).empty());
  CHECK(sealed.find(*dispatch, {8}).empty());
}

TEST_CASE("what is no key must be equal") {
  SealedPlan sealed({{"*<=64", 8}, {"*<=64", 9}});
  Result<Dispatch> dispatch = sealed.plan.dispatch(*sealed.stub.device, *stubProblem("*", 9), {"m"});
  REQUIRE(dispatch.ok());
  CHECK(dispatch->kernels().size() == 1);
  CHECK(sealed.find(*dispatch, {64}) == "stub m=*<=64 n=9");
}

TEST_CASE("a dispatch of what is no dimension, or of an open plan, is refused") {
  SealedPlan sealed({{"*", 8}});
  CHECK(sealed.plan.dispatch(*sealed.stub.device, *stubProblem("*"), {"dtype"}).status().toString() ==
        "dimension of a dispatch must be one of stub: got 'dtype'");
  CHECK(sealed.plan.dispatch(*sealed.stub.device, *stubProblem("*"), {}).status().code() ==
        StatusCode::InvalidArgument);
  Plan open(sealed.stub.runtime);
  CHECK(open.dispatch(*sealed.stub.device, *stubProblem("*"), {"m"}).status().toString() == "plan must be sealed");
}

TEST_CASE("a dispatch answers as a search through all kernels does") {
  std::mt19937 random(20261129);
  std::vector<std::pair<std::string, int64_t>> shapes;
  for (int64_t n = 1; n <= 20; ++n) {
    for (int64_t bound : {16, 64, 256, 1024}) {
      if (random() % 3 != 0) {
        shapes.emplace_back("*<=" + std::to_string(bound), n);
      }
    }
    shapes.emplace_back(std::to_string(1 + random() % 2000), n);
  }
  SealedPlan sealed(shapes);
  Result<Dispatch> dispatch = sealed.plan.dispatch(*sealed.stub.device, *stubProblem("*"), {"n", "m"});
  REQUIRE(dispatch.ok());
  for (int round = 0; round < 20'000; ++round) {
    int64_t n = static_cast<int64_t>(random() % 22), m = static_cast<int64_t>(random() % 2100);
    std::string wanted;
    int64_t least = INT64_MAX;
    for (const auto &[text, columns] : shapes) {
      Dimension rows = *Dimension::parse(text);
      int64_t rank = rows.isStatic() ? 0 : rows.bound;
      bool fits = columns == n && (rows.isStatic() ? rows.value == m : m <= rows.bound);
      if (fits && rank < least) {
        least = rank;
        wanted = stubProblem(text, columns)->text;
      }
    }
    CHECK(sealed.find(*dispatch, {n, m}) == wanted);
  }
}

TEST_SUITE_END();
