// RUN: jitk-opt --jitk-pipeline-copies --canonicalize --cse %s | FileCheck %s
//
// Loops over the blocks of a tile in loops over tiles: copies that go on into the next tile. Which copies TMA takes is in
// pipeline-copies-tma.mlir.

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!a = !ttg.memdesc<128x64xbf16, #shared, #smem, mutable>
!pa = tensor<128x64x!tt.ptr<bf16>>
!y = tensor<64x256xbf16>
!sums = tensor<128x256xf32>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The copies of two blocks stand before both loops. Those of a tile that is not there are skipped; the row of the next tile
// is computed where the last block of one has been asked for.
// CHECK-LABEL: tt.func public @tiles
// CHECK-SAME: %[[FIRST:[a-z0-9]+]]: i32, %[[LAST:[a-z0-9]+]]: i32, %[[STEP:[a-z0-9]+]]: i32, %[[K:[a-z0-9]+]]: i32
// CHECK-SAME: %[[X:[a-z0-9]+]]: !tt.tensordesc
// CHECK-COUNT-4: ttng.init_barrier
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[FIRST]], %[[LAST]]
// CHECK: %[[ROW0:.*]] = scf.if %[[ANY]] -> (i32) {
// CHECK-NEXT: arith.muli %[[FIRST]], %c128_i32
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[ANY]]
// CHECK: scf.if %[[BOTH]] {
// CHECK: ttng.async_tma_copy_global_to_local %[[X]][%[[ROW0]], %c0_i32]
// CHECK: scf.if %{{.*}} {
// CHECK: ttng.async_tma_copy_global_to_local %[[X]]
// CHECK: %[[END:.*]]:6 = scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step %[[STEP]] iter_args(%[[READ:.*]] = %c0_i32, %[[FILL:.*]] = %c2_i32, %[[PHASE:.*]] = %c0_i32, %[[AHEAD:.*]] = %{{.*}}, %[[TILE:.*]] = %{{.*}}, %[[ROW:.*]] = %{{.*}})
// CHECK: %[[LEFT:.*]]:7 = scf.for %{{.*}} = %c0_i32 to %[[K]] step %c64_i32 iter_args(%{{.*}} = %{{.*}}, %[[READ1:.*]] = %[[READ]], %[[FILL1:.*]] = %[[FILL]], %[[PHASE1:.*]] = %[[PHASE]], %[[AHEAD1:.*]] = %[[AHEAD]], %[[TILE1:.*]] = %[[TILE]], %[[ROW1:.*]] = %[[ROW]])
// CHECK: %[[INTILE:.*]] = arith.cmpi slt, %[[AHEAD1]], %[[K]]
// CHECK: %[[ISTILE:.*]] = arith.cmpi slt, %[[TILE1]], %[[LAST]]
// CHECK: %[[ISTHERE:.*]] = arith.andi %[[INTILE]], %[[ISTILE]]
// CHECK: scf.if %[[ISTHERE]] {
// CHECK: ttng.async_tma_copy_global_to_local %[[X]][%[[ROW1]], %[[AHEAD1]]]
// CHECK: tt.dot
// CHECK: %[[NEXT:.*]] = arith.addi %[[AHEAD1]], %c64_i32
// CHECK: arith.select %[[ENTERS:.*]], %c0_i32, %[[NEXT]]
// CHECK: scf.if %[[ENTERS]] -> (i32, i32) {
// CHECK-NEXT: %[[NEXTTILE:.*]] = arith.addi %[[TILE1]], %[[STEP]]
// CHECK: scf.if %{{.*}} -> (i32) {
// CHECK-NEXT: arith.muli %[[NEXTTILE]], %c128_i32
// CHECK: scf.yield %[[NEXTTILE]],
// CHECK: scf.yield %[[TILE1]], %[[ROW1]]
// CHECK: tt.store
// CHECK: scf.yield %[[LEFT]]#1, %[[LEFT]]#2, %[[LEFT]]#3, %[[LEFT]]#4, %[[LEFT]]#5, %[[LEFT]]#6
// CHECK: ttng.inval_barrier
tt.func public @tiles(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %last: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<4096> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %c : tensor<1x64xi32> -> tensor<128x64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %pz = tt.splat %z : !tt.ptr<bf16> -> tensor<128x256x!tt.ptr<bf16>>
  %ab = ttg.local_alloc : () -> !a
  scf.for %t = %first to %last step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %xr = tt.addptr %xs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %xw = tt.broadcast %xr : tensor<128x1x!tt.ptr<bf16>> -> !pa
    %px = tt.addptr %xw, %cols : !pa, tensor<128x64xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %is = tt.splat %i : i32 -> tensor<128x64xi32>
      %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
      %copy = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %wait = ttg.async_wait %group {num = 0 : i32}
      %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
      %d = tt.dot %ax, %y, %acc : tensor<128x64xbf16> * !y -> !sums
      scf.yield %d : !sums
    } {tt.num_stages = 3 : i32}
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Tiles of different depths.
// CHECK-LABEL: tt.func public @other_bounds
// CHECK: scf.for
// CHECK-COUNT-4: ttng.init_barrier
// CHECK: scf.for
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK: ttng.inval_barrier
// CHECK: tt.return
tt.func public @other_bounds(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %last: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<4096> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %c : tensor<1x64xi32> -> tensor<128x64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %pz = tt.splat %z : !tt.ptr<bf16> -> tensor<128x256x!tt.ptr<bf16>>
  %ab = ttg.local_alloc : () -> !a
  scf.for %t = %first to %last step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %xr = tt.addptr %xs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %xw = tt.broadcast %xr : tensor<128x1x!tt.ptr<bf16>> -> !pa
    %px = tt.addptr %xw, %cols : !pa, tensor<128x64xi32>
    %sum = scf.for %i = %c0 to %row step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %is = tt.splat %i : i32 -> tensor<128x64xi32>
      %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
      %copy = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %wait = ttg.async_wait %group {num = 0 : i32}
      %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
      %d = tt.dot %ax, %y, %acc : tensor<128x64xbf16> * !y -> !sums
      scf.yield %d : !sums
    } {tt.num_stages = 3 : i32}
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Where a tile lies is known when the one before it ends.
// CHECK-LABEL: tt.func public @carried
// CHECK: scf.for
// CHECK-COUNT-4: ttng.init_barrier
// CHECK: scf.for
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK: ttng.inval_barrier
// CHECK: tt.return
tt.func public @carried(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %last: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<4096> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %c : tensor<1x64xi32> -> tensor<128x64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %pz = tt.splat %z : !tt.ptr<bf16> -> tensor<128x256x!tt.ptr<bf16>>
  %ab = ttg.local_alloc : () -> !a
  %n = scf.for %t = %first to %last step %step iter_args(%u = %first) -> (i32) : i32 {
    %row = arith.muli %u, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %xr = tt.addptr %xs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %xw = tt.broadcast %xr : tensor<128x1x!tt.ptr<bf16>> -> !pa
    %px = tt.addptr %xw, %cols : !pa, tensor<128x64xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %is = tt.splat %i : i32 -> tensor<128x64xi32>
      %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
      %copy = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %wait = ttg.async_wait %group {num = 0 : i32}
      %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
      %d = tt.dot %ax, %y, %acc : tensor<128x64xbf16> * !y -> !sums
      scf.yield %d : !sums
    } {tt.num_stages = 3 : i32}
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
    %v = arith.addi %u, %c1 : i32
    scf.yield %v : i32
  }
  tt.return
}

