// Changes of layout and the pipeliner's predicates.

#ifndef JITK_IR_TTG_TTGLAYOUTOPS_TD
#define JITK_IR_TTG_TTGLAYOUTOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtTypes.td"
include "src/ir/ttg/TtgTypes.td"

def Ttg_ConvertLayoutOp : Ttg_Op<"convert_layout", [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "Move a tensor to another layout";
  let description = [{
    ```mlir
    %0 = ttg.convert_layout %a : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #mma>
    ```
  }];
  let arguments = (ins Tt_Tensor:$src);
  let results = (outs Tt_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Attribute":$encoding)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Ttg_Fp4ToFpOp : Ttg_Op<"fp4_to_fp", [Pure]> {
  let summary = "Unpack fp4 (e2m1), two to a byte, low nibble first";
  let description = [{
    `axis` doubles. The result's layout is the source's with the two nibbles joined along the axis.

    ```mlir
    %0 = ttg.fp4_to_fp %a {axis = 1 : i32} : tensor<128x32xi8, #x> -> tensor<128x64xbf16, #y>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I8]>:$src, I32Attr:$axis);
  let results = (outs RankedTensorOf<[F16, BF16]>:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def Ttg_PredicateStageOp : Ttg_Op<"predicate_stage", [Pure, AllTypesMatch<["iv", "ub", "step"]>]> {
  let summary = "Whether a stage of the pipeline runs in this iteration";
  let description = [{
    ```mlir
    %0 = ttg.predicate_stage %i, %u, %s maxStage 2 stage 0 : i32 -> i1
    ```
  }];
  let arguments = (ins SignlessIntegerLike:$iv, SignlessIntegerLike:$ub, SignlessIntegerLike:$step, I32Attr:$maxStage,
                       I32Attr:$stage);
  let results = (outs I1:$result);
  let assemblyFormat = "$iv `,` $ub `,` $step `maxStage` $maxStage `stage` $stage attr-dict `:` type($iv) `->` type($result)";
}

def Ttg_MaskOp : Ttg_Op<"mask", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Run a region under a predicate";
  let description = [{
    ```mlir
    %0 = "ttg.mask"(%c) ({
      %y = arith.addf %x, %x : f32
      ttg.mask.return %y : f32
    }) : (i1) -> f32
    ```
  }];
  let arguments = (ins I1:$pred);
  let results = (outs Variadic<AnyType>:$result);
  let regions = (region SizedRegion<1>:$region);
}

def Ttg_MaskReturnOp : Ttg_Op<"mask.return", [HasParent<"MaskOp">, Pure, Terminator, ReturnLike]> {
  let summary = "End a region of ttg.mask";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

#endif
