#include "src/passes/LayoutConversion.h"

#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/tt/Tt.h"
#include "src/passes/layouts/TargetCapability.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

constexpr unsigned kLdmatrixCapability = 75, kStmatrixCapability = 90;

ConversionPlan planConversion(ttg::ConvertLayoutOp op) {
  auto source = cast<RankedTensorType>(op.getSrc().getType()), target = cast<RankedTensorType>(op.getType());
  Type element = source.getElementType();
  // A module without a target is reported; the plan is then for the least of them.
  FailureOr<unsigned> named = targetCapability(op->getParentOfType<ModuleOp>());
  unsigned capability = succeeded(named) ? *named : kLdmatrixCapability;
  SharedConversionOptions options;
  options.elementBits = isa<tt::PointerType>(element) ? 64 : std::max(element.getIntOrFloatBitWidth(), 8u);
  options.hasLdmatrix = capability >= kLdmatrixCapability;
  options.hasStmatrix = capability >= kStmatrixCapability;
  ConversionPlan plan = ir::planConversion(toLinearLayout(source), toLinearLayout(target), options);
  if (plan.kind == ConversionKind::Shared && plan.shared.store.sharesRows()) {
    options.hasStmatrix = false;
    plan = ir::planConversion(toLinearLayout(source), toLinearLayout(target), options);
  }
  return plan;
}

} // namespace jitk::passes
