// Ops that make tensors and change their shape.

#ifndef JITK_IR_TT_TTTENSOROPS_TD
#define JITK_IR_TT_TTTENSOROPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtEnums.td"
include "src/ir/tt/TtTypes.td"

def Tt_AddPtrOp : Tt_Op<"addptr", [
    Pure, Elementwise, SameEncoding, SameOperandsAndResultShape,
    TypesMatchWith<"result type matches ptr type", "result", "ptr", "$_self">]> {
  let summary = "Advance pointers by a number of elements";
  let description = [{
    ```mlir
    %0 = tt.addptr %p, %i : tensor<128x!tt.ptr<f16>, #blocked>, tensor<128xi32, #blocked>
    ```
  }];
  let arguments = (ins Tt_PtrLike:$ptr, Tt_IntLike:$offset);
  let results = (outs Tt_PtrLike:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$offset), [{
    build($_builder, $_state, ptr.getType(), ptr, offset);
  }]>];
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}

def Tt_SplatOp : Tt_Op<"splat", [Pure]> {
  let summary = "Fill a tensor with a scalar";
  let description = [{
    ```mlir
    %0 = tt.splat %x : f32 -> tensor<128xf32, #blocked>
    ```
  }];
  let arguments = (ins Tt_Scalar:$src);
  let results = (outs Tt_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int64_t>":$shape,
                                 CArg<"::mlir::Attribute", "{}">:$encoding)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tt_UnsplatOp : Tt_Op<"unsplat", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "The element of a tensor of one element";
  let description = [{
    ```mlir
    %0 = tt.unsplat %x : tensor<1x1xf32, #blocked>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src);
  let results = (outs Tt_Scalar:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
}

def Tt_ExpandDimsOp : Tt_Op<"expand_dims", [Pure]> {
  let summary = "Insert a dimension of size 1";
  let description = [{
    The source's encoding is the slice of the result's along `axis`.

    ```mlir
    %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<128x1xi32, #b>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src, I32Attr:$axis);
  let results = (outs Tt_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "unsigned":$axis)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tt_BroadcastOp : Tt_Op<"broadcast", [Pure, SameEncoding]> {
  let summary = "Repeat along dimensions of size 1";
  let description = [{
    ```mlir
    %0 = tt.broadcast %x : tensor<128x1xi32, #b> -> tensor<128x64xi32, #b>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src);
  let results = (outs Tt_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int64_t>":$shape)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tt_ReshapeOp : Tt_Op<"reshape", [Pure]> {
  let summary = "View the elements, in row-major order, in another shape";
  let description = [{
    `allow_reorder` lets the op choose any order of the elements; `efficient_layout` says that the result's encoding is
    already the best one.

    ```mlir
    %0 = tt.reshape %x : tensor<512xf32, #b> -> tensor<16x32xf32, #b2>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs Tt_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int64_t>":$shape,
                                 CArg<"::mlir::Attribute", "{}">:$encoding, CArg<"bool", "false">:$allowReorder)>];
  let assemblyFormat = [{
    $src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict `:`
    type($src) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tt_TransOp : Tt_Op<"trans", [Pure]> {
  let summary = "Permute dimensions";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of the source.

    ```mlir
    %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x32xf32, #b> -> tensor<32x16xf32, #b1>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src, DenseI32ArrayAttr:$order);
  let results = (outs Tt_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int32_t>":$order)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tt_JoinOp : Tt_Op<"join", [Pure, SameTypeOperands]> {
  let summary = "Join two tensors along a new minor dimension of size 2";
  let description = [{
    ```mlir
    %0 = tt.join %a, %b : tensor<512xf32, #b> -> tensor<512x2xf32, #b2>
    ```
  }];
  let arguments = (ins Tt_Tensor:$lhs, Tt_Tensor:$rhs);
  let results = (outs Tt_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tt_SplitOp : Tt_Op<"split", [
    Pure, TypesMatchWith<"outLHS and outRHS types match", "outLHS", "outRHS", "$_self">]> {
  let summary = "Split a tensor along its minor dimension of size 2";
  let description = [{
    ```mlir
    %lhs, %rhs = tt.split %x : tensor<512x2xf32, #b2> -> tensor<512xf32, #b>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src);
  let results = (outs Tt_Tensor:$outLHS, Tt_Tensor:$outRHS);
  let builders = [OpBuilder<(ins "::mlir::Value":$src)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
}

def Tt_CatOp : Tt_Op<"cat", [NoMemoryEffect, SameTypeOperands]> {
  let summary = "Concatenate two tensors; the order of the elements is free";
  let description = [{
    ```mlir
    %0 = tt.cat %a, %b : tensor<512xf32, #b> -> tensor<1024xf32, #b1>
    ```
  }];
  let arguments = (ins Tt_Tensor:$lhs, Tt_Tensor:$rhs);
  let results = (outs Tt_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tt_MakeRangeOp : Tt_Op<"make_range", [Pure]> {
  let summary = "The integers from start to end, end excluded";
  let description = [{
    ```mlir
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
    ```
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let builders = [OpBuilder<(ins "int32_t":$start, "int32_t":$end, CArg<"::mlir::Attribute", "{}">:$encoding)>];
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tt_GatherOp : Tt_Op<"gather", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Pick elements along an axis by index";
  let description = [{
    The result has the shape and encoding of `indices`.

    ```mlir
    %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<512xf32, #b>, tensor<512xi32, #b>) -> tensor<512xf32, #b>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src, Tt_IntTensor:$indices, I32Attr:$axis, UnitAttr:$efficient_layout);
  let results = (outs Tt_Tensor:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tt_HistogramOp : Tt_Op<"histogram", [
    Pure, OptionalTypesMatchWith<"mask type matches src type", "src", "mask", "::jitk::ir::tt::getMaskType($_self)">]> {
  let summary = "Count the values 0, 1, ... of a tensor";
  let description = [{
    ```mlir
    %0 = tt.histogram %x : tensor<512xi32, #b> -> tensor<16xi32, #b1>
    ```
  }];
  let arguments = (ins Tt_IntTensor:$src, Optional<Tt_BoolTensor>:$mask);
  let results = (outs Tt_IntTensor:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
}

#endif