// A tile says where the next one lies.
// CHECK-LABEL: tt.func public @listed
// CHECK: scf.for
// CHECK-COUNT-4: ttng.init_barrier
// CHECK: scf.for
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK: ttng.inval_barrier
// CHECK: tt.return
tt.func public @listed(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %last: i32, %step: i32, %k: i32, %list: !tt.ptr<i32> {jitk.tensor}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<4096> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %c : tensor<1x64xi32> -> tensor<128x64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %pz = tt.splat %z : !tt.ptr<bf16> -> tensor<128x256x!tt.ptr<bf16>>
  %ab = ttg.local_alloc : () -> !a
  scf.for %t = %first to %last step %step : i32 {
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %at = tt.addptr %list, %t : !tt.ptr<i32>, i32
      %number = tt.load %at : !tt.ptr<i32>
      %row = arith.muli %number, %c128 : i32
      %rows = tt.splat %row : i32 -> tensor<128xi32>
      %rs = arith.addi %rows, %r128 : tensor<128xi32>
      %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %ro = arith.muli %rc, %stride : tensor<128x1xi32>
      %xr = tt.addptr %xs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
      %xw = tt.broadcast %xr : tensor<128x1x!tt.ptr<bf16>> -> !pa
      %px = tt.addptr %xw, %cols : !pa, tensor<128x64xi32>
      %is = tt.splat %i : i32 -> tensor<128x64xi32>
      %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
      %copy = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %wait = ttg.async_wait %group {num = 0 : i32}
      %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
      %d = tt.dot %ax, %y, %acc : tensor<128x64xbf16> * !y -> !sums
      scf.yield %d : !sums
    } {tt.num_stages = 3 : i32}
    %following = arith.addi %t, %c1 : i32
    %to = tt.addptr %list, %following : !tt.ptr<i32>, i32
    tt.store %to, %following : !tt.ptr<i32>
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Nothing stands for the pointer of a tile that is not there.
// CHECK-LABEL: tt.func public @pointed
// CHECK: scf.for
// CHECK-COUNT-4: ttng.init_barrier
// CHECK: scf.for
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK: ttng.inval_barrier
// CHECK: tt.return
tt.func public @pointed(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %last: i32, %step: i32, %k: i32, %list: !tt.ptr<i32> {jitk.tensor}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<4096> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %c : tensor<1x64xi32> -> tensor<128x64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %pz = tt.splat %z : !tt.ptr<bf16> -> tensor<128x256x!tt.ptr<bf16>>
  %ab = ttg.local_alloc : () -> !a
  scf.for %t = %first to %last step %step : i32 {
    %from = tt.addptr %list, %t : !tt.ptr<i32>, i32
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %number0 = arith.divsi %i, %c64 : i32
      %at = tt.addptr %from, %number0 : !tt.ptr<i32>, i32
      %number = tt.load %at : !tt.ptr<i32>
      %row = arith.muli %number, %c128 : i32
      %rows = tt.splat %row : i32 -> tensor<128xi32>
      %rs = arith.addi %rows, %r128 : tensor<128xi32>
      %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %ro = arith.muli %rc, %stride : tensor<128x1xi32>
      %xr = tt.addptr %xs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
      %xw = tt.broadcast %xr : tensor<128x1x!tt.ptr<bf16>> -> !pa
      %px = tt.addptr %xw, %cols : !pa, tensor<128x64xi32>
      %is = tt.splat %i : i32 -> tensor<128x64xi32>
      %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
      %copy = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %wait = ttg.async_wait %group {num = 0 : i32}
      %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
      %d = tt.dot %ax, %y, %acc : tensor<128x64xbf16> * !y -> !sums
      scf.yield %d : !sums
    } {tt.num_stages = 3 : i32}
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
  }
  tt.return
}

