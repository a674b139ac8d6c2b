#include "src/kernels/vocabulary/KernelProgram.h"

#include "src/compiler/Pipelines.h"
#include "src/kernels/vocabulary/KernelBuilder.h"
#include "tests/unit/emulator/KernelFixture.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace jitk;
using namespace jitk::kernels;
using mlir::Value;

namespace {

const Target kTarget = *Target::parse("emulator:sm_90a");

Expression times(const Expression &lhs, int64_t rhs) {
  return Expression::binary(Expression::Op::Mul, lhs, Expression::constant(rhs));
}

/// y[i] = scale * (x[0] + ... + x[63]) + x[i] for each row of 64, in two steps: one warp adds, four warps finish
/// through shared memory.
struct RowSums {
  RowSums() {
    loadKernelDialects(context);
    mlir::Type f32 = elementTypeOf("fp32", context);
    signature.tensor("x", f32);
    signature.tensor("y", f32);
    signature.dimension("rows", Dimension());
    signature.scalar("scale");
    signature.workspace("unused", f32, times(signature.expression("rows"), 3));
    signature.workspace("sums", f32, signature.expression("rows"));
    signature.workspaceOver("unused", "over", f32, times(signature.expression("rows"), 100));
  }

  BuiltKernel build() {
    KernelProgram program(context, signature, kTarget);
    Expression one = Expression::constant(1), rows = signature.expression("rows");
    program.step({.symbol = "add_rows", .numWarps = 1, .grid = {rows, one, one}, .arguments = {"x", "sums"}},
                 [](KernelBuilder &b) {
                   Value row = b.programId(0);
                   Value x = b.advance(b.tensorParameter("x"), b.mul(row, b.i32(64)));
                   Value values = b.load(b.pointers({x, b.i64(0)}, b.range(1), b.range(64)));
                   b.store(b.pointers(b.advance(b.tensorParameter("sums"), row), b.range(1)), b.reduceRowsSum(values));
                 });
    program.step({.symbol = "finish_rows", .numWarps = 4, .grid = {rows, one, one}}, [](KernelBuilder &b) {
      Value row = b.programId(0), offset = b.mul(row, b.i32(64));
      Value buffer = b.buffer({64}, b.getF32Type());
      b.copyIn(b.pointers(b.advance(b.tensorParameter("x"), offset), b.range(64)), buffer);
      Value sum = b.load(b.advance(b.tensorParameter("sums"), row));
      Value scaled = b.splat(b.mulf(sum, b.scalar("scale")), {64});
      b.store(b.pointers(b.advance(b.tensorParameter("y"), offset), b.range(64)), b.addf(b.read(buffer), scaled));
    });
    return std::move(program).finish();
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  KernelSignature signature;
};

/// Runs one step of the recipe on the emulator with the launch's values.
void launchStep(emulator::test::Machine &machine, emulator::HostModule &module, const LaunchStep &step,
                const std::vector<uint64_t> &tensors, std::vector<int64_t> sizes, float scalar, uint64_t workspace) {
  std::vector<uint64_t> values;
  for (const Argument &argument : step.arguments) {
    switch (argument.kind) {
    case Argument::Kind::Tensor:
      values.push_back(tensors[argument.index]);
      break;
    case Argument::Kind::Workspace:
      values.push_back(workspace + uint64_t(argument.expression.evaluate(sizes)));
      break;
    case Argument::Kind::Scalar:
      values.push_back(std::bit_cast<uint32_t>(scalar));
      break;
    default:
      values.push_back(uint64_t(argument.expression.evaluate(sizes)));
    }
  }
  std::vector<void *> pointers;
  for (uint64_t &value : values) {
    pointers.push_back(&value);
  }
  LaunchParameters parameters;
  parameters.grid[0] = uint32_t(step.grid[0].evaluate(sizes));
  parameters.threads = step.threads;
  parameters.sharedBytes = 1024;
  parameters.arguments = pointers.data();
  Result<const emulator::KernelRecord *> record = module.kernel(step.symbol);
  REQUIRE(record.ok());
  Result<emulator::LaunchReport> report = machine.device.run(**record, parameters);
  REQUIRE(report.ok());
  INFO(report->toString());
  CHECK(report->clean());
}

} // namespace

TEST_SUITE("kernels/KernelProgram") {
  TEST_CASE("a step takes what it names and every dynamic dimension") {
    RowSums rowSums;
    BuiltKernel built = rowSums.build();
    REQUIRE(succeeded(mlir::verify(*built.module)));
    const Recipe &recipe = built.recipe;
    CHECK(recipe.validate().ok());
    CHECK(recipe.dimensions == std::vector<std::string>{"rows"});
    CHECK(recipe.scalars == std::vector<ScalarForm>{{"scale", ScalarType::Fp32}});
    REQUIRE(recipe.steps.size() == 2);

    using Kind = Argument::Kind;
    auto kinds = [](const LaunchStep &step) {
      std::vector<Kind> all;
      for (const Argument &argument : step.arguments) {
        all.push_back(argument.kind);
      }
      return all;
    };
    CHECK(kinds(recipe.steps[0]) ==
          std::vector<Kind>{Kind::Tensor, Kind::Integer32, Kind::Workspace, Kind::Null, Kind::Null});
    CHECK(kinds(recipe.steps[1]) == std::vector<Kind>{Kind::Tensor, Kind::Tensor, Kind::Integer32, Kind::Scalar,
                                                      Kind::Workspace, Kind::Workspace, Kind::Workspace, Kind::Null,
                                                      Kind::Null});
    CHECK(recipe.steps[0].threads == 32);
    CHECK(recipe.steps[1].threads == 128);
  }

  TEST_CASE("regions are aligned, follow one another, and share where they are told to") {
    RowSums rowSums;
    Recipe recipe = rowSums.build().recipe;
    std::vector<int64_t> ten = {10}, hundred = {100};
    const std::vector<Argument> &arguments = recipe.steps[1].arguments;
    // 100 f32 a row are more than 3, so that "over" decides what "unused" and it have together.
    CHECK(arguments[4].expression.evaluate(ten) == 0);
    CHECK(arguments[5].expression.evaluate(ten) == 4096);
    CHECK(arguments[6].expression.evaluate(ten) == 0);
    CHECK(recipe.workspaceBytes.evaluate(ten) == 4096 + 256);
    CHECK(recipe.workspaceBytes.evaluate(hundred) == 40192 + 512);
  }

  TEST_CASE("steps of different sizes run one after the other") {
    RowSums rowSums;
    BuiltKernel built = rowSums.build();
    mlir::PassManager passes(&rowSums.context);
    compiler::buildTtgirPipeline(passes, kTarget);
    compiler::buildLoweringPipeline(passes);
    REQUIRE(succeeded(passes.run(*built.module)));
    auto sharedBytes = [&](llvm::StringRef symbol) {
      auto function = built.module->lookupSymbol<mlir::LLVM::LLVMFuncOp>(symbol);
      return function->getAttrOfType<mlir::IntegerAttr>("ttg.shared").getInt();
    };
    CHECK(sharedBytes("add_rows") == 0);
    CHECK(sharedBytes("finish_rows") >= 256);

    Result<emulator::HostObject> object = emulator::compileForHost(*built.module);
    REQUIRE(object.ok());
    Result<std::unique_ptr<emulator::HostModule>> module = emulator::loadHostObject(object->code);
    REQUIRE(module.ok());
    constexpr int64_t kRows = 3;
    std::vector<float> x;
    for (int i = 0; i < kRows * 64; ++i) {
      x.push_back(float(i % 7));
    }
    for (const emulator::DeviceOptions &options : emulator::test::allModes()) {
      emulator::test::Machine machine(options);
      std::vector<uint64_t> tensors = {machine.upload(x), machine.allocate(x.size() * sizeof(float))};
      uint64_t workspace = machine.allocate(size_t(built.recipe.workspaceBytes.evaluate(std::vector<int64_t>{kRows})));
      for (const LaunchStep &step : built.recipe.steps) {
        launchStep(machine, **module, step, tensors, {kRows}, 0.5f, workspace);
      }
      std::vector<float> y = machine.download<float>(tensors[1], x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        float sum = 0;
        for (size_t j = 0; j < 64; ++j) {
          sum += x[i / 64 * 64 + j];
        }
        CHECK(y[i] == 0.5f * sum + x[i]);
      }
    }
  }
}
