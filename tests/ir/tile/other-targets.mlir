// Ops of other targets have no GPU meaning; they parse in generic form, so that the conversion can refuse them by name.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

// CHECK-LABEL: tt.func @other_targets
tt.func @other_targets(%p: !tt.ptr<f16>, %i: index, %b: !tile.buf<[16], f16, ub>, %x: f16) {
  // CHECK: %[[P:.*]] = "tile.gm_offset"
  %0 = "tile.gm_offset"(%p, %i, %i, %i, %i) <{operandSegmentSizes = array<i32: 1, 2, 2>}> : (!tt.ptr<f16>, index, index, index, index) -> !tt.ptr<f16>
  // CHECK: %[[T:.*]] = "tile.load"(%[[P]]) {{.*}} : (!tt.ptr<f16>) -> !tile.tensor<[16], f16, ub>
  %1 = "tile.load"(%0) {engine = 2 : i64, dst_space = 5 : i64} : (!tt.ptr<f16>) -> !tile.tensor<[16], f16, ub>
  // CHECK: "tile.cast"(%[[T]])
  %2 = "tile.cast"(%1) : (!tile.tensor<[16], f16, ub>) -> !tile.tensor<[16], f32, ub>
  // CHECK: "tile.reduce"
  %3 = "tile.reduce"(%1) {axis = 0 : i64, op = "sum"} : (!tile.tensor<[16], f16, ub>) -> !tile.tensor<[1], f16, ub>
  // CHECK: "tile.broadcast"
  %4 = "tile.broadcast"(%3) {axis = 0 : i64, shape = [16]} : (!tile.tensor<[1], f16, ub>) -> !tile.tensor<[16], f16, ub>
  // CHECK: "tile.elemwise"
  %5 = "tile.elemwise"(%1, %4) {func = "sub"} : (!tile.tensor<[16], f16, ub>, !tile.tensor<[16], f16, ub>) -> !tile.tensor<[16], f16, ub>
  // CHECK: tile.store_tensor %{{.*}} -> %{{.*}} : !tile.tensor<[16], f16, ub>, !tile.buf<[16], f16, ub>
  tile.store_tensor %5 -> %b : !tile.tensor<[16], f16, ub>, !tile.buf<[16], f16, ub>
  // CHECK: "tile.store"
  "tile.store"(%5, %0) {engine = 3 : i64} : (!tile.tensor<[16], f16, ub>, !tt.ptr<f16>) -> ()
  // CHECK: "tile.vec_fill"
  "tile.vec_fill"(%b, %x) : (!tile.buf<[16], f16, ub>, f16) -> ()
  // CHECK: "tile.cube_launch"
  "tile.cube_launch"(%b, %b, %b, %b, %b, %p) {transpose_b} : (!tile.buf<[16], f16, ub>, !tile.buf<[16], f16, ub>, !tile.buf<[16], f16, ub>, !tile.buf<[16], f16, ub>, !tile.buf<[16], f16, ub>, !tt.ptr<f16>) -> ()
  // CHECK: "tile.cube_wait"
  "tile.cube_wait"() : () -> ()
  tt.return
}
