// Types of the `ttg` dialect.

#ifndef JITK_IR_TTG_TTGTYPES_TD
#define JITK_IR_TTG_TTGTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "src/ir/ttg/TtgDialect.td"

class Ttg_TypeDef<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<Ttg_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Ttg_AsyncToken : Ttg_TypeDef<"AsyncToken", "async.token"> {
  let summary = "orders asynchronous copies, their commits and waits";
  let description = "`!ttg.async.token`; it has no run-time value.";
}

def Ttg_MemDesc : Ttg_TypeDef<"MemDesc", "memdesc", [ShapedTypeInterface]> {
  let summary = "buffer in shared or tensor memory";
  let description = [{
    A view of a buffer: shape, element type, encoding, memory space, whether it may be written, and, where it differs from
    the shape, the shape of the allocation that it is a slice of. Addresses follow from the allocation's shape.

    ```mlir
    !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
    !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 128x64>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "::mlir::Attribute":$encoding,
    "::mlir::Attribute":$memorySpace, "bool":$mutableMemory, ArrayRefParameter<"int64_t">:$allocShape);
  let builders = [
    TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType, "::mlir::Attribute":$encoding,
      "::mlir::Attribute":$memorySpace, CArg<"bool", "false">:$mutableMemory), [{
      return $_get(elementType.getContext(), shape, elementType, encoding, memorySpace, mutableMemory, shape);
    }]>,
    TypeBuilderWithInferredContext<(ins
      "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType, "::mlir::Attribute":$encoding,
      "::mlir::Attribute":$memorySpace, "bool":$mutableMemory, "::llvm::ArrayRef<int64_t>":$allocShape), [{
      return $_get(elementType.getContext(), shape, elementType, encoding, memorySpace, mutableMemory, allocShape);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    MemDescType cloneWith(std::optional<::llvm::ArrayRef<int64_t>> shape, ::mlir::Type elementType) const;
    bool hasRank() const { return true; }
    /// True for a view that does not cover its allocation.
    bool isSlice() const { return getAllocShape() != getShape(); }
  }];
}

#endif