// What another kernel may have yet to write is copied when it has said so.
// CHECK-LABEL: tt.func public @awaited
// CHECK: scf.for
// CHECK-COUNT-4: ttng.init_barrier
// CHECK: scf.for
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK: ttng.inval_barrier
// CHECK: tt.return
tt.func public @awaited(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %last: i32, %step: i32, %k: i32, %flag: !tt.ptr<i32> {jitk.tensor}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<4096> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %c : tensor<1x64xi32> -> tensor<128x64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %pz = tt.splat %z : !tt.ptr<bf16> -> tensor<128x256x!tt.ptr<bf16>>
  %ab = ttg.local_alloc : () -> !a
  scf.for %t = %first to %last step %step : i32 {
    %true = arith.constant true
    %was = tt.atomic_rmw add, acquire, gpu, %flag, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %xr = tt.addptr %xs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %xw = tt.broadcast %xr : tensor<128x1x!tt.ptr<bf16>> -> !pa
    %px = tt.addptr %xw, %cols : !pa, tensor<128x64xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %is = tt.splat %i : i32 -> tensor<128x64xi32>
      %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
      %copy = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %wait = ttg.async_wait %group {num = 0 : i32}
      %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
      %d = tt.dot %ax, %y, %acc : tensor<128x64xbf16> * !y -> !sums
      scf.yield %d : !sums
    } {tt.num_stages = 3 : i32}
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// To say so to others holds no copies up.
// CHECK-LABEL: tt.func public @counted
// CHECK-COUNT-4: ttng.init_barrier
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tt.return
tt.func public @counted(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %last: i32, %step: i32, %k: i32, %flag: !tt.ptr<i32> {jitk.tensor}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<4096> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %c : tensor<1x64xi32> -> tensor<128x64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %pz = tt.splat %z : !tt.ptr<bf16> -> tensor<128x256x!tt.ptr<bf16>>
  %ab = ttg.local_alloc : () -> !a
  scf.for %t = %first to %last step %step : i32 {
    %true = arith.constant true
    %was = tt.atomic_rmw add, release, gpu, %flag, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %xr = tt.addptr %xs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %xw = tt.broadcast %xr : tensor<128x1x!tt.ptr<bf16>> -> !pa
    %px = tt.addptr %xw, %cols : !pa, tensor<128x64xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %is = tt.splat %i : i32 -> tensor<128x64xi32>
      %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
      %copy = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group tokens %copy
      %wait = ttg.async_wait %group {num = 0 : i32}
      %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
      %d = tt.dot %ax, %y, %acc : tensor<128x64xbf16> * !y -> !sums
      scf.yield %d : !sums
    } {tt.num_stages = 3 : i32}
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}
}
