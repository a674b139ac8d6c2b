#include "src/kernels/linear_attention/DeltaRuleProblem.h"

#include <cmath>

using namespace mlir;

namespace jitk::kernels {

DeltaRuleProblem::DeltaRuleProblem(const Description &of, MLIRContext &context)
    : description(of), type(elementTypeOf(of.word("dtype"), context)), keyDim(of.integer("key_dim")),
      valueDim(of.integer("value_dim")), scale(1 / std::sqrt(double(keyDim))),
      isValueMajor(of.word("state_layout") == "value-major"), normalizes(of.flag("qk_l2norm")),
      hasPool(of.flag("state_pool")) {}

KernelSignature DeltaRuleProblem::signature(MLIRContext &context) const {
  Type fp32 = elementTypeOf("fp32", context), int32 = elementTypeOf("int32", context);
  Type betaType = elementTypeOf(description.word("beta_dtype"), context);
  KernelSignature signature(description);
  for (const char *name : {"q", "k", "v"}) {
    signature.tensor(name, type);
  }
  signature.tensor("g", fp32, 4);
  signature.tensor("beta", betaType, betaType.getIntOrFloatBitWidth() / 8);
  if (description.flag("varlen")) {
    signature.tensor("cu_seqlens", int32, 4);
  }
  if (description.flag("initial_state")) {
    signature.tensor("initial_state", fp32);
  }
  if (hasPool) {
    signature.tensor("state_indices", int32, 4);
    signature.tensor("states", fp32);
  }
  signature.tensor("o", type);
  if (!hasPool) {
    signature.tensor("final_state", fp32);
  }
  for (const char *name : {"batch", "tokens", "qk_heads", "v_heads"}) {
    signature.dimension(name, description.dimension(name));
  }
  if (hasPool) {
    signature.dimension("slots", description.dimension("slots"));
  }
  return signature;
}

Value DeltaRuleProblem::keyHeadOf(KernelBuilder &b, Value valueHead) const { return b.div(valueHead, groupSize(b)); }

Value DeltaRuleProblem::groupSize(KernelBuilder &b) const { return b.div(b.size("v_heads"), b.size("qk_heads")); }

SequenceLayout DeltaRuleProblem::sequences(KernelBuilder &b) const {
  bool packed = description.flag("varlen");
  return {packed, packed ? b.tensorParameter("cu_seqlens") : Value(), b.size("batch"), b.size("tokens")};
}

HeadOfSequence DeltaRuleProblem::head(KernelBuilder &b, Value sequence, Value valueHead) const {
  return {sequence, valueHead, keyHeadOf(b, valueHead), sequenceRange(b, sequences(b), sequence)};
}

MatrixView DeltaRuleProblem::tokensOf(KernelBuilder &b, StringRef tensor, StringRef heads, Value head,
                                      int64_t dim) const {
  Value base = b.advance(b.tensorParameter(tensor), b.mul(b.toI64(head), b.i64(dim)));
  return {base, b.rowStride(tensor, b.mul(b.toI64(b.size(heads)), b.i64(dim)))};
}

MatrixView DeltaRuleProblem::gatesOf(KernelBuilder &b, StringRef tensor, Value valueHead) const {
  return {b.advance(b.tensorParameter(tensor), valueHead), b.rowStride(tensor, b.size("v_heads"))};
}

StateView DeltaRuleProblem::stateIn(KernelBuilder &b, StringRef tensor, Value index, const HeadOfSequence &head) const {
  Value state = b.add(b.mul(b.toI64(index), b.toI64(b.size("v_heads"))), b.toI64(head.valueHead));
  return {b.advance(b.tensorParameter(tensor), b.mul(state, b.i64(keyDim * valueDim))), {}};
}

StateView DeltaRuleProblem::initialState(KernelBuilder &b, const HeadOfSequence &head) const {
  if (hasPool) {
    return finalState(b, head);
  }
  return description.flag("initial_state") ? stateIn(b, "initial_state", head.sequence, head) : StateView();
}

StateView DeltaRuleProblem::finalState(KernelBuilder &b, const HeadOfSequence &head) const {
  if (!hasPool) {
    return stateIn(b, "final_state", head.sequence, head);
  }
  Value slot = b.load(b.advance(b.tensorParameter("state_indices"), head.sequence));
  Value exists = b.both(b.lessEqual(b.i32(0), slot), b.lessThan(slot, b.size("slots")));
  StateView state = stateIn(b, "states", b.select(exists, slot, b.i32(0)), head);
  state.exists = exists;
  return state;
}

} // namespace jitk::kernels
