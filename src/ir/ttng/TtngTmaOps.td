// Bulk tensor copies (TMA) and their descriptors.

#ifndef JITK_IR_TTNG_TTNGTMAOPS_TD
#define JITK_IR_TTNG_TTNGTMAOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtEnums.td"
include "src/ir/ttng/TtngBarrierOps.td"

def Ttng_AsyncTMACopyGlobalToLocalOp : Ttng_Op<"async_tma_copy_global_to_local"> {
  let summary = "Copy a block from global to shared memory";
  let description = [{
    One thread issues the copy. It completes on `barrier`, which has to expect the bytes. `coord` is in elements, outermost
    first; elements out of bounds read as zero and count as bytes. With `multicast` the block lands in every CTA of the
    cluster, at the same place of its shared memory, and completes on the barrier that lies there at the same place.

    ```mlir
    ttng.async_tma_copy_global_to_local %desc[%x, %y] %dst, %bar, %pred : !tt.tensordesc<tensor<128x64xf16, #s>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #s, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<Tt_TensorDesc, "", [MemRead<Ttng_GlobalMemory>]>:$desc, Variadic<I32>:$coord,
    Arg<Ttg_MemDesc, "", [MemRead<Ttng_SharedMemory>, MemWrite<Ttng_SharedMemory>]>:$barrier,
    Arg<Ttg_MemDesc, "", [MemWrite<Ttng_SharedMemory>]>:$result, I1:$pred,
    DefaultValuedAttr<Tt_CacheModifier, "::jitk::ir::tt::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<Tt_EvictionPolicy, "::jitk::ir::tt::EvictionPolicy::NORMAL">:$evict,
    DefaultValuedAttr<BoolAttr, "false">:$isVolatile, UnitAttr:$multicast);
  let assemblyFormat = [{
    $desc `[` $coord `]` $result `,` $barrier `,` $pred
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` qualified(type($desc)) `,` qualified(type($barrier)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Ttng_AsyncTMACopyLocalToGlobalOp : Ttng_Op<"async_tma_copy_local_to_global"> {
  let summary = "Copy a block from shared to global memory, in a bulk group of its own";
  let description = [{
    ```mlir
    ttng.async_tma_copy_local_to_global %desc[%x, %y] %src : !tt.tensordesc<tensor<128x64xf16, #s>>, !ttg.memdesc<128x64xf16, #s, #smem>
    ```
  }];
  let arguments = (ins
    Arg<Tt_TensorDesc, "", [MemRead<Ttng_GlobalMemory>, MemWrite<Ttng_GlobalMemory>]>:$desc, Variadic<I32>:$coord,
    Arg<Ttg_MemDesc, "", [MemRead<Ttng_SharedMemory>]>:$src);
  let assemblyFormat = "$desc `[` $coord `]` $src attr-dict `:` qualified(type($desc)) `,` qualified(type($src))";
  let hasVerifier = 1;
}

def Ttng_AsyncTMAReduceOp : Ttng_Op<"async_tma_reduce"> {
  let summary = "Combine a block of shared memory into global memory";
  let description = [{
    ```mlir
    ttng.async_tma_reduce add, %desc[%x, %y] %src : !tt.tensordesc<tensor<128x64xf16, #s>>, !ttg.memdesc<128x64xf16, #s, #smem>
    ```
  }];
  let arguments = (ins
    Tt_DescriptorReduceKind:$kind,
    Arg<Tt_TensorDesc, "", [MemRead<Ttng_GlobalMemory>, MemWrite<Ttng_GlobalMemory>]>:$desc, Variadic<I32>:$coord,
    Arg<Ttg_MemDesc, "", [MemRead<Ttng_SharedMemory>]>:$src);
  let assemblyFormat = [{
    $kind `,` $desc `[` $coord `]` $src attr-dict `:` qualified(type($desc)) `,` qualified(type($src))
  }];
  let hasVerifier = 1;
}

def Ttng_AsyncTMAGatherOp : Ttng_Op<"async_tma_gather"> {
  let summary = "Gather rows from global into shared memory";
  let description = [{
    The descriptor's block is one row of N elements; row `i` of the result is row `x_offsets[i]` from column `y_offset`.

    ```mlir
    ttng.async_tma_gather %desc[%xs, %y] %dst, %bar, %pred : !tt.tensordesc<tensor<1x128xf32, #s>>, tensor<32xi32, #x>, i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<32x128xf32, #s, #smem, mutable>, i1
    ```
  }];
  let arguments = (ins
    Arg<Tt_TensorDesc, "", [MemRead<Ttng_GlobalMemory>]>:$desc, RankedTensorOf<[I32]>:$x_offsets, I32:$y_offset,
    Arg<Ttg_MemDesc, "", [MemRead<Ttng_SharedMemory>, MemWrite<Ttng_SharedMemory>]>:$barrier,
    Arg<Ttg_MemDesc, "", [MemWrite<Ttng_SharedMemory>]>:$result, I1:$pred);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` $result `,` $barrier `,` $pred attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def Ttng_AsyncTMAScatterOp : Ttng_Op<"async_tma_scatter"> {
  let summary = "Scatter rows of shared into global memory";
  let arguments = (ins
    Arg<Tt_TensorDesc, "", [MemRead<Ttng_GlobalMemory>, MemWrite<Ttng_GlobalMemory>]>:$desc,
    RankedTensorOf<[I32]>:$x_offsets, I32:$y_offset, Arg<Ttg_MemDesc, "", [MemRead<Ttng_SharedMemory>]>:$src);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` $src attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def Ttng_TMAStoreWaitOp : Ttng_Op<"async_tma_store_wait", [Ttng_Synchronizes]> {
  let summary = "Wait until at most `pendings` bulk groups still read shared memory";
  let description = [{
    ```mlir
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ```
  }];
  let arguments = (ins I32Attr:$pendings);
  let assemblyFormat = "attr-dict";
}

def Ttng_TensormapCreateOp : Ttng_Op<"tensormap_create", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead<Ttng_GlobalMemory>, MemWrite<Ttng_GlobalMemory>]>]> {
  let summary = "Write a tensor map to global memory";
  let description = [{
    Dimensions are innermost first, strides in bytes and one fewer than dimensions. The attributes have the values of the
    tensor map's fields.

    ```mlir
    ttng.tensormap_create %p, %g, [%bx, %by], [%dx, %dy], [%s], [%e, %e] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ```
  }];
  let arguments = (ins
    Tt_Ptr:$desc_ptr, Tt_Ptr:$global_address, Variadic<I32>:$box_dim, Variadic<I32>:$global_dim,
    Variadic<I64>:$global_stride, Variadic<I32>:$element_stride,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<15>]>:$elem_type,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$interleave_layout,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<3>]>:$swizzle_mode,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<1>]>:$fill_mode);
  let assemblyFormat = [{
    $desc_ptr `,` $global_address `,` `[` $box_dim `]` `,` `[` $global_dim `]` `,` `[` $global_stride `]` `,`
    `[` $element_stride `]` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Ttng_TensormapFenceproxyAcquireOp : Ttng_Op<"tensormap_fenceproxy_acquire", [
    MemoryEffects<[MemRead<Ttng_GlobalMemory>, MemWrite<Ttng_GlobalMemory>]>]> {
  let summary = "Make a tensor map in global memory visible to the tensor-map proxy";
  let arguments = (ins Tt_Ptr:$desc_ptr);
  let assemblyFormat = "$desc_ptr attr-dict `:` qualified(type($desc_ptr))";
}

def Ttng_ReinterpretTensorDescOp : Ttng_Op<"reinterpret_tensor_descriptor", [Pure]> {
  let summary = "The descriptor at an address";
  let description = [{
    ```mlir
    %0 = ttng.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to !tt.tensordesc<tensor<128x64xf16, #shared>>
    ```
  }];
  let arguments = (ins Tt_Ptr:$rawDesc);
  let results = (outs Tt_TensorDesc:$result);
  let assemblyFormat = "$rawDesc attr-dict `:` qualified(type($rawDesc)) `to` qualified(type($result))";
}

#endif
