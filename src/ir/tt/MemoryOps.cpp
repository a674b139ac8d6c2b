// Loads, stores and atomics.

#include "src/ir/tt/Tt.h"

namespace jitk::ir::tt {
using namespace mlir;

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value mask, Value other, CacheModifier cache,
                   EvictionPolicy evict, bool isVolatile) {
  build(builder, state, tt::getPointeeType(ptr.getType()), ptr, mask, other, /*boundaryCheck=*/ArrayRef<int32_t>{},
        /*padding=*/PaddingOptionAttr(), cache, evict, isVolatile);
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable(), GlobalMemory::get());
  if (getIsVolatile()) {
    effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable(), GlobalMemory::get());
  }
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask()) {
    return emitOpError("takes `other` only with a mask");
  }
  return success();
}

void StoreOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value value, Value mask, CacheModifier cache,
                    EvictionPolicy evict) {
  build(builder, state, ptr, value, mask, /*boundaryCheck=*/ArrayRef<int32_t>{}, cache, evict);
}

} // namespace jitk::ir::tt
