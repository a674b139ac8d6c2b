// Loads, stores and atomics through pointers.

#ifndef JITK_IR_TT_TTMEMORYOPS_TD
#define JITK_IR_TT_TTMEMORYOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/tt/TtEnums.td"
include "src/ir/tt/TtTypes.td"

def Tt_GlobalMemory : Resource<"::jitk::ir::tt::GlobalMemory">;

// The optional operand `mask` is i1 of the pointers' shape, the others have the pointee type of the pointers' shape.
class MaskMatches<string pointers> : OptionalTypesMatchWith<
    "mask type matches ptr type", pointers, "mask", "::jitk::ir::tt::getMaskType($_self)">;
class PointeeMatches<string pointers, string value> : TypesMatchWith<
    value # " type matches ptr type", pointers, value, "::jitk::ir::tt::getPointeeType($_self)">;

def Tt_LoadOp : Tt_Op<"load", [
    SameEncoding, AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    PointeeMatches<"ptr", "result">, MaskMatches<"ptr">,
    OptionalTypesMatchWith<"other type matches ptr type", "ptr", "other", "::jitk::ir::tt::getPointeeType($_self)">]> {
  let summary = "Load through a pointer or a tensor of pointers";
  let description = [{
    Reads one element per pointer. Where `mask` is false nothing is read and the result is `other`, or undefined without
    it. A volatile load also counts as a write, so that it is neither merged nor dropped.

    ```mlir
    %0 = tt.load %p, %m, %o cacheModifier = ca evictionPolicy = evict_first : tensor<128x!tt.ptr<f16>, #blocked>
    ```
  }];
  let arguments = (ins
    Tt_PtrLike:$ptr, Optional<Tt_I1Like>:$mask, Optional<Tt_Type>:$other,
    DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
    OptionalAttr<Tt_PaddingOption>:$padding,
    DefaultValuedAttr<Tt_CacheModifier, "::jitk::ir::tt::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<Tt_EvictionPolicy, "::jitk::ir::tt::EvictionPolicy::NORMAL">:$evict,
    DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs Tt_Type:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ptr, CArg<"::mlir::Value", "{}">:$mask, CArg<"::mlir::Value", "{}">:$other,
                   CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict, CArg<"bool", "false">:$isVolatile)>
  ];
  let assemblyFormat = [{
    $ptr (`,` $mask^)? (`,` $other^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($ptr)
  }];
  let hasVerifier = 1;
}

def Tt_StoreOp : Tt_Op<"store", [SameEncoding, PointeeMatches<"ptr", "value">, MaskMatches<"ptr">]> {
  let summary = "Store through a pointer or a tensor of pointers";
  let description = [{
    Writes one element per pointer, except where `mask` is false.

    ```mlir
    tt.store %p, %v, %m evictionPolicy = evict_last : tensor<128x!tt.ptr<f16>, #blocked>
    ```
  }];
  let arguments = (ins
    Arg<Tt_PtrLike, "", [MemWrite<Tt_GlobalMemory>]>:$ptr, Tt_Type:$value, Optional<Tt_I1Like>:$mask,
    DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
    DefaultValuedAttr<Tt_CacheModifier, "::jitk::ir::tt::CacheModifier::NONE">:$cache,
    DefaultValuedAttr<Tt_EvictionPolicy, "::jitk::ir::tt::EvictionPolicy::NORMAL">:$evict);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value, CArg<"::mlir::Value", "{}">:$mask,
                   CArg<"CacheModifier", "CacheModifier::NONE">:$cache,
                   CArg<"EvictionPolicy", "EvictionPolicy::NORMAL">:$evict)>
  ];
  let assemblyFormat = [{
    $ptr `,` $value (`,` $mask^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` type($ptr)
  }];
}

def Tt_AtomicRMWOp : Tt_Op<"atomic_rmw", [
    SameEncoding, PointeeMatches<"ptr", "val">, MaskMatches<"ptr">,
    TypesMatchWith<"result type matches val type", "val", "result", "$_self">]> {
  let summary = "Atomic read-modify-write; gives the old value";
  let description = [{
    ```mlir
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<16x!tt.ptr<f32>, #b>, tensor<16xf32, #b>, tensor<16xi1, #b>) -> tensor<16xf32, #b>
    ```
  }];
  let arguments = (ins
    Tt_RMWOp:$atomic_rmw_op,
    Arg<Tt_PtrLike, "", [MemRead<Tt_GlobalMemory>, MemWrite<Tt_GlobalMemory>]>:$ptr, Tt_FpIntLike:$val,
    Optional<Tt_I1Like>:$mask, Tt_MemSemantic:$sem, Tt_MemSyncScope:$scope);
  let results = (outs Tt_FpIntLike:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def Tt_AtomicCASOp : Tt_Op<"atomic_cas", [
    SameEncoding, PointeeMatches<"ptr", "cmp">, PointeeMatches<"ptr", "val">,
    TypesMatchWith<"result type matches val type", "val", "result", "$_self">]> {
  let summary = "Atomic compare-and-swap; gives the old value";
  let description = [{
    ```mlir
    %old = tt.atomic_cas acq_rel, gpu, %p, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
    ```
  }];
  let arguments = (ins
    Arg<Tt_PtrLike, "", [MemRead<Tt_GlobalMemory>, MemWrite<Tt_GlobalMemory>]>:$ptr, Tt_FpIntLike:$cmp,
    Tt_FpIntLike:$val, Tt_MemSemantic:$sem, Tt_MemSyncScope:$scope);
  let results = (outs Tt_FpIntLike:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)
  }];
}

#endif
