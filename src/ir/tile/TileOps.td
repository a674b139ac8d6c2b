// Ops of the `tile` dialect.

#ifndef JITK_IR_TILE_TILEOPS_TD
#define JITK_IR_TILE_TILEOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "src/ir/tile/TileTypes.td"
include "src/ir/tt/TtTypes.td"

def Tile_GlobalMemory : Resource<"::jitk::ir::tt::GlobalMemory">;
def Tile_BufferMemory : Resource<"::jitk::ir::tile::BufferMemory">;

def Tile_AnyTensor : AnyTypeOf<[AnyRankedTensor, Tile_Tensor], "ranked tensor or tile.tensor">;

def Tile_AllocOp : Tile_Op<"alloc"> {
  let summary = "Allocate an uninitialised buffer";
  let description = [{
    `space`, and `shape` and `dtype` where given, agree with the type.

    ```mlir
    %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
    ```
  }];
  let arguments = (ins
    Tile_MemorySpace:$space, OptionalAttr<I64ArrayAttr>:$shape, OptionalAttr<TypeAttr>:$dtype, OptionalAttr<Tile_Policy>:$policy,
    OptionalAttr<Tile_Layout>:$layout, OptionalAttr<Tile_Lifetime>:$lifetime, OptionalAttr<StrAttr>:$comment);
  let results = (outs Res<Tile_Buf, "", [MemAlloc<Tile_BufferMemory>]>:$result);
  let builders = [OpBuilder<(ins "BufType":$type), [{
    $_state.addTypes(type);
    $_state.getOrAddProperties<Properties>().space = MemorySpaceAttr::get($_builder.getContext(), type.getSpace());
  }]>];
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SubviewOp : Tile_Op<"subview", [Pure, ViewLikeOpInterface]> {
  let summary = "Part of a buffer, or one element along its first dimension";
  let description = [{
    As many offsets as the source has dimensions, as many sizes and strides as the result has. Offsets are `index` or
    `i32`; their types are printed, as `[%i : i32]`, where one of them is not `index`.

    ```mlir
    %s = tile.subview %b[%c0, %c0] [[16]] [[1]] {tle.gpu_layout = #shared1} : <[2, 16], f32, shared> -> <[16], f32, shared>
    ```
  }];
  let arguments = (ins Tile_Buf:$src, Variadic<AnyType>:$offsets, I64ArrayAttr:$sizes, I64ArrayAttr:$strides);
  let results = (outs Tile_Buf:$result);
  let builders = [
    // Unit strides, the sizes of `type`.
    OpBuilder<(ins "BufType":$type, "::mlir::Value":$src, "::mlir::ValueRange":$offsets)>
  ];
  let assemblyFormat = [{
    $src `[` custom<SubviewOffsets>($offsets, type($offsets)) `]` `[` $sizes `]` `[` $strides `]` attr-dict `:`
    type($src) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getViewSource() { return getSrc(); }
    ::mlir::Value getViewDest() { return getResult(); }
  }];
}

def Tile_CopyOp : Tile_Op<"copy", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Copy between global memory and a buffer";
  let description = [{
    One side is a buffer, the other a tensor of pointers of the buffer's shape and element type.

    ```mlir
    tile.copy %ptrs -> %b : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
    ```
  }];
  let arguments = (ins
    AnyType:$src, AnyType:$dst, OptionalAttr<Tile_Engine>:$engine, OptionalAttr<Tile_Layout>:$src_layout,
    OptionalAttr<Tile_NZLayout>:$dst_nz_layout, UnitAttr:$transpose, OptionalAttr<StrAttr>:$comment);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$dst), "$_state.addOperands({src, dst});">];
  let assemblyFormat = "$src `->` $dst attr-dict `:` qualified(type($src)) `,` qualified(type($dst))";
  let hasVerifier = 1;
}

