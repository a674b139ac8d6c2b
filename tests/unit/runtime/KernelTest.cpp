#include "tests/unit/runtime/Stub.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <limits>
#include <new>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/Kernel");

namespace {

/// An entry with any recipe, as if it were compiled for `target`.
Obtained obtained(const Recipe &recipe, const Target &target = kTarget) {
  Entry entry{Key({"stub", target.toString(), "build", "", "stub"}), recipe.serialize(), {}, {0x7f}};
  return {std::make_shared<const Entry>(std::move(entry)), Tier::Compiled, 0};
}

struct Launch {
  std::vector<uint64_t> tensors = {0x1000, 0x2000, 0x3000};
  std::vector<int64_t> dimensions = {256};
  std::vector<float> scalars = {};
  std::vector<jitk_scalar_t> typedScalars = {};
  uint64_t workspace = 0, workspaceBytes = 0;
  bool programmatic = false;

  Status on(const Kernel &kernel) const {
    return kernel.launch(
        {tensors, dimensions, scalars, typedScalars, workspace, workspaceBytes, nullptr, programmatic});
  }
};

std::shared_ptr<const Kernel> stubKernel(StubRuntime &stub, const std::string &m) {
  Result<std::shared_ptr<const Kernel>> kernel = stub.runtime->kernel(stub.device, stubProblem(m));
  REQUIRE(kernel.ok());
  return *kernel;
}

std::string messageOf(const Status &status) {
  CHECK(status.code() == StatusCode::InvalidArgument);
  return status.toString();
}

} // namespace

TEST_CASE("a launch evaluates its grid and packs its arguments") {
  StubRuntime stub;
  std::shared_ptr<const Kernel> kernel = stubKernel(stub, "*");
  REQUIRE(Launch{.dimensions = {300}}.on(*kernel).ok());
  REQUIRE(stub.device->record->launches.size() == 1);
  const StubLaunch &launch = stub.device->record->launches[0];
  CHECK(launch.symbol == "stub");
  CHECK(launch.parameters.grid == std::array<uint32_t, 3>{3, 1, 1});
  CHECK(launch.parameters.threads == 128);
  CHECK(launch.parameters.sharedBytes == 65536);
  CHECK(launch.arguments == std::vector<uint64_t>{5, 0x1000, 0x2000, 0x3000, 300});
}

TEST_CASE("an empty problem returns at once, whatever its tensors") {
  StubRuntime stub;
  std::shared_ptr<const Kernel> kernel = stubKernel(stub, "*");
  CHECK(Launch{.tensors = {0, 0, 0}, .dimensions = {0}}.on(*kernel).ok());
  CHECK(stub.device->record->launches.empty());
}

TEST_CASE("what a launch refuses is named, with what was found and wanted") {
  StubRuntime stub;
  std::shared_ptr<const Kernel> kernel = stubKernel(stub, "*%16<=4096");
  CHECK(messageOf(Launch{.dimensions = {}}.on(*kernel)) == "number of dimensions must be 1: got 0");
  CHECK(messageOf(Launch{.dimensions = {-16}}.on(*kernel)) == "dimension m must be zero or more: got -16");
  CHECK(messageOf(Launch{.dimensions = {4112}}.on(*kernel)) == "dimension m must be at most 4096: got 4112");
  CHECK(messageOf(Launch{.dimensions = {24}}.on(*kernel)) == "dimension m must be a multiple of 16: got 24");
  CHECK(messageOf(Launch{.tensors = {0x1000, 0x2000}}.on(*kernel)) == "number of tensors must be 3: got 2");
  CHECK(messageOf(Launch{.tensors = {0x1000, 0, 0x3000}}.on(*kernel)) ==
        "address of tensor b must not be null: got 0x0");
  CHECK(messageOf(Launch{.tensors = {0x1000, 0x2000, 0x3008}}.on(*kernel)) ==
        "address of tensor c must be aligned to 16 bytes: got 0x3008");
  CHECK(messageOf(Launch{.scalars = {1.0f}}.on(*kernel)) == "number of scalars must be 0: got 1");
  CHECK(stub.device->record->launches.empty());
}

