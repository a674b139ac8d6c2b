// Rules of tile ops, one violation a function; the name is the op and the rule. Where the conversion to TTGIR has a message for
// the violation, this is that message.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown memory space: tmem}}
tt.func private @buf_space(!tile.buf<[16], f32, tmem>)

// -----

// expected-error @+1 {{dimensions must be positive: got 0}}
tt.func private @buf_shape(!tile.buf<[0], f32, shared>)

// -----

tt.func @alloc_unknown_space() {
  // expected-error @+1 {{attribute 'space' failed to satisfy constraint}}
  %0 = tile.alloc {space = 10 : i64} : <[16], f32, shared>
  tt.return
}

// -----

tt.func @alloc_unknown_policy() {
  // expected-error @+1 {{attribute 'policy' failed to satisfy constraint}}
  %0 = tile.alloc {space = 7 : i64, policy = 2 : i64} : <[16], f32, shared>
  tt.return
}

// -----

tt.func @alloc_space() {
  // expected-error @+1 {{space must be that of the result: wanted shared, got local}}
  %0 = tile.alloc {space = 8 : i64} : <[16], f32, shared>
  tt.return
}

// -----

tt.func @alloc_shape() {
  // expected-error @+1 {{shape must be that of the result: got [8]}}
  %0 = tile.alloc {space = 7 : i64, shape = [8]} : <[16], f32, shared>
  tt.return
}

// -----

tt.func @alloc_dtype() {
  // expected-error @+1 {{dtype must be the element type of the result 'f32': got 'f16'}}
  %0 = tile.alloc {space = 7 : i64, dtype = f16} : <[16], f32, shared>
  tt.return
}

// -----

tt.func @subview_brackets(%b: !tile.buf<[16], f32, shared>, %i: index) {
  // expected-error @+1 {{integer literal not valid for specified type}}
  %0 = tile.subview %b[%i] [8] [1] : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

tt.func @subview_stride(%b: !tile.buf<[16], f32, shared>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{GPU tile.subview requires unit strides}}
  %0 = tile.subview %b[%c0] [[8]] [[2]] : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

tt.func @subview_sizes(%b: !tile.buf<[16], f32, shared>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{tile.subview sizes must match its result shape}}
  %0 = tile.subview %b[%c0] [[4]] [[1]] : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

tt.func @subview_offset_bounds(%b: !tile.buf<[16], f32, shared>) {
  %c16 = arith.constant 16 : index
  // expected-error @+1 {{tile.subview offset is outside the source buffer}}
  %0 = tile.subview %b[%c16] [[8]] [[1]] : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

tt.func @subview_slot_bounds(%b: !tile.buf<[2, 16], f32, shared>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{tile.subview offset is outside the source buffer}}
  %0 = tile.subview %b[%c2, %c0] [[16]] [[1]] : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

tt.func @subview_trailing_offset(%b: !tile.buf<[2, 16], f32, shared>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{rank-reducing tile.subview requires zero trailing offsets}}
  %0 = tile.subview %b[%c0, %c1] [[16]] [[1]] : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

tt.func @subview_trailing_shape(%b: !tile.buf<[2, 16], f32, shared>, %i: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{rank-reducing tile.subview must preserve trailing shape}}
  %0 = tile.subview %b[%i, %c0] [[8]] [[1]] : <[2, 16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

tt.func @subview_rank(%b: !tile.buf<[2, 2, 16], f32, shared>, %i: index) {
  // expected-error @+1 {{unsupported tile.subview rank change}}
  %0 = tile.subview %b[%i, %i, %i] [[16]] [[1]] : <[2, 2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

tt.func @subview_counts(%b: !tile.buf<[2, 16], f32, shared>, %i: index) {
  // expected-error @+1 {{GPU tile.subview requires source-rank offsets and result-rank sizes and strides}}
  %0 = tile.subview %b[%i] [[16]] [[1]] : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

tt.func @subview_offset_type(%b: !tile.buf<[16], f32, shared>, %i: i64) {
  // expected-error @+1 {{expected an index or i32 TileIR subview offset}}
  %0 = tile.subview %b[%i : i64] [[8]] [[1]] : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

tt.func @to_tensor_shape(%b: !tile.buf<[16], f32, shared>) {
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  %0 = tile.to_tensor %b : <[16], f32, shared> -> tensor<8xf32>
  tt.return
}

// -----

tt.func @store_tensor_element(%b: !tile.buf<[16], f32, shared>, %t: tensor<16xf16>) {
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  tile.store_tensor %t -> %b : tensor<16xf16>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

tt.func @set_flag_unknown_pipe() {
  // expected-error @+1 {{attribute 'producer' failed to satisfy constraint}}
  "tile.set_flag"() {producer = 7 : i64, consumer = 1 : i64, event = 0 : i64} : () -> ()
  tt.return
}

// -----

tt.func @set_flag_unknown_event() {
  // expected-error @+1 {{attribute 'event' failed to satisfy constraint}}
  "tile.set_flag"() {producer = 0 : i64, consumer = 1 : i64, event = 6 : i64} : () -> ()
  tt.return
}

// -----

tt.func @subview_element(%b: !tile.buf<[16], f32, shared>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{source and result must agree in element type and memory space}}
  %0 = tile.subview %b[%c0] [[8]] [[1]] : <[16], f32, shared> -> <[8], f16, shared>
  tt.return
}

// -----

tt.func @subview_space(%b: !tile.buf<[16], f32, shared>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{source and result must agree in element type and memory space}}
  %0 = tile.subview %b[%c0] [[8]] [[1]] : <[16], f32, shared> -> <[8], f32, local>
  tt.return
}

// -----

tt.func @copy_in_shape(%b: !tile.buf<[16], f32, shared>, %p: tensor<8x!tt.ptr<f32>>) {
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  tile.copy %p -> %b : tensor<8x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  tt.return
}

// -----

tt.func @copy_out_element(%b: !tile.buf<[16], f32, shared>, %p: tensor<16x!tt.ptr<f16>>) {
  // expected-error @+1 {{requires a full-buffer tensor with matching shape and element type}}
  tile.copy %b -> %p : !tile.buf<[16], f32, shared>, tensor<16x!tt.ptr<f16>>
  tt.return
}
