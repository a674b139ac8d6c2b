// Reductions, scans and maps: ops with a region that combines elements. They print in generic form.

#ifndef JITK_IR_TT_TTREDUCTIONOPS_TD
#define JITK_IR_TT_TTREDUCTIONOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtEnums.td"
include "src/ir/tt/TtTypes.td"

def Tt_ReduceOp : Tt_Op<"reduce", [
    Pure, SameOperandsShape, SingleBlock, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Reduce tensors along an axis";
  let description = [{
    The region takes two elements of each operand and returns their combination, which is associative and commutative up
    to rounding. The result lacks the axis; its encoding is the operand's slice along it. A one-dimensional operand gives
    a scalar.

    ```mlir
    %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #b>) -> f32
    ```
  }];
  let arguments = (ins Variadic<Tt_Tensor>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<Tt_Type>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "int":$axis)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The types of the operands' elements.
    ::llvm::SmallVector<::mlir::Type> getElementTypes();
  }];
}

def Tt_ReduceReturnOp : Tt_Op<"reduce.return", [Pure, Terminator, ReturnLike, HasParent<"ReduceOp">]> {
  let summary = "End a combine region of tt.reduce";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def Tt_ScanOp : Tt_Op<"scan", [
    Pure, SameOperandsShape, SameEncoding, SingleBlock, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Inclusive scan along an axis";
  let description = [{
    ```mlir
    %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<512xf32, #b>) -> tensor<512xf32, #b>
    ```
  }];
  let arguments = (ins Variadic<Tt_Tensor>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<Tt_Tensor>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "int":$axis, "bool":$reverse)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The types of the operands' elements.
    ::llvm::SmallVector<::mlir::Type> getElementTypes();
  }];
}

def Tt_ScanReturnOp : Tt_Op<"scan.return", [Pure, Terminator, ReturnLike, HasParent<"ScanOp">]> {
  let summary = "End a combine region of tt.scan";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def Tt_MapElementwiseOp : Tt_Op<"map_elementwise", [SameOperandsAndResultShape, SameEncoding, RecursiveMemoryEffects]> {
  let summary = "Run scalar code on each element";
  let description = [{
    The region takes `pack` elements of each operand at a time and returns `pack` elements of each result.
  }];
  let arguments = (ins Variadic<Tt_Tensor>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<Tt_Tensor>:$result);
  let regions = (region AnyRegion:$scalarOp);
}

def Tt_MapElementwiseReturnOp : Tt_Op<"map_elementwise.return", [
    Pure, Terminator, ReturnLike, ParentOneOf<["MapElementwiseOp"]>]> {
  let summary = "End a region of tt.map_elementwise";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "attr-dict ($result^ `:` type($result))?";
}

#endif
