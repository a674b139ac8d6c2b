// RUN: jitk-opt --convert-common-ir-to-ttgir --split-input-file --verify-diagnostics %s
//
// Diagnostics of views. Most are the verifier's, which speaks first with the same words.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @stride() {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.subview requires unit strides}}
  %v = tile.subview %b[%c0] [[8]] [[2]] {tle.gpu_layout = #shared} : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @sizes() {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{tile.subview sizes must match its result shape}}
  %v = tile.subview %b[%c0] [[4]] [[1]] {tle.gpu_layout = #shared} : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @offset_bounds() {
  %c16 = arith.constant 16 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{tile.subview offset is outside the source buffer}}
  %v = tile.subview %b[%c16] [[8]] [[1]] {tle.gpu_layout = #shared} : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @offset_bounds_behind_cast() {
  %c16 = arith.constant 16 : i32
  %o = arith.index_cast %c16 : i32 to index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{tile.subview offset is outside the source buffer}}
  %v = tile.subview %b[%o] [[8]] [[1]] {tle.gpu_layout = #shared} : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @slot_bounds() {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[2, 16], f32, shared>
  // expected-error @+1 {{tile.subview offset is outside the source buffer}}
  %v = tile.subview %b[%c2, %c0] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @dynamic_same_rank(%i: index) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{same-rank tile.subview currently requires static offsets}}
  %v = tile.subview %b[%i] [[8]] [[1]] {tle.gpu_layout = #shared} : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @trailing_offset() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[2, 16], f32, shared>
  // expected-error @+1 {{rank-reducing tile.subview requires zero trailing offsets}}
  %v = tile.subview %b[%c0, %c1] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @offset_count() {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[2, 16], f32, shared>
  // expected-error @+1 {{GPU tile.subview requires source-rank offsets and result-rank sizes and strides}}
  %v = tile.subview %b[%c0] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @size_count() {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.subview requires source-rank offsets and result-rank sizes and strides}}
  %v = tile.subview %b[%c0] [[8, 1]] [[1]] {tle.gpu_layout = #shared} : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @stride_count() {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{GPU tile.subview requires source-rank offsets and result-rank sizes and strides}}
  %v = tile.subview %b[%c0] [[8]] [[1, 1]] {tle.gpu_layout = #shared} : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @negative_offset_behind_cast() {
  %c = arith.constant -1 : i32
  %o = arith.index_cast %c : i32 to index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{tile.subview offset is outside the source buffer: wanted 0 to 8, got -1}}
  %v = tile.subview %b[%o] [[8]] [[1]] {tle.gpu_layout = #shared} : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @trailing_shape() {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[2, 16], f32, shared>
  // expected-error @+1 {{rank-reducing tile.subview must preserve trailing shape}}
  %v = tile.subview %b[%c0, %c0] [[8]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @rank_change() {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[2, 2, 16], f32, shared>
  // expected-error @+1 {{unsupported tile.subview rank change}}
  %v = tile.subview %b[%c0, %c0, %c0] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @offset_type(%i: i64) {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[2, 16], f32, shared>
  // expected-error @+1 {{expected an index or i32 TileIR subview offset}}
  %v = tile.subview %b[%i, %c0 : i64, index] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// -----

// The second slot of a swizzled buffer begins with its rows permuted.
#rows = #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 2, order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @slot_layout(%i: index) {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #rows} : <[2, 16], f32, shared>
  // expected-error @+1 {{the layout of a slot must be that of the source without its first dimension}}
  %v = tile.subview %b[%i, %c0] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}
