// What the encodings of `ttg` have in common.

#ifndef JITK_IR_TTG_TTGINTERFACES_TD
#define JITK_IR_TTG_TTGINTERFACES_TD

include "mlir/IR/OpBase.td"

def Ttg_LayoutEncodingTrait : AttrInterface<"LayoutEncodingTrait"> {
  let cppNamespace = "::jitk::ir::ttg";
  let description = "An encoding: it places the elements of a tensor.";
  let methods = [InterfaceMethod<"The number of dimensions that the encoding places.", "unsigned", "getRank">];
}

def Ttg_DistributedEncodingTrait : AttrInterface<"DistributedEncodingTrait", [Ttg_LayoutEncodingTrait]> {
  let cppNamespace = "::jitk::ir::ttg";
  let description = "An encoding that places elements in the registers of threads.";
}

def Ttg_SharedEncodingTrait : AttrInterface<"SharedEncodingTrait", [Ttg_LayoutEncodingTrait]> {
  let cppNamespace = "::jitk::ir::ttg";
  let description = "An encoding that places elements in shared memory.";
  let methods = [
    InterfaceMethod<"The alignment in bytes that a buffer of this encoding needs.", "int32_t", "getAlignment">
  ];
}

#endif
