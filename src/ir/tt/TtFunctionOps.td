// Functions, the position in the grid, and debugging.

#ifndef JITK_IR_TT_TTFUNCTIONOPS_TD
#define JITK_IR_TT_TTFUNCTIONOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "src/ir/tt/TtMemoryOps.td"

def Tt_GetProgramIdOp : Tt_Op<"get_program_id", [Pure]> {
  let summary = "Position of the program in the grid";
  let description = [{
    ```mlir
    %0 = tt.get_program_id x : i32
    ```
  }];
  let arguments = (ins Tt_ProgramIDDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Tt_GetNumProgramsOp : Tt_Op<"get_num_programs", [Pure]> {
  let summary = "Size of the grid";
  let description = [{
    ```mlir
    %0 = tt.get_num_programs y : i32
    ```
  }];
  let arguments = (ins Tt_ProgramIDDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Tt_PrintOp : Tt_Op<"print", [MemoryEffects<[MemWrite<Tt_GlobalMemory>]>]> {
  let summary = "Print values from the device";
  let description = [{
    ```mlir
    tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %v : tensor<512xi32, #b>
    ```
  }];
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<Tt_Type>:$args, DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
}

def Tt_AssertOp : Tt_Op<"assert", [MemoryEffects<[MemWrite<Tt_GlobalMemory>]>]> {
  let summary = "Stop the kernel with a message where a condition is false";
  let description = [{
    ```mlir
    tt.assert %c, "negative" : tensor<512xi1, #b>
    ```
  }];
  let arguments = (ins AnyTypeOf<[I1, I32, I64, Tt_BoolTensor, RankedTensorOf<[I32, I64]>]>:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tt_FuncOp : Tt_Op<"func", [
    AffineScope, AutomaticAllocationScope, CallableOpInterface, FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "Function; a public one is a kernel";
  let description = [{
    Arguments may carry `tt.divisibility`, `tt.contiguity`, `tt.constancy` and `tt.pointer_range`.

    ```mlir
    tt.func public @copy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
      tt.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                                 CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attrs,
                                 CArg<"::llvm::ArrayRef<::mlir::DictionaryAttr>", "{}">:$argAttrs)>];
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
  let hasCustomAssemblyFormat = 1;
}

def Tt_CallOp : Tt_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call a function of the module";
  let description = [{
    ```mlir
    %0 = tt.call @f(%x) : (i32) -> i32
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>);
  let builders = [OpBuilder<(ins "FuncOp":$callee, CArg<"::mlir::ValueRange", "{}">:$operands)>];
  let extraClassDeclaration = [{
    ::mlir::FunctionType getCalleeType();
    operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
    ::mlir::CallInterfaceCallable getCallableForCallee() {
      return (*this)->getAttrOfType<::mlir::SymbolRefAttr>("callee");
    }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      (*this)->setAttr("callee", ::llvm::cast<::mlir::SymbolRefAttr>(callee));
    }
  }];
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
}

def Tt_ReturnOp : Tt_Op<"return", [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "Return from a function";
  let arguments = (ins Variadic<AnyType>:$srcs);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange{});">];
  let assemblyFormat = "attr-dict ($srcs^ `:` type($srcs))?";
  let hasVerifier = 1;
}

#endif