TEST_CASE("a size that does not fit is refused, not cut off") {
  StubRuntime stub;
  std::shared_ptr<const Kernel> kernel = stubKernel(stub, "*");
  CHECK(messageOf(Launch{.dimensions = {int64_t{1} << 40}}.on(*kernel)).find("axis 0 of stub must be at most") !=
        std::string::npos);
  CHECK(messageOf(Launch{.dimensions = {int64_t{1} << 32}}.on(*kernel)) ==
        "the dimensions are too large: a 32-bit argument of stub became 4294967296");
}

TEST_CASE("a workspace is asked for, checked and passed") {
  Recipe recipe = StubCompiler::makeRecipe(stubProblem("*")->description);
  recipe.workspaceBytes = Expression::binary(Expression::Op::Mul, Expression::dimension(0), Expression::constant(4));
  recipe.steps[0].arguments[1] = {Argument::Kind::Workspace, 0, Expression::constant(256)};
  auto device = std::make_shared<StubDevice>(kTarget);
  std::shared_ptr<const Kernel> kernel = *Kernel::load(device, stubProblem("*"), obtained(recipe));

  CHECK(*kernel->workspaceBytes(std::vector<int64_t>{256}) == 1024);
  CHECK(kernel->workspaceBytes(std::vector<int64_t>{-1}).status().code() == StatusCode::InvalidArgument);
  CHECK(messageOf(Launch{}.on(*kernel)) == "workspace must have at least 1024 bytes: got 0");
  CHECK(messageOf(Launch{.workspace = 0x10010, .workspaceBytes = 1024}.on(*kernel)) ==
        "address of the workspace must be aligned to 256 bytes: got 0x10010");
  REQUIRE(Launch{.workspace = 0x10000, .workspaceBytes = 1024}.on(*kernel).ok());
  CHECK(device->record->launches[0].arguments[1] == 0x10100);
}

TEST_CASE("scalars and tensor maps are passed by value, and an empty step is skipped with its maps") {
  Recipe recipe = StubCompiler::makeRecipe(stubProblem("*")->description);
  recipe.scalars = {{"scale", ScalarType::Fp32}};
  recipe.tensorMaps = {{.tensor = 1, .sizes = {Expression::dimension(0)}, .strides = {}, .box = {64}},
                       {.tensor = 0, .sizes = {Expression::dimension(0)}, .strides = {}, .box = {8}}};
  recipe.steps[0].arguments[1] = {Argument::Kind::Scalar, 0, {}};
  recipe.steps[0].arguments[2] = {Argument::Kind::TensorMap, 0, {}};
  LaunchStep never = recipe.steps[0];
  never.grid[1] = Expression::constant(0);
  never.arguments[2].index = 1;
  recipe.steps.insert(recipe.steps.begin(), never);
  auto device = std::make_shared<StubDevice>(kTarget);
  std::shared_ptr<const Kernel> kernel = *Kernel::load(device, stubProblem("*"), obtained(recipe));
  REQUIRE(Launch{.scalars = {1.0f}}.on(*kernel).ok());
  REQUIRE(device->record->launches.size() == 1);
  CHECK(device->record->launches[0].arguments[1] == 0x3f800000);
  CHECK(device->record->launches[0].arguments[2] == 0x2000);
  CHECK(device->record->numTensorMaps == 1);
}

TEST_CASE("a step overlaps with one of its launch, and with what precedes it where the caller allows that") {
  Recipe recipe = StubCompiler::makeRecipe(stubProblem("*")->description);
  LaunchStep waits = recipe.steps[0], never = recipe.steps[0], plain = recipe.steps[0];
  waits.programmaticLaunch = never.programmaticLaunch = true;
  never.grid[1] = Expression::constant(0);
  recipe.steps = {never, waits, waits, plain, waits};
  auto device = std::make_shared<StubDevice>(kTarget);
  std::shared_ptr<const Kernel> kernel = *Kernel::load(device, stubProblem("*"), obtained(recipe));
  for (bool allowed : {false, true}) {
    CAPTURE(allowed);
    device->record->launches.clear();
    REQUIRE(Launch{.programmatic = allowed}.on(*kernel).ok());
    std::vector<bool> programmatic;
    for (const StubLaunch &launch : device->record->launches) {
      programmatic.push_back(launch.parameters.programmaticLaunch);
    }
    CHECK(programmatic == std::vector<bool>{allowed, true, false, true});
  }
}

