#include "src/runtime/PlainLaunch.h"

#include "tests/unit/runtime/Stub.h"

#include <bit>
#include <doctest/doctest.h>
#include <functional>
#include <random>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/PlainLaunch");

namespace {

/// Two sizes, two tensors, a scalar and seven arguments; ceil(m / 128) blocks of 64 threads.
Recipe plainRecipe() {
  using Kind = Argument::Kind;
  const Expression m = Expression::dimension(0), n = Expression::dimension(1);
  Recipe recipe;
  recipe.dimensions = {"m", "n"};
  recipe.tensors = {"a", "b"};
  recipe.alignments = {16, 4};
  recipe.scalars = {{"scale", ScalarType::Fp32}};
  LaunchStep step;
  step.symbol = "plain";
  step.grid = {Expression::binary(Expression::Op::CeilDiv, m, Expression::constant(128)), Expression::constant(2),
               Expression::constant(1)};
  step.threads = 64;
  step.arguments = {{Kind::Integer32, 0, Expression::constant(7)}, // as many, for the stub device
                    {Kind::Tensor, 1, {}},
                    {Kind::Tensor, 0, {}},
                    {Kind::Integer32, 0, n},
                    {Kind::Integer64, 0, m},
                    {Kind::Scalar, 0, {}},
                    {Kind::Null, 0, {}}};
  recipe.steps = {step};
  REQUIRE(recipe.validate().ok());
  return recipe;
}

/// The parameters of a launch of the recipe's only step, as the compiler lays them out.
std::vector<uint64_t> argumentsOf(const StubLaunch &launch, const Recipe &recipe) {
  std::vector<uint64_t> arguments;
  size_t at = 0;
  for (const Argument &argument : recipe.steps[0].arguments) {
    bool isShort = argument.kind == Argument::Kind::Integer32 || argument.kind == Argument::Kind::Scalar;
    size_t bytes = isShort ? 4 : 8;
    at = (at + bytes - 1) / bytes * bytes;
    REQUIRE(at + bytes <= launch.packed.size());
    uint64_t value = 0;
    std::memcpy(&value, launch.packed.data() + at, bytes);
    arguments.push_back(value);
    at += bytes;
  }
  CHECK(at == launch.packed.size());
  return arguments;
}

struct Given {
  std::vector<uint64_t> tensors = {0x1000, 0x2004};
  std::vector<int64_t> dimensions = {300, 48};
  std::vector<float> scalars = {1.5f};
  std::vector<jitk_scalar_t> typedScalars = {};
  StreamHandle stream = nullptr;
  bool programmatic = false;

  LaunchRequest request() const {
    return {.tensors = tensors,
            .dimensions = dimensions,
            .scalars = scalars,
            .typedScalars = typedScalars,
            .stream = stream,
            .programmatic = programmatic};
  }
};

/// A plain launch on a device that remembers.
struct Bound {
  explicit Bound(const Recipe &of, const char *m = "*%16<=4096", const char *n = "*")
      : recipe(of),
        rules(Description("stub", {{"m", *Dimension::parse(m)}, {"n", *Dimension::parse(n)}}), recipe.dimensions),
        function(record, "plain", /*remember=*/true) {
    fixed.threads = 64;
    fixed.cluster = recipe.steps[0].cluster;
    fixed.programmaticLaunch = recipe.steps[0].programmaticLaunch;
    plain.bind(recipe, rules, function.direct(), fixed);
    plain.begin();
  }

  bool takes(const Given &given) { return plain.launch(given.request()); }

  Recipe recipe;
  SizeRules rules;
  std::shared_ptr<StubRecord> record = std::make_shared<StubRecord>();
  StubFunction function;
  LaunchParameters fixed;
  PlainLaunch plain;
};

/// Whether a recipe that is changed so is still plain.
bool isPlain(const std::function<void(Recipe &)> &change, const char *m = "*", const char *n = "*") {
  Recipe recipe = plainRecipe();
  change(recipe);
  return Bound(recipe, m, n).takes({});
}

} // namespace

