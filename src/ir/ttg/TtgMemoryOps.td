// Buffers in shared memory: allocation, views, transfers, asynchronous copies.

#ifndef JITK_IR_TTG_TTGMEMORYOPS_TD
#define JITK_IR_TTG_TTGMEMORYOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "src/ir/tt/TtEnums.td"
include "src/ir/tt/TtTypes.td"
include "src/ir/ttg/TtgTypes.td"

def Ttg_GlobalMemory : Resource<"::jitk::ir::tt::GlobalMemory">;
def Ttg_SharedMemory : Resource<"::jitk::ir::ttg::SharedMemory">;

// A view aliases the buffer of its first operand.
class Ttg_ViewOp<string mnemonic, list<Trait> traits = []> : Ttg_Op<mnemonic, !listconcat(traits, [Pure, ViewLikeOpInterface])> {
  let extraClassDeclaration = [{
    ::mlir::Value getViewSource() { return getSrc(); }
    ::mlir::Value getViewDest() { return getResult(); }
  }];
}

def Ttg_AsyncCopyGlobalToLocalOp : Ttg_Op<"async_copy_global_to_local", [
    AttrSizedOperandSegments,
    OptionalTypesMatchWith<"mask type matches src type", "src", "mask", "::jitk::ir::tt::getMaskType($_self)">,
    OptionalTypesMatchWith<"other type matches src type", "src", "other", "::jitk::ir::tt::getPointeeType($_self)">]> {
  let summary = "Copy from global to shared memory, asynchronously (cp.async)";
  let description = [{
    Each thread copies its elements in vectors of 4, 8 or 16 bytes; `contiguity` is the largest vector that is legal, in
    elements. The copy completes at the wait of the group that its token is committed to.

    ```mlir
    %t = ttg.async_copy_global_to_local %p, %d mask %m other %o {contiguity = 8 : i32} : tensor<128x64x!tt.ptr<f16>, #b> -> <128x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins
    Arg<Tt_PtrTensor, "", [MemRead<Ttg_GlobalMemory>]>:$src, Arg<Ttg_MemDesc, "", [MemWrite<Ttg_SharedMemory>]>:$result,
    Optional<I1Tensor>:$mask, Optional<Tt_Type>:$other,
    DefaultValuedAttr<Tt_CacheModifier, "::jitk::ir::tt::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<Tt_EvictionPolicy, "::jitk::ir::tt::EvictionPolicy::NORMAL">:$evict,
    DefaultValuedAttr<BoolAttr, "false">:$isVolatile, DefaultValuedAttr<I32Attr, "1">:$contiguity);
  let results = (outs Ttg_AsyncToken:$token);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$result, CArg<"::mlir::Value", "{}">:$mask,
                   CArg<"::mlir::Value", "{}">:$other, CArg<"tt::CacheModifier", "tt::CacheModifier::NONE">:$cache,
                   CArg<"tt::EvictionPolicy", "tt::EvictionPolicy::NORMAL">:$evict, CArg<"bool", "false">:$isVolatile,
                   CArg<"int32_t", "1">:$contiguity), [{
      build($_builder, $_state, AsyncTokenType::get($_builder.getContext()), src, result, mask, other, cache, evict,
            isVolatile, contiguity);
    }]>
  ];
  let assemblyFormat = [{
    $src `,` $result (`mask` $mask^)? (`other` $other^)?
    oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` type($src) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ttg_AsyncCommitGroupOp : Ttg_Op<"async_commit_group"> {
  let summary = "Commit the asynchronous copies so far to a group";
  let description = [{
    Has unknown effects: nothing moves across it.

    ```mlir
    %u = ttg.async_commit_group tokens %t
    ```
  }];
  let arguments = (ins Variadic<Ttg_AsyncToken>:$inputTokens);
  let results = (outs Ttg_AsyncToken:$asyncToken);
  let builders = [OpBuilder<(ins CArg<"::mlir::ValueRange", "{}">:$inputTokens), [{
    build($_builder, $_state, AsyncTokenType::get($_builder.getContext()), inputTokens);
  }]>];
  let assemblyFormat = "(`tokens` $inputTokens^)? attr-dict";
}

def Ttg_AsyncWaitOp : Ttg_Op<"async_wait"> {
  let summary = "Wait until at most `num` groups are pending";
  let description = [{
    Has unknown effects: nothing moves across it.

    ```mlir
    %v = ttg.async_wait %u {num = 0 : i32}
    ```
  }];
  let arguments = (ins Variadic<Ttg_AsyncToken>:$asyncToken, I32Attr:$num);
  let results = (outs Ttg_AsyncToken:$retToken);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$asyncToken, "uint32_t":$num), [{
    build($_builder, $_state, AsyncTokenType::get($_builder.getContext()), asyncToken, num);
  }]>];
  let assemblyFormat = "($asyncToken^)? attr-dict";
}

def Ttg_LocalAllocOp : Ttg_Op<"local_alloc", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Allocate a buffer in shared memory";
  let description = [{
    With a source the buffer holds that tensor; without one it is uninitialised and mutable. An immutable buffer never
    changes, so the op has no effects.

    ```mlir
    %0 = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %1 = ttg.local_alloc %a {alignment = 128 : i32} : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    ```
  }];
  let arguments = (ins Optional<Tt_Tensor>:$src, OptionalAttr<I32Attr>:$alignment);
  let results = (outs Ttg_MemDesc:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result), [{ build($_builder, $_state, result, ::mlir::Value(), ::mlir::IntegerAttr()); }]>,
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$src), [{
      build($_builder, $_state, result, src, ::mlir::IntegerAttr());
    }]>
  ];
  let assemblyFormat = "($src^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The alignment in bytes: the attribute, else what the encoding needs.
    int32_t getAlignmentOrDefault();
  }];
}

