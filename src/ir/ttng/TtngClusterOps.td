// Distributed shared memory: that of the other CTAs of a cluster.

#ifndef JITK_IR_TTNG_TTNGCLUSTEROPS_TD
#define JITK_IR_TTNG_TTNGCLUSTEROPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/ttng/TtngBarrierOps.td"

def Ttng_RemoteShmemStoreOp : Ttng_Op<"remote_shmem_store"> {
  let summary = "Store registers into a buffer of another CTA of the cluster";
  let description = [{
    The buffer is the one that lies at the same place of that CTA's shared memory as `dst` of this one's; `rank` is its rank
    in the cluster, and may be the CTA's own. Where CTAs are programs of their own (`ttg.cluster-dim-x`), all warps of all of
    them meet before and after the regions of `ttg.warp_specialize`: what a region stores so is there after the operation.

    ```mlir
    ttng.remote_shmem_store %a, %m, %rank : tensor<64x32xf32, #mma> -> !ttg.memdesc<64x32xf32, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src, Arg<Ttg_MemDesc, "", [MemWrite<Ttng_SharedMemory>]>:$dst, I32:$rank);
  let assemblyFormat = "$src `,` $dst `,` $rank attr-dict `:` type($src) `->` qualified(type($dst))";
  let hasVerifier = 1;
}

#endif
