#include "src/runtime/LazyCompiler.h"

#include "src/runtime/CompilerLibrary.h"
#include "src/support/ExitSection.h"

namespace jitk {

Result<Compiler *> LazyCompiler::get() {
  std::lock_guard lock(mutex_);
  if (!opened_) {
    Result<OpenCompiler> library = openCompilerLibrary(path_, buildId_);
    if (library.ok()) {
      opened_ = library->compiler;
      openedPath_ = library->path;
    } else {
      opened_ = std::move(library).takeStatus();
    }
  }
  if (!opened_->ok()) {
    return opened_->status().clone();
  }
  return **opened_;
}

Result<std::string> LazyCompiler::assemblerIdentity(const Target &target, bool cudaSource) {
  ExitSection section;
  JITK_TRY(section.status());
  JITK_ASSIGN(Compiler * compiler, get());
  std::string name = target.toString() + (cudaSource ? " from CUDA C++" : "");
  {
    std::lock_guard lock(mutex_);
    if (auto known = assemblers_.find(name); known != assemblers_.end()) {
      return known->second;
    }
  }
  // Without the lock: it may run a tool. Two threads may both ask, and get the same answer.
  CompileOptions options = options_;
  options.cudaSource = cudaSource;
  JITK_ASSIGN(std::string identity, compiler->assemblerIdentity(target, options));
  std::lock_guard lock(mutex_);
  assemblers_[name] = identity;
  return identity;
}

std::string LazyCompiler::path() const {
  std::lock_guard lock(mutex_);
  return openedPath_;
}

} // namespace jitk
