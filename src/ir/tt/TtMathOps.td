// Elementwise arithmetic and conversions that arith and math do not have, and matrix products.

#ifndef JITK_IR_TT_TTMATHOPS_TD
#define JITK_IR_TT_TTMATHOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtEnums.td"
include "src/ir/tt/TtTypes.td"

class Tt_CastOp<string mnemonic, list<Trait> traits = []>
  : Tt_Op<mnemonic, !listconcat(traits, [Pure, Elementwise, SameOperandsAndResultShape, SameEncoding])>;

def Tt_IntToPtrOp : Tt_CastOp<"int_to_ptr"> {
  let summary = "Cast i64 to pointer";
  let arguments = (ins Tt_I64Like:$src);
  let results = (outs Tt_PtrLike:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tt_PtrToIntOp : Tt_CastOp<"ptr_to_int"> {
  let summary = "Cast pointer to i64";
  let arguments = (ins Tt_PtrLike:$src);
  let results = (outs Tt_I64Like:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tt_BitcastOp : Tt_CastOp<"bitcast"> {
  let summary = "Reinterpret the bits as another type of equal width";
  let description = [{
    ```mlir
    %0 = tt.bitcast %x : tensor<8xf32, #b> -> tensor<8xi32, #b>
    ```
  }];
  let arguments = (ins Tt_Type:$src);
  let results = (outs Tt_Type:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tt_FpToFpOp : Tt_CastOp<"fp_to_fp"> {
  let summary = "Convert between floating-point types, fp8 among them";
  let description = [{
    A conversion to a narrower type names its rounding; one to a wider type does not.

    ```mlir
    %0 = tt.fp_to_fp %x, rounding = rtne : tensor<128xf32, #b> -> tensor<128xf8E5M2, #b>
    ```
  }];
  let arguments = (ins Tt_FloatLike:$src, OptionalAttr<Tt_RoundingMode>:$rounding);
  let results = (outs Tt_FloatLike:$result);
  let assemblyFormat = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

class Tt_SameTypeOp<string mnemonic> : Tt_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultType]>;

def Tt_ClampFOp : Tt_SameTypeOp<"clampf"> {
  let summary = "Clamp to [min, max]";
  let description = [{
    With `propagateNan = all` a NaN operand gives NaN; with `none` the result for NaN is unspecified.

    ```mlir
    %0 = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<512xf32, #b>
    ```
  }];
  let arguments = (ins Tt_FloatLike:$x, Tt_FloatLike:$min, Tt_FloatLike:$max, Tt_PropagateNan:$propagateNan);
  let results = (outs Tt_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}

def Tt_PreciseSqrtOp : Tt_SameTypeOp<"precise_sqrt"> {
  let summary = "Correctly rounded square root";
  let arguments = (ins Tt_FloatLike:$x);
  let results = (outs Tt_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Tt_PreciseDivFOp : Tt_SameTypeOp<"precise_divf"> {
  let summary = "Correctly rounded division";
  let arguments = (ins Tt_FloatLike:$x, Tt_FloatLike:$y);
  let results = (outs Tt_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def Tt_MulhiUIOp : Tt_SameTypeOp<"mulhiui"> {
  let summary = "Upper half of an unsigned product";
  let arguments = (ins Tt_IntLike:$x, Tt_IntLike:$y);
  let results = (outs Tt_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def Tt_ElementwiseInlineAsmOp : Tt_Op<"elementwise_inline_asm", [
    Elementwise, SameEncoding, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Inline PTX on each element, or on packs of them";
  let description = [{
    The assembly handles `packed_element` elements at a time. An op that is not `pure` is taken to read and write memory.

    ```mlir
    %0 = tt.elementwise_inline_asm "ex2.approx.ftz.f32 $0, $1;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %a : tensor<512xf32, #b> -> tensor<512xf32, #b>
    ```
  }];
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure, I32Attr:$packed_element,
                       Variadic<Tt_Type>:$args);
  let results = (outs Variadic<Tt_Type>:$result);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)";
  let hasVerifier = 1;
}

def Tt_ExternElementwiseOp : Tt_Op<"extern_elementwise", [
    Elementwise, SameEncoding, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Call a function of a device library on each element";
  let description = [{
    ```mlir
    %0 = tt.extern_elementwise %a {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<512xf32, #b>) -> tensor<512xf32, #b>
    ```
  }];
  let arguments = (ins Variadic<Tt_Type>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs Tt_Type:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
}

def Tt_DotOp : Tt_Op<"dot", [Pure, TypesMatchWith<"result type matches accumulator type", "d", "c", "$_self">]> {
  let summary = "Matrix product plus accumulator: d = a * b + c";
  let description = [{
    Two-dimensional, or three-dimensional with a leading batch dimension. `maxNumImpreciseAcc` bounds the fp8 products
    that may be summed at the precision of the tensor cores before they are added to the accumulator.

    ```mlir
    %0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
    ```
  }];
  let arguments = (ins
    Tt_FpIntTensor:$a, Tt_FpIntTensor:$b, Tt_FpIntTensor:$c,
    DefaultValuedAttr<Tt_InputPrecision, "::jitk::ir::tt::InputPrecision::IEEE">:$inputPrecision,
    DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs Tt_FpIntTensor:$d);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$c,
                                 CArg<"InputPrecision", "InputPrecision::IEEE">:$inputPrecision,
                                 CArg<"uint32_t", "0">:$maxNumImpreciseAcc), [{
    build($_builder, $_state, c.getType(), a, b, c, inputPrecision, maxNumImpreciseAcc);
  }]>];
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:`
    type($a) `*` type($b) `->` type($d)
  }];
  let hasVerifier = 1;
}

def Tt_DotScaledOp : Tt_Op<"dot_scaled", [
    Pure, AttrSizedOperandSegments, TypesMatchWith<"result type matches accumulator type", "d", "c", "$_self">]> {
  let summary = "Block-scaled matrix product";
  let description = [{
    fp4 operands are packed two to an i8, along K where `lhs_k_pack` (`rhs_k_pack`) is true.

    ```mlir
    %0 = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<128x64xi8, #a>, tensor<128x2xi8, #s> * tensor<32x128xi8, #b>, tensor<128x2xi8, #s> -> tensor<128x128xf32, #d>
    ```
  }];
  let arguments = (ins
    RankedTensorOf<[Tt_Float, I8]>:$a, RankedTensorOf<[Tt_Float, I8]>:$b, Tt_FloatTensor:$c,
    Optional<RankedTensorOf<[I8, F8E4M3FN]>>:$a_scale, Optional<RankedTensorOf<[I8, F8E4M3FN]>>:$b_scale,
    Tt_ScaleDotElemType:$a_elem_type, Tt_ScaleDotElemType:$b_elem_type, BoolAttr:$fastMath,
    DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack, DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs Tt_FloatTensor:$d);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type
    attr-dict `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)
  }];
}

#endif
