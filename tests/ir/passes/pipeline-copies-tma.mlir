// RUN: jitk-opt --jitk-pipeline-copies --canonicalize --cse %s | FileCheck %s
//
// Loops that keep a product in flight, whose copies TMA takes over where they are tiles of matrices.

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!a = !ttg.memdesc<128x64xbf16, #shared, #smem, mutable>
!b = !ttg.memdesc<64x256xbf16, #shared, #smem, mutable>
!pa = tensor<128x64x!tt.ptr<bf16>>
!pb = tensor<64x256x!tt.ptr<bf16>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The rows of x by the size %k, those of y by a constant; the coordinates are those of the iteration. Four slots, of which
// two are filled before the loop; the phase changes where the ring begins again.
// CHECK-LABEL: tt.func public @tiles
// CHECK-SAME: %[[FIRST:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: tensor<128x64xi1>
// CHECK-SAME: %[[X:[a-z0-9]+]]: !tt.tensordesc<tensor<128x64xbf16, #shared>> {jitk.rows_of = array<i64: 0, 2, 0, -1, 2147483648, -1, 2147483648>}
// CHECK-SAME: %[[Y:[a-z0-9]+]]: !tt.tensordesc<tensor<64x256xbf16, #shared>> {jitk.rows_of = array<i64: 1, -1, 4096, -1, 2147483648, -1, 2147483648>}
// CHECK-DAG: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<4x128x64xbf16
// CHECK-DAG: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<4x64x256xbf16
// CHECK-DAG: %[[FULL:.*]] = ttg.local_alloc : () -> !ttg.memdesc<4x1xi64
// CHECK-COUNT-4: ttng.init_barrier %{{.*}}, 1
// CHECK: ttg.local_barrier
// CHECK: scf.if
// CHECK: ttng.barrier_expect %{{.*}}, 49152, %true
// CHECK: scf.if
// CHECK: ttng.barrier_expect %{{.*}}, 49152, %true
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[READ:.*]] = %c0_i32, %[[FILL:.*]] = %c2_i32, %[[PHASE:.*]] = %c0_i32)
// CHECK: %[[BAR:.*]] = ttg.memdesc_index %[[FULL]][%[[READ]]]
// CHECK-NEXT: ttng.wait_barrier %[[BAR]], %[[PHASE]]
// CHECK-NEXT: ttg.local_barrier
// CHECK: %[[AHEAD:.*]] = arith.addi %[[I]], %c128_i32
// CHECK: scf.if
// CHECK: %[[NEXT:.*]] = ttg.memdesc_index %[[FULL]][%[[FILL]]]
// CHECK: ttng.barrier_expect %[[NEXT]], 49152, %true
// CHECK: ttng.async_tma_copy_global_to_local %[[X]][%[[FIRST]], %[[AHEAD]]] %{{.*}}, %[[NEXT]], %true
// CHECK: ttng.async_tma_copy_global_to_local %[[Y]][%[[AHEAD]], %c32_i32] %{{.*}}, %[[NEXT]], %true
// CHECK: tt.dot
// CHECK: %[[FLIPPED:.*]] = arith.xori %[[PHASE]], %c1_i32
// CHECK: arith.select %{{.*}}, %[[FLIPPED]], %[[PHASE]]
// CHECK: scf.yield
// CHECK-COUNT-4: ttng.inval_barrier
// CHECK-NOT: async_copy
tt.func public @tiles(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// What a launch gives for x is not known.
// CHECK-LABEL: tt.func public @unknown_address
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @unknown_address(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// TMA wants addresses that are multiples of 16 bytes.
// CHECK-LABEL: tt.func public @unaligned_address
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @unaligned_address(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 8 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// And rows that are.
// CHECK-LABEL: tt.func public @unaligned_rows
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @unaligned_rows(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 4 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// A scalar is known when the map has been made.
// CHECK-LABEL: tt.func public @unknown_stride
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @unknown_stride(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// What lies past the rows of a matrix is zeros either way: its map ends there.
// CHECK-LABEL: tt.func public @rows_before_the_last
// CHECK-SAME: !tt.tensordesc<tensor<128x64xbf16, #shared>> {jitk.rows_of = array<i64: 0, 2, 0, 4, 0, -1, 2147483648>}
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK-NOT: async_copy_global_to_local %{{.*}} mask
tt.func public @rows_before_the_last(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %end: i32 {jitk.positive, jitk.size}) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %ends = tt.splat %end : i32 -> tensor<128xi32>
  %inside = arith.cmpi slt, %row, %ends : tensor<128xi32>
  %insidecol = tt.expand_dims %inside {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %insidecol : tensor<128x1xi1> -> tensor<128x64xi1>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab mask %mask : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// A matrix has at least one row.
// CHECK-LABEL: tt.func public @perhaps_no_rows
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @perhaps_no_rows(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %end: i32 {jitk.size}) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %ends = tt.splat %end : i32 -> tensor<128xi32>
  %inside = arith.cmpi slt, %row, %ends : tensor<128xi32>
  %insidecol = tt.expand_dims %inside {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %insidecol : tensor<128x1xi1> -> tensor<128x64xi1>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab mask %mask : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// No map has rows that all lie at the same place.
// CHECK-LABEL: tt.func public @perhaps_no_stride
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @perhaps_no_stride(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %end: i32 {jitk.positive, jitk.size}) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %ends = tt.splat %end : i32 -> tensor<128xi32>
  %inside = arith.cmpi slt, %row, %ends : tensor<128xi32>
  %insidecol = tt.expand_dims %inside {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %insidecol : tensor<128x1xi1> -> tensor<128x64xi1>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %end step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab mask %mask : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// CHECK-LABEL: tt.func public @stride_of_one_or_more
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK-NOT: async_copy_global_to_local %{{.*}} mask
tt.func public @stride_of_one_or_more(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.positive, jitk.size, tt.divisibility = 8 : i32}, %first: i32, %end: i32 {jitk.positive, jitk.size}) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %ends = tt.splat %end : i32 -> tensor<128xi32>
  %inside = arith.cmpi slt, %row, %ends : tensor<128xi32>
  %insidecol = tt.expand_dims %inside {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %insidecol : tensor<128x1xi1> -> tensor<128x64xi1>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %end step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab mask %mask : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// Rows that are counted from elsewhere are others.
// CHECK-LABEL: tt.func public @mask_of_other_rows
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @mask_of_other_rows(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %end: i32 {jitk.positive, jitk.size}) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %ends = tt.splat %end : i32 -> tensor<128xi32>
  %inside = arith.cmpi slt, %r128, %ends : tensor<128xi32>
  %insidecol = tt.expand_dims %inside {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %insidecol : tensor<128x1xi1> -> tensor<128x64xi1>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab mask %mask : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// One more row.
// CHECK-LABEL: tt.func public @mask_up_to_the_last
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @mask_up_to_the_last(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %end: i32 {jitk.positive, jitk.size}) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %ends = tt.splat %end : i32 -> tensor<128xi32>
  %inside = arith.cmpi sle, %row, %ends : tensor<128xi32>
  %insidecol = tt.expand_dims %inside {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %insidecol : tensor<128x1xi1> -> tensor<128x64xi1>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab mask %mask : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// A launch does not know the last row.
// CHECK-LABEL: tt.func public @unknown_last_row
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @unknown_last_row(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %end: i32) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %ends = tt.splat %end : i32 -> tensor<128xi32>
  %inside = arith.cmpi slt, %row, %ends : tensor<128xi32>
  %insidecol = tt.expand_dims %inside {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %insidecol : tensor<128x1xi1> -> tensor<128x64xi1>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab mask %mask : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// What another mask leaves out is not what lies outside of a matrix.
// CHECK-LABEL: tt.func public @masked
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @masked(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab mask %m : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// The rows do not follow on each other.
// CHECK-LABEL: tt.func public @clamped
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @clamped(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %last = arith.constant dense<100> : tensor<128xi32>
  %clamped = arith.minsi %row, %last : tensor<128xi32>
  %rowcol = tt.expand_dims %clamped {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// Nor here.
// CHECK-LABEL: tt.func public @every_other
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @every_other(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %twice = arith.addi %row, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %twice {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// A row of 64 bits may be none that TMA can name.
// CHECK-LABEL: tt.func public @wide_row
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @wide_row(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i64, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i64 -> tensor<128xi64>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r128wide = arith.extsi %r128 : tensor<128xi32> to tensor<128xi64>
  %row = arith.addi %firsts, %r128wide : tensor<128xi64>
  %rowwide = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi64> -> tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// One of 32 bits is.
// CHECK-LABEL: tt.func public @widened_row
// CHECK-SAME: %[[FIRST:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: tensor<128x64xi1>
// CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%[[FIRST]], %
// CHECK-NOT: async_copy_global_to_local %{{.*}} mask
tt.func public @widened_row(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %first64 = arith.extsi %first : i32 to i64
  %firsts = tt.splat %first64 : i64 -> tensor<128xi64>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r128wide = arith.extsi %r128 : tensor<128xi32> to tensor<128xi64>
  %row = arith.addi %firsts, %r128wide : tensor<128xi64>
  %rowwide = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi64> -> tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// The sum of two is one of 64 bits.
// CHECK-LABEL: tt.func public @sum_of_widened_rows
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @sum_of_widened_rows(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %first64 = arith.extsi %first : i32 to i64
  %firsts = tt.splat %first64 : i64 -> tensor<128xi64>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r128wide = arith.extsi %r128 : tensor<128xi32> to tensor<128xi64>
  %second = arith.extsi %k : i32 to i64
  %seconds = tt.splat %second : i64 -> tensor<128xi64>
  %both = arith.addi %firsts, %seconds : tensor<128xi64>
  %row = arith.addi %both, %r128wide : tensor<128xi64>
  %rowwide = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi64> -> tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// Left of column 0 a pointer reaches the row above, where TMA gives zeros.
// CHECK-LABEL: tt.func public @left_of_a_row
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @left_of_a_row(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %cm8 = arith.constant -8 : i32
    %moved = arith.addi %i, %cm8 : i32
    %is = tt.splat %moved : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// Above row 0, where columns go on beyond a row, it reaches the matrix.
// CHECK-LABEL: tt.func public @above_a_matrix
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @above_a_matrix(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %above = arith.constant dense<-1> : tensor<128xi32>
  %row = arith.addi %above, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// What a launch gives may be below 0.
// CHECK-LABEL: tt.func public @column_of_a_scalar
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @column_of_a_scalar(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %moved = arith.addi %i, %first : i32
    %is = tt.splat %moved : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// What a CTA computes of its number, and counts on in a loop, is not.
// CHECK-LABEL: tt.func public @column_of_an_item
// CHECK: ttng.async_tma_copy_global_to_local
// CHECK-NOT: async_copy_global_to_local
tt.func public @column_of_an_item(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %pid = tt.get_program_id x : i32
  %rows = arith.subi %first, %pid : i32
  %group = arith.minsi %rows, %c64 : i32
  %inGroup = arith.remsi %pid, %c64 : i32
  %item = arith.divsi %inGroup, %group : i32
  %begin = arith.muli %item, %c64 : i32
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r:2 = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero, %at = %begin) -> (tensor<128x256xf32>, i32) : i32 {
    %is = tt.splat %at : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    %on = arith.addi %at, %c64 : i32
    scf.yield %d, %on : tensor<128x256xf32>, i32
  } {tt.num_stages = 3 : i32}
  tt.return %r#0 : tensor<128x256xf32>
}

// TMA does not see what the kernel's threads have written, whatever barrier they have met at.
// CHECK-LABEL: tt.func public @written_before
// CHECK-NOT: tma
// CHECK: ttg.async_wait {num = 1 : i32}
tt.func public @written_before(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %number = arith.constant 1.0 : bf16
  tt.store %x, %number : !tt.ptr<bf16>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}

// What a block is given is no parameter of the kernel.
// CHECK-LABEL: tt.func public @passed_on
// CHECK-NOT: tma
// CHECK: tt.return
tt.func public @passed_on(%x: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %k: i32 {jitk.size, tt.divisibility = 8 : i32}, %first: i32, %m: tensor<128x64xi1>) -> tensor<128x256xf32> {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %n = arith.constant dense<4096> : tensor<64x1xi64>
  %ab = ttg.local_alloc : () -> !a
  %bb = ttg.local_alloc : () -> !b
  %firsts = tt.splat %first : i32 -> tensor<128xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = arith.addi %firsts, %r128 : tensor<128xi32>
  %rowcol = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowwide = arith.extsi %rowcol : tensor<128x1xi32> to tensor<128x1xi64>
  %kwide = arith.extsi %k : i32 to i64
  %ks = tt.splat %kwide : i64 -> tensor<128x1xi64>
  %rowoff = arith.muli %rowwide, %ks : tensor<128x1xi64>
  %isFirst = arith.cmpi eq, %first, %c0 : i32
  cf.cond_br %isFirst, ^one, ^other
^one:
  tt.print "y" {hex = false, isSigned = array<i32>}
  cf.br ^both(%y : !tt.ptr<bf16>)
^other:
  cf.br ^both(%x : !tt.ptr<bf16>)
^both(%given: !tt.ptr<bf16>):
  %xs = tt.splat %given : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %xrows = tt.addptr %xs, %rowoff : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi64>
  %xwide = tt.broadcast %xrows : tensor<128x1x!tt.ptr<bf16>> -> !pa
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %colrow = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %cols = tt.broadcast %colrow : tensor<1x64xi32> -> tensor<128x64xi32>
  %px = tt.addptr %xwide, %cols : !pa, tensor<128x64xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %bcol = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %bcols = tt.broadcast %bcol : tensor<1x256xi32> -> tensor<64x256xi32>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  %r = scf.for %i = %c0 to %k step %c64 iter_args(%sum = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<128x64xi32>
    %pa = tt.addptr %px, %is : !pa, tensor<128x64xi32>
    %ir = tt.splat %i : i32 -> tensor<64xi32>
    %brow = arith.addi %ir, %r64 : tensor<64xi32>
    %browcol = tt.expand_dims %brow {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %browwide = arith.extsi %browcol : tensor<64x1xi32> to tensor<64x1xi64>
    %browoff = arith.muli %browwide, %n : tensor<64x1xi64>
    %yrows = tt.addptr %ys, %browoff : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi64>
    %ywide = tt.broadcast %yrows : tensor<64x1x!tt.ptr<bf16>> -> !pb
    %pb = tt.addptr %ywide, %bcols : !pb, tensor<64x256xi32>
    %ta = ttg.async_copy_global_to_local %pa, %ab : !pa -> <128x64xbf16, #shared, #smem, mutable>
    %tb = ttg.async_copy_global_to_local %pb, %bb : !pb -> <64x256xbf16, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %ta, %tb
    %w = ttg.async_wait %c {num = 0 : i32}
    %ax = ttg.local_load %ab : !a -> tensor<128x64xbf16>
    %bx = ttg.local_load %bb : !b -> tensor<64x256xbf16>
    %d = tt.dot %ax, %bx, %sum : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<128x256xf32>
}
}
