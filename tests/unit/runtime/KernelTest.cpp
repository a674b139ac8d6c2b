#include "tests/unit/runtime/Stub.h"

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
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
  uint64_t workspace = 0, workspaceBytes = 0;
  bool programmatic = false;

  Status on(const Kernel &kernel) const {
    return kernel.launch({tensors, dimensions, scalars, workspace, workspaceBytes, nullptr, programmatic});
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
  recipe.scalars = {"scale"};
  recipe.tensorMaps = {{.tensor = 1, .sizes = {Expression::dimension(0)}, .strides = {}, .box = {64}},
                       {.tensor = 0, .sizes = {Expression::dimension(0)}, .strides = {}, .box = {8}}};
  recipe.steps[0].arguments[1] = {Argument::Kind::Float32, 0, {}};
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