namespace {

jitk_scalar_t floating(double value) { return {.kind = JITK_SCALAR_FLOAT, .float_value = value}; }
jitk_scalar_t integer(int64_t value) { return {.kind = JITK_SCALAR_INT, .int_value = value}; }
jitk_scalar_t natural(uint64_t value) { return {.kind = JITK_SCALAR_UINT, .uint_value = value}; }

/// A kernel whose first argument is a scalar of the given type.
struct ScalarKernel {
  explicit ScalarKernel(ScalarType type) {
    Recipe recipe = StubCompiler::makeRecipe(stubProblem("*")->description);
    recipe.scalars = {{"s", type}};
    recipe.steps[0].arguments[1] = {Argument::Kind::Scalar, 0, {}};
    kernel = *Kernel::load(device, stubProblem("*"), obtained(recipe));
  }

  /// What the device was given, cut to the type's size as the device cuts it; all ones after a failure.
  uint64_t bits(const jitk_scalar_t &value) const {
    Status status = Launch{.typedScalars = {value}}.on(*kernel);
    uint32_t unused = 64 - 8 * scalarBytes(kernel->recipe().scalars[0].type);
    return status.ok() ? device->record->launches.back().arguments[1] << unused >> unused : ~uint64_t(0);
  }
  std::string refusal(const jitk_scalar_t &value) const {
    return messageOf(Launch{.typedScalars = {value}}.on(*kernel));
  }

  std::shared_ptr<StubDevice> device = std::make_shared<StubDevice>(kTarget);
  std::shared_ptr<const Kernel> kernel;
};

} // namespace

TEST_CASE("a scalar is passed in the kernel's type") {
  const double infinity = std::numeric_limits<double>::infinity();
  ScalarKernel half(ScalarType::Fp16);
  CHECK(half.bits(floating(-1.5)) == 0xBE00);
  CHECK(half.bits(floating(1 + 0x1p-11)) == 0x3C00);     // half way: to the even one below
  CHECK(half.bits(floating(1 + 3 * 0x1p-11)) == 0x3C02); // to the even one above
  CHECK(half.bits(floating(1 + 0x1p-11 + 0x1p-40)) == 0x3C01);
  CHECK(half.bits(floating(2 - 0x1p-12)) == 0x4000); // carries into the exponent
  CHECK(half.bits(floating(0x1p-24)) == 0x0001);
  CHECK(half.bits(floating(0x1p-25)) == 0x0000);
  CHECK(half.bits(floating(0x1p-14 - 0x1p-26)) == 0x0400); // subnormal to normal
  CHECK(half.bits(floating(65504)) == 0x7BFF);
  CHECK(half.bits(floating(65519)) == 0x7BFF);
  CHECK(half.bits(floating(infinity)) == 0x7C00);
  CHECK(half.bits(floating(-0.0)) == 0x8000);
  CHECK(half.bits(floating(std::nan(""))) == 0x7E00);
  CHECK(half.refusal(floating(65520)) == "scalar s must be in the range of fp16: got 65520");

  ScalarKernel bfloat(ScalarType::Bf16);
  CHECK(bfloat.bits(floating(1 + 0x1p-8)) == 0x3F80);
  CHECK(bfloat.bits(floating(-3.140625)) == 0xC049);
  CHECK(bfloat.refusal(floating(-3.4e38)) == "scalar s must be in the range of bf16: got -3.4e+38");

  ScalarKernel single(ScalarType::Fp32);
  for (float value : {0.1f, -1e-42f, 3.4e38f, 1.0f, 0.0f, 1e-38f, 1e-45f}) {
    CHECK(single.bits(floating(value)) == std::bit_cast<uint32_t>(value));
  }
  CHECK(single.bits(integer(-3)) == std::bit_cast<uint32_t>(-3.0f)); // an integer may stand for a float
  CHECK(single.bits(natural(3)) == std::bit_cast<uint32_t>(3.0f));
  CHECK(single.bits(floating(0.1)) == std::bit_cast<uint32_t>(0.1f));
  CHECK(single.refusal(floating(1e39)) == "scalar s must be in the range of fp32: got 1e+39");
  CHECK(ScalarKernel(ScalarType::Fp64).bits(floating(0.1)) == std::bit_cast<uint64_t>(0.1));

  CHECK(ScalarKernel(ScalarType::Int32).bits(integer(-5)) == 0xFFFFFFFB);
  CHECK(ScalarKernel(ScalarType::Int64).bits(integer(INT64_MIN)) == uint64_t(1) << 63);
  CHECK(ScalarKernel(ScalarType::UInt32).bits(natural(UINT32_MAX)) == UINT32_MAX);
  CHECK(ScalarKernel(ScalarType::UInt64).bits(natural(UINT64_MAX - 1)) == UINT64_MAX - 1);
}

