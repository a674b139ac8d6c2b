// The interface behind which the compiler library is opened.
//
// libjitk never links the compiler. On the first miss it opens libjitk-compiler.so, calls `jitk_compiler_open` and
// compares build ids. Both libraries are built together by one toolchain, so C++ types may cross here.

#pragma once

#include "src/ops/Description.h"
#include "src/runtime/Device.h"
#include "src/runtime/Recipe.h"
#include "src/runtime/Target.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

/// Milliseconds spent in each stage of one compilation.
struct StageTimes {
  double build = 0;    ///< description to CommonIR
  double lower = 0;    ///< CommonIR to TTGIR to the LLVM dialect
  double llvm = 0;     ///< LLVM O3 and PTX (or host object code for the emulator)
  double assemble = 0; ///< PTX to machine code
};

/// Figures of the machine code; of several steps, the largest.
struct KernelStatistics {
  uint32_t registers = 0;
  uint32_t spillBytes = 0;
  uint32_t sharedBytes = 0;
};

/// One of the ways in which a kernel can be built.
struct Configuration {
  std::string name;  ///< the value of the attribute `configuration`
  double clocks = 0; ///< what the cost model expects of it; 0 where the model only ranks
};

/// The intermediate texts of one compilation, for `--dump`.
struct CompileDump {
  std::string commonIr, ttgir, llvmIr, ptx;
};

/// In the order in which they are looked for.
inline constexpr std::string_view kAssemblerNames[] = {"ptxas", "nvjitlink", "driver"};

struct CompileOptions {
  std::string assembler; ///< one of `kAssemblerNames`; empty = the first one found
  bool dump = false;     ///< fill CompiledKernel::dump
  /// For `assemblerIdentity`: of what is written in CUDA C++, which has one tool more on its way.
  bool cudaSource = false;
};

struct CompiledKernel {
  std::vector<uint8_t> code; ///< cubin, or host object code for the emulator
  std::string ptx;           ///< empty for the emulator
  Recipe recipe;
  KernelStatistics statistics;
  StageTimes times;
  CompileDump dump;
  std::string note; ///< what whoever wrote the kernel should know of how it was built; mostly empty
};

/// How the emulator runs kernels.
struct EmulatorOptions {
  Target target;
  bool immediate = false; ///< asynchronous instructions take effect at once, not at their wait
  uint64_t seed = 0;      ///< order in which threads run
  uint32_t workers = 0;   ///< CTAs in parallel; 0 = one a core
  /// Gets what kernels print, a call of printf at a time; from several threads at once. Null drops it.
  std::function<void(std::string_view text)> print;
};

/// The compiler. All functions are thread-safe; each compilation has its own MLIR context.
class Compiler {
public:
  virtual ~Compiler() = default;
  virtual std::string buildId() const = 0;
  /// Name and version of the assembler that `compile` would use, and of NVRTC before it: part of the key.
  virtual Result<std::string> assemblerIdentity(const Target &target, const CompileOptions &options) = 0;
  virtual Result<CompiledKernel> compile(const Description &description, const Target &target,
                                         const CompileOptions &options) = 0;
  /// A digest of what `compile` makes code of: descriptions for which it is the same have the same kernel, code, recipe
  /// and all. Made in a fraction of a compilation's time. Empty where that is not known before the code is there (CUDA
  /// C++). No two programs are known to have one digest, whoever wrote them (SHA-256).
  virtual Result<std::string> programDigest(const Description &description, const Target &target) = 0;
  /// What `compile` begins with, and what it does with it: a module of IR with its pipeline, as `jitk-opt
  /// --run-reproducer` takes it, or a source in CUDA C++. Fails as `compile` does where there is no such text to have.
  virtual Result<std::string> reproduce(const Description &description, const Target &target) = 0;
  /// What the cost model chooses from for a description without a configuration, the one that it takes first; empty
  /// where there is but one way to build the kernel.
  virtual Result<std::vector<Configuration>> configurations(const Description &description, const Target &target) = 0;
  virtual Result<std::unique_ptr<Device>> createEmulator(const EmulatorOptions &options) = 0;
};

} // namespace jitk

/// The only symbol that the compiler library exports. The object lives as long as the library stays open.
extern "C" jitk::Compiler *jitk_compiler_open();
