// Rules of elementwise ops, products, reductions, descriptors and functions; the function's name is the op and the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

tt.func @make_range_order() {
  // expected-error @+1 {{start must be less than end: got 4 and 4}}
  %0 = tt.make_range {end = 4 : i32, start = 4 : i32} : tensor<4xi32>
  tt.return
}

// -----

tt.func @make_range_size() {
  // expected-error @+1 {{result must have one dimension of 4 elements: got 'tensor<8xi32>'}}
  %0 = tt.make_range {end = 8 : i32, start = 4 : i32} : tensor<8xi32>
  tt.return
}

// -----

tt.func @gather_axis(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{axis must be less than the source rank 1: got 1}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @bitcast_width(%x: f32) {
  // expected-error @+1 {{source and result must have the same width: got 32 and 16 bits}}
  %0 = tt.bitcast %x : f32 -> f16
  tt.return
}

// -----

tt.func @fp_to_fp_rounding(%x: f32) {
  // expected-error @+1 {{needs a rounding mode to convert to a narrower type: got 'f8E5M2'}}
  %0 = tt.fp_to_fp %x : f32 -> f8E5M2
  tt.return
}

// -----

tt.func @inline_asm_pack(%x: tensor<2xi8>) {
  // expected-error @+1 {{number of elements must be a multiple of packed_element 4: got 2}}
  %0 = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 4 : i32, pure = true} %x : tensor<2xi8> -> tensor<2xi8>
  tt.return
}

// -----

tt.func @dot_k(%a: tensor<16x32xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{K of a and b must agree: got 32 and 16}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_accumulator(%a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x32xf32>) {
  // expected-error @+1 {{accumulator must be M x N of the operands: got 'tensor<16x32xf32>'}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x32xf32>
  tt.return
}

// -----

tt.func @dot_widths(%a: tensor<16x32xf16>, %b: tensor<32x16xf32>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{element types of a and b must have the same width: got 'f16' and 'f32'}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x16xf32> -> tensor<16x16xf32>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
tt.func @dot_operand_index(%a: tensor<16x16xf16, #a>, %c: tensor<16x16xf32, #mma>) {
  // expected-error @+1 {{a must be operand 0 and b operand 1: got 0 and 0}}
  %0 = tt.dot %a, %a, %c : tensor<16x16xf16, #a> * tensor<16x16xf16, #a> -> tensor<16x16xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
tt.func @dot_operand_encoding(%a: tensor<16x16xf16, #mma>, %c: tensor<16x16xf32, #mma>) {
  // expected-error @+1 {{a and b must have dot_op encodings where the accumulator has an encoding}}
  %0 = tt.dot %a, %a, %c : tensor<16x16xf16, #mma> * tensor<16x16xf16, #mma> -> tensor<16x16xf32, #mma>
  tt.return
}

// -----

tt.func @reduce_axis(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis must be less than the rank 1: got 1}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @reduce_arguments(%x: tensor<8xf32>) {
  // expected-error @+1 {{combine region must take two elements of each operand}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @scan_result(%x: tensor<8xf32>, %i: i32) {
  // expected-error @+1 {{combine region must return one element of each operand}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %i : i32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @descriptor_rank(%p: !tt.ptr<f16>, %m: i32, %s: i64) {
  // expected-error @+1 {{needs as many sizes and strides as the block has dimensions: wanted 2}}
  %d = tt.make_tensor_descriptor %p, [%m], [%s] : <f16>, <tensor<8x64xf16>>
  tt.return
}

// -----

tt.func @descriptor_block(%d: !tt.tensordesc<tensor<8x64xf16>>, %i: i32) {
  // expected-error @+1 {{tensor must be a block of the descriptor 'tensor<8x64xf16>': got 'tensor<8x32xf16>'}}
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x64xf16>> -> tensor<8x32xf16>
  tt.return
}

// -----

tt.func @descriptor_indices(%d: !tt.tensordesc<tensor<8x64xf16>>, %i: i32) {
  // expected-error @+1 {{needs one index for each dimension of the block: wanted 2, got 1}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<8x64xf16>> -> tensor<8x64xf16>
  tt.return
}

// -----

tt.func @return_types(%x: i32) -> f32 {
  // expected-error @+1 {{operand types must be the result types of @return_types}}
  tt.return %x : i32
}

// -----

tt.func @call_callee(%x: i32) {
  // expected-error @+1 {{callee is not a function of the module: nothing}}
  tt.call @nothing(%x) : (i32) -> ()
  tt.return
}

// -----

tt.func private @callee(f32)
tt.func @call_types(%x: i32) {
  // expected-error @+1 {{operand and result types must be those of the callee}}
  tt.call @callee(%x) : (i32) -> ()
  tt.return
}

// -----

tt.func @unknown_modifier(%p: !tt.ptr<f16>) {
  // expected-error @+1 {{one of the following enum values for attribute 'cache' [none, ca, cg, wb, cs, wt, cv]}}
  %0 = tt.load %p cacheModifier = fast : !tt.ptr<f16>
  tt.return
}

// -----

tt.func @inline_asm_shapes(%x: tensor<16xi32>, %y: tensor<32xi32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %0 = tt.elementwise_inline_asm "add.s32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %x, %y : tensor<16xi32>, tensor<32xi32> -> tensor<16xi32>
  tt.return
}

// -----

tt.func @dot_rank(%a: tensor<2x16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{operands must all have two or all have three dimensions}}
  %0 = tt.dot %a, %b, %c : tensor<2x16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_batch(%a: tensor<2x16x16xf16>, %b: tensor<4x16x16xf16>, %c: tensor<2x16x16xf32>) {
  // expected-error @+1 {{batch sizes must agree}}
  %0 = tt.dot %a, %b, %c : tensor<2x16x16xf16> * tensor<4x16x16xf16> -> tensor<2x16x16xf32>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#other = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #other, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
tt.func @dot_parent(%a: tensor<16x16xf16, #a>, %b: tensor<16x16xf16, #b>, %c: tensor<16x16xf32, #mma>) {
  // expected-error @+1 {{the parent of a's and b's encodings must be the accumulator's encoding}}
  %0 = tt.dot %a, %b, %c : tensor<16x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<16x16xf32, #mma>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
tt.func @dot_k_width(%a: tensor<16x32xf16, #a>, %b: tensor<32x16xf16, #b>, %c: tensor<16x16xf32, #mma>) {
  // expected-error @+1 {{a and b must have the same kWidth: got 4 and 2}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16, #a> * tensor<32x16xf16, #b> -> tensor<16x16xf32, #mma>
  tt.return
}
