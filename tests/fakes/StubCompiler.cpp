// The stub compiler as a library, for programs that see the C API only. It fails on purpose for some problems:
//
//   n=13   unsupported, with the output of a tool
//   n=17   machine code that is none
//
//   n=29   it crashes
//   n=31   it does not come back
//   n=37   it takes all memory that there is
//
// For n=23 the kernel has twelve arguments, and is plain. For those of the following it is not:
//
//   n=43   tensor maps of its first tensor
//   n=47   tensor maps of its three tensors
//   n=53   a workspace
//   n=59   two steps
//
// While it compiles n=19 it interrupts the process, as Ctrl-C would.

#include "tests/fakes/StubCompiler.h"

#include "src/runtime/BuildId.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <unistd.h>
#include <vector>

namespace jitk::test {
namespace {

/// What no engine survives that has the compiler in its own process.
void misbehave(int64_t n) {
  if (n == 29) {
    std::fputs("stub: about to crash\n", stderr);
    std::fflush(stderr);
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  }
  while (n == 31) {
    ::sleep(1);
  }
  std::vector<std::unique_ptr<char[]>> kept;
  while (n == 37) {
    kept.emplace_back(new char[1 << 20]);
  }
}

bool isIntricate(int64_t n) { return n == 43 || n == 47 || n == 53 || n == 59; }

/// What keeps a recipe of twelve arguments from being plain; the arguments stay twelve.
void makeIntricate(int64_t n, Recipe &recipe) {
  LaunchStep &step = recipe.steps[0];
  size_t numMaps = n == 43 ? 1 : n == 47 ? 3 : 0;
  const Expression rows = recipe.dimensions.empty() ? Expression::constant(4096) : Expression::dimension(0);
  for (uint32_t i = 0; i < numMaps; ++i) { // 16-bit elements in rows of 64
    recipe.tensorMaps.push_back({.tensor = i,
                                 .elementType = 9,
                                 .swizzle = 3,
                                 .sizes = {Expression::constant(64), rows},
                                 .strides = {Expression::constant(128)},
                                 .box = {64, 64}});
    step.arguments[1 + i] = {Argument::Kind::TensorMap, i, {}};
  }
  if (n == 53) {
    recipe.workspaceBytes = Expression::binary(Expression::Op::Mul, rows, Expression::constant(4));
    step.arguments[11] = {Argument::Kind::Workspace, 0, {}};
  }
  if (n == 59) {
    recipe.steps.push_back(step);
  }
}

class StubLibrary final : public Compiler {
public:
  std::string buildId() const override { return kBuildId; }
  Result<std::string> assemblerIdentity(const Target &target, const CompileOptions &options) override {
    return StubCompiler().assemblerIdentity(target, options);
  }
  Result<CompiledKernel> compile(const Description &description, const Target &target,
                                 const CompileOptions &options) override {
    bool hasColumns = description.attributes().contains("n");
    int64_t n = hasColumns ? description.dimension("n").value : 0;
    if (n == 19) {
      raise(SIGINT); // to this thread: it has arrived when the call returns
    }
    if (n == 13) {
      return unsupported("n must not be 13: got 13").atStage("build").withToolOutput("stub: bad luck");
    }
    misbehave(n);
    StubCompiler compiler;
    if (n == 17) {
      compiler.code = {};
    }
    Result<CompiledKernel> kernel = compiler.compile(description, target, options);
    if (n == 23 || isIntricate(n)) {
      std::vector<Argument> &arguments = kernel->recipe.steps[0].arguments;
      arguments.resize(12, {Argument::Kind::Integer32, 0, Expression::constant(7)});
      arguments[0].expression = Expression::constant(12);
    }
    if (isIntricate(n)) {
      makeIntricate(n, kernel->recipe);
    }
    return kernel;
  }
  Result<std::string> programDigest(const Description &description, const Target &target) override {
    bool hasColumns = description.attributes().contains("n");
    if (hasColumns && description.dimension("n").value == 41) {
      return std::string("41, whatever the rest");
    }
    return StubCompiler().programDigest(description, target);
  }
  Result<std::string> reproduce(const Description &description, const Target &target) override {
    return StubCompiler().reproduce(description, target);
  }
  Result<std::vector<Configuration>> configurations(const Description &description, const Target &target) override {
    return StubCompiler().configurations(description, target);
  }
  Result<std::unique_ptr<Device>> createEmulator(const EmulatorOptions &options) override {
    return StubCompiler().createEmulator(options);
  }
};

} // namespace
} // namespace jitk::test

extern "C" __attribute__((visibility("default"))) jitk::Compiler *jitk_compiler_open() {
  static jitk::test::StubLibrary library;
  return &library;
}
