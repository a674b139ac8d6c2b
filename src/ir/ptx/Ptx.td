// Dialect `ptx`: the target instructions that plain LLVM IR cannot say.

#ifndef JITK_IR_PTX_TD
#define JITK_IR_PTX_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ptx_Dialect : Dialect {
  let name = "ptx";
  let cppNamespace = "::jitk::ir::ptx";
  let summary = "target instructions, defined by one table";
  let description = [{
    One generic op, `ptx.inst`, names a row of the instruction table. It lives beside the LLVM dialect: its operands and
    results have LLVM types, one a register. It lowers to inline PTX or an intrinsic for NVPTX, and to one call for the
    emulator.
  }];
}

def Ptx_InstOp : Op<Ptx_Dialect, "inst", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                          DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "one target instruction";
  let description = [{
    Executes the row `form` of the instruction table. Operands and results are registers: `i16`, `i32`, `i64`, `f32`,
    `f64`, `i1` by the row's classes; an address of class `l` may also be an `!llvm.ptr` or `!llvm.ptr<1>`.

    ```mlir
    %d:4 = ptx.inst "mma.m16n8k16.f32.f16"(%a0, %a1, %a2, %a3, %b0, %b1, %c0, %c1, %c2, %c3)
        : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    ptx.inst "cp.async.wait_group"() {imms = array<i64: 1>} : () -> ()
    ```
  }];
  let arguments = (ins StrAttr:$form, Variadic<AnyType>:$args,
                       DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$imms);
  let results = (outs Variadic<AnyType>:$values);
  let assemblyFormat = "$form `(` $args `)` attr-dict `:` functional-type($args, $values)";
  let builders = [
    // Takes the result types from the row. The form must exist.
    OpBuilder<(ins "::llvm::StringRef":$form, "::mlir::ValueRange":$args,
                   CArg<"::llvm::ArrayRef<int64_t>", "{}">:$imms)>
  ];
  let extraClassDeclaration = [{
    /// The row; null if the table has none of that name, which the verifier refuses.
    const Instruction *instruction() { return lookupInstruction(getForm()); }
  }];
  let hasVerifier = 1;
}

#endif
