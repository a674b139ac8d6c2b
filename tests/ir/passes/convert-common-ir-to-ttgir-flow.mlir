// RUN: jitk-opt --allow-unregistered-dialect --convert-common-ir-to-ttgir %s | FileCheck %s
//
// Buffers that pass through calls, captures, loops and branches.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#slots = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32} {

// The type of an argument comes from the calls ...
// CHECK: tt.func @read(%[[A:.*]]: !ttg.memdesc<16xf32, #[[$SHARED:.*]], #smem, mutable>) -> tensor<16xf32>
// CHECK-NEXT: ttg.local_load %[[A]]
tt.func @read(%b: !tile.buf<[16], f32, shared>) -> tensor<16xf32> attributes {noinline = true} {
  %t = tile.to_tensor %b : <[16], f32, shared> -> tensor<16xf32>
  tt.return %t : tensor<16xf32>
}

// ... of which there may be several.
// CHECK-LABEL: tt.func @calls
// CHECK: %[[B:.*]] = ttg.local_alloc
// CHECK: tt.call @read(%[[B]]) : (!ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>)
// CHECK: tt.call @read(%{{.*}}) : (!ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>)
tt.func @calls() {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %c = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %t = tt.call @read(%b) : (!tile.buf<[16], f32, shared>) -> tensor<16xf32>
  %u = tt.call @read(%c) : (!tile.buf<[16], f32, shared>) -> tensor<16xf32>
  tt.return
}

// Or from a cast in the body; its views follow.
// CHECK: tt.func @bridged(%[[A:.*]]: !ttg.memdesc<2x16xf32, #{{.*}}, #smem, mutable>, %[[I:.*]]: i32) -> tensor<16xf32>
// CHECK: %[[S:.*]] = ttg.memdesc_index %[[A]][%[[I]]]
// CHECK: ttg.local_load %[[S]]
tt.func @bridged(%b: !tile.buf<[2, 16], f32, shared>, %i: i32) -> tensor<16xf32> {
  %zero = arith.constant 0 : i32
  %d = builtin.unrealized_conversion_cast %b : !tile.buf<[2, 16], f32, shared> to !ttg.memdesc<2x16xf32, #slots, #smem, mutable>
  ttg.local_dealloc %d : !ttg.memdesc<2x16xf32, #slots, #smem, mutable>
  %s = tile.subview %b[%i, %zero : i32, i32] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  %t = tile.to_tensor %s : <[16], f32, shared> -> tensor<16xf32>
  tt.return %t : tensor<16xf32>
}

// A captured buffer, a captured view and a captured argument.
// CHECK-LABEL: tt.func @captures
// CHECK-SAME: %[[ARG:.*]]: !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>
// CHECK: %[[B:.*]] = ttg.local_alloc
// CHECK: %[[V:.*]] = ttg.memdesc_index %[[B]]
// CHECK: ttg.warp_specialize(%[[ARG]], %[[V]])
// CHECK: partition0(%[[P:.*]]: !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>, %[[Q:.*]]: !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>)
// CHECK-NEXT: ttg.local_load %[[P]]
// CHECK-NEXT: ttg.local_load %[[Q]]
tt.func @captures(%arg: !tile.buf<[16], f32, shared>) {
  %c0 = arith.constant 0 : index
  %d = builtin.unrealized_conversion_cast %arg : !tile.buf<[16], f32, shared> to !ttg.memdesc<16xf32, #shared, #smem, mutable>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #slots} : <[2, 16], f32, shared>
  %v = tile.subview %b[%c0, %c0] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  ttg.warp_specialize(%arg, %v)
  default {
    ttg.warp_yield
  }
  partition0(%p: !tile.buf<[16], f32, shared>, %q: !tile.buf<[16], f32, shared>) num_warps(4) {
    %t = tile.to_tensor %p : <[16], f32, shared> -> tensor<16xf32>
    %u = tile.to_tensor %q : <[16], f32, shared> -> tensor<16xf32>
    ttg.warp_return
  } : (!tile.buf<[16], f32, shared>, !tile.buf<[16], f32, shared>) -> ()
  tt.return
}

// Two buffers that change places in each iteration; a view of what the loop carries.
// CHECK-LABEL: tt.func @loop
// CHECK: %[[A:.*]] = ttg.local_alloc
// CHECK: %[[B:.*]] = ttg.local_alloc
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[X:.*]] = %[[A]], %[[Y:.*]] = %[[B]]) -> (!ttg.memdesc<2x16xf32, {{.*}}>, !ttg.memdesc<2x16xf32, {{.*}}>)
// CHECK: ttg.memdesc_index %[[X]]
// CHECK: scf.yield %[[Y]], %[[X]]
// CHECK: %[[S:.*]] = ttg.memdesc_index %[[R]]#0
// CHECK: ttg.local_load %[[S]]
tt.func @loop(%n: i32) -> tensor<16xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #slots} : <[2, 16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #slots} : <[2, 16], f32, shared>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!tile.buf<[2, 16], f32, shared>, !tile.buf<[2, 16], f32, shared>) : i32 {
    %s = tile.subview %x[%i, %c0 : i32, i32] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
    %t = tile.to_tensor %s : <[16], f32, shared> -> tensor<16xf32>
    tile.store_tensor %t -> %s : tensor<16xf32>, !tile.buf<[16], f32, shared>
    scf.yield %y, %x : !tile.buf<[2, 16], f32, shared>, !tile.buf<[2, 16], f32, shared>
  }
  %s = tile.subview %r#0[%c0, %c0 : i32, i32] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  %t = tile.to_tensor %s : <[16], f32, shared> -> tensor<16xf32>
  tt.return %t : tensor<16xf32>
}