TEST_CASE("a scalar that does not fit the kernel's type is refused") {
  ScalarKernel small(ScalarType::Int32);
  CHECK(small.bits(natural(INT32_MAX)) == INT32_MAX);
  CHECK(small.refusal(integer(int64_t(INT32_MAX) + 1)) == "scalar s must be in the range of int32: got 2147483648");
  CHECK(small.refusal(integer(int64_t(INT32_MIN) - 1)) == "scalar s must be in the range of int32: got -2147483649");
  CHECK(small.refusal(floating(1)) == "scalar s must be an integer, since it is of type int32: got the float 1");
  CHECK(small.refusal({}) == "scalar s must be an integer, since it is of type int32: got kind 0");
  CHECK(messageOf(Launch{.scalars = {1.0f}}.on(*small.kernel)) ==
        "scalar s must be given in typed_scalars, since it is of type int32: got scalars");
  CHECK(messageOf(Launch{}.on(*small.kernel)) == "number of scalars must be 1: got 0");
  CHECK(ScalarKernel(ScalarType::Int64).refusal(natural(uint64_t(1) << 63)) ==
        "scalar s must be in the range of int64: got 9223372036854775808");
  CHECK(ScalarKernel(ScalarType::UInt32).refusal(integer(-1)) == "scalar s must be in the range of uint32: got -1");
  CHECK(ScalarKernel(ScalarType::UInt64).refusal(integer(-1)) == "scalar s must be in the range of uint64: got -1");
  ScalarKernel single(ScalarType::Fp32);
  CHECK(single.refusal({}) == "scalar s must be a number, since it is of type fp32: got kind 0");
  CHECK(single.refusal(natural((uint64_t(1) << 53) + 1)) ==
        "scalar s must be in the range of fp32: got 9007199254740993");
  CHECK(single.refusal(integer(-(int64_t(1) << 53) - 1)) ==
        "scalar s must be in the range of fp32: got -9007199254740993");
}

TEST_CASE("a tensor map of the workspace") {
  Recipe recipe = StubCompiler::makeRecipe(stubProblem("*")->description);
  recipe.tensorMaps = {{.tensor = TensorMap::kWorkspace,
                        .sizes = {Expression::dimension(0)},
                        .strides = {},
                        .box = {64},
                        .offset = Expression::constant(512)}};
  recipe.workspaceBytes = Expression::constant(1024);
  recipe.steps[0].arguments[2] = {Argument::Kind::TensorMap, 0, {}};
  auto device = std::make_shared<StubDevice>(kTarget);
  std::shared_ptr<const Kernel> kernel = *Kernel::load(device, stubProblem("*"), obtained(recipe));
  REQUIRE(Launch{.workspace = 0x10000, .workspaceBytes = 1024}.on(*kernel).ok());
  CHECK(device->record->launches[0].arguments[2] == 0x10200);
}

TEST_CASE("code for another target is refused") {
  Recipe recipe = StubCompiler::makeRecipe(stubProblem("*")->description);
  auto device = std::make_shared<StubDevice>(Target{Target::Kind::Cuda, 80, false});
  Result<std::shared_ptr<const Kernel>> kernel = Kernel::load(device, stubProblem("*"), obtained(recipe));
  CHECK(kernel.status().toString() == "kernel must be compiled for the device's target sm_80: got sm_90a");
  CHECK(device->record->numLoads == 0);
}

TEST_SUITE_END();
