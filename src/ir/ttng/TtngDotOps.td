// Warpgroup matrix products.

#ifndef JITK_IR_TTNG_TTNGDOTOPS_TD
#define JITK_IR_TTNG_TTNGDOTOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtEnums.td"
include "src/ir/ttng/TtngBarrierOps.td"

def Ttng_WarpGroupDotOp : Ttng_Op<"warp_group_dot", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result type matches accumulator type", "d", "c", "$_self">]> {
  let summary = "Warpgroup matrix product (wgmma): d = a * b + c";
  let description = [{
    A is in shared memory or registers, B in shared memory. Without `useC`, or where it is true, C is added. With `isAsync`
    the result, and the operands' registers and buffers, may only be used after a `warp_group_dot_wait`. Before layouts are
    assigned C has no encoding, nor has A in registers.

    ```mlir
    %d = ttng.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<128x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #s, #smem> -> tensor<128x64xf32, #mma>
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[Tt_FpIntTensor, Ttg_MemDesc]>:$a, Ttg_MemDesc:$b, Tt_FpIntTensor:$c, Optional<I1>:$useC,
    DefaultValuedAttr<Tt_InputPrecision, "::jitk::ir::tt::InputPrecision::IEEE">:$inputPrecision,
    DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc, DefaultValuedAttr<BoolAttr, "false">:$isAsync);
  let results = (outs Tt_FpIntTensor:$d);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$c, CArg<"::mlir::Value", "{}">:$useC,
                   CArg<"bool", "false">:$isAsync,
                   CArg<"tt::InputPrecision", "tt::InputPrecision::TF32">:$inputPrecision,
                   CArg<"uint32_t", "0">:$maxNumImpreciseAcc), [{
      build($_builder, $_state, c.getType(), a, b, c, useC, inputPrecision, maxNumImpreciseAcc, isAsync);
    }]>
  ];
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` $useC^)? attr-dict `:` type($a) `*` qualified(type($b)) `->` type($d)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// True if fp8 products are to be promoted to the accumulator every `maxNumImpreciseAcc` of K.
    bool needsPartialAccumulator();
  }];
}

def Ttng_WarpGroupDotPartsOp : Ttng_Op<"warp_group_dot_parts", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    AttrSizedOperandSegments]> {
  let summary = "One warpgroup matrix product (wgmma) of columns in several parts: d_i = a * b_i + c_i";
  let description = [{
    The parts of B lie one behind the other in shared memory, in the same layout, so that one instruction reads them as the columns of one
    matrix, though their count is no power of two: 144 as 128 and 16. It takes A once for all of them. The lowering refuses parts that do
    not, or at distances that are no constants: they are views of one buffer whose indices differ by constants. They have one panel of K,
    and where K is not contiguous the first one has two panels of columns or more. Asynchronous: the results, and the operands' buffers,
    may only be used after a `warp_group_dot_wait`. `useC` and encodings as those of `warp_group_dot`.

    ```mlir
    %d:2 = ttng.warp_group_dot_parts %a, [%b0, %b1], [%c0, %c1] : (!ttg.memdesc<64x64xf16, #s, #smem>, !ttg.memdesc<64x128xf16, #s, #smem>, !ttg.memdesc<64x16xf16, #s, #smem>, tensor<64x128xf32, #mma>, tensor<64x16xf32, #mma1>) -> (tensor<64x128xf32, #mma>, tensor<64x16xf32, #mma1>)
    ```
  }];
  let arguments = (ins
    Ttg_MemDesc:$a, Variadic<Ttg_MemDesc>:$b, Variadic<Tt_FpIntTensor>:$c, Optional<I1>:$useC);
  let results = (outs Variadic<Tt_FpIntTensor>:$d);
  let assemblyFormat = [{
    $a `,` `[` $b `]` `,` `[` $c `]` (`,` $useC^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Ttng_WarpGroupDotWaitOp : Ttng_Op<"warp_group_dot_wait", [Ttng_Synchronizes, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Wait until at most `pendings` warpgroup products are in flight";
  let description = [{
    Gives its operands back: uses of the results are after the wait.

    ```mlir
    %r:2 = ttng.warp_group_dot_wait %d, %a {pendings = 0 : i32} : tensor<128x64xf32, #mma>, !ttg.memdesc<128x64xf16, #s, #smem>
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Tt_FpIntTensor, Ttg_MemDesc]>>:$inputs, I32Attr:$pendings);
  let results = (outs Variadic<AnyTypeOf<[Tt_FpIntTensor, Ttg_MemDesc]>>:$outputs);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

#endif
