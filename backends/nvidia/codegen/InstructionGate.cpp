#include "backends/nvidia/codegen/InstructionGate.h"

#include "src/ir/ptx/Ptx.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

namespace {
struct Architecture {
  uint32_t capability;
  bool archSpecific;
  unsigned minPtx;
};
} // namespace

static constexpr Architecture architectures[] = {
    {80, false, 70},  {86, false, 71}, {87, false, 74}, {89, false, 78},  {90, false, 78}, {90, true, 80},
    {100, false, 86}, {100, true, 86}, {103, true, 88}, {120, false, 87}, {120, true, 87}, {121, true, 88},
};

Result<unsigned> leastPtxVersion(const Target &target) {
  for (const Architecture &known : architectures) {
    if (known.capability == target.capability && known.archSpecific == target.archSpecific) {
      return known.minPtx;
    }
  }
  if (target.capability < 80) {
    return unsupported("the least supported architecture is sm_80: got " + target.architecture());
  }
  return unsupported("no code is generated for " + target.architecture());
}

Result<unsigned> greatestPtxVersion(const Target &target) {
  JITK_ASSIGN(unsigned version, leastPtxVersion(target));
  for (const ptx::Instruction &row : ptx::allInstructions()) {
    if (row.runsOn(target.capability, target.archSpecific)) {
      version = std::max(version, row.minPtx);
    }
  }
  return version;
}

static std::string locationText(Location location) {
  std::string text;
  llvm::raw_string_ostream(text) << location;
  return text;
}

Result<unsigned> gateInstructions(ModuleOp module, const Target &target) {
  JITK_ASSIGN(unsigned version, leastPtxVersion(target));
  ptx::InstOp refused;
  module.walk([&](ptx::InstOp op) {
    const ptx::Instruction &row = *op.instruction();
    if (!row.runsOn(target.capability, target.archSpecific)) {
      refused = op;
      return WalkResult::interrupt();
    }
    version = std::max(version, row.minPtx);
    return WalkResult::advance();
  });
  if (refused) {
    return unsupported("instruction '" + refused.getForm().str() + "' needs " + refused.instruction()->requirement() +
                       ": the target is " + target.architecture())
        .withNote("at " + locationText(refused.getLoc()));
  }
  return version;
}

/// Functions that the driver's loader provides.
static bool isDeviceRuntime(StringRef name) {
  return name == "vprintf" || name == "malloc" || name == "free" || name == "__assertfail";
}

static bool hasNoInstruction(llvm::Intrinsic::ID intrinsic) {
  switch (intrinsic) {
  case llvm::Intrinsic::exp:
  case llvm::Intrinsic::exp10:
  case llvm::Intrinsic::log:
  case llvm::Intrinsic::log10:
  case llvm::Intrinsic::pow:
  case llvm::Intrinsic::powi:
  case llvm::Intrinsic::tan:
  case llvm::Intrinsic::asin:
  case llvm::Intrinsic::acos:
  case llvm::Intrinsic::atan:
  case llvm::Intrinsic::atan2:
  case llvm::Intrinsic::sinh:
  case llvm::Intrinsic::cosh:
  case llvm::Intrinsic::tanh:
  case llvm::Intrinsic::ldexp:
  case llvm::Intrinsic::frexp:
    return true;
  default:
    return false;
  }
}

Status gateCalls(const llvm::Module &module) {
  for (const llvm::Function &function : module) {
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      const auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || !callee->isDeclaration()) {
        continue;
      }
      if (callee->isIntrinsic() ? hasNoInstruction(callee->getIntrinsicID()) : !isDeviceRuntime(callee->getName())) {
        return unsupported("no instruction or device function implements '" + callee->getName().str() + "'")
            .withNote("in function " + function.getName().str());
      }
    }
  }
  return okStatus();
}

} // namespace jitk::nvidia
