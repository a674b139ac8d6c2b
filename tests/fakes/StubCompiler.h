// A compiler that compiles nothing: it counts, waits, and fails as it is told.
//
// What it makes of a description: tensors a, b and c of 16-byte alignment; the dynamic dimensions in the order of their
// names; one step "stub" with the grid (ceil(first dimension / 128), 1, 1) whose arguments are their number, the three
// tensors, and each dimension.

#pragma once

#include "src/runtime/Compiler.h"
#include "tests/fakes/StubDevice.h"
#include "tests/support/SampleElf.h"

#include <atomic>
#include <functional>

namespace jitk::test {

class StubCompiler final : public Compiler {
public:
  explicit StubCompiler(std::string build = "stub build") : build_(std::move(build)) {}

  std::string buildId() const override { return build_; }
  Result<std::string> assemblerIdentity(const Target &, const CompileOptions &) override {
    return noAssembler ? Result<std::string>(unavailable("no assembler was found")) : Result<std::string>(assembler);
  }

  Result<CompiledKernel> compile(const Description &description, const Target &,
                                 const CompileOptions &options) override {
    ++numCompilations;
    if (onCompile) {
      onCompile(description);
    }
    if (!failure.ok()) {
      return failure.clone();
    }
    CompiledKernel kernel;
    kernel.code = code;
    kernel.ptx = "// stub";
    kernel.recipe = makeRecipe(description);
    kernel.statistics = {.registers = 32, .spillBytes = 0, .sharedBytes = 1024};
    kernel.times = {.build = 1, .lower = 2, .llvm = 3, .assemble = 4};
    kernel.note = note;
    if (options.dump) {
      kernel.dump = {.commonIr = "common", .ttgir = "ttgir", .llvmIr = "llvm", .ptx = kernel.ptx};
    }
    return kernel;
  }

  /// `digest` of the description, else empty: each has code of its own.
  Result<std::string> programDigest(const Description &description, const Target &) override {
    ++numDigests;
    if (digestOutruns) {
      return Status(StatusCode::DeadlineExceeded, "compiler process outran its limit").atStage("compile");
    }
    return digest ? digest(description) : std::string();
  }

  Result<std::string> reproduce(const Description &description, const Target &) override {
    ++numReproductions;
    return "// stub of " + description.op() + "\n";
  }

  Result<std::vector<Configuration>> configurations(const Description &, const Target &) override {
    return std::vector<Configuration>{{"small", 2000}, {"large", 3000}};
  }

  Result<std::unique_ptr<Device>> createEmulator(const EmulatorOptions &options) override {
    return std::unique_ptr<Device>(std::make_unique<StubDevice>(options.target));
  }

  static Recipe makeRecipe(const Description &description) {
    Recipe recipe;
    recipe.tensors = {"a", "b", "c"};
    recipe.alignments = {16, 16, 16};
    for (const auto &[name, value] : description.attributes()) {
      const auto *dimension = std::get_if<Dimension>(&value);
      if (dimension && !dimension->isStatic()) {
        recipe.dimensions.push_back(name);
      }
    }
    auto numDimensions = static_cast<uint32_t>(recipe.dimensions.size());
    LaunchStep step;
    step.symbol = "stub";
    Expression blocks = Expression::constant(1);
    if (numDimensions > 0) {
      blocks = Expression::binary(Expression::Op::CeilDiv, Expression::dimension(0), Expression::constant(128));
    }
    step.grid = {blocks, Expression::constant(1), Expression::constant(1)};
    step.threads = 128;
    step.sharedBytes = 65536;
    step.arguments = {{Argument::Kind::Integer32, 0, Expression::constant(4 + numDimensions)},
                      {Argument::Kind::Tensor, 0, {}},
                      {Argument::Kind::Tensor, 1, {}},
                      {Argument::Kind::Tensor, 2, {}}};
    for (uint32_t i = 0; i < numDimensions; ++i) {
      step.arguments.push_back({Argument::Kind::Integer32, 0, Expression::dimension(i)});
    }
    recipe.steps = {step};
    return recipe;
  }

  std::atomic<int> numCompilations = 0, numDigests = 0, numReproductions = 0;
  // Set before use:
  std::function<void(const Description &)> onCompile;
  std::function<std::string(const Description &)> digest;
  Status failure;
  std::vector<uint8_t> code = sampleElf("stub");
  std::string assembler = "stub assembler 1", note;
  bool noAssembler = false;
  bool digestOutruns = false; ///< its limit, as in a process of its own

private:
  std::string build_;
};

} // namespace jitk::test
