#include "src/passes/layouts/TargetCapability.h"

#include "src/ir/ttg/Ttg.h"

using namespace mlir;

namespace jitk::passes {

FailureOr<unsigned> targetCapability(ModuleOp module) {
  auto target = module->getAttrOfType<StringAttr>(ir::ttg::kTarget);
  StringRef text = target ? target.getValue() : StringRef();
  unsigned capability = 0;
  if (!text.consume_front("cuda:") || text.getAsInteger(10, capability)) {
    return module.emitError("needs the module attribute ttg.target = \"cuda:<capability>\": got ") << target;
  }
  return capability;
}

} // namespace jitk::passes
