#include "src/passes/pipelining/ProductLoops.h"

#include "src/ir/tt/Tt.h"

using namespace mlir;

namespace jitk::passes {
using namespace jitk::ir;

bool keepsProductInFlight(scf::ForOp loop, unsigned capability) {
  constexpr int64_t kAccumulators = 128 * 256;
  SmallVector<tt::DotOp> dots;
  loop.walk([&](tt::DotOp dot) { dots.push_back(dot); });
  if (capability != 90 || dots.size() != 1 || dots.front()->getBlock() != loop.getBody()) {
    return false;
  }
  auto type = cast<RankedTensorType>(dots.front().getType());
  auto sum = dyn_cast<BlockArgument>(dots.front().getC());
  return type.getNumElements() >= kAccumulators && sum && sum.getOwner() == loop.getBody() && sum.hasOneUse() &&
         dots.front()->hasOneUse() && loop.getTiedLoopYieldedValue(sum)->get() == dots.front().getResult();
}

} // namespace jitk::passes
