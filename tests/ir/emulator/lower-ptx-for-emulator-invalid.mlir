// RUN: %jitk-opt %s --lower-ptx-for-emulator --split-input-file --verify-diagnostics

llvm.func @unchecked_load(%p: !llvm.ptr<1>) -> i32 {
  // expected-error @below {{the emulator wants device memory accessed by ptx.inst: got address space 1}}
  %v = llvm.load %p : !llvm.ptr<1> -> i32
  llvm.return %v : i32
}

// -----

llvm.func @unchecked_store(%p: !llvm.ptr<3>, %v: i32) {
  // expected-error @below {{the emulator wants device memory accessed by ptx.inst: got address space 3}}
  llvm.store %v, %p : i32, !llvm.ptr<3>
  llvm.return
}

// -----

llvm.func @indirect(%f: !llvm.ptr) {
  // expected-error @below {{the emulator does not run indirect calls}}
  llvm.call %f() : !llvm.ptr, () -> ()
  llvm.return
}
