// Types of the `tt` dialect, and the type constraints that its ops share.

#ifndef JITK_IR_TT_TTTYPES_TD
#define JITK_IR_TT_TTTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "src/ir/tt/TtDialect.td"

class Tt_TypeDef<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<Tt_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tt_Ptr : Tt_TypeDef<"Pointer", "ptr"> {
  let summary = "pointer";
  let description = [{
    A pointer to an element in an address space: 1 is global memory, 3 shared memory. Address space 1 is not printed.

    ```mlir
    !tt.ptr<f16>
    !tt.ptr<f32, 3>
    ```
  }];
  let parameters = (ins "::mlir::Type":$pointeeType, "int":$addressSpace);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType, CArg<"int", "1">:$addressSpace), [{
      return $_get(pointeeType.getContext(), pointeeType, addressSpace);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
}

def Tt_TensorDesc : Tt_TypeDef<"TensorDesc", "tensordesc"> {
  let summary = "tensor descriptor";
  let description = [{
    A descriptor (tensor map) of a global tensor that is accessed in blocks of `blockType`. In TTGIR the block's encoding
    is the shared encoding that a copy through the descriptor produces. The element type may be unsigned (`ui8`): the
    signless type is what tensors carry.

    ```mlir
    !tt.tensordesc<tensor<128x64xf16, #shared>>
    ```
  }];
  let parameters = (ins "::mlir::RankedTensorType":$blockType);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$blockType), [{
      return $_get(blockType.getContext(), blockType);
    }]>
  ];
  let assemblyFormat = "`<` $blockType `>`";
  let extraClassDeclaration = [{
    /// The block type with a signless integer element.
    ::mlir::RankedTensorType getSignlessBlockType() const;
  }];
}

def Tt_Float : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16, BF16, F32, F64], "floating-point">;
def Tt_I4 : I<4>;
def Tt_Int : AnyTypeOf<[I1, Tt_I4, I8, I16, I32, I64], "integer">;

def Tt_FloatTensor : RankedTensorOf<[Tt_Float]>;
def Tt_IntTensor : RankedTensorOf<[Tt_Int]>;
def Tt_PtrTensor : RankedTensorOf<[Tt_Ptr]>;
def Tt_BoolTensor : RankedTensorOf<[I1]>;
def Tt_Tensor : RankedTensorOf<[Tt_Float, Tt_Int, Tt_Ptr]>;
def Tt_FpIntTensor : RankedTensorOf<[Tt_Float, Tt_Int]>;

def Tt_FloatLike : AnyTypeOf<[Tt_Float, Tt_FloatTensor], "floating-point or tensor of it">;
def Tt_IntLike : AnyTypeOf<[Tt_Int, Tt_IntTensor], "integer or tensor of it">;
def Tt_I1Like : AnyTypeOf<[I1, Tt_BoolTensor], "i1 or tensor of it">;
def Tt_I32Like : AnyTypeOf<[I32, RankedTensorOf<[I32]>], "i32 or tensor of it">;
def Tt_I64Like : AnyTypeOf<[I64, RankedTensorOf<[I64]>], "i64 or tensor of it">;
def Tt_PtrLike : AnyTypeOf<[Tt_Ptr, Tt_PtrTensor], "pointer or tensor of pointers">;
def Tt_FpIntLike : AnyTypeOf<[Tt_FloatLike, Tt_IntLike]>;
def Tt_Scalar : AnyTypeOf<[Tt_Float, Tt_Int, Tt_Ptr], "scalar">;
def Tt_Type : AnyTypeOf<[Tt_FloatLike, Tt_IntLike, Tt_PtrLike, Tt_TensorDesc]>;

#endif