TEST_CASE("a plain launch has the grid and the arguments of its recipe") {
  Bound bound(plainRecipe());
  int stream = 0;
  REQUIRE(bound.takes({.dimensions = {304, 48}, .stream = &stream}));
  REQUIRE(bound.record->launches.size() == 1);
  const StubLaunch &launch = bound.record->launches[0];
  CHECK(launch.parameters.grid == std::array<uint32_t, 3>{3, 2, 1});
  CHECK(launch.parameters.threads == 64);
  CHECK(launch.stream == &stream);
  CHECK(argumentsOf(launch, bound.recipe) ==
        std::vector<uint64_t>{7, 0x2004, 0x1000, 48, 304, std::bit_cast<uint32_t>(1.5f), 0});
}

TEST_CASE("what is not as usual is declined, and nothing is enqueued") {
  Bound bound(plainRecipe());
  const Given usual = {.dimensions = {304, 48}};
  auto declines = [&](const std::function<void(Given &)> &change) {
    Given given = usual;
    change(given);
    return !bound.takes(given);
  };
  CHECK(declines([](Given &given) { given.tensors = {0x1000}; }));
  CHECK(declines([](Given &given) { given.tensors[1] = 0; }));
  CHECK(declines([](Given &given) { given.tensors[0] = 0x1008; }));
  CHECK(declines([](Given &given) { given.dimensions = {304}; }));
  CHECK(declines([](Given &given) { given.dimensions[0] = 0; })); // an empty grid
  CHECK(declines([](Given &given) { given.dimensions[0] = 24; }));
  CHECK(declines([](Given &given) { given.dimensions[0] = 4112; }));
  CHECK(declines([](Given &given) { given.dimensions[0] = -16; }));
  CHECK(declines([](Given &given) { given.dimensions[1] = int64_t{1} << 31; }));
  CHECK(declines([](Given &given) { given.dimensions[1] = (int64_t{1} << 32) + 48; }));
  CHECK(declines([](Given &given) { given.scalars = {}; }));
  CHECK(declines([](Given &given) {
    given.scalars = {};
    given.typedScalars = {{.kind = JITK_SCALAR_FLOAT, .float_value = 1.5}};
  }));
  CHECK(bound.record->launches.empty());
  CHECK(bound.takes(usual));
}

TEST_CASE("a kernel is plain where nothing must be worked out but quotients of its grid") {
  using Op = Expression::Op;
  const Expression m = Expression::dimension(0), twice = Expression::binary(Op::Mul, m, Expression::constant(2));
  CHECK(isPlain([](Recipe &) {}));
  CHECK_FALSE(isPlain([&](Recipe &recipe) { recipe.steps[0].grid[1] = twice; }));
  CHECK(isPlain([&](Recipe &recipe) { recipe.steps[0].grid[2] = m; }));
  CHECK(isPlain([](Recipe &) {}, "*%4", "*<=48"));
  CHECK_FALSE(isPlain([](Recipe &) {}, "*%12"));
  CHECK_FALSE(isPlain([](Recipe &recipe) { recipe.steps.push_back(recipe.steps[0]); }));
  CHECK_FALSE(isPlain([](Recipe &recipe) { recipe.steps[0].cluster[0] = 2; }));
  CHECK_FALSE(isPlain([](Recipe &recipe) { recipe.workspaceBytes = Expression::constant(1); }));
  CHECK_FALSE(isPlain([&](Recipe &recipe) { recipe.workspaceBytes = m; }));
  CHECK_FALSE(isPlain([](Recipe &recipe) { recipe.scalars[0].type = ScalarType::Int32; }));
  CHECK_FALSE(isPlain([&](Recipe &recipe) { recipe.steps[0].arguments[3].expression = twice; }));
  CHECK_FALSE(isPlain([](Recipe &recipe) { recipe.steps[0].grid[2] = Expression::constant(0); }));
  CHECK_FALSE(isPlain(
      [](Recipe &recipe) { recipe.steps[0].arguments[3].expression = Expression::constant(int64_t{1} << 31); }));
  CHECK_FALSE(isPlain([](Recipe &recipe) {
    recipe.tensorMaps = {{.tensor = 0, .sizes = {Expression::dimension(0)}, .strides = {}, .box = {64}}};
  }));
  CHECK_FALSE(isPlain([](Recipe &recipe) { recipe.steps[0].arguments.resize(64, {Argument::Kind::Null, 0, {}}); }));
}

