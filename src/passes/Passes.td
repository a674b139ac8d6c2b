// The passes on CommonIR and TTGIR. Each says what it needs, what it leaves behind, and why it stands where it stands;
// the order is in src/compiler/Pipelines.cpp.

#ifndef JITK_PASSES_PASSES_TD
#define JITK_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferBufferLayouts : Pass<"jitk-infer-buffer-layouts", "mlir::ModuleOp"> {
  let summary = "Choose the layouts of CommonIR buffers that name none";
  let description = [{
    Sets `tle.gpu_layout` on each `tile.alloc` and `tile.subview` that lacks it, from what reads the buffer: operands of
    dots get the swizzled layout of the target's tensor cores (`ttg.target`), others the one that global copies fill
    fastest. Layouts that are given stay.

    Before --convert-common-ir-to-ttgir, which makes the layout part of the buffer's type.
  }];
  let options = [
    Option<"requireExplicitLayouts", "require-explicit-layouts", "bool", "false",
           "Report a buffer without layout instead of choosing one">
  ];
  let dependentDialects = ["jitk::ir::ttg::TtgDialect"];
}

def ConvertCommonIrToTtgir : Pass<"convert-common-ir-to-ttgir", "mlir::ModuleOp"> {
  let summary = "Convert the buffers and copies of CommonIR to TTGIR";
  let description = [{
    `tile.alloc` and `tile.subview` become buffers in shared memory and views of them, `tile.to_tensor` and
    `tile.store_tensor` become loads and stores of them. A `tile.copy` becomes a load and a store or, with
    `enable-async-copy` and where at least four contiguous bytes are known to move, an asynchronous copy that is waited for
    on the spot; waits of neighbouring copies are merged. Nothing of the dialect `tile` is left.

    Tensors keep having no encoding: --jitk-assign-layouts follows. Before or after CSE, as the effects of CommonIR are
    exact.
  }];
  let options = [
    Option<"enableAsyncCopy", "enable-async-copy", "bool", "false",
           "Use asynchronous copies where the contiguity allows (capability 80 and above)">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "jitk::ir::tt::TtDialect", "jitk::ir::ttg::TtgDialect",
                           "jitk::ir::tile::TileDialect"];
}

def FormAsyncCopies : Pass<"jitk-form-async-copies", "mlir::ModuleOp"> {
  let summary = "Make asynchronous copies of loads that are stored to shared memory at once";
  let description = [{
    A `tt.load` whose only use is a `ttg.local_store` becomes a `ttg.async_copy_global_to_local`, masked if the load is,
    that is waited for on the spot, where four contiguous bytes are known to move and what the mask leaves out is zero.
    Waits of neighbouring copies are merged.

    Only for targets with cp.async (capability 80 and above). After --convert-common-ir-to-ttgir, whose copies have no mask;
    before --jitk-pipeline-copies, which issues what it finds here ahead of time.
  }];
  let dependentDialects = ["jitk::ir::ttg::TtgDialect"];
}

