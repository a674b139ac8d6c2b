#include "src/runtime/Recipe.h"

#include <array>
#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("runtime/Recipe");

static Expression dim(uint32_t index) { return Expression::dimension(index); }
static Expression number(int64_t value) { return Expression::constant(value); }

/// A recipe that uses every field.
static Recipe sample() {
  Recipe recipe;
  recipe.dimensions = {"m", "k"};
  recipe.tensors = {"a", "b", "c"};
  recipe.alignments = {16, 128, 1};
  recipe.scalars = {{"scale", ScalarType::Fp32}, {"seed", ScalarType::UInt64}};
  recipe.tensorMaps = {
      {.tensor = 1,
       .elementType = 6,
       .swizzle = 3,
       .promotion = L2Promotion::None,
       .sizes = {dim(1), number(128)},
       .strides = {Expression::binary(Expression::Op::Mul, dim(1), number(2))},
       .box = {64, 32}},
      {.tensor = TensorMap::kWorkspace, .sizes = {dim(0)}, .strides = {}, .box = {8}, .offset = dim(1)}};
  LaunchStep step;
  step.symbol = "matmul";
  step.grid = {Expression::binary(Expression::Op::CeilDiv, dim(0), number(128)), number(2), number(1)};
  step.threads = 128;
  step.cluster = {2, 1, 1};
  step.sharedBytes = 65536;
  step.programmaticLaunch = true;
  step.arguments = {{Argument::Kind::Tensor, 0, {}},
                    {Argument::Kind::TensorMap, 0, {}},
                    {Argument::Kind::Integer32, 0, dim(0)},
                    {Argument::Kind::Scalar, 0, {}},
                    {Argument::Kind::Workspace, 0, number(256)},
                    {Argument::Kind::Null, 0, {}}};
  recipe.steps = {step};
  recipe.workspaceBytes = Expression::binary(Expression::Op::Mul, dim(0), number(4));
  return recipe;
}

TEST_CASE("expressions over the dimensions of a launch") {
  using Op = Expression::Op;
  std::array<int64_t, 2> sizes = {100, 7};
  CHECK(Expression::binary(Op::Add, dim(0), dim(1)).evaluate(sizes) == 107);
  CHECK(Expression::binary(Op::Sub, dim(1), dim(0)).evaluate(sizes) == -93);
  CHECK(Expression::binary(Op::Mul, dim(0), dim(1)).evaluate(sizes) == 700);
  CHECK(Expression::binary(Op::CeilDiv, dim(0), number(64)).evaluate(sizes) == 2);
  CHECK(Expression::binary(Op::FloorDiv, dim(0), number(64)).evaluate(sizes) == 1);
  CHECK(Expression::binary(Op::Min, dim(0), dim(1)).evaluate(sizes) == 7);
  CHECK(Expression::binary(Op::Max, dim(0), dim(1)).evaluate(sizes) == 100);
}

TEST_CASE("divisions round towards where their names say, below zero too") {
  std::array<int64_t, 1> size = {-7};
  CHECK(Expression::binary(Expression::Op::FloorDiv, dim(0), number(4)).evaluate(size) == -2);
  CHECK(Expression::binary(Expression::Op::CeilDiv, dim(0), number(4)).evaluate(size) == -1);
}

TEST_CASE("constants fold") {
  Expression folded = Expression::binary(Expression::Op::Mul, number(6), number(7));
  CHECK(folded == number(42));
  CHECK(Expression::binary(Expression::Op::Mul, dim(0), number(1)) == dim(0));
  CHECK(Expression::binary(Expression::Op::Add, dim(0), number(0)) == dim(0));
}

TEST_CASE("what leaves 64 bits stays at their end") {
  using Op = Expression::Op;
  auto evaluate = [](Op op, int64_t lhs, int64_t rhs) {
    std::array<int64_t, 2> sizes = {lhs, rhs};
    return Expression::binary(op, dim(0), dim(1)).evaluate(sizes);
  };
  CHECK(evaluate(Op::Mul, INT64_MAX, 2) == INT64_MAX);
  CHECK(evaluate(Op::Mul, int64_t{1} << 32, int64_t{1} << 32) == INT64_MAX); // 0 in 64 bits
  CHECK(evaluate(Op::Mul, INT64_MAX, -2) == INT64_MIN);
  CHECK(evaluate(Op::Mul, -2, INT64_MIN) == INT64_MAX);
  CHECK(evaluate(Op::Add, INT64_MAX, 1) == INT64_MAX);
  CHECK(evaluate(Op::Add, INT64_MIN, -1) == INT64_MIN);
  CHECK(evaluate(Op::Sub, INT64_MIN, 1) == INT64_MIN);
  CHECK(evaluate(Op::Sub, 0, INT64_MIN) == INT64_MAX);
  CHECK(evaluate(Op::Mul, INT64_MIN, 1) == INT64_MIN);
}

