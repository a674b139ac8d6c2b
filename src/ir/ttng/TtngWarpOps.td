// Decisions that each warp takes for itself.

#ifndef JITK_IR_TTNG_TTNGWARPOPS_TD
#define JITK_IR_TTNG_TTNGWARPOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtTypes.td"
include "src/ir/ttng/TtngDialect.td"

def Ttng_WarpAnyOp : Ttng_Op<"warp_any", [Pure]> {
  let summary = "Whether any element that the warp holds is true";
  let description = [{
    The only scalar that may differ from warp to warp: what runs under it must not synchronize warps, and what it gives must
    not depend on which warps ran it.

    ```mlir
    %0 = ttng.warp_any %a : tensor<64xi1, #l>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I1]>:$src);
  let results = (outs I1:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}

#endif
