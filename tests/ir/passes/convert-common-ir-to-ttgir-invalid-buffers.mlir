// RUN: jitk-opt --convert-common-ir-to-ttgir --split-input-file --verify-diagnostics %s
//
// Diagnostics of allocations, of the types that buffers get, and of what is left.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @bridge_mismatch() {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{CommonIR buffer bridge descriptor type does not match the converted buffer}}
  %d = builtin.unrealized_conversion_cast %b : !tile.buf<[16], f32, shared> to !ttg.memdesc<8xf32, #shared, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @unsupported_storage() {
  // expected-error @+1 {{GPU TileIR conversion currently requires #tile.shared}}
  %b = tile.alloc {space = 8 : i64, tle.gpu_layout = #shared} : <[16], f32, local>
  tt.return
}

// -----

tt.func @missing_layout() {
  // expected-error @+1 {{is missing the preserved tle.gpu_layout attribute}}
  %b = tile.alloc {space = 7 : i64} : <[16], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @missing_view_layout() {
  %c0 = arith.constant 0 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  // expected-error @+1 {{is missing the preserved tle.gpu_layout attribute}}
  %v = tile.subview %b[%c0] [[8]] [[1]] : <[16], f32, shared> -> <[8], f32, shared>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @register_layout() {
  // expected-error @+1 {{requires a preserved TritonGPU shared-memory layout}}
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #blocked} : <[16], f32, shared>
  tt.return
}

// -----

tt.func @unsupported_set_flag() {
  // expected-error @+1 {{GPU CommonIR conversion does not support tile engine/event synchronization; use the existing GPU synchronization path}}
  "tile.set_flag"() {producer = 1 : i64, consumer = 6 : i64, event = 0 : i64} : () -> ()
  tt.return
}

// -----

tt.func @unsupported_wait_flag() {
  // expected-error @+1 {{GPU CommonIR conversion does not support tile engine/event synchronization; use the existing GPU synchronization path}}
  "tile.wait_flag"() {producer = 1 : i64, consumer = 6 : i64, event = 0 : i64} : () -> ()
  tt.return
}

// -----

tt.func @unsupported_pipe_barrier() {
  // expected-error @+1 {{GPU CommonIR conversion does not support tile engine/event synchronization; use the existing GPU synchronization path}}
  "tile.pipe_barrier"() {pipe = 1 : i64} : () -> ()
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @unreachable(%c: i1) {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %r = arith.select %c, %a, %b : !tile.buf<[16], f32, shared>
  // expected-error @+1 {{uses a TileIR buffer without a converted allocation}}
  %t = tile.to_tensor %r : <[16], f32, shared> -> tensor<16xf32>
  tt.return
}

// -----

#rows = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @unfit_layout() {
  // expected-error @+1 {{dimensions of a buffer but the first must be powers of two: got 4, 12}}
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #rows} : <[4, 12], f32, shared>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#other = #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @conflicting_bridges(%b: !tile.buf<[16], f32, shared>) {
  // expected-error @+1 {{conflicting descriptor types for the same TileIR buffer}}
  %d = builtin.unrealized_conversion_cast %b : !tile.buf<[16], f32, shared> to !ttg.memdesc<16xf32, #shared, #ttg.shared_memory, mutable>
  %e = builtin.unrealized_conversion_cast %b : !tile.buf<[16], f32, shared> to !ttg.memdesc<16xf32, #other, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#other = #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func private @callee(%b: !tile.buf<[16], f32, shared>) {
  tt.return
}
tt.func @conflicting_calls() {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #other} : <[16], f32, shared>
  tt.call @callee(%b) : (!tile.buf<[16], f32, shared>) -> ()
  // expected-error @+1 {{conflicting descriptor types for the same TileIR buffer}}
  tt.call @callee(%a) : (!tile.buf<[16], f32, shared>) -> ()
  tt.return
}

// -----

// expected-error @+1 {{uses a TileIR buffer without a converted allocation: no function may return a buffer}}
tt.func private @returned() -> !tile.buf<[16], f32, shared> {
  %b = tile.alloc {space = 7 : i64} : <[16], f32, shared>
  tt.return %b : !tile.buf<[16], f32, shared>
}
tt.func @caller() {
  %b = tt.call @returned() : () -> !tile.buf<[16], f32, shared>
  tt.return
}

// -----

// expected-error @+1 {{cannot infer a TritonGPU descriptor type for TileIR block argument: got a declaration}}
tt.func private @declared(!tile.buf<[16], f32, shared>)

// -----

// expected-error @+1 {{cannot infer a TritonGPU descriptor type for TileIR block argument: got a function argument that no cast and no call gives a layout}}
tt.func @untyped_argument(%b: !tile.buf<[16], f32, shared>) {
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @still_used() -> i64 {
  // expected-error @+1 {{still has users after GPU TileIR conversion}}
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %d = builtin.unrealized_conversion_cast %b : !tile.buf<[16], f32, shared> to i64
  tt.return %d : i64
}

// -----

tt.func @residue(%p: !tt.ptr<f32>, %i: index) {
  // expected-error @+1 {{was not eliminated by GPU TileIR conversion}}
  %q = "tile.gm_offset"(%p, %i, %i) {operandSegmentSizes = array<i32: 1, 1, 1>} : (!tt.ptr<f32>, index, index) -> !tt.ptr<f32>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @bridge_left(%d: !ttg.memdesc<16xf32, #shared, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{CommonIR buffer bridge was not eliminated}}
  %b = builtin.unrealized_conversion_cast %d : !ttg.memdesc<16xf32, #shared, #ttg.shared_memory, mutable> to !tile.buf<[16], f32, shared>
  tt.return
}
