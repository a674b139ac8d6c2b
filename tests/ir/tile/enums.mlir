// Every value of every enum, and the ops that have no meaning on a GPU but parse.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

// CHECK-LABEL: tt.func @spaces
tt.func @spaces() {
  // CHECK: space = 0 : i64} : <[1], f32, gm>
  %gm = tile.alloc {space = 0 : i64} : <[1], f32, gm>
  // CHECK: space = 1 : i64} : <[1], f32, l1>
  %l1 = tile.alloc {space = 1 : i64} : <[1], f32, l1>
  // CHECK: space = 2 : i64} : <[1], f32, l0a>
  %l0a = tile.alloc {space = 2 : i64} : <[1], f32, l0a>
  // CHECK: space = 3 : i64} : <[1], f32, l0b>
  %l0b = tile.alloc {space = 3 : i64} : <[1], f32, l0b>
  // CHECK: space = 4 : i64} : <[1], f32, l0c>
  %l0c = tile.alloc {space = 4 : i64} : <[1], f32, l0c>
  // CHECK: space = 5 : i64} : <[1], f32, ub>
  %ub = tile.alloc {space = 5 : i64} : <[1], f32, ub>
  // CHECK: space = 6 : i64} : <[1], f32, global>
  %global = tile.alloc {space = 6 : i64} : <[1], f32, global>
  // CHECK: space = 7 : i64} : <[1], f32, shared>
  %shared = tile.alloc {space = 7 : i64} : <[1], f32, shared>
  // CHECK: space = 8 : i64} : <[1], f32, local>
  %local = tile.alloc {space = 8 : i64} : <[1], f32, local>
  // CHECK: space = 9 : i64} : <[1], f32, register>
  %register = tile.alloc {space = 9 : i64} : <[1], f32, register>
  tt.return
}

// CHECK-LABEL: tt.func @alloc_enums
tt.func @alloc_enums() {
  // CHECK: {layout = 0 : i64, lifetime = 0 : i64, policy = 0 : i64, space = 7 : i64}
  %0 = tile.alloc {layout = 0 : i64, lifetime = 0 : i64, policy = 0 : i64, space = 7 : i64} : <[1], f32, shared>
  // CHECK: {layout = 1 : i64, lifetime = 1 : i64, policy = 1 : i64, space = 7 : i64}
  %1 = tile.alloc {layout = 1 : i64, lifetime = 1 : i64, policy = 1 : i64, space = 7 : i64} : <[1], f32, shared>
  tt.return
}

// CHECK-LABEL: tt.func @engines
tt.func @engines(%p: tensor<1x!tt.ptr<f32>>, %b: !tile.buf<[1], f32, shared>) {
  // CHECK: engine = 0 : i64
  tile.copy %p -> %b {engine = 0 : i64} : tensor<1x!tt.ptr<f32>>, !tile.buf<[1], f32, shared>
  // CHECK: engine = 1 : i64
  tile.copy %p -> %b {engine = 1 : i64} : tensor<1x!tt.ptr<f32>>, !tile.buf<[1], f32, shared>
  // CHECK: engine = 2 : i64
  tile.copy %p -> %b {engine = 2 : i64} : tensor<1x!tt.ptr<f32>>, !tile.buf<[1], f32, shared>
  // CHECK: engine = 3 : i64
  tile.copy %p -> %b {engine = 3 : i64} : tensor<1x!tt.ptr<f32>>, !tile.buf<[1], f32, shared>
  // CHECK: engine = 4 : i64
  tile.copy %p -> %b {engine = 4 : i64} : tensor<1x!tt.ptr<f32>>, !tile.buf<[1], f32, shared>
  // CHECK: engine = 5 : i64
  tile.copy %p -> %b {engine = 5 : i64} : tensor<1x!tt.ptr<f32>>, !tile.buf<[1], f32, shared>
  tt.return
}

// CHECK-LABEL: tt.func @pipes_and_events
tt.func @pipes_and_events() {
  // CHECK: "tile.set_flag"() <{consumer = 1 : i64, event = 0 : i64, producer = 0 : i64}> : () -> ()
  "tile.set_flag"() {producer = 0 : i64, consumer = 1 : i64, event = 0 : i64} : () -> ()
  // CHECK: "tile.wait_flag"() <{consumer = 3 : i64, event = 1 : i64, producer = 2 : i64}> : () -> ()
  "tile.wait_flag"() <{producer = 2 : i64, consumer = 3 : i64, event = 1 : i64}> : () -> ()
  // CHECK: consumer = 5 : i64, event = 2 : i64, producer = 4 : i64
  "tile.set_flag"() {producer = 4 : i64, consumer = 5 : i64, event = 2 : i64} : () -> ()
  // CHECK: event = 3 : i64
  "tile.set_flag"() {producer = 4 : i64, consumer = 5 : i64, event = 3 : i64} : () -> ()
  // CHECK: event = 4 : i64
  "tile.set_flag"() {producer = 4 : i64, consumer = 5 : i64, event = 4 : i64} : () -> ()
  // CHECK: event = 5 : i64
  "tile.set_flag"() {producer = 4 : i64, consumer = 5 : i64, event = 5 : i64} : () -> ()
  // CHECK: "tile.pipe_barrier"() <{pipe = 6 : i64}> : () -> ()
  "tile.pipe_barrier"() {pipe = 6 : i64} : () -> ()
  tt.return
}
