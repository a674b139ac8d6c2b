// Conversions, elementwise ops and matrix products.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

// CHECK-LABEL: tt.func @conversions
tt.func @conversions(%x: tensor<128xf32>, %i: i64, %p: !tt.ptr<f32>) {
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : tensor<128xf32> -> tensor<128xf8E5M2>
  %0 = tt.fp_to_fp %x, rounding = rtne : tensor<128xf32> -> tensor<128xf8E5M2>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtz : tensor<128xf32> -> tensor<128xbf16>
  %1 = tt.fp_to_fp %x, rounding = rtz : tensor<128xf32> -> tensor<128xbf16>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<128xf8E5M2> -> tensor<128xf16>
  %2 = tt.fp_to_fp %0 : tensor<128xf8E5M2> -> tensor<128xf16>
  // CHECK: tt.bitcast %{{.*}} : tensor<128xf32> -> tensor<128xi32>
  %3 = tt.bitcast %x : tensor<128xf32> -> tensor<128xi32>
  // CHECK: tt.int_to_ptr %{{.*}} : i64 -> !tt.ptr<f32>
  %4 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  // CHECK: tt.ptr_to_int %{{.*}} : !tt.ptr<f32> -> i64
  %5 = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
  tt.return
}

// CHECK-LABEL: tt.func @elementwise
tt.func @elementwise(%x: tensor<128xf32>, %i: tensor<128xi32>) {
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = none : tensor<128xf32>
  %0 = tt.clampf %x, %x, %x, propagateNan = none : tensor<128xf32>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : tensor<128xf32>
  %1 = tt.clampf %x, %x, %x, propagateNan = all : tensor<128xf32>
  // CHECK: tt.precise_sqrt %{{.*}} : tensor<128xf32>
  %2 = tt.precise_sqrt %x : tensor<128xf32>
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : tensor<128xf32>
  %3 = tt.precise_divf %x, %x : tensor<128xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<128xi32>
  %4 = tt.mulhiui %i, %i : tensor<128xi32>
  // CHECK: tt.elementwise_inline_asm "ex2.approx.ftz.f32 $0, $1;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %{{.*}} : tensor<128xf32> -> tensor<128xf32>
  %5 = tt.elementwise_inline_asm "ex2.approx.ftz.f32 $0, $1;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : tensor<128xf32> -> tensor<128xf32>
  // CHECK: tt.extern_elementwise %{{.*}} {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<128xf32>) -> tensor<128xf32>
  %6 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : (tensor<128xf32>) -> tensor<128xf32>
  tt.return
}

// CHECK-LABEL: tt.func @dot
tt.func @dot(%a: tensor<64x32xf16>, %b: tensor<32x128xf16>, %c: tensor<64x128xf32>) {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
  %0 = tt.dot %a, %b, %c : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 : tensor<64x32xf16>
  %1 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
  // CHECK: inputPrecision = tf32x3
  %2 = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
  // CHECK: inputPrecision = bf16x3
  %3 = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
  // CHECK: inputPrecision = bf16x6 {maxNumImpreciseAcc = 32 : i32}
  %4 = tt.dot %a, %b, %c, inputPrecision = bf16x6 {maxNumImpreciseAcc = 32 : i32} : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
  tt.return
}

// CHECK-LABEL: tt.func @dot_scaled
tt.func @dot_scaled(%a: tensor<128x32xi8>, %sa: tensor<128x2xi8>, %b: tensor<64x128xi8>, %sb: tensor<128x2xi8>, %c: tensor<128x128xf32>) {
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}}, %{{.*}} lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<128x32xi8>, tensor<128x2xi8> * tensor<64x128xi8> -> tensor<128x128xf32>
  %0 = tt.dot_scaled %a scale %sa, %b, %c lhs = e2m1 rhs = e5m2 {fastMath = false} : tensor<128x32xi8>, tensor<128x2xi8> * tensor<64x128xi8> -> tensor<128x128xf32>
  tt.return
}
