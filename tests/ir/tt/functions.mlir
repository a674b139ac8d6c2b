// Functions, the grid, descriptors and debugging.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s
// RUN: %jitk-opt %s --inline | FileCheck %s --check-prefix=INLINE

// CHECK: tt.func private @external(i32) -> f32
tt.func private @external(i32) -> f32

// CHECK-LABEL: tt.func private @callee
// CHECK-SAME: (%{{.*}}: i32) -> i32 {
tt.func private @callee(%x: i32) -> i32 {
  tt.return %x : i32
}

// CHECK-LABEL: tt.func private @kept
tt.func private @kept(%x: i32) -> i32 attributes {noinline = true} {
  tt.return %x : i32
}

// CHECK-LABEL: tt.func public @kernel
// CHECK-SAME: (%{{.*}}: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %{{.*}}: i32) attributes {noinline = false} {
// INLINE-LABEL: tt.func public @kernel
// INLINE-NOT: tt.call @callee
// INLINE: tt.call @kept
tt.func public @kernel(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
  // CHECK: tt.get_program_id x : i32
  %x = tt.get_program_id x : i32
  // CHECK: tt.get_num_programs z : i32
  %z = tt.get_num_programs z : i32
  // CHECK: tt.call @callee(%{{.*}}) : (i32) -> i32
  %0 = tt.call @callee(%n) : (i32) -> i32
  %1 = tt.call @kept(%n) : (i32) -> i32
  %c = arith.cmpi slt, %0, %n : i32
  // CHECK: tt.assert %{{.*}}, "in bounds" : i1
  tt.assert %c, "in bounds" : i1
  // CHECK: tt.print " n: " {hex = false, isSigned = array<i32: 1>} : %{{.*}} : i32
  tt.print " n: " {hex = false, isSigned = array<i32: 1>} : %n : i32
  tt.return
}

// CHECK-LABEL: tt.func @descriptors
tt.func @descriptors(%p: !tt.ptr<f16>, %m: i32, %s: i64, %bytes: !tt.tensordesc<tensor<8x64xui8>>) {
  // CHECK: %[[D:.*]] = tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] : <f16>, <tensor<128x64xf16>>
  %d = tt.make_tensor_descriptor %p, [%m, %m], [%s, %s] : !tt.ptr<f16>, !tt.tensordesc<tensor<128x64xf16>>
  // CHECK: %[[V:.*]] = tt.descriptor_load %[[D]][%{{.*}}, %{{.*}}] evictionPolicy = evict_first : !tt.tensordesc<tensor<128x64xf16>> -> tensor<128x64xf16>
  %v = tt.descriptor_load %d[%m, %m] evictionPolicy = evict_first : !tt.tensordesc<tensor<128x64xf16>> -> tensor<128x64xf16>
  // CHECK: tt.descriptor_store %[[D]][%{{.*}}, %{{.*}}], %[[V]] : !tt.tensordesc<tensor<128x64xf16>>, tensor<128x64xf16>
  tt.descriptor_store %d[%m, %m], %v : !tt.tensordesc<tensor<128x64xf16>>, tensor<128x64xf16>
  // CHECK: tt.descriptor_reduce add, %[[D]][%{{.*}}, %{{.*}}], %[[V]]
  tt.descriptor_reduce add, %d[%m, %m], %v : !tt.tensordesc<tensor<128x64xf16>>, tensor<128x64xf16>
  // The elements of a byte descriptor are signless in registers.
  // CHECK: tt.descriptor_load %{{.*}} : !tt.tensordesc<tensor<8x64xui8>> -> tensor<8x64xi8>
  %b = tt.descriptor_load %bytes[%m, %m] : !tt.tensordesc<tensor<8x64xui8>> -> tensor<8x64xi8>
  tt.return
}
