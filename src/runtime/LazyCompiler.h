// LazyCompiler: the compiler, opened when it is first needed.

#pragma once

#include "src/runtime/Compiler.h"
#include "src/support/Status.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace jitk {

/// Thread-safe. What went wrong at the first use is what every later use reports.
class LazyCompiler {
public:
  /// See `openCompilerLibrary` for `path`. `assembler` is the engine's choice, or empty.
  LazyCompiler(std::string path, std::string buildId, std::string assembler)
      : path_(std::move(path)), buildId_(std::move(buildId)),
        options_{.assembler = std::move(assembler), .dump = false} {}
  /// With a compiler that is there already and outlives this.
  LazyCompiler(Compiler &compiler, std::string assembler)
      : buildId_(compiler.buildId()), options_{.assembler = std::move(assembler), .dump = false}, opened_(&compiler) {}

  Result<Compiler *> get();
  /// Name and version of the assembler for a target, asked of the compiler once.
  Result<std::string> assemblerIdentity(const Target &target, bool cudaSource = false);

  /// Where the open library lies; empty before.
  std::string path() const;
  const std::string &buildId() const { return buildId_; }
  const CompileOptions &options() const { return options_; }

private:
  const std::string path_;
  const std::string buildId_;
  const CompileOptions options_;
  mutable std::mutex mutex_;
  std::optional<Result<Compiler *>> opened_;      ///< guarded by mutex_
  std::string openedPath_;                        ///< guarded by mutex_
  std::map<std::string, std::string> assemblers_; ///< identity by target; guarded by mutex_
};

} // namespace jitk
