// The barriers of an iteration in real kernels.

// A matmul by tensor copies: one, before the slot that all warps have read is filled again. The prologue has one, after
// the memory barriers are initialised.
// RUN: %jitk-opt %S/../corpus/mm_desc.sm90.ttgir --jitk-guard-dot-loops --jitk-allocate-shared-memory --jitk-insert-barriers | FileCheck %s --check-prefix=TMA
// TMA-COUNT-3: ttng.init_barrier
// TMA: gpu.barrier
// TMA-NOT: gpu.barrier
// TMA: scf.for
// TMA-NOT: gpu.barrier
// TMA: ttng.warp_group_dot_wait {{.*}}pendings = 1
// TMA-NOT: gpu.barrier
// TMA: ttng.barrier_expect
// TMA: gpu.barrier
// TMA-NEXT: ttng.async_tma_copy_global_to_local
// TMA-NOT: gpu.barrier
// TMA: scf.yield

// By cp.async, with two slots: one after the wait, one before the slot just read is filled again.
// RUN: %jitk-opt %S/../corpus/mm_ptr.sm80.ttgir --jitk-allocate-shared-memory --jitk-insert-barriers | FileCheck %s --check-prefix=CPASYNC
// CPASYNC: scf.for
// CPASYNC: ttg.async_wait
// CPASYNC: gpu.barrier
// CPASYNC-NEXT: ttg.local_load
// CPASYNC-NOT: gpu.barrier
// CPASYNC: tt.dot
// CPASYNC: gpu.barrier
// CPASYNC-NEXT: ttg.async_copy_global_to_local
// CPASYNC-NOT: gpu.barrier
// CPASYNC: scf.yield

// Warp-specialized: the producer has none in its loop, a consumer one, before one thread arrives for all.
// RUN: %jitk-opt %S/../corpus/mm_pers_ws_nw4.sm90.ttgir --jitk-guard-dot-loops --jitk-allocate-warp-groups --jitk-allocate-shared-memory --jitk-insert-barriers | FileCheck %s --check-prefix=WS
// WS: default
// WS: scf.for
// WS-NOT: gpu.barrier
// WS: ttg.warp_yield
// WS: partition0
// WS: scf.for
// WS: scf.for
// WS-NOT: gpu.barrier
// WS: ttng.warp_group_dot
// WS: gpu.barrier
// WS: ttng.arrive_barrier
// WS-NOT: gpu.barrier
// WS: scf.yield
