// Warp specialization: concurrent regions, each on its own warps.

#ifndef JITK_IR_TTG_TTGWARPSPECIALIZEOPS_TD
#define JITK_IR_TTG_TTGWARPSPECIALIZEOPS_TD

include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "src/ir/ttg/TtgTypes.td"

def Ttg_WarpSpecializeOp : Ttg_Op<"warp_specialize", [
    RecursiveMemoryEffects, DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "Run regions concurrently on separate warps";
  let description = [{
    The default region runs on the warps that reach the op, may use any value and yields the results. Each partition runs
    on `num_warps(n)` further warps, is isolated and sees only its arguments, which are the op's operands.
    `requestedRegisters` asks for registers per thread of each partition; `warpGroupStartIds` and `actualRegisters` are
    filled in by passes.

    A partition may have replicas (`partitionReplicas`): so many groups of `num_warps(n)` warps run it, side by side like
    partitions of their own; `ttg.replica_id` tells them apart. One that starts at warp 0 is run by the warps that reach
    the op too, whose default region is empty then; such an op stands alone in its kernel, outside of loops.

    ```mlir
    %0 = ttg.warp_specialize(%a, %bar) attributes {requestedRegisters = array<i32: 24>}
    default {
      ttg.warp_yield %a : i32
    }
    partition0(%x: i32, %y: !ttg.memdesc<1xi64, #bar, #smem, mutable>) num_warps(4) {
      ttg.warp_return
    } : (i32, !ttg.memdesc<1xi64, #bar, #smem, mutable>) -> i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$explicitCaptures, DenseI32ArrayAttr:$partitionNumWarps,
                       OptionalAttr<DenseI32ArrayAttr>:$warpGroupStartIds,
                       OptionalAttr<DenseI32ArrayAttr>:$requestedRegisters,
                       OptionalAttr<DenseI32ArrayAttr>:$actualRegisters,
                       OptionalAttr<DenseI32ArrayAttr>:$partitionReplicas);
  let results = (outs Variadic<AnyType>:$defaultPassthrough);
  let regions = (region MinSizedRegion<1>:$defaultRegion, SizedRegion<1>:$partitionOpHolder);
  let builders = [
    // Makes the holder and one empty block, with the captures as arguments, for each partition. The default region
    // stays empty.
    OpBuilder<(ins "::mlir::TypeRange":$resultTypes, "::mlir::ValueRange":$explicitCaptures,
                   "::llvm::ArrayRef<int32_t>":$partitionNumWarps)>
  ];
  let extraClassDeclaration = [{
    WarpSpecializePartitionsOp getPartitionOp();
    ::llvm::MutableArrayRef<::mlir::Region> getPartitionRegions();
    unsigned getReplicas(unsigned partition);
    /// The warps of all replicas of a partition.
    unsigned getPartitionWarps(unsigned partition);
    /// The warps of all partitions together.
    unsigned getTotalPartitionWarps();
    /// Whether the warps that reach the op run a partition, in place of the default region.
    bool isJoined();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

// The regions are the partitions; the op exists only inside `ttg.warp_specialize` and is not printed.
def Ttg_WarpSpecializePartitionsOp : Ttg_Op<"warp_specialize.partitions", [
    IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable, Terminator, HasParent<"WarpSpecializeOp">]> {
  let summary = "Holder of the partition regions of ttg.warp_specialize";
  let regions = (region VariadicRegion<MinSizedRegion<1>>:$partitionRegions);
}

def Ttg_ReplicaIdOp : Ttg_Op<"replica_id", [Pure]> {
  let summary = "The number of the partition's replica that executes it";
  let results = (outs I32:$result);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, $_builder.getI32Type());">];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Ttg_WarpYieldOp : Ttg_Op<"warp_yield", [Pure, Terminator, ReturnLike, HasParent<"WarpSpecializeOp">]> {
  let summary = "End the default region and give the results";
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange{});">];
  let assemblyFormat = "($values^)? attr-dict (`:` type($values)^)?";
  let hasVerifier = 1;
}

def Ttg_WarpReturnOp : Ttg_Op<"warp_return", [Pure, Terminator, ReturnLike, HasParent<"WarpSpecializePartitionsOp">]> {
  let summary = "End a partition region";
  let assemblyFormat = "attr-dict";
}

#endif
