// Block accesses through tensor descriptors.

#ifndef JITK_IR_TT_TTDESCRIPTOROPS_TD
#define JITK_IR_TT_TTDESCRIPTOROPS_TD

include "src/ir/tt/TtMemoryOps.td"

def Tt_MakeTensorDescOp : Tt_Op<"make_tensor_descriptor", [
    Pure, SameVariadicOperandSize]> {
  let summary = "Make a descriptor of a global tensor";
  let description = [{
    `shape` and `strides` are in elements, outermost first; the last stride is 1.

    ```mlir
    %0 = tt.make_tensor_descriptor %p, [%m, %k], [%s, %c1] : <f16>, <tensor<128x64xf16>>
    ```
  }];
  let arguments = (ins Tt_Ptr:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
                       DefaultValuedAttr<Tt_PaddingOption, "::jitk::ir::tt::PaddingOption::PAD_ZERO">:$padding);
  let results = (outs Tt_TensorDesc:$result);
  let assemblyFormat = "$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)";
  let hasVerifier = 1;
}

def Tt_DescriptorLoadOp : Tt_Op<"descriptor_load"> {
  let summary = "Load a block through a descriptor";
  let description = [{
    Elements out of the tensor's bounds read as the descriptor's padding. `indices` are in elements, outermost first.

    ```mlir
    %0 = tt.descriptor_load %desc[%i, %j] : !tt.tensordesc<tensor<128x64xf16, #shared>> -> tensor<128x64xf16, #blocked>
    ```
  }];
  let arguments = (ins
    Arg<Tt_TensorDesc, "", [MemRead<Tt_GlobalMemory>]>:$desc, Variadic<I32>:$indices,
    DefaultValuedAttr<Tt_CacheModifier, "::jitk::ir::tt::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<Tt_EvictionPolicy, "::jitk::ir::tt::EvictionPolicy::NORMAL">:$evict);
  let results = (outs Tt_Tensor:$result);
  let assemblyFormat = [{
    $desc `[` $indices `]` oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` qualified(type($desc)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tt_DescriptorStoreOp : Tt_Op<"descriptor_store"> {
  let summary = "Store a block through a descriptor";
  let description = [{
    Elements out of the tensor's bounds are not written.

    ```mlir
    tt.descriptor_store %desc[%i, %j], %v : !tt.tensordesc<tensor<128x64xf16, #shared>>, tensor<128x64xf16, #blocked>
    ```
  }];
  let arguments = (ins Arg<Tt_TensorDesc, "", [MemRead<Tt_GlobalMemory>, MemWrite<Tt_GlobalMemory>]>:$desc,
                       Tt_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
  let hasVerifier = 1;
}

def Tt_DescriptorReduceOp : Tt_Op<"descriptor_reduce"> {
  let summary = "Combine a block into memory through a descriptor";
  let description = [{
    ```mlir
    tt.descriptor_reduce add, %desc[%i, %j], %v : !tt.tensordesc<tensor<128x64xf16>>, tensor<128x64xf16>
    ```
  }];
  let arguments = (ins Tt_DescriptorReduceKind:$kind,
                       Arg<Tt_TensorDesc, "", [MemRead<Tt_GlobalMemory>, MemWrite<Tt_GlobalMemory>]>:$desc,
                       Tt_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
  let hasVerifier = 1;
}

def Tt_DescriptorGatherOp : Tt_Op<"descriptor_gather"> {
  let summary = "Gather rows through a descriptor of one row";
  let arguments = (ins Arg<Tt_TensorDesc, "", [MemRead<Tt_GlobalMemory>]>:$desc, RankedTensorOf<[I32]>:$x_offsets,
                       I32:$y_offset);
  let results = (outs Tt_Tensor:$result);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)
  }];
}

def Tt_DescriptorScatterOp : Tt_Op<"descriptor_scatter"> {
  let summary = "Scatter rows through a descriptor of one row";
  let arguments = (ins Arg<Tt_TensorDesc, "", [MemRead<Tt_GlobalMemory>, MemWrite<Tt_GlobalMemory>]>:$desc,
                       RankedTensorOf<[I32]>:$x_offsets, I32:$y_offset, Tt_Tensor:$src);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)
  }];
}

#endif