TEST_CASE("expressions that cannot be evaluated are not valid") {
  using Op = Expression::Op;
  CHECK(Expression().isValid(0));
  CHECK_FALSE(dim(0).isValid(0));
  CHECK_FALSE(Expression(std::vector<Expression::Term>{}).isValid(1));
  CHECK_FALSE(Expression({{Op::Constant, 1}, {Op::Add, 0}}).isValid(1));
  CHECK_FALSE(Expression({{Op::Constant, 1}, {Op::Constant, 1}}).isValid(1));
  CHECK_FALSE(Expression({{Op::Dimension, 0}, {Op::Constant, 0}, {Op::CeilDiv, 0}}).isValid(1));
  CHECK_FALSE(Expression({{Op::Constant, 4}, {Op::Dimension, 0}, {Op::CeilDiv, 0}}).isValid(1));
  CHECK_FALSE(Expression(std::vector<Expression::Term>(17, {Op::Constant, 1})).isValid(1));
}

TEST_CASE("a device's multiprocessors become a constant when a recipe is bound to it") {
  using Op = Expression::Op;
  std::array<int64_t, 2> sizes = {1000, 7};
  Expression grid =
      Expression::binary(Op::Min, Expression::binary(Op::CeilDiv, dim(0), number(4)), Expression::multiprocessors());
  CHECK(grid.isValid(2));
  CHECK(grid.onDevice(132).evaluate(sizes) == 132);
  CHECK(grid.onDevice(1000).evaluate(sizes) == 250);
  CHECK_FALSE(Expression({{Op::Dimension, 0}, {Op::Multiprocessors, 0}, {Op::CeilDiv, 0}}).isValid(1));

  Recipe recipe = sample();
  recipe.steps.front().grid[0] = grid;
  recipe.workspaceBytes = Expression::multiprocessors();
  recipe.steps.front().arguments[2].expression = Expression::multiprocessors();
  REQUIRE(recipe.validate().ok());
  Result<Recipe> back = Recipe::deserialize(recipe.serialize());
  REQUIRE(back.ok());
  Recipe bound = back->onDevice(60);
  CHECK(bound.steps.front().grid[0].evaluate(sizes) == 60);
  CHECK(bound.steps.front().arguments[2].expression == number(60));
  CHECK(bound.workspaceBytes == number(60));
  CHECK(bound.steps.front().grid[1] == number(2));
}

TEST_CASE("a recipe survives its byte form") {
  Recipe recipe = sample();
  REQUIRE(recipe.validate().ok());
  Result<Recipe> back = Recipe::deserialize(recipe.serialize());
  REQUIRE(back.ok());
  CHECK(*back == recipe);
}

TEST_CASE("a truncated recipe is data loss at every length") {
  std::vector<uint8_t> bytes = sample().serialize();
  for (size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    Result<Recipe> back = Recipe::deserialize(std::span(bytes).first(length));
    REQUIRE_FALSE(back.ok());
    CHECK(back.status().code() == StatusCode::DataLoss);
  }
}

TEST_CASE("a flipped bit gives a valid recipe or data loss") {
  std::vector<uint8_t> bytes = sample().serialize();
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    CAPTURE(bit);
    std::vector<uint8_t> damaged = bytes;
    damaged[bit / 8] ^= uint8_t(1u << (bit % 8));
    Result<Recipe> back = Recipe::deserialize(damaged);
    bool acceptable = back.ok() ? back->validate().ok() : back.status().code() == StatusCode::DataLoss;
    CHECK(acceptable);
  }
}

TEST_CASE("a recipe whose indices are out of range is refused") {
  Recipe recipe = sample();
  SUBCASE("argument") { recipe.steps[0].arguments[0].index = 3; }
  SUBCASE("tensor map") { recipe.tensorMaps[0].tensor = 3; }
  SUBCASE("offset of a tensor map") { recipe.tensorMaps[1].offset = dim(2); }
  SUBCASE("grid") { recipe.steps[0].grid[2] = dim(2); }
  SUBCASE("threads") { recipe.steps[0].threads = 1025; }
  SUBCASE("alignment") { recipe.alignments[0] = 12; }
  SUBCASE("alignments") { recipe.alignments.pop_back(); }
  SUBCASE("workspace") { recipe.workspaceBytes = dim(9); }
  SUBCASE("no step") { recipe.steps.clear(); }
  CHECK(recipe.validate().code() == StatusCode::Internal);
  CHECK(Recipe::deserialize(recipe.serialize()).status().code() == StatusCode::DataLoss);
}

TEST_SUITE_END();
