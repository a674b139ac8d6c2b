// The dialect, its aliases and what a module says about its threads.

#include "src/ir/ttg/Ttg.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

#include "src/ir/ttg/TtgDialect.cpp.inc"
#include "src/ir/ttg/TtgInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "src/ir/ttg/TtgAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "src/ir/ttg/TtgTypes.cpp.inc"

namespace jitk::ir::ttg {
using namespace mlir;

namespace {

struct TtgAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    StringRef alias = TypeSwitch<Attribute, StringRef>(attr)
                          .Case<BlockedEncodingAttr>([](auto) { return "blocked"; })
                          .Case<LinearEncodingAttr>([](auto) { return "linear"; })
                          .Case<NvidiaMmaEncodingAttr>([](auto) { return "mma"; })
                          .Case<SharedEncodingTrait>([](auto) { return "shared"; })
                          .Case<SharedMemorySpaceAttr>([](auto) { return "smem"; })
                          .Default(StringRef());
    if (alias.empty()) {
      return AliasResult::NoAlias;
    }
    os << alias;
    return AliasResult::FinalAlias;
  }
};

} // namespace

void TtgDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "src/ir/ttg/TtgAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "src/ir/ttg/TtgTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "src/ir/ttg/TtgOps.cpp.inc"
      >();
  addInterfaces<TtgAliases>();
}

// --- Threads

static std::optional<int> moduleNumber(Operation *op, StringRef name) {
  for (; op; op = op->getParentOp()) {
    if (auto value = op->getAttrOfType<IntegerAttr>(name); value && isa<ModuleOp>(op)) {
      return value.getInt();
    }
  }
  return std::nullopt;
}

std::optional<int> maybeLookupNumWarps(Operation *op) {
  for (Region *region = op->getParentRegion(); region; region = region->getParentRegion()) {
    if (auto partitions = dyn_cast<WarpSpecializePartitionsOp>(region->getParentOp())) {
      auto specialize = cast<WarpSpecializeOp>(partitions->getParentOp());
      return specialize.getPartitionNumWarps()[region->getRegionNumber()];
    }
  }
  return lookupKernelNumber(op, kNumWarps);
}

std::optional<int> lookupKernelNumber(Operation *op, StringRef name) {
  for (; op; op = op->getParentOp()) {
    if (auto value = op->getAttrOfType<IntegerAttr>(name); value && isa<ModuleOp, FunctionOpInterface>(op)) {
      return value.getInt();
    }
  }
  return std::nullopt;
}

Operation *holderOfKernelNumbers(FunctionOpInterface kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto isOther = [&](FunctionOpInterface function) { return function != kernel && function.isPublic(); };
  return llvm::any_of(module.getOps<FunctionOpInterface>(), isOther) ? kernel.getOperation() : module.getOperation();
}

int lookupNumWarps(Operation *op) { return maybeLookupNumWarps(op).value_or(4); }
std::optional<int> maybeLookupThreadsPerWarp(Operation *op) { return moduleNumber(op, kThreadsPerWarp); }
std::optional<int> maybeLookupNumCTAs(Operation *op) { return moduleNumber(op, kNumCTAs); }
int lookupThreadsPerWarp(Operation *op) { return maybeLookupThreadsPerWarp(op).value_or(32); }
int lookupNumCTAs(Operation *op) { return maybeLookupNumCTAs(op).value_or(1); }

} // namespace jitk::ir::ttg
