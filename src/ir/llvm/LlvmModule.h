// A module on its way from the LLVM dialect to code: what the code generators of the GPU and of the host share.

#pragma once

#include "src/support/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace jitk::ir {

/// What a code generator is made for.
struct MachineDescription {
  llvm::Triple triple;
  std::string cpu;
  std::string features;
  llvm::TargetOptions options;
  llvm::CodeGenOptLevel level;
};

/// Unavailable if LLVM has no code generator for the triple. Its target must have been initialized.
Result<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const MachineDescription &description);

/// A module of LLVM IR in a context of its own. What LLVM reports is collected, not printed. Not thread-safe; modules
/// are independent of each other.
class LlvmModule {
public:
  /// Translates a module whose dialects have registered translations. `machine` must outlive the result.
  static Result<std::unique_ptr<LlvmModule>> translate(mlir::ModuleOp module, llvm::TargetMachine &machine);

  ~LlvmModule();

  llvm::Module &operator*() { return *module_; }
  llvm::Module *operator->() { return module_.get(); }

  /// Function passes only where no function of the module calls another, as in those of kernels; else LLVM's O3, which
  /// inlines. Nothing is vectorized: tiles are unrolled by construction, and loops that are left have too few
  /// iterations.
  Status optimize();

  /// Leaves the pass out of `generate`; `pass` is its name on the command line of llc.
  void skipInCodeGenerator(llvm::StringRef pass);

  std::string print() const;

  /// Text or object. Internal if LLVM reported an error, now or before.
  Result<llvm::SmallString<0>> generate(llvm::CodeGenFileType type);

private:
  class PassGate;

  explicit LlvmModule(llvm::TargetMachine &machine);

  llvm::TargetMachine &machine_;
  std::string errors_;
  std::unique_ptr<PassGate> gate_; ///< Outlives the context, which refers to it.
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

} // namespace jitk::ir