TEST_CASE("a step overlaps with what precedes it where it can and the caller allows it") {
  for (bool can : {false, true}) {
    for (bool allowed : {false, true}) {
      CAPTURE(can);
      CAPTURE(allowed);
      Recipe recipe = plainRecipe();
      recipe.steps[0].programmaticLaunch = can;
      Bound bound(recipe, "*");
      REQUIRE(bound.takes({.programmatic = allowed}));
      CHECK(bound.record->launches[0].parameters.programmaticLaunch == (can && allowed));
    }
  }
}

TEST_CASE("the first launch is looked at in full, and each that the driver refuses") {
  Bound bound(plainRecipe(), "*");
  PlainLaunch fresh;
  fresh.bind(bound.recipe, bound.rules, bound.function.direct(), bound.fixed);
  CHECK_FALSE(fresh.launch(Given().request()));
  fresh.begin();
  CHECK(fresh.launch(Given().request()));

  StubRuntime stub;
  Result<std::shared_ptr<const Kernel>> kernel = stub.runtime->kernel(stub.device, stubProblem("*"));
  REQUIRE(kernel.ok());
  const std::vector<uint64_t> tensors = {0x1000, 0x2000, 0x3000};
  const std::vector<int64_t> dimensions = {300};
  const LaunchRequest request = {.tensors = tensors, .dimensions = dimensions, .scalars = {}};
  CHECK_FALSE((*kernel)->plain().launch(request));
  CHECK((*kernel)->launch(request).ok());
  CHECK((*kernel)->plain().launch(request));
  stub.device->record->refusesDirect = true;
  CHECK_FALSE((*kernel)->plain().launch(request));
  CHECK(stub.device->record->launches.size() == 2);
  CHECK((*kernel)->launch(request).ok());
  CHECK(stub.device->record->launches.size() == 3);
}

TEST_CASE("a kernel launches alike whether its launch is plain or looked at in full") {
  // Never empty, and of the same sizes: a second step, of nothing, makes the kernel one that is not plain.
  Recipe plain = plainRecipe(), full = plainRecipe();
  LaunchStep nothing = full.steps[0];
  nothing.grid[0] = Expression::constant(0);
  full.steps.push_back(nothing);
  auto load = [](const Recipe &recipe, const std::shared_ptr<StubDevice> &device) {
    Entry entry{Key({"stub", kTarget.toString(), "build", "", "stub"}), recipe.serialize(), {}, {0x7f}};
    return *Kernel::load(device, stubProblem("*%16<=4096"),
                         {std::make_shared<const Entry>(std::move(entry)), Tier::Compiled, 0});
  };
  auto device = std::make_shared<StubDevice>(kTarget), other = std::make_shared<StubDevice>(kTarget);
  std::shared_ptr<const Kernel> kernel = load(plain, device), twin = load(full, other);
  std::mt19937_64 random(7);
  auto oneOf = [&](std::initializer_list<int64_t> values) { return values.begin()[random() % values.size()]; };
  for (int i = 0; i < 2000; ++i) {
    Given given = {.tensors = {uint64_t(oneOf({0, 0x1000, 0x1010, 0x1008})), uint64_t(oneOf({0x2000, 0x2004, 0x2002}))},
                   .dimensions = {oneOf({16, 4096, 304, 0, -16, 8, 4112}),
                                  oneOf({1, 0, -1, INT32_MAX, int64_t{1} << 31, int64_t{1} << 40})},
                   .scalars = {float(oneOf({-1, 3}))}};
    CHECK(kernel->launch(given.request()).toString() == twin->launch(given.request()).toString());
  }
  REQUIRE(device->record->launches.size() == other->record->launches.size());
  CHECK(device->record->launches.size() > 20);
  size_t numDirect = 0;
  for (size_t i = 0; i < device->record->launches.size(); ++i) {
    const StubLaunch &found = device->record->launches[i], &wanted = other->record->launches[i];
    CHECK((found.packed.empty() ? found.arguments : argumentsOf(found, plain)) == wanted.arguments);
    numDirect += found.packed.empty() ? 0 : 1;
    CHECK(found.parameters.grid == wanted.parameters.grid);
  }
  CHECK(numDirect + 1 == device->record->launches.size()); // the first was in full
}

TEST_SUITE_END();
