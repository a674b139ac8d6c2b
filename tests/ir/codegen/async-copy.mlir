// RUN: jitk-opt %s --split-input-file --verify-diagnostics --convert-ttgir-to-llvm | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @copy
  // CHECK-COUNT-4: ptx.inst "cp.async.cg.16"
  // CHECK-NOT: ptx.inst "cp.async.cg
  // CHECK: ptx.inst "cp.async.commit_group"
  // CHECK: ptx.inst "cp.async.wait_group"() {imms = array<i64: 2>}
  tt.func @copy(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %d: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) {
    %t = ttg.async_copy_global_to_local %p, %d {contiguity = 8 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    %u = ttg.async_commit_group tokens %t
    %v = ttg.async_wait %u {num = 2 : i32}
    tt.return
  }

  // Elements that the mask leaves out are copied from a source of no bytes, which fills with zero.
  // CHECK-LABEL: llvm.func @masked
  // CHECK-DAG: %[[NONE:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK-DAG: %[[ALL:.*]] = llvm.mlir.constant(8 : i32)
  // CHECK: %[[BYTES:.*]] = llvm.select %{{.*}}, %[[ALL]], %[[NONE]]
  // CHECK: ptx.inst "cp.async.ca.8"(%{{.*}}, %{{.*}}, %{{.*}}, %[[BYTES]])
  tt.func @masked(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %d: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %m: tensor<64x64xi1, #blocked>) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf16, #blocked>
    %t = ttg.async_copy_global_to_local %p, %d mask %m other %zero {contiguity = 4 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @narrow(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %d: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) {
    // expected-error @below {{needs at least 4 bytes that are contiguous in both memories: got 2}}
    %t = ttg.async_copy_global_to_local %p, %d : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @filled(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %d: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %m: tensor<64x64xi1, #blocked>) {
    %one = arith.constant dense<1.0> : tensor<64x64xf16, #blocked>
    // expected-error @below {{fills what its mask leaves out with zero alone: got another value}}
    %t = ttg.async_copy_global_to_local %p, %d mask %m other %one {contiguity = 8 : i32} : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}
