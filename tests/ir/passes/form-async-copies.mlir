// RUN: jitk-opt --jitk-form-async-copies %s | FileCheck %s
//
// Loads that go to shared memory at once, masked or not.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ptrs = tensor<64x!tt.ptr<f16>>
!buf = !ttg.memdesc<64xf16, #shared, #smem, mutable>

// Two neighbours share a wait. The mask ends at a multiple of eight elements.
// CHECK-LABEL: tt.func @masked
// CHECK: %[[T:.*]] = ttg.async_copy_global_to_local %{{.*}}, %{{.*}} mask %{{.*}} other %{{.*}} : tensor<64x!tt.ptr<f16>>
// CHECK-NEXT: %[[U:.*]] = ttg.async_copy_global_to_local
// CHECK-NEXT: %[[C:.*]] = ttg.async_commit_group tokens %[[T]], %[[U]]
// CHECK-NEXT: ttg.async_wait %[[C]] {num = 0 : i32}
// CHECK-NOT: tt.load
tt.func @masked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 8 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %s = tt.splat %p : !tt.ptr<f16> -> !ptrs
  %q = tt.addptr %s, %r : !ptrs, tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<64xi32>
  %a = ttg.local_alloc : () -> !buf
  %b = ttg.local_alloc : () -> !buf
  %x = tt.load %q, %m, %zero : !ptrs
  ttg.local_store %x, %a : tensor<64xf16> -> !buf
  %y = tt.load %q : !ptrs
  ttg.local_store %y, %b : tensor<64xf16> -> !buf
  tt.return
}

// Declined: a mask that changes at any element, another value than zero, a second use, a write in between.
// CHECK-LABEL: tt.func @declined
// CHECK-NOT: async
// CHECK: tt.return
tt.func @declined(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %out: !ptrs) {
  %one = arith.constant dense<1.0> : tensor<64xf16>
  %zero = arith.constant dense<0.0> : tensor<64xf16>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %s = tt.splat %p : !tt.ptr<f16> -> !ptrs
  %q = tt.addptr %s, %r : !ptrs, tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<64xi32>
  %true = arith.constant dense<true> : tensor<64xi1>
  %b = ttg.local_alloc : () -> !buf
  %x = tt.load %q, %m, %zero : !ptrs
  ttg.local_store %x, %b : tensor<64xf16> -> !buf
  %y = tt.load %q, %true, %one : !ptrs
  ttg.local_store %y, %b : tensor<64xf16> -> !buf
  %z = tt.load %q : !ptrs
  ttg.local_store %z, %b : tensor<64xf16> -> !buf
  tt.store %out, %z : !ptrs
  %w = tt.load %q : !ptrs
  tt.store %out, %zero : !ptrs
  ttg.local_store %w, %b : tensor<64xf16> -> !buf
  tt.return
}