def Ttg_LocalDeallocOp : Ttg_Op<"local_dealloc"> {
  let summary = "End the life of a buffer";
  let description = "Optional: without it the buffer lives until the point that post-dominates its uses.";
  let arguments = (ins Arg<Ttg_MemDesc, "", [MemFree<Ttg_SharedMemory>]>:$src);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src))";
}

def Ttg_LocalLoadOp : Ttg_Op<"local_load"> {
  let summary = "Load a buffer into registers";
  let description = [{
    `token` orders the load after the wait that made it.

    ```mlir
    %0 = ttg.local_load %m token %t : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #blocked>
    ```
  }];
  let arguments = (ins Arg<Ttg_MemDesc, "", [MemRead<Ttg_SharedMemory>]>:$src, Optional<Ttg_AsyncToken>:$token);
  let results = (outs Tt_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$src), [{
    build($_builder, $_state, result, src, ::mlir::Value());
  }]>];
  let assemblyFormat = "$src (`token` $token^)? attr-dict `:` qualified(type($src)) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Ttg_LocalStoreOp : Ttg_Op<"local_store"> {
  let summary = "Store registers into a buffer";
  let description = [{
    ```mlir
    ttg.local_store %a, %m : tensor<128x64xf16, #blocked> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src, Arg<Ttg_MemDesc, "", [MemWrite<Ttg_SharedMemory>]>:$dst);
  let assemblyFormat = "$src `,` $dst attr-dict `:` type($src) `->` qualified(type($dst))";
  let hasVerifier = 1;
}

def Ttg_MemDescIndexOp : Ttg_ViewOp<"memdesc_index"> {
  let summary = "One element along the first dimension of a buffer";
  let description = [{
    A slice may be indexed too: the result then keeps the allocation's shape without its first dimension.

    ```mlir
    %0 = ttg.memdesc_index %a[%i] : !ttg.memdesc<3x128x64xf16, #s, #smem, mutable> -> !ttg.memdesc<128x64xf16, #s, #smem, mutable>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$src, I32:$index);
  let results = (outs Ttg_MemDesc:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$index)>];
  let assemblyFormat = "$src `[` $index `]` attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Ttg_MemDescSubsliceOp : Ttg_ViewOp<"memdesc_subslice"> {
  let summary = "Rectangular part of a buffer";
  let description = [{
    Static offsets, multiples of the result's sizes, and not inside a swizzle pattern. The result carries the allocation's
    shape.

    ```mlir
    %0 = ttg.memdesc_subslice %a[64, 0] : !ttg.memdesc<128x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable, 128x64>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$src, DenseI32ArrayAttr:$offsets);
  let results = (outs Ttg_MemDesc:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int32_t>":$offsets,
                                 "::llvm::ArrayRef<int64_t>":$shape)>];
  let assemblyFormat = [{
    $src `[` custom<Offsets>($offsets) `]` attr-dict `:` qualified(type($src)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Ttg_MemDescTransOp : Ttg_ViewOp<"memdesc_trans"> {
  let summary = "Buffer with permuted dimensions";
  let description = [{
    ```mlir
    %0 = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #s, #smem> -> !ttg.memdesc<64x128xf16, #sT, #smem>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$src, DenseI32ArrayAttr:$order);
  let results = (outs Ttg_MemDesc:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int32_t>":$order)>];
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Ttg_MemDescReshapeOp : Ttg_ViewOp<"memdesc_reshape"> {
  let summary = "Buffer with another shape of the same elements in row-major order";
  let description = [{
    ```mlir
    %0 = ttg.memdesc_reshape %a : !ttg.memdesc<128x64xf16, #s, #smem> -> !ttg.memdesc<2x64x64xf16, #s3, #smem>
    ```
  }];
  let arguments = (ins Ttg_MemDesc:$src);
  let results = (outs Ttg_MemDesc:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int64_t>":$shape)>];
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Ttg_MemDescReinterpretOp : Ttg_ViewOp<"memdesc_reinterpret"> {
  let summary = "The bytes of a buffer under another type; unchecked";
  let arguments = (ins Ttg_MemDesc:$src);
  let results = (outs Ttg_MemDesc:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasFolder = 1;
}

def Ttg_GlobalScratchAllocOp : Ttg_Op<"global_scratch_alloc", [MemoryEffects<[MemAlloc<Ttg_GlobalMemory>]>]> {
  let summary = "Reserve bytes of the CTA's scratch space in global memory";
  let description = [{
    ```mlir
    %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ```
  }];
  let arguments = (ins I32Attr:$nbytes, I32Attr:$alignment);
  let results = (outs Tt_Ptr:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Ttg_LocalBarrierOp : Ttg_Op<"local_barrier", [
    MemoryEffects<[MemRead<Ttg_SharedMemory>, MemWrite<Ttg_SharedMemory>]>]> {
  let summary = "Barrier of the CTA, or of the partition, over shared memory";
  let assemblyFormat = "attr-dict";
}

#endif
