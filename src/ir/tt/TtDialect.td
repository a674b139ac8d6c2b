// The `tt` dialect: block-level tensor programs, textually compatible with Triton 3.6.

#ifndef JITK_IR_TT_TTDIALECT_TD
#define JITK_IR_TT_TTDIALECT_TD

include "mlir/IR/OpBase.td"

def Tt_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::jitk::ir::tt";
  let summary = "Block-level tensor programs";
  let description = [{
    Tensors of values and of pointers, loads and stores of whole tensors, reductions, dot products and functions. Tensors
    carry no encoding in CommonIR and a `ttg` encoding in TTGIR; each op accepts both, as long as its operands and
    results agree.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

// Checks that every tensor operand and result has a power-of-two shape, at most 1 048 576 elements, and a distributed
// encoding (if any) that fits the warps and CTAs around the op.
def TensorRules : NativeOpTrait<"TensorRules"> {
  let cppNamespace = "::jitk::ir::tt";
}

// Checks that all tensor operands and results have one encoding.
def SameEncoding : NativeOpTrait<"SameEncoding"> {
  let cppNamespace = "::jitk::ir::tt";
}

class Tt_Op<string mnemonic, list<Trait> traits = []> : Op<Tt_Dialect, mnemonic, !listconcat(traits, [TensorRules])>;

#endif
