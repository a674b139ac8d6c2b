// RUN: jitk-opt --jitk-form-tile-stores --canonicalize --cse %s | FileCheck %s
//
// Stores of a loop over tiles. What makes a set of pointers a tile is also in pipeline-copies-tma.mlir.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [2, 1, 0]}>
#smem = #ttg.shared_memory
!x = tensor<128x64xbf16>
!y = tensor<64x256xbf16>
!sums = tensor<128x256xf32>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// The results of a tile wait as words, with its number. Two slices have slots: two are stored behind the first product of the
// next tile, two behind its second one; all in front of the products of a tile that has not so many, and those of the last one
// behind the loop.
// CHECK-LABEL: tt.func public @deferred
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !tt.tensordesc<tensor<128x64xbf16, #shared>> {jitk.rows_of = array<i64: 2, -1, 512, -1, 2147483648, -1, 2147483648>}
// CHECK: %[[SLOTS:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x128x64xbf16
// CHECK: %[[LEFT:.*]]:5 = scf.for %[[T:[a-z0-9]+]] = %[[FIRST:[a-z0-9]+]] to %{{.*}} iter_args(%[[A:[a-z0-9]+]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[C:[a-z0-9]+]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[TILE:[a-z0-9]+]] = %c0_i32)
// CHECK: %[[NEXT:.*]] = arith.cmpi ne, %[[T]], %[[FIRST]]
// CHECK-NEXT: %[[ENOUGH:.*]] = arith.cmpi sgt, %[[K:[a-z0-9]+]], %c64_i32
// CHECK-NEXT: %[[FEW:.*]] = arith.cmpi sle, %[[K]], %c64_i32
// CHECK-NEXT: %[[BEFORE:.*]] = arith.andi %[[NEXT]], %[[FEW]]
// CHECK-NEXT: scf.if %[[BEFORE]] {
// CHECK-COUNT-4: ttng.async_tma_copy_local_to_global
// CHECK: %[[BESIDE:.*]] = arith.andi %[[NEXT]], %[[ENOUGH]]
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK-NEXT: tt.dot
// CHECK-NEXT: %[[EARLY:.*]] = arith.cmpi slt, %[[I]], %c128_i32
// CHECK-NEXT: %[[NOW:.*]] = arith.andi %[[BESIDE]], %[[EARLY]]
// CHECK-NEXT: scf.if %[[NOW]] {
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[TILE]], %c128_i32
// CHECK-NEXT: %[[IS0:.*]] = arith.cmpi eq, %[[I]], %c0_i32
// CHECK-NEXT: scf.if %[[IS0]] {
// CHECK-NEXT: arith.trunci %[[A]] : tensor<128x32xi32>
// CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
// CHECK-NEXT: %[[SLOT0:.*]] = ttg.memdesc_index %[[SLOTS]][%c0_i32]
// CHECK-NEXT: ttg.local_store %{{.*}}, %[[SLOT0]]
// CHECK-NEXT: %[[SLOT1:.*]] = ttg.memdesc_index %[[SLOTS]][%c1_i32]
// CHECK-NEXT: ttg.local_store %{{.*}}, %[[SLOT1]]
// CHECK-NEXT: ttng.async_tma_copy_local_to_global %[[MAP]][%[[ROW]], %c32_i32] %[[SLOT0]]
// CHECK-NEXT: ttng.async_tma_copy_local_to_global %[[MAP]][%[[ROW]], %c96_i32] %[[SLOT1]]
// CHECK: arith.cmpi eq, %[[I]], %c64_i32
// CHECK-NEXT: scf.if
// CHECK-NEXT: arith.trunci %[[C]] : tensor<128x32xi32>
// CHECK: ttng.async_tma_copy_local_to_global %[[MAP]][%[[ROW]], %c160_i32]
// CHECK-NEXT: ttng.async_tma_copy_local_to_global %[[MAP]][%[[ROW]], %c224_i32]
// CHECK: arith.truncf
// CHECK-NOT: tt.store
// CHECK: scf.yield %{{.*}}, %[[T]] :
// CHECK: scf.if
// CHECK: %[[LASTROW:.*]] = arith.muli %[[LEFT]]#4, %c128_i32
// CHECK-COUNT-4: ttng.async_tma_copy_local_to_global %[[MAP]][%[[LASTROW]],
// CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
tt.func public @deferred(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Where the number of a tile does not say where it lies, that is what waits.
// CHECK-LABEL: tt.func public @loaded
// CHECK: scf.for {{.*}} %[[ROW:[a-z0-9]+]] = %c0_i32)
// CHECK: %[[HERE:.*]] = tt.load
// CHECK: ttng.async_tma_copy_local_to_global %{{.*}}[%[[ROW]], %c32_i32]
// CHECK: scf.yield %{{.*}}, %[[HERE]] :
tt.func public @loaded(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32, %places: !tt.ptr<i32> {jitk.tensor}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %place = tt.addptr %places, %t : !tt.ptr<i32>, i32
    %row = tt.load %place : !tt.ptr<i32>
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Results of 32 bits do not fit beside the sums of the next tile.
// CHECK-LABEL: tt.func public @direct
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x128x32xf32
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: scf.for
// CHECK: tt.dot
// CHECK-NOT: scf.if
// CHECK-COUNT-8: ttng.async_tma_copy_local_to_global %{{.*}}[%[[ROW]],
// CHECK-NOT: async_tma_copy
// CHECK: ttng.async_tma_store_wait {pendings = 0 : i32}
// CHECK-NEXT: tt.return
tt.func public @direct(%x: !x, %y: !y, %z: !tt.ptr<f32> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<f32> -> tensor<128x1x!tt.ptr<f32>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<f32>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<f32>> -> tensor<128x256x!tt.ptr<f32>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<f32>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    tt.store %pz, %sum : tensor<128x256x!tt.ptr<f32>>
  }
  tt.return
}

// A read of what is stored may come while it is on its way.
// CHECK-LABEL: tt.func public @read
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @read(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %peek = tt.load %z : !tt.ptr<bf16>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.store %z, %peek : !tt.ptr<bf16>
  tt.return
}

// So may that of another CTA that an atomic operation tells of it.
// CHECK-LABEL: tt.func public @atomic
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @atomic(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32, %flag: !tt.ptr<i32> {jitk.tensor}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    %true = arith.constant true
    %was = tt.atomic_rmw add, release, gpu, %flag, %c64, %true : (!tt.ptr<i32>, i32, i1) -> i32
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// A mask may say which row and which column are the last.
// CHECK-LABEL: tt.func public @ends
// CHECK-SAME: {jitk.rows_of = array<i64: 2, -1, 512, 7, 0, 8, 0>}
// CHECK: async_tma_copy_local_to_global
// CHECK-NOT: tt.store
// CHECK: tt.return
tt.func public @ends(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32, %m: i32 {jitk.positive, jitk.size}, %n: i32 {jitk.positive, jitk.size}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    %ms = tt.splat %m : i32 -> tensor<128xi32>
    %mi = arith.cmpi slt, %rs, %ms : tensor<128xi32>
    %mc = tt.expand_dims %mi {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
    %mr = tt.broadcast %mc : tensor<128x1xi1> -> tensor<128x256xi1>
    %ns = tt.splat %n : i32 -> tensor<1x256xi32>
    %ni = arith.cmpi slt, %c, %ns : tensor<1x256xi32>
    %nr = tt.broadcast %ni : tensor<1x256xi1> -> tensor<128x256xi1>
    %in = arith.andi %mr, %nr : tensor<128x256xi1>
    tt.store %pz, %h, %in : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Of which there must be one.
// CHECK-LABEL: tt.func public @perhaps_none
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @perhaps_none(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32, %m: i32 {jitk.positive, jitk.size}, %n: i32 {jitk.size}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    %ms = tt.splat %m : i32 -> tensor<128xi32>
    %mi = arith.cmpi slt, %rs, %ms : tensor<128xi32>
    %mc = tt.expand_dims %mi {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
    %mr = tt.broadcast %mc : tensor<128x1xi1> -> tensor<128x256xi1>
    %ns = tt.splat %n : i32 -> tensor<1x256xi32>
    %ni = arith.cmpi slt, %c, %ns : tensor<1x256xi32>
    %nr = tt.broadcast %ni : tensor<1x256xi1> -> tensor<128x256xi1>
    %in = arith.andi %mr, %nr : tensor<128x256xi1>
    tt.store %pz, %h, %in : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Any other mask is threads to see to.
// CHECK-LABEL: tt.func public @some
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @some(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32, %m: tensor<128x256xi1>) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h, %m : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Nothing to store beside.
// CHECK-LABEL: tt.func public @no_loop
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @no_loop(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = tt.dot %x, %y, %zero : !x * !y -> !sums
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// What a launch gives for z is not known.
// CHECK-LABEL: tt.func public @unknown
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @unknown(%x: !x, %y: !y, %z: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Rows in front of a column are no part of it.
// CHECK-LABEL: tt.func public @product_in_mask
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @product_in_mask(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32, %m: i32 {jitk.positive, jitk.size}, %n: i32 {jitk.positive, jitk.size}, %part: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    %ms = tt.splat %m : i32 -> tensor<128xi32>
    %mi = arith.cmpi slt, %rs, %ms : tensor<128xi32>
    %mc = tt.expand_dims %mi {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
    %mr = tt.broadcast %mc : tensor<128x1xi1> -> tensor<128x256xi1>
    %ns = tt.splat %n : i32 -> tensor<1x256xi32>
    %width = arith.constant dense<512> : tensor<1x256xi32>
    %parts = tt.splat %part : i32 -> tensor<1x256xi32>
    %before = arith.muli %parts, %width : tensor<1x256xi32>
    %number = arith.addi %c, %before : tensor<1x256xi32>
    %ni = arith.cmpi slt, %number, %ns : tensor<1x256xi32>
    %nr = tt.broadcast %ni : tensor<1x256xi1> -> tensor<128x256xi1>
    %in = arith.andi %mr, %nr : tensor<128x256xi1>
    tt.store %pz, %h, %in : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// The last one of the tiles that are stored to one place is to stay.
// CHECK-LABEL: tt.func public @same_place
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @same_place(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %k, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// The same of all tiles.
// CHECK-LABEL: tt.func public @stored_again
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @stored_again(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %round = %c0 to %k step %c64 : i32 {
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  }
  tt.return
}

// Stores of one type share their slots.
// CHECK-LABEL: tt.func public @several
// CHECK-COUNT-2: ttg.local_alloc
// CHECK-NOT: ttg.local_alloc
// CHECK: scf.for
// CHECK-COUNT-16: async_tma_copy_local_to_global
// CHECK-NOT: tt.store
// CHECK: tt.return
tt.func public @several(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %v: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %w: !tt.ptr<f32> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
    %o1 = tt.broadcast %ro : tensor<128x1xi32> -> tensor<128x256xi32>
    %o = arith.addi %o1, %cols : tensor<128x256xi32>
    %vs = tt.splat %v : !tt.ptr<bf16> -> tensor<128x256x!tt.ptr<bf16>>
    %pv = tt.addptr %vs, %o : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    tt.store %pv, %h : tensor<128x256x!tt.ptr<bf16>>
    %ws = tt.splat %w : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>>
    %pw = tt.addptr %ws, %o : tensor<128x256x!tt.ptr<f32>>, tensor<128x256xi32>
    tt.store %pw, %sum : tensor<128x256x!tt.ptr<f32>>
  }
  tt.return
}

// No room for slots.
// CHECK-LABEL: tt.func public @full
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @full(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %held = ttg.local_alloc : () -> !ttg.memdesc<2x128x128xf32, #shared, #smem, mutable>
  %zeros = arith.constant dense<0.0> : tensor<2x128x128xf32>
  ttg.local_store %zeros, %held : tensor<2x128x128xf32> -> !ttg.memdesc<2x128x128xf32, #shared, #smem, mutable>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Products of a second loop leave no registers for results that wait.
// CHECK-LABEL: tt.func public @two_sums
// CHECK-COUNT-2: tt.dot
// CHECK-NOT: scf.if
// CHECK-COUNT-4: async_tma_copy_local_to_global
// CHECK-NOT: tma_copy
// CHECK: tt.return
tt.func public @two_sums(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %all = scf.for %i = %c64 to %k step %c64 iter_args(%acc = %sum) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %h = arith.truncf %all : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
  }
  tt.return
}

// Nor do other tensors that go from tile to tile.
// CHECK-LABEL: tt.func public @carried
// CHECK: tt.dot
// CHECK-NOT: scf.if
// CHECK-COUNT-4: async_tma_copy_local_to_global
// CHECK-NOT: tma_copy
// CHECK: tt.return
tt.func public @carried(%x: !x, %y: !y, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) -> !sums {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : !sums
  %stride = arith.constant dense<512> : tensor<128x1xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 288 : i32, start = 32 : i32} : tensor<256xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cols = tt.broadcast %c : tensor<1x256xi32> -> tensor<128x256xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<128x1x!tt.ptr<bf16>>
  %last = scf.for %t = %first to %end step %step iter_args(%peak = %zero) -> (!sums) : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %rs = arith.addi %rows, %r128 : tensor<128xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ro = arith.muli %rc, %stride : tensor<128x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<128x1x!tt.ptr<bf16>>, tensor<128x1xi32>
    %zw = tt.broadcast %zr : tensor<128x1x!tt.ptr<bf16>> -> tensor<128x256x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<128x256x!tt.ptr<bf16>>, tensor<128x256xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (!sums) : i32 {
      %d = tt.dot %x, %y, %acc : !x * !y -> !sums
      scf.yield %d : !sums
    }
    %top = arith.maximumf %peak, %sum : !sums
    %h = arith.truncf %sum : !sums to tensor<128x256xbf16>
    tt.store %pz, %h : tensor<128x256x!tt.ptr<bf16>>
    scf.yield %top : !sums
  }
  tt.return %last : !sums
}

// The warps of a tile of few rows lie side by side: each slice would be of some of them.
// CHECK-LABEL: tt.func public @side_by_side
// CHECK-NOT: tma
// CHECK: tt.store
tt.func public @side_by_side(%x: tensor<64x64xbf16>, %y: tensor<64x512xbf16>, %z: !tt.ptr<bf16> {jitk.tensor, tt.divisibility = 16 : i32}, %first: i32, %end: i32, %step: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant dense<0.0> : tensor<64x512xf32>
  %stride = arith.constant dense<512> : tensor<64x1xi32>
  %r128 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r256 = tt.make_range {end = 544 : i32, start = 32 : i32} : tensor<512xi32>
  %c = tt.expand_dims %r256 {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
  %cols = tt.broadcast %c : tensor<1x512xi32> -> tensor<64x512xi32>
  %zs = tt.splat %z : !tt.ptr<bf16> -> tensor<64x1x!tt.ptr<bf16>>
  scf.for %t = %first to %end step %step : i32 {
    %row = arith.muli %t, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<64xi32>
    %rs = arith.addi %rows, %r128 : tensor<64xi32>
    %rc = tt.expand_dims %rs {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %ro = arith.muli %rc, %stride : tensor<64x1xi32>
    %zr = tt.addptr %zs, %ro : tensor<64x1x!tt.ptr<bf16>>, tensor<64x1xi32>
    %zw = tt.broadcast %zr : tensor<64x1x!tt.ptr<bf16>> -> tensor<64x512x!tt.ptr<bf16>>
    %pz = tt.addptr %zw, %cols : tensor<64x512x!tt.ptr<bf16>>, tensor<64x512xi32>
    %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<64x512xf32>) : i32 {
      %d = tt.dot %x, %y, %acc : tensor<64x64xbf16> * tensor<64x512xbf16> -> tensor<64x512xf32>
      scf.yield %d : tensor<64x512xf32>
    }
    %h = arith.truncf %sum : tensor<64x512xf32> to tensor<64x512xbf16>
    tt.store %pz, %h : tensor<64x512x!tt.ptr<bf16>>
  }
  tt.return
}
}
