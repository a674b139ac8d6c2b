// Tensor memory and the matrix products that accumulate in it (tcgen05).

#ifndef JITK_IR_TTNG_TTNGTENSORMEMORYOPS_TD
#define JITK_IR_TTNG_TTNGTENSORMEMORYOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtEnums.td"
include "src/ir/ttng/TtngBarrierOps.td"

def Ttng_TensorMemory : Resource<"::jitk::ir::ttng::TensorMemory">;

// An op that takes a dependency token prints it as `[%dep]` behind the buffer that it orders; empty brackets say that the
// op gives a token without taking one.

class Ttng_MmaOp<string mnemonic> : Ttng_Op<mnemonic, [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs Optional<Ttg_AsyncToken>:$token);
  let hasVerifier = 1;
}

def Ttng_TCGen5MMAOp : Ttng_MmaOp<"tc_gen5_mma"> {
  let summary = "Matrix product into tensor memory: d = a * b + (useD ? d : 0)";
  let description = [{
    A is in shared or tensor memory, B in shared memory. A synchronous op has no barriers; an asynchronous one arrives at each of
    `barriers` whose predicate is true when it completes.

    ```mlir
    ttng.tc_gen5_mma %a, %b, %d, %useD, %pred, %bar[%barPred] {is_async} : A, B, D, BAR
    %token = ttng.tc_gen5_mma %a, %b, %d[%dep], %useD, %pred : A, B, D
    ```
  }];
  let arguments = (ins
    Ttg_MemDesc:$a, Ttg_MemDesc:$b, Ttg_MemDesc:$d, Optional<Ttg_AsyncToken>:$acc_dep, I1:$useD, I1:$pred,
    Variadic<Ttg_MemDesc>:$barriers, Variadic<I1>:$barrier_preds, UnitAttr:$is_async, UnitAttr:$two_ctas);
  let assemblyFormat = [{
    $a `,` $b `,` $d `` custom<Token>($acc_dep, type($token)) `,` $useD `,` $pred ``
    custom<BarriersAndPreds>($barriers, $barrier_preds) attr-dict `:`
    qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($d)) (`,` qualified(type($barriers))^)?
  }];
}

def Ttng_TCGen5MMAScaledOp : Ttng_MmaOp<"tc_gen5_mma_scaled"> {
  let summary = "Block-scaled matrix product into tensor memory";
  let description = [{
    The scales, one for every 32 elements along K, are i8 in tensor memory.

    ```mlir
    ttng.tc_gen5_mma_scaled %a, %b, %d, %sa, %sb, %useD, %pred lhs = e4m3 rhs = e4m3, %bar[%p] {is_async} : A, B, D, SA, SB, BAR
    ```
  }];
  let arguments = (ins
    Ttg_MemDesc:$a, Ttg_MemDesc:$b, Ttg_MemDesc:$d, Optional<Ttg_AsyncToken>:$acc_dep, Ttg_MemDesc:$a_scale,
    Ttg_MemDesc:$b_scale, Tt_ScaleDotElemType:$a_type, Tt_ScaleDotElemType:$b_type, I1:$useD, I1:$pred,
    Variadic<Ttg_MemDesc>:$barriers, Variadic<I1>:$barrier_preds, UnitAttr:$is_async);
  let assemblyFormat = [{
    $a `,` $b `,` $d `` custom<Token>($acc_dep, type($token)) `,` $a_scale `,` $b_scale `,` $useD `,` $pred
    `lhs` `=` $a_type `rhs` `=` $b_type `` custom<BarriersAndPreds>($barriers, $barrier_preds) attr-dict `:`
    qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($d)) `,` qualified(type($a_scale)) `,`
    qualified(type($b_scale)) (`,` qualified(type($barriers))^)?
  }];
}

def Ttng_TCGen5CommitOp : Ttng_BarrierOp<"tc_gen5_commit"> {
  let summary = "Arrive at a barrier when the matrix products so far are complete";
  let description = [{
    ```mlir
    ttng.tc_gen5_commit %bar, %pred : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$barrier, Optional<I1>:$pred, UnitAttr:$two_ctas);
  let assemblyFormat = "$barrier (`,` $pred^)? attr-dict `:` qualified(type($barrier))";
}

def Ttng_TMEMAllocOp : Ttng_Op<"tmem_alloc", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Allocate a buffer in tensor memory";
  let description = [{
    ```mlir
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    %1, %token = ttng.tmem_alloc : () -> (!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
    %2 = ttng.tmem_alloc %s : (tensor<128x128xf32, #linear>) -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory>
    ```
  }];
  let arguments = (ins Optional<Tt_Tensor>:$src);
  let results = (outs Ttg_MemDesc:$result, Optional<Ttg_AsyncToken>:$token);
  let assemblyFormat = "($src^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Ttng_TMEMLoadOp : Ttng_Op<"tmem_load"> {
  let summary = "Load a buffer of tensor memory into registers";
  let description = [{
    ```mlir
    %v, %token = ttng.tmem_load %t[%dep] : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32, #linear>
    ```
  }];
  let arguments = (ins Arg<Ttg_MemDesc, "", [MemRead<Ttng_TensorMemory>]>:$src, Optional<Ttg_AsyncToken>:$dep);
  let results = (outs Tt_Tensor:$result, Optional<Ttg_AsyncToken>:$token);
  let assemblyFormat = [{
    $src `` custom<Token>($dep, type($token)) attr-dict `:` qualified(type($src)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ttng_TMEMStoreOp : Ttng_Op<"tmem_store"> {
  let summary = "Store registers into a buffer of tensor memory";
  let description = [{
    ```mlir
    ttng.tmem_store %v, %t, %pred : tensor<128x128xf32, #linear> -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src, Arg<Ttg_MemDesc, "", [MemWrite<Ttng_TensorMemory>]>:$dst,
                       Optional<Ttg_AsyncToken>:$dep, I1:$pred);
  let results = (outs Optional<Ttg_AsyncToken>:$token);
  let assemblyFormat = [{
    $src `,` $dst `` custom<Token>($dep, type($token)) `,` $pred attr-dict `:` type($src) `->` qualified(type($dst))
  }];
  let hasVerifier = 1;
}

def Ttng_TMEMSubSliceOp : Ttng_Op<"tmem_subslice", [Pure]> {
  let summary = "Columns of a buffer in tensor memory, from column N on";
  let description = [{
    ```mlir
    %1 = ttng.tmem_subslice %0 {N = 64 : i32} : TM -> !ttg.memdesc<128x64xf32, #tmem1, #ttng.tensor_memory, mutable, 128x128>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$src, I32Attr:$N);
  let results = (outs Ttg_MemDesc:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Ttng_TMEMCopyOp : Ttng_Op<"tmem_copy"> {
  let summary = "Copy from shared to tensor memory, asynchronously";
  let description = [{
    ```mlir
    ttng.tmem_copy %smem, %tmem, %bar : S, TM, BAR
    ```
  }];
  let arguments = (ins Arg<Ttg_MemDesc, "", [MemRead<Ttng_SharedMemory>]>:$src,
                       Arg<Ttg_MemDesc, "", [MemWrite<Ttng_TensorMemory>]>:$dst,
                       Arg<Optional<Ttg_MemDesc>, "", [MemRead<Ttng_SharedMemory>, MemWrite<Ttng_SharedMemory>]>:$barrier);
  let assemblyFormat = "$src `,` $dst (`,` $barrier^)? attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

#endif