def FormTileStores : Pass<"jitk-form-tile-stores", "mlir::ModuleOp"> {
  let summary = "Store the results of a loop over tiles by TMA";
  let description = [{
    On capability 90, in a loop whose body has a loop with a product that is kept in flight (--jitk-pipeline-copies), the
    `tt.store` of a tile of a row-major matrix goes through two slots in shared memory, in slices of 128 bytes of columns,
    and TMA copies those to global memory while the next tile's products run. Where it is the only one, of 16 bits, where the
    loop has no other products and carries no other tensors, and where eight warps or more hold half as many registers of it
    as of accumulators, the results also wait in registers until the first products of the next tile have been started, two
    slices for each. The tile, its matrix and the mask are as --jitk-pipeline-copies wants them of what it copies, with a
    stride of 1 or more. No other op of the function may use the tensor, or memory that may be any: nothing keeps the copies
    in flight in order with those, nor with each other, so that each loop around must have a part in where a tile lies.
    Stores of one type share their slots; where there is no room for those, or where warps have fewer than 16 rows each,
    threads store.

    After --convert-common-ir-to-ttgir; before --jitk-pipeline-copies, which counts the slots when it chooses stages, and
    before --jitk-assign-layouts.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "jitk::ir::ttg::TtgDialect", "jitk::ir::ttng::TtngDialect"];
}

def PipelineCopies : Pass<"jitk-pipeline-copies", "mlir::ModuleOp"> {
  let summary = "Issue the asynchronous copies of loops iterations ahead";
  let description = [{
    In a loop with `tt.num_stages = n`, n at least 2, copies that each fill a whole buffer which only their iteration reads,
    of tensors that the loop does not write, get a ring of n buffers. Two parameters are taken as two tensors. The copies of
    an iteration are issued n - 1 iterations before it, into the slot that the iteration before this one has read; an
    `ttg.async_wait` leaves the later groups in flight. A wait right before the loop moves behind it where the first one in
    the loop serves its copies too. Where the rings do not fit into shared memory there are fewer stages. How much other ops
    will need is an estimate: `most-stages` is for who has found it too low.
    On capability 90 the rings of a loop whose one `tt.dot` adds to accumulators of 128 KiB or more have one buffer
    more, for --jitk-start-dots-early to leave a product in flight. If everything that such a loop copies is a tile of a
    row-major matrix, as its pointers say, that the kernel does not write, TMA copies it: of a parameter that is marked
    `jitk.tensor`, with a stride that is constant or a parameter marked `jitk.size`, both multiples of 16 bytes. The
    column at which it begins must be known not to be below 0. A mask may leave out the rows, the columns, or both, from
    such a size on, where the map ends. No map is empty or has all rows in one place: that size must be known to be 1 or
    more (constant, or marked `jitk.positive`), and the stride too, unless the loop ends at it or before it. The tensor
    map is a parameter that the pass adds (src/passes/TileMaps.h), and memory barriers take the place of groups. Where
    the loop is part of the body of another one, over tiles, with bounds that all tiles share, its copies by TMA do not
    end with it: behind those of the last iteration come those of the first ones of the next tile, whose coordinates
    must follow from the two induction variables without effects. What the pointers of later iterations are computed
    from is computed again: it must follow from the induction variable, from carried values that advance without
    effects, and from loads of memory that the loop does not write.

    After --convert-common-ir-to-ttgir, whose copies it delays; before --jitk-assign-layouts, so that what it clones is
    given layouts like the rest.
  }];
  let options = [
    Option<"numStages", "num-stages", "int64_t", "1", "Stages of loops without tt.num_stages">,
    Option<"mostStages", "most-stages", "int64_t", "0", "Stages that no loop is to have more of; 0 = none is too many">
  ];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "jitk::ir::ttg::TtgDialect",
                           "jitk::ir::ttng::TtngDialect"];
}