def Tile_ToTensorOp : Tile_Op<"to_tensor"> {
  let summary = "Read a whole buffer into a tensor";
  let description = [{
    ```mlir
    %t = tile.to_tensor %b : <[16], f32, shared> -> tensor<16xf32>
    ```
  }];
  let arguments = (ins Arg<Tile_Buf, "", [MemRead<Tile_BufferMemory>]>:$src);
  let results = (outs AnyRankedTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_StoreTensorOp : Tile_Op<"store_tensor"> {
  let summary = "Write a tensor to a whole buffer";
  let description = [{
    ```mlir
    tile.store_tensor %t -> %b : tensor<16xf32>, !tile.buf<[16], f32, shared>
    ```
  }];
  let arguments = (ins Tile_AnyTensor:$src, Arg<Tile_Buf, "", [MemWrite<Tile_BufferMemory>]>:$dst);
  let assemblyFormat = "$src `->` $dst attr-dict `:` type($src) `,` qualified(type($dst))";
  let hasVerifier = 1;
}

// --- Engines, events and fractal tiles of other targets: no GPU meaning, generic form

def Tile_SetFlagOp : Tile_Op<"set_flag"> {
  let summary = "Signal an event from one pipe to another; not for GPUs";
  let arguments = (ins Tile_Pipe:$producer, Tile_Pipe:$consumer, Tile_EventID:$event);
}

def Tile_WaitFlagOp : Tile_Op<"wait_flag"> {
  let summary = "Wait for an event of a pipe; not for GPUs";
  let arguments = (ins Tile_Pipe:$producer, Tile_Pipe:$consumer, Tile_EventID:$event);
}

def Tile_PipeBarrierOp : Tile_Op<"pipe_barrier"> {
  let summary = "Wait until a pipe is idle; not for GPUs";
  let arguments = (ins Tile_Pipe:$pipe);
}

def Tile_GmOffsetOp : Tile_Op<"gm_offset", [Pure, AttrSizedOperandSegments]> {
  let summary = "Advance a pointer by indices times strides; not for GPUs";
  let arguments = (ins Tt_Ptr:$ptr, Variadic<AnySignlessIntegerOrIndex>:$indices,
                       Variadic<AnySignlessIntegerOrIndex>:$strides);
  let results = (outs Tt_Ptr:$result);
}

def Tile_LoadOp : Tile_Op<"load"> {
  let summary = "Load a tile from global memory; not for GPUs";
  let arguments = (ins Arg<Tt_Ptr, "", [MemRead<Tile_GlobalMemory>]>:$ptr, OptionalAttr<Tile_Engine>:$engine,
                       OptionalAttr<Tile_MemorySpace>:$dst_space);
  let results = (outs Tile_Tensor:$result);
}

def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "Store a tile to global memory; not for GPUs";
  let arguments = (ins AnyType:$value, Arg<Tt_Ptr, "", [MemWrite<Tile_GlobalMemory>]>:$ptr, OptionalAttr<Tile_Engine>:$engine,
                       OptionalAttr<Tile_Layout>:$src_layout, OptionalAttr<Tile_Layout>:$dst_layout,
                       OptionalAttr<StrAttr>:$comment);
}

def Tile_VecFillOp : Tile_Op<"vec_fill"> {
  let summary = "Fill a buffer with a value; not for GPUs";
  let arguments = (ins Arg<Tile_Buf, "", [MemWrite<Tile_BufferMemory>]>:$dst, AnyType:$value,
                       OptionalAttr<StrAttr>:$compute_unit);
}

def Tile_CubeLaunchOp : Tile_Op<"cube_launch", [
    MemoryEffects<[MemRead<Tile_BufferMemory>, MemWrite<Tile_BufferMemory>, MemRead<Tile_GlobalMemory>,
                   MemWrite<Tile_GlobalMemory>]>]> {
  let summary = "Start a matrix product of the cube engine; not for GPUs";
  let arguments = (ins
    AnyType:$a, AnyType:$b, AnyType:$acc, AnyType:$stage_a, AnyType:$stage_b, Tt_Ptr:$dst, UnitAttr:$transpose_a,
    UnitAttr:$transpose_b, OptionalAttr<BoolAttr>:$init, OptionalAttr<StrAttr>:$mma, OptionalAttr<StrAttr>:$comment);
}

def Tile_CubeWaitOp : Tile_Op<"cube_wait"> {
  let summary = "Wait for the cube engine; not for GPUs";
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "Reduce a tile; not for GPUs";
  let arguments = (ins Tile_Tensor:$src, I64Attr:$axis, StrAttr:$op, OptionalAttr<StrAttr>:$scope);
  let results = (outs Tile_Tensor:$result);
}

def Tile_ElemwiseOp : Tile_Op<"elemwise", [Pure]> {
  let summary = "Elementwise function of tiles; not for GPUs";
  let arguments = (ins Variadic<Tile_Tensor>:$srcs, StrAttr:$func);
  let results = (outs Tile_Tensor:$result);
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeat a tile along an axis; not for GPUs";
  let arguments = (ins Tile_Tensor:$src, I64Attr:$axis, I64ArrayAttr:$shape);
  let results = (outs Tile_Tensor:$result);
}

def Tile_CastOp : Tile_Op<"cast", [Pure]> {
  let summary = "Convert the elements of a tile; not for GPUs";
  let arguments = (ins Tile_Tensor:$src);
  let results = (outs Tile_Tensor:$result);
}

#endif
