// RUN: jitk-opt --convert-common-ir-to-ttgir --split-input-file --verify-diagnostics %s
//
// Diagnostics of copies and views. Some are the verifier's, which speaks first with the same words.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @partial_copy(%p: tensor<8x!tt.ptr<f32>>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  tile.copy %p -> %b : tensor<8x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @partial_read() {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  %t = tile.to_tensor %b : <[16], f32, shared> -> tensor<8xf32>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @partial_write(%t: tensor<16xf16>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  tile.store_tensor %t -> %b : tensor<16xf16>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @view_write(%v: !tile.tensor<[16], f32, shared>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type: got '!tile.tensor<[16], f32, shared>'}}
  tile.store_tensor %v -> %b : !tile.tensor<[16], f32, shared>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_dtype(%p: tensor<16x!tt.ptr<i32>>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  tile.copy %p -> %b : tensor<16x!tt.ptr<i32>>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_out_dtype(%p: tensor<16x!tt.ptr<i32>>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  tile.copy %b -> %p : !tile.buf<[16], f32, shared>, tensor<16x!tt.ptr<i32>>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_nonglobal(%p: tensor<16x!tt.ptr<f32, 3>>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.copy requires a tensor of global pointers}}
  tile.copy %p -> %b : tensor<16x!tt.ptr<f32, 3>>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_scalar(%p: !tt.ptr<f32>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[1], f32, shared>
  // expected-error @+1 {{GPU tile.copy requires a tensor of global pointers}}
  tile.copy %p -> %b : !tt.ptr<f32>, !tile.buf<[1], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_between_buffers() {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.copy requires a tensor of global pointers}}
  tile.copy %a -> %b : !tile.buf<[16], f32, shared>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_transpose(%p: tensor<16x!tt.ptr<f32>>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.copy supports only plain ND copies without engine, transpose or NZ layout attributes}}
  tile.copy %p -> %b {transpose} : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_nz(%p: tensor<16x!tt.ptr<f32>>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.copy supports only plain ND copies without engine, transpose or NZ layout attributes}}
  tile.copy %b -> %p {src_layout = 1 : i64} : !tile.buf<[16], f32, shared>, tensor<16x!tt.ptr<f32>>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_engine(%p: tensor<16x!tt.ptr<f32>>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.copy supports only plain ND copies without engine, transpose or NZ layout attributes}}
  tile.copy %p -> %b {engine = 2 : i64} : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_dst_nz(%p: tensor<16x!tt.ptr<f32>>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.copy supports only plain ND copies without engine, transpose or NZ layout attributes}}
  tile.copy %p -> %b {dst_nz_layout = #tile.nz<16 x 16>} : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

tt.func @copy_without_buffer(%p: tensor<16x!tt.ptr<f32>>) {
  // expected-error @+1 {{unsupported operands for GPU tile.copy conversion}}
  tile.copy %p -> %p : tensor<16x!tt.ptr<f32>>, tensor<16x!tt.ptr<f32>>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @copy_to_values(%v: tensor<16xf32>) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{cannot determine tile.copy destination value type}}
  tile.copy %b -> %v : !tile.buf<[16], f32, shared>, tensor<16xf32>
  tt.return
}