def AssignLayouts : Pass<"jitk-assign-layouts", "mlir::ModuleOp"> {
  let summary = "Give every tensor an encoding";
  let description = [{
    Anchors are dots (the target's tensor cores), accesses to global memory (coalesced vectors), and encodings that are there
    already. What is computed from an anchor's tensors has the anchor's layout; indices, masks and constants are cloned
    in each layout in which they are wanted; where two anchors meet stands a `ttg.convert_layout`. On sm_90 a `tt.dot` of
    at least 64 rows becomes a `ttng.warp_group_dot`; one that is there already, between buffers, is given its layout.

    Needs the module attributes `ttg.num-warps` and `ttg.target`, and functions without encoding-less block arguments.
    After --convert-common-ir-to-ttgir, since dots look at the buffers behind their operands.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "jitk::ir::ttg::TtgDialect",
                           "jitk::ir::ttng::TtngDialect"];
}

def StartDotsEarly : Pass<"jitk-start-dots-early", "mlir::ModuleOp"> {
  let summary = "Start warpgroup products before copies that they do not need, and in a row without waits";
  let description = [{
    An asynchronous `ttng.warp_group_dot` is moved before the asynchronous copies that stand before it in its block, as
    pipelining leaves them, so that the tensor cores work while copies are issued. It must read nothing that the copies
    write: other buffers, or other slots of a ring. One whose accumulator comes from a wait that nobody else uses takes it
    from the product before: products on one accumulator are executed in their order. A loop's only product, which adds to a
    carried accumulator, is waited for when the next one has been started, and the last one behind the loop, where the next
    iteration fills no buffer that the product reads. Slots of a ring are told apart where their counters begin with the same
    loop, which may be one around the loop that hands them on.

    After --jitk-assign-layouts, which makes the products, and --jitk-pipeline-copies; before --jitk-insert-barriers.
  }];
}

def GuardDotLoops : Pass<"jitk-guard-dot-loops", "mlir::ModuleOp"> {
  let summary = "Keep loops with products in flight apart from the path that skips them";
  let description = [{
    Where a loop leaves warpgroup products in flight for a `ttng.warp_group_dot_wait` behind it, loop and wait go into an
    `scf.if` that asks whether the loop runs at all. The accumulators' initial values then meet the products' after the wait:
    the assembler serializes the products of a loop whose accumulators other instructions may define before the wait. The
    first product of a loop whose accumulators begin as zeros overwrites them.

    Before --jitk-allocate-shared-memory; on loops that are still structured.
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "mlir::ub::UBDialect"];
}

def AllocateWarpGroups : Pass<"jitk-allocate-warp-groups", "mlir::ModuleOp"> {
  let summary = "Give the partitions of warp specialization their warps and registers";
  let description = [{
    Sets `warpGroupStartIds` of each `ttg.warp_specialize`: the first warp of each partition, after those of the kernel.
    Partitions of whole warpgroups begin at a warpgroup; the CTA's warps, in `ttg.total-num-warps`, fill whole ones.
    Where partitions request registers, also `actualRegisters` (default region, then partitions) and `ttg.maxnreg`, what
    every thread starts with: warpgroups get their largest request, the default region what is left. Attributes that
    are there already stay.

    Before --jitk-allocate-shared-memory, which places what the warps communicate through.
  }];
}

def AllocateGlobalScratch : Pass<"jitk-allocate-global-scratch", "mlir::ModuleOp"> {
  let summary = "Place each CTA's scratch in global memory";
  let description = [{
    Sets `ttg.global_scratch_memory_offset` on each `ttg.global_scratch_alloc`, and on the module the bytes that a CTA has
    (`ttg.global_scratch_memory_size`) and their alignment (`ttg.global_scratch_memory_alignment`). Every allocation has
    memory of its own: descriptors are few and live long.

    Any time before --convert-ttgir-to-llvm. Functions that are called are not supported.
  }];
}

def AllocateSharedMemory : Pass<"jitk-allocate-shared-memory", "mlir::ModuleOp"> {
  let summary = "Place buffers and scratch in shared memory";
  let description = [{
    Sets `allocation.offset` on `ttg.local_alloc`, on operations whose lowering exchanges values through shared memory, and
    on `tt.call` (the callee's memory); and the module's size in `ttg.shared`.

    After the last pass that makes, removes or moves such operations, and while control flow is structured: a buffer
    lives from its allocation to the last use of any view of it, and through the whole of a loop that uses it from
    outside. Buffers that are not alive together, and not in regions that run concurrently, share memory. Accesses to
    shared addresses are not ordered yet: --jitk-insert-barriers follows.
  }];
}

def InsertBarriers : Pass<"jitk-insert-barriers", "mlir::ModuleOp"> {
  let summary = "Order the threads' accesses to shared memory";
  let description = [{
    Puts a `gpu.barrier` (of the CTA, or of the partition around it) where an access may overlap one of another thread
    since the last barrier and one of the two writes; with a `ttng.fence_async_shared` before it where an asynchronous
    unit accesses what threads have written, or writes what they have read. Copies by cp.async count as written at the wait for them, reads by wgmma and
    by TMA stores as done at theirs. What a memory barrier orders needs no barrier: the reads of what TMA has loaded.
    Slots of a ring of buffers are told apart.

    After --jitk-allocate-shared-memory: buffers that share memory conflict. While control flow is structured.
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "jitk::ir::ttng::TtngDialect"];
}

def TestPrintAxisInfo : Pass<"test-print-axis-info", "mlir::ModuleOp"> {
  let summary = "Report what is known of each integer and pointer as a remark at its definition";
}

#endif
