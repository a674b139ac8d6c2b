#include "tests/unit/codegen/TtgirFixture.h"

#include "src/compiler/Pipelines.h"
#include "src/ir/Register.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace jitk::codegen::test {

/// Compiles by the passes that `build` adds before the lowering.
static CompiledKernel compile(const std::string &text, function_ref<void(OpPassManager &)> build) {
  DialectRegistry registry;
  ir::registerDialects(registry);
  MLIRContext context(registry);
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  INFO(diagnostics);
  REQUIRE(module);

  PassManager manager(&context);
  build(manager);
  compiler::buildLoweringPipeline(manager);
  const bool lowered = succeeded(manager.run(*module));
  INFO(diagnostics);
  REQUIRE(lowered);

  auto number = [&](StringRef name, uint32_t otherwise) {
    auto attr = (*module)->getAttrOfType<IntegerAttr>(name);
    return attr ? uint32_t(attr.getInt()) : otherwise;
  };
  CompiledKernel kernel;
  kernel.threads = 32 * number("ttg.total-num-warps", number("ttg.num-warps", 4));
  kernel.sharedBytes = number("ttg.shared", 0);
  kernel.scratchBytes = number("ttg.global_scratch_memory_size", 0);
  Result<emulator::HostObject> object = emulator::compileForHost(*module);
  INFO((object.ok() ? std::string() : object.status().toString()));
  REQUIRE(object.ok());
  kernel.code = std::move(object->code);
  return kernel;
}

CompiledKernel compileKernel(const std::string &ttgir) {
  return compile(ttgir, [](OpPassManager &) {});
}

CompiledKernel compileCommonIr(const std::string &commonIr, const std::string &target) {
  Result<Target> parsed = Target::parse(target);
  REQUIRE(parsed.ok());
  return compile(commonIr, [&](OpPassManager &manager) { compiler::buildTtgirPipeline(manager, *parsed); });
}

LaunchReport launch(Machine &machine, const CompiledKernel &kernel, std::vector<uint64_t> arguments,
                    std::array<uint32_t, 3> grid) {
  std::vector<void *> pointers;
  for (uint64_t &argument : arguments) {
    pointers.push_back(&argument);
  }
  return launchWithPointers(machine, kernel, std::move(pointers), grid);
}

LaunchReport launchWithPointers(Machine &machine, const CompiledKernel &kernel, std::vector<void *> arguments,
                                std::array<uint32_t, 3> grid, uint32_t cluster) {
  Result<std::unique_ptr<emulator::HostModule>> module = emulator::loadHostObject(kernel.code);
  INFO((module.ok() ? std::string() : module.status().toString()));
  REQUIRE(module.ok());
  Result<const emulator::KernelRecord *> record = (*module)->kernel("k");
  REQUIRE(record.ok());

  const size_t ctas = size_t(grid[0]) * grid[1] * grid[2];
  uint64_t globalScratch = kernel.scratchBytes ? machine.allocate(kernel.scratchBytes * ctas) : 0, profileScratch = 0;
  arguments.push_back(&globalScratch);
  arguments.push_back(&profileScratch);
  REQUIRE((*record)->numParameters == arguments.size());
  LaunchParameters parameters;
  parameters.grid = grid;
  parameters.cluster = {cluster, 1, 1};
  parameters.threads = kernel.threads;
  parameters.sharedBytes = kernel.sharedBytes;
  parameters.arguments = arguments.data();
  Result<LaunchReport> report = machine.device.run(**record, parameters);
  INFO((report.ok() ? std::string() : report.status().toString()));
  REQUIRE(report.ok());
  return *std::move(report);
}

std::string moduleOf(const std::string &aliases, const std::string &functions, int numWarps, int capability) {
  return aliases + "\nmodule attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = " + std::to_string(numWarps) +
         " : i32, ttg.target = \"cuda:" + std::to_string(capability) + "\", \"ttg.threads-per-warp\" = 32 : i32} {\n" +
         functions + "\n}\n";
}

} // namespace jitk::codegen::test
