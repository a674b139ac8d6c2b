// Tensor memory: its space and its encodings.

#ifndef JITK_IR_TTNG_TTNGATTRS_TD
#define JITK_IR_TTNG_TTNGATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "src/ir/ttg/TtgInterfaces.td"
include "src/ir/ttng/TtngDialect.td"

class Ttng_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Ttng_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Ttng_TensorMemorySpace : Ttng_Attr<"TensorMemorySpace", "tensor_memory"> {
  let summary = "tensor memory of the SM";
  let description = "`#ttng.tensor_memory`.";
}

def Ttng_TensorMemoryEncoding : Ttng_Attr<"TensorMemoryEncoding", "tensor_memory_encoding", [Ttg_LayoutEncodingTrait]> {
  let summary = "tiles of tensor memory";
  let description = [{
    Tiles of `blockM` lanes by `blockN` columns. `colStride` is the distance of neighbours in units of the element, 32 bits
    at most. `CTASplitM` and `CTASplitN` say how the CTAs of a cluster split the tensor, `twoCTAs` that a pair of them works
    on one matrix product.

    ```mlir
    #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
    ```
  }];
  let parameters = (ins
    "unsigned":$blockM, "unsigned":$blockN, "unsigned":$colStride, DefaultValuedParameter<"unsigned", "1">:$CTASplitM,
    DefaultValuedParameter<"unsigned", "1">:$CTASplitN, DefaultValuedParameter<"bool", "false">:$twoCTAs);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = "unsigned getRank() const { return 2; }";
}

def Ttng_TensorMemoryScalesEncoding : Ttng_Attr<"TensorMemoryScalesEncoding", "tensor_memory_scales_encoding",
                                                [Ttg_LayoutEncodingTrait]> {
  let summary = "scales of a block-scaled matrix product in tensor memory";
  let parameters = (ins DefaultValuedParameter<"unsigned", "1">:$CTASplitM,
                        DefaultValuedParameter<"unsigned", "1">:$CTASplitN);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = "unsigned getRank() const { return 2; }";
}

#endif
