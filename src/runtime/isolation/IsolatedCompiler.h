// IsolatedCompiler: the compiler in processes of its own, so that what it does to itself it does not do to the engine.

#pragma once

#include "src/runtime/Compiler.h"
#include "src/runtime/isolation/CompilerProcess.h"

#include <memory>
#include <mutex>
#include <vector>

namespace jitk {

/// Thread-safe. Has as many processes as threads that compile at a time; idle ones are kept.
class IsolatedCompiler final : public Compiler {
public:
  /// An empty `options.program` means the `jitk-compiler` beside the library that holds this code, or in ../bin.
  explicit IsolatedCompiler(CompilerProcessOptions options);

  std::string buildId() const override { return options_.buildId; }
  Result<std::string> assemblerIdentity(const Target &target, const CompileOptions &options) override;
  Result<CompiledKernel> compile(const Description &description, const Target &target,
                                 const CompileOptions &options) override;
  Result<std::string> programDigest(const Description &description, const Target &target) override;
  Result<std::string> reproduce(const Description &description, const Target &target) override;
  Result<std::vector<Configuration>> configurations(const Description &description, const Target &target) override;
  /// The emulator runs code in this process: opens the compiler library here.
  Result<std::unique_ptr<Device>> createEmulator(const EmulatorOptions &options) override;

private:
  Result<std::vector<uint8_t>> ask(const std::vector<uint8_t> &request);
  std::unique_ptr<CompilerProcess> takeIdle();

  CompilerProcessOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CompilerProcess>> idle_; ///< guarded by mutex_; they borrow options_
};

} // namespace jitk
