// RUN: jitk-opt %s --jitk-allocate-shared-memory --convert-ttgir-to-llvm --split-input-file | FileCheck %s
// The interface of kernels and of device functions.

#blocked = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Parameters in order, then both scratch pointers. A tensor map is passed by value.
  // CHECK-LABEL: llvm.func @kernel(
  // CHECK-SAME: !llvm.ptr<1>, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
  // CHECK-SAME: i32, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>)
  // CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 128>
  tt.func public @kernel(%p: !tt.ptr<f16>, %d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %n: i32) {
    tt.return
  }

  // A tensor is its registers, here 512 elements over 128 threads; several results are a struct. The last parameter is the
  // address of the function's shared memory.
  // CHECK-LABEL: llvm.func internal @device(
  // CHECK-SAME: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i32)
  // CHECK-SAME: -> !llvm.struct<(f32, f32, f32, f32, i32)>
  tt.func private @device(%x: tensor<512xf32, #blocked>, %n: i32) -> (tensor<512xf32, #blocked>, i32) {
    tt.return %x, %n : tensor<512xf32, #blocked>, i32
  }

  // CHECK-LABEL: llvm.func @caller
  // CHECK: llvm.call @device({{.*}}) : (f32, f32, f32, f32, i32, !llvm.ptr<1>, !llvm.ptr<1>, i32) -> !llvm.struct<(f32, f32, f32, f32, i32)>
  tt.func public @caller(%v: f32, %n: i32) {
    %x = tt.splat %v : f32 -> tensor<512xf32, #blocked>
    %y:2 = tt.call @device(%x, %n) : (tensor<512xf32, #blocked>, i32) -> (tensor<512xf32, #blocked>, i32)
    tt.return
  }
}

// -----

// With a register limit and several CTAs.
module attributes {ttg.maxnreg = 128 : i32, "ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @cluster
  // CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
  // CHECK-SAME: nvvm.maxnreg = 128 : i32
  // CHECK-SAME: nvvm.reqntid = array<i32: 256>
  // CHECK: ptx.inst "sreg.clusterid.x"
  // CHECK: ptx.inst "sreg.ctaid.y"
  tt.func public @cluster(%p: !tt.ptr<i32>) {
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %s = arith.addi %x, %y : i32
    tt.store %p, %s : !tt.ptr<i32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // An assertion calls the device runtime, as CUDA's assert does; equal strings are one.
  // CHECK-DAG: llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)
  // CHECK-DAG: llvm.mlir.global internal constant @[[$MESSAGE:.*]]("positive\00") {addr_space = 1 : i32
  // CHECK-LABEL: llvm.func @assertions
  // CHECK: llvm.mlir.addressof @[[$MESSAGE]]
  // CHECK: llvm.call @__assertfail
  // CHECK: ptx.inst "trap"
  // CHECK: llvm.mlir.addressof @[[$MESSAGE]]
  tt.func public @assertions(%x: tensor<128xi1, #blocked>, %c: i1) {
    tt.assert %x, "positive" : tensor<128xi1, #blocked>
    tt.assert %c, "positive" : i1
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // A line an element, by the thread that owns it, through CUDA's printf; its arguments lie in memory of the thread.
  // CHECK-DAG: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
  // CHECK-DAG: llvm.mlir.global internal constant @[[$FORMAT:.*]]("pid (%u, %u, %u) idx (%u) 50%% of x: %f\0A\00") {addr_space = 1 : i32
  // CHECK-LABEL: llvm.func @prints
  // CHECK: %[[PACK:.*]] = llvm.alloca {{.*}} x !llvm.struct<(i32, i32, i32, i32, f64)>
  // CHECK: llvm.cond_br
  // CHECK: llvm.fpext {{.*}} : f16 to f64
  // CHECK-COUNT-5: llvm.getelementptr %[[PACK]]
  // CHECK: llvm.mlir.addressof @[[$FORMAT]]
  // CHECK: llvm.call @vprintf(%{{.*}}, %[[PACK]])
  tt.func public @prints(%x: tensor<16xf16, #blocked>) {
    tt.print " 50% of x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<16xf16, #blocked>
    tt.return
  }
}