// CHECK-LABEL: tt.func @branch
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (!ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>)
// CHECK: ttg.local_load %[[R]]
tt.func @branch(%c: i1) -> tensor<16xf32> {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %r = scf.if %c -> (!tile.buf<[16], f32, shared>) {
    scf.yield %a : !tile.buf<[16], f32, shared>
  } else {
    scf.yield %b : !tile.buf<[16], f32, shared>
  }
  %t = tile.to_tensor %r : <[16], f32, shared> -> tensor<16xf32>
  tt.return %t : tensor<16xf32>
}

// A loop whose condition is tested first.
// CHECK-LABEL: tt.func @while
// CHECK: %[[A:.*]] = ttg.local_alloc
// CHECK: scf.while (%[[X:.*]] = %[[A]]) : (!ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>) -> !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>
// CHECK: ttg.local_load %[[X]]
// CHECK: ^bb0(%[[Y:.*]]: !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>)
// CHECK: ttg.local_store %{{.*}}, %[[Y]]
tt.func @while(%v: tensor<16xf32>, %p: tensor<16x!tt.ptr<f32>>, %c: i1) {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %r = scf.while (%x = %a) : (!tile.buf<[16], f32, shared>) -> !tile.buf<[16], f32, shared> {
    %t = tile.to_tensor %x : <[16], f32, shared> -> tensor<16xf32>
    tt.store %p, %t : tensor<16x!tt.ptr<f32>>
    scf.condition(%c) %x : !tile.buf<[16], f32, shared>
  } do {
  ^bb0(%y: !tile.buf<[16], f32, shared>):
    tile.store_tensor %v -> %y : tensor<16xf32>, !tile.buf<[16], f32, shared>
    scf.yield %y : !tile.buf<[16], f32, shared>
  }
  tt.return
}

// Jumps between blocks.
// CHECK-LABEL: tt.func @blocks
// CHECK: cf.cond_br %{{.*}}, ^bb1(%[[A:.*]] : !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>), ^bb1(%[[B:.*]] : !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>)
// CHECK-NEXT: ^bb1(%[[X:.*]]: !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>)
// CHECK-NEXT: ttg.local_load %[[X]]
tt.func @blocks(%c: i1) -> tensor<16xf32> {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  cf.cond_br %c, ^next(%a : !tile.buf<[16], f32, shared>), ^next(%b : !tile.buf<[16], f32, shared>)
^next(%x: !tile.buf<[16], f32, shared>):
  %t = tile.to_tensor %x : <[16], f32, shared> -> tensor<16xf32>
  tt.return %t : tensor<16xf32>
}

// Two casts of one argument that agree.
// CHECK: tt.func @bridged_twice(%[[A:.*]]: !ttg.memdesc<16xf32, #[[$SHARED]], #smem, mutable>)
// CHECK-NEXT: ttg.local_load %[[A]]
// CHECK-NEXT: ttg.local_load %[[A]]
tt.func @bridged_twice(%b: !tile.buf<[16], f32, shared>) -> (tensor<16xf32>, tensor<16xf32>) {
  %d = builtin.unrealized_conversion_cast %b : !tile.buf<[16], f32, shared> to !ttg.memdesc<16xf32, #shared, #smem, mutable>
  %e = builtin.unrealized_conversion_cast %b : !tile.buf<[16], f32, shared> to !ttg.memdesc<16xf32, #shared, #smem, mutable>
  %t = ttg.local_load %d : !ttg.memdesc<16xf32, #shared, #smem, mutable> -> tensor<16xf32>
  %u = ttg.local_load %e : !ttg.memdesc<16xf32, #shared, #smem, mutable> -> tensor<16xf32>
  tt.return %t, %u : tensor<16xf32>, tensor<16xf32>
}

// An op of which nothing is known takes the descriptor.
// CHECK-LABEL: tt.func @pipe
// CHECK: %[[B:.*]] = ttg.local_alloc
// CHECK-NEXT: "tle.pipe.create"(%[[B]]) : (!ttg.memdesc<2x16xf32, #{{.*}}, #smem, mutable>) -> ()
tt.func @pipe() {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #slots} : <[2, 16], f32, shared>
  "tle.pipe.create"(%b) : (!tile.buf<[2, 16], f32, shared>) -> ()
  tt.return
}
}
