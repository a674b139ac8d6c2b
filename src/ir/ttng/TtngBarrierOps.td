// Memory barriers, fences and cluster barriers.

#ifndef JITK_IR_TTNG_TTNGBARRIEROPS_TD
#define JITK_IR_TTNG_TTNGBARRIEROPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtTypes.td"
include "src/ir/ttg/TtgTypes.td"
include "src/ir/ttng/TtngDialect.td"

def Ttng_GlobalMemory : Resource<"::jitk::ir::tt::GlobalMemory">;
def Ttng_SharedMemory : Resource<"::jitk::ir::ttg::SharedMemory">;

// A synchronization is a read and a write of all shared memory: no access moves across it.
def Ttng_Synchronizes : MemoryEffects<[MemRead<Ttng_SharedMemory>, MemWrite<Ttng_SharedMemory>]>;

class Ttng_BarrierOp<string mnemonic, list<Trait> traits = []>
  : Ttng_Op<mnemonic, !listconcat(traits, [Ttng_Synchronizes])> {
  let hasVerifier = 1;
}

def Ttng_FenceAsyncSharedOp : Ttng_Op<"fence_async_shared", [Ttng_Synchronizes]> {
  let summary = "Make this thread's shared-memory accesses visible to the asynchronous proxy";
  let description = [{
    ```mlir
    ttng.fence_async_shared {bCluster = false}
    ```
  }];
  let arguments = (ins BoolAttr:$bCluster);
  let assemblyFormat = "attr-dict";
}

def Ttng_ClusterArriveOp : Ttng_Op<"cluster_arrive", [Ttng_Synchronizes]> {
  let summary = "Arrive at the barrier of the cluster";
  let arguments = (ins I1Attr:$relaxed);
  let assemblyFormat = "attr-dict";
}

def Ttng_ClusterWaitOp : Ttng_Op<"cluster_wait", [Ttng_Synchronizes]> {
  let summary = "Wait at the barrier of the cluster";
  let assemblyFormat = "attr-dict";
}

def Ttng_InitBarrierOp : Ttng_BarrierOp<"init_barrier"> {
  let summary = "Initialise a memory barrier";
  let description = [{
    `count` is the number of arrivals that complete a phase.

    ```mlir
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$alloc, I32Attr:$count);
  let assemblyFormat = "$alloc `,` $count attr-dict `:` qualified(type($alloc))";
}

def Ttng_InvalBarrierOp : Ttng_BarrierOp<"inval_barrier"> {
  let summary = "Invalidate a memory barrier, so that its bytes can be used otherwise";
  let arguments = (ins Ttg_MemDesc:$alloc);
  let assemblyFormat = "$alloc attr-dict `:` qualified(type($alloc))";
}

def Ttng_BarrierExpectOp : Ttng_BarrierOp<"barrier_expect"> {
  let summary = "Arrive, and expect bytes of asynchronous copies";
  let description = [{
    ```mlir
    ttng.barrier_expect %b, 16384, %pred : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$alloc, I32Attr:$size, I1:$pred);
  let assemblyFormat = "$alloc `,` $size attr-dict `,` $pred `:` qualified(type($alloc))";
}

def Ttng_WaitBarrierOp : Ttng_BarrierOp<"wait_barrier", [AttrSizedOperandSegments]> {
  let summary = "Wait until a phase of a memory barrier completes";
  let description = [{
    `phase` is the parity of the phase waited for. `deps` names the buffers that the wait guards.

    ```mlir
    ttng.wait_barrier %b, %phase, %pred deps %m : !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<128x64xf16, #s, #smem, mutable>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$alloc, I32:$phase, Optional<I1>:$pred, Variadic<Ttg_MemDesc>:$deps);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$alloc, "::mlir::Value":$phase), [{
      build($_builder, $_state, alloc, phase, /*pred=*/::mlir::Value(), /*deps=*/::mlir::ValueRange());
    }]>,
    OpBuilder<(ins "::mlir::Value":$alloc, "::mlir::Value":$phase, "::mlir::Value":$pred), [{
      build($_builder, $_state, alloc, phase, pred, /*deps=*/::mlir::ValueRange());
    }]>
  ];
  let assemblyFormat = [{
    $alloc `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict `:` qualified(type($alloc)) (`,` type($deps)^)?
  }];
}

def Ttng_ArriveBarrierOp : Ttng_BarrierOp<"arrive_barrier"> {
  let summary = "Arrive at a memory barrier";
  let description = [{
    One thread of the CTA or partition arrives with `count`, for all of them: they meet first where one of them may not be
    done with what it accessed. With `perWarp`, which Triton does not have, one thread of each warp arrives with `count` for
    its warp alone, and nobody meets: the barrier counts the warps. With `perThread` each thread arrives, for itself. With `multicast`, which goes with `perWarp`, the warp
    arrives at the barrier that lies at the same place of every CTA of the cluster.

    ```mlir
    ttng.arrive_barrier %b, 2, %pred : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.arrive_barrier %b, 1 {perWarp} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$alloc, I32Attr:$count, Optional<I1>:$pred, UnitAttr:$perWarp,
    UnitAttr:$multicast, UnitAttr:$perThread);
  let builders = [OpBuilder<(ins "::mlir::Value":$alloc, "uint32_t":$count, CArg<"bool", "false">:$perWarp,
                                 CArg<"bool", "false">:$multicast), [{
    build($_builder, $_state, alloc, count, /*pred=*/::mlir::Value(), perWarp, multicast, /*perThread=*/false);
  }]>];
  let assemblyFormat = "$alloc `,` $count (`,` $pred^)? attr-dict `:` qualified(type($alloc))";
}

def Ttng_AsyncCopyMbarrierArriveOp : Ttng_BarrierOp<"async_copy_mbarrier_arrive"> {
  let summary = "Arrive at a memory barrier when the thread's asynchronous copies are complete";
  let description = [{
    With `noIncrement` the arrival counts against the barrier's count; without it the pending count grows by one first.

    ```mlir
    ttng.async_copy_mbarrier_arrive %b {noIncrement} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$barrier, UnitAttr:$noIncrement);
  let assemblyFormat = "$barrier attr-dict `:` qualified(type($barrier))";
}

#endif
