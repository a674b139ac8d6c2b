// Kernels of the engine's own on the device of the suite: CommonIR and TTGIR everywhere, CUDA C++ on a GPU.

#include "src/tools/checked/CheckedRun.h"
#include "tests/conformance/Session.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <doctest/doctest.h>
#include <vector>

using namespace jitk;
using jitk::conformance::lane;
using jitk::conformance::Session;

namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

constexpr int64_t kElements = 1000; // no multiple of a block

/// y = a x + y by blocks of 256, through a buffer in shared memory.
constexpr const char *kAxpyCommonIr = R"(
tt.func public @axpy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %a: f32, %n: i32) {
  %pid = tt.get_program_id x : i32
  %c256 = arith.constant 256 : i32
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %base = arith.muli %pid, %c256 : i32
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %bases = tt.splat %base : i32 -> tensor<256xi32>
  %i = arith.addi %bases, %range : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %yp = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %xv = tt.load %xp, %mask, %zero : tensor<256x!tt.ptr<f32>>
  %buffer = tile.alloc {space = 7 : i64} : <[256], f32, shared>
  tile.store_tensor %xv -> %buffer : tensor<256xf32>, !tile.buf<[256], f32, shared>
  %xt = tile.to_tensor %buffer : <[256], f32, shared> -> tensor<256xf32>
  %yv = tt.load %yp, %mask, %zero : tensor<256x!tt.ptr<f32>>
  %as = tt.splat %a : f32 -> tensor<256xf32>
  %ax = arith.mulf %as, %xt : tensor<256xf32>
  %sum = arith.addf %ax, %yv : tensor<256xf32>
  tt.store %yp, %sum, %mask : tensor<256x!tt.ptr<f32>>
  tt.return
}
)";

/// The same in TTGIR, with two warps.
constexpr const char *kAxpyTtgir = R"(
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32,
                   ttg.target = "cuda:80"} {
  tt.func public @axpy(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                       %a: f32, %n: i32) {
    %pid = tt.get_program_id x : i32
    %c256 = arith.constant 256 : i32
    %base = arith.muli %pid, %c256 : i32
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #b>
    %bases = tt.splat %base : i32 -> tensor<256xi32, #b>
    %i = arith.addi %bases, %range : tensor<256xi32, #b>
    %ns = tt.splat %n : i32 -> tensor<256xi32, #b>
    %mask = arith.cmpi slt, %i, %ns : tensor<256xi32, #b>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #b>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #b>
    %xp = tt.addptr %xs, %i : tensor<256x!tt.ptr<f32>, #b>, tensor<256xi32, #b>
    %yp = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>, #b>, tensor<256xi32, #b>
    %xv = tt.load %xp, %mask : tensor<256x!tt.ptr<f32>, #b>
    %yv = tt.load %yp, %mask : tensor<256x!tt.ptr<f32>, #b>
    %as = tt.splat %a : f32 -> tensor<256xf32, #b>
    %ax = arith.mulf %as, %xv : tensor<256xf32, #b>
    %sum = arith.addf %ax, %yv : tensor<256xf32, #b>
    tt.store %yp, %sum, %mask : tensor<256x!tt.ptr<f32>, #b>
    tt.return
  }
}
)";

/// Stores the first word of its workspace.
constexpr const char *kLeakCommonIr = R"(
tt.func public @leak(%y: !tt.ptr<i32>, %w: !tt.ptr<i32>) {
  %value = tt.load %w : !tt.ptr<i32>
  tt.store %y, %value : !tt.ptr<i32>
  tt.return
}
)";

/// A template over the block, with a header, blocks of two dimensions, dynamic shared memory and a workspace.
constexpr const char *kAxpyCuda = R"(
#include "axpy.cuh"
template <int kBlock> __global__ void axpy(const float *x, float *y, float a, int n, float *products) {
  extern __shared__ float shared[];
  int thread = threadIdx.y * blockDim.x + threadIdx.x, i = blockIdx.x * kBlock + thread;
  shared[thread] = i < n ? multiply(a, x[i]) : 0;
  __syncthreads();
  if (i < n) {
    products[i] = shared[thread];
    y[i] += products[i] * JITK_one;
  }
}
)";

/// y[i] and rows[i]: the greatest number of each column of matrix i of x, and the row that has it first. Slots of 32
/// KiB leave 3 KiB of the shared memory of sm_80 and of sm_90, as many as fit; the reduction over rows, whose warps
/// exchange numbers and rows, takes 4 KiB.
constexpr const char *kGreatestCommonIr = R"(
tt.func public @greatest(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %rows: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %c8192 = arith.constant 8192 : i32
  %width = arith.constant dense<128> : tensor<64x1xi32>
  %row = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %column = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r2 = arith.muli %r1, %width : tensor<64x1xi32>
  %r3 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x128xi32>
  %numbers = tt.broadcast %r1 : tensor<64x1xi32> -> tensor<64x128xi32>
  %k1 = tt.expand_dims %column {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %k2 = tt.broadcast %k1 : tensor<1x128xi32> -> tensor<64x128xi32>
  %o = arith.addi %r3, %k2 : tensor<64x128xi32>
  %b = tile.alloc {space = 7 : i64} : <[64, 128], f32, shared>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %first = arith.muli %i, %c8192 : i32
    %firsts = tt.splat %first : i32 -> tensor<64x128xi32>
    %at = arith.addi %o, %firsts : tensor<64x128xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>>
    %xp = tt.addptr %xs, %at : tensor<64x128x!tt.ptr<f32>>, tensor<64x128xi32>
    tile.copy %xp -> %b : tensor<64x128x!tt.ptr<f32>>, !tile.buf<[64, 128], f32, shared>
    %t = tile.to_tensor %b : <[64, 128], f32, shared> -> tensor<64x128xf32>
    %most:2 = "tt.reduce"(%t, %numbers) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %li: i32, %r: f32, %ri: i32):
      %isLeft = arith.cmpf oge, %l, %r : f32
      %v = arith.select %isLeft, %l, %r : f32
      %vi = arith.select %isLeft, %li, %ri : i32
      tt.reduce.return %v, %vi : f32, i32
    }) : (tensor<64x128xf32>, tensor<64x128xi32>) -> (tensor<128xf32>, tensor<128xi32>)
    %out = arith.muli %i, %c128 : i32
    %outs = tt.splat %out : i32 -> tensor<128xi32>
    %to = arith.addi %column, %outs : tensor<128xi32>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
    %yp = tt.addptr %ys, %to : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    tt.store %yp, %most#0 : tensor<128x!tt.ptr<f32>>
    %rs = tt.splat %rows : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %rp = tt.addptr %rs, %to : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    tt.store %rp, %most#1 : tensor<128x!tt.ptr<i32>>
  } {tt.num_stages = 7 : i32}
  tt.return
}
)";

/// Each matrix of x, 1024 numbers, becomes the one before it plus one.
constexpr const char *kChainCommonIr = R"(
tt.func public @chain(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1024 = arith.constant 1024 : i32
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %b = tile.alloc {space = 7 : i64} : <[1024], f32, shared>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %o = arith.muli %i, %c1024 : i32
    %os = tt.splat %o : i32 -> tensor<1024xi32>
    %at = arith.addi %os, %r : tensor<1024xi32>
    %p = tt.addptr %xs, %at : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tile.copy %p -> %b : tensor<1024x!tt.ptr<f32>>, !tile.buf<[1024], f32, shared>
    %t = tile.to_tensor %b : <[1024], f32, shared> -> tensor<1024xf32>
    %u = arith.addf %t, %one : tensor<1024xf32>
    %next = arith.addi %o, %c1024 : i32
    %ns = tt.splat %next : i32 -> tensor<1024xi32>
    %to = arith.addi %ns, %r : tensor<1024xi32>
    %q = tt.addptr %xs, %to : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.store %q, %u : tensor<1024x!tt.ptr<f32>>
  } {tt.num_stages = 3 : i32}
  tt.return
}
)";

Attributes withSource(const char *language, const char *source) {
  return {{"language", language},  {"source", source},
          {"entry", "axpy"},       {"arguments", "x: read fp32[n], y: updated fp32[n], a: fp32, n: int32"},
          {"grid", "ceil(n/256)"}, {"n", "*"}};
}

Attributes cudaAxpy() {
  return {{"language", "cuda"},
          {"source", kAxpyCuda},
          {"headers", "#header axpy.cuh\n__device__ float multiply(float a, float b) { return a * b; }\n"},
          {"entry", "axpy<256>"},
          {"arguments", "x: read fp32[n], y: updated fp32[n], a: fp32, n: int32, products: workspace"},
          {"grid", "ceil(n/256)"},
          {"block", "32, 8"},
          {"shared", "4*256"},
          {"workspace", "4*n"},
          {"one", "1"},
          {"n", "*<=100000"}};
}

/// Runs axpy through plan, prepare, seal and launch, and compares with what was worked out here.
void checkAxpy(const Attributes &attributes) {
  const api::Device &device = Session::get().device;
  api::Description description = api::Description::create("user_kernel", attributes);
  api::Plan plan = api::Plan::create(Session::get().runtime);
  plan.add(description);
  jitk_prepare_options_t options = {};
  options.device = device.get();
  plan.prepare(options);
  plan.wait();
  plan.seal();
  api::Kernel kernel = plan.kernel(device, description);
  CHECK(kernel.tensors() == std::vector<std::string>{"x", "y"});
  CHECK(kernel.scalars() == std::vector<std::string>{"a"});
  CHECK(kernel.dimensions() == std::vector<std::string>{"n"});

  std::vector<float> x, y, wanted;
  for (int64_t i = 0; i < kElements; ++i) {
    x.push_back(float(i));
    y.push_back(float(i % 7));
    wanted.push_back(2 * x.back() + y.back()); // exact
  }
  y.push_back(-1); // past the end, which the mask is to spare
  wanted.push_back(-1);
  api::Buffer onDeviceX(device, x.size() * sizeof(float)), onDeviceY(device, y.size() * sizeof(float));
  api::Buffer workspace(device, kernel.workspaceBytes({kElements}) + 256);
  device.copyToDevice(onDeviceX.address(), x.data(), onDeviceX.size());
  device.copyToDevice(onDeviceY.address(), y.data(), onDeviceY.size());
  kernel.launch({onDeviceX.address(), onDeviceY.address()}, {kElements}, {2.0f}, workspace.address(), workspace.size());
  device.synchronize();
  device.copyToHost(y.data(), onDeviceY.address(), onDeviceY.size());
  CHECK(y == wanted);
}

/// c = a b^T, 128 x 256, over 256 columns: a's rows from `end` on are zeros, b's are `s` elements apart.
constexpr const char *kMaskedProductCommonIr = R"(
module attributes {"ttg.num-warps" = 8 : i32} {
tt.func public @product(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32},
                        %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32},
                        %c: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                        %end: i32, %s: i32 {tt.divisibility = 8 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %k = arith.constant 256 : i32
  %stride = arith.constant dense<256> : tensor<128x1xi32>
  %strideb = tt.splat %s : i32 -> tensor<256x1xi32>
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %za = arith.constant dense<0.0> : tensor<128x64xbf16>
  %row = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %rowb = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %col = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ms = tt.splat %end : i32 -> tensor<128xi32>
  %seen = arith.cmpi slt, %row, %ms : tensor<128xi32>
  %seen1 = tt.expand_dims %seen {axis = 1 : i32} : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tt.broadcast %seen1 : tensor<128x1xi1> -> tensor<128x64xi1>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %r2 = arith.muli %r1, %stride : tensor<128x1xi32>
  %r3 = tt.broadcast %r2 : tensor<128x1xi32> -> tensor<128x64xi32>
  %rb1 = tt.expand_dims %rowb {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %rb2 = arith.muli %rb1, %strideb : tensor<256x1xi32>
  %rb3 = tt.broadcast %rb2 : tensor<256x1xi32> -> tensor<256x64xi32>
  %as = tt.splat %a : !tt.ptr<bf16> -> tensor<128x64x!tt.ptr<bf16>>
  %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<256x64x!tt.ptr<bf16>>
  %ba = tile.alloc {space = 7 : i64} : <[128, 64], bf16, shared>
  %bb = tile.alloc {space = 7 : i64} : <[256, 64], bf16, shared>
  %sum = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %is = tt.splat %i : i32 -> tensor<64xi32>
    %cols = arith.addi %is, %col : tensor<64xi32>
    %cr = tt.expand_dims %cols {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %ca = tt.broadcast %cr : tensor<1x64xi32> -> tensor<128x64xi32>
    %cb = tt.broadcast %cr : tensor<1x64xi32> -> tensor<256x64xi32>
    %oa = arith.addi %r3, %ca : tensor<128x64xi32>
    %ob = arith.addi %rb3, %cb : tensor<256x64xi32>
    %pa = tt.addptr %as, %oa : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi32>
    %pb = tt.addptr %bs, %ob : tensor<256x64x!tt.ptr<bf16>>, tensor<256x64xi32>
    %va = tt.load %pa, %mask, %za : tensor<128x64x!tt.ptr<bf16>>
    tile.store_tensor %va -> %ba : tensor<128x64xbf16>, !tile.buf<[128, 64], bf16, shared>
    tile.copy %pb -> %bb : tensor<256x64x!tt.ptr<bf16>>, !tile.buf<[256, 64], bf16, shared>
    %ta = tile.to_tensor %ba : <[128, 64], bf16, shared> -> tensor<128x64xbf16>
    %tb = tile.to_tensor %bb : <[256, 64], bf16, shared> -> tensor<256x64xbf16>
    %tbt = tt.trans %tb {order = array<i32: 1, 0>} : tensor<256x64xbf16> -> tensor<64x256xbf16>
    %d = tt.dot %ta, %tbt, %acc : tensor<128x64xbf16> * tensor<64x256xbf16> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tt.num_stages = 3 : i32}
  %cr1 = tt.expand_dims %rowb {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %cr2 = tt.broadcast %cr1 : tensor<1x256xi32> -> tensor<128x256xi32>
  %w = arith.constant dense<256> : tensor<128x1xi32>
  %o1 = arith.muli %r1, %w : tensor<128x1xi32>
  %o2 = tt.broadcast %o1 : tensor<128x1xi32> -> tensor<128x256xi32>
  %o = arith.addi %o2, %cr2 : tensor<128x256xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %o : tensor<128x256x!tt.ptr<f32>>, tensor<128x256xi32>
  tt.store %cp, %sum : tensor<128x256x!tt.ptr<f32>>
  tt.return
}
}
)";

/// The same of rows of a that begin at row `f`, a parameter of 32 or of 64 bits; addresses are of 64 bits.
std::string movedProductCommonIr(bool isWide) {
  std::string source = kMaskedProductCommonIr;
  auto replace = [&](std::string_view old, std::string_view by) { source.replace(source.find(old), old.size(), by); };
  replace("%end: i32,", isWide ? "%f: i64, %end: i32," : "%f32: i32, %end: i32,");
  if (!isWide) {
    replace("%c0 =", "%f = arith.extsi %f32 : i32 to i64\n  %c0 =");
  }
  replace("%ms = tt.splat %end : i32 -> tensor<128xi32>", R"(%end64 = arith.extsi %end : i32 to i64
  %ms = tt.splat %end64 : i64 -> tensor<128xi64>
  %fs = tt.splat %f : i64 -> tensor<128xi64>
  %row64 = arith.extsi %row : tensor<128xi32> to tensor<128xi64>
  %moved = arith.addi %fs, %row64 : tensor<128xi64>)");
  replace("slt, %row, %ms : tensor<128xi32>", "slt, %moved, %ms : tensor<128xi64>");
  replace("%as = tt.splat %a : !tt.ptr<bf16> -> tensor<128x64x!tt.ptr<bf16>>",
          R"(%a0 = tt.splat %a : !tt.ptr<bf16> -> tensor<128x64x!tt.ptr<bf16>>
  %strides = arith.constant dense<256> : tensor<128x64xi64>
  %f0 = tt.splat %f : i64 -> tensor<128x64xi64>
  %f1 = arith.muli %f0, %strides : tensor<128x64xi64>
  %as = tt.addptr %a0, %f1 : tensor<128x64x!tt.ptr<bf16>>, tensor<128x64xi64>)");
  return source;
}

/// The same, of which a's elements are found from the row below them, to the left of its first column.
std::string leftwardProductCommonIr() {
  std::string source = kMaskedProductCommonIr;
  auto replace = [&](std::string_view old, std::string_view by) { source.replace(source.find(old), old.size(), by); };
  replace("%seen = arith.cmpi slt, %row,", R"(%one = arith.constant dense<1> : tensor<128xi32>
  %below = arith.addi %row, %one : tensor<128xi32>
  %seen = arith.cmpi slt, %below,)");
  replace("%r2 = arith.muli %r1,",
          R"(%below1 = tt.expand_dims %below {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %r2 = arith.muli %below1,)");
  replace("%ca = tt.broadcast %cr :", R"(%width = arith.constant dense<-256> : tensor<1x64xi32>
    %left = arith.addi %cr, %width : tensor<1x64xi32>
    %ca = tt.broadcast %left :)");
  return source;
}

/// Checks the product where its launch makes `end` and `s` of m and s.
void checkMaskedProduct(const Attributes &attributes, int64_t m, int64_t s, int64_t end, int64_t stride) {
  constexpr int64_t kM = 128, kN = 256, kK = 256;
  const Session &session = Session::get();
  const api::Device &device = session.device;
  api::Kernel kernel =
      api::Kernel::obtain(session.runtime, device, api::Description::create("user_kernel", attributes));
  auto bf16 = [](float value) { return uint16_t(std::bit_cast<uint32_t>(value) >> 16); };
  std::vector<float> a(kM * kK), b(kN * kK), c(kM * kN), wanted(kM * kN, 0.0f);
  std::vector<uint16_t> aBits, bBits;
  for (size_t i = 0; i < a.size(); ++i) {
    aBits.push_back(bf16(a[i] = float(int(i * 7 % 11) - 5)));
  }
  for (size_t i = 0; i < b.size(); ++i) {
    bBits.push_back(bf16(b[i] = float(int(i * 5 % 13) - 6)));
  }
  for (int64_t row = 0; row < std::min(end, kM); ++row) {
    for (int64_t column = 0; column < kN; ++column) {
      float sum = 0; // exact
      for (int64_t k = 0; k < kK; ++k) {
        sum += a[size_t(row * kK + k)] * b[size_t(column * stride + k)];
      }
      wanted[size_t(row * kN + column)] = sum;
    }
  }
  api::Buffer onDeviceA(device, aBits.size() * 2), onDeviceB(device, bBits.size() * 2), onDeviceC(device, c.size() * 4);
  device.copyToDevice(onDeviceA.address(), aBits.data(), onDeviceA.size());
  device.copyToDevice(onDeviceB.address(), bBits.data(), onDeviceB.size());
  device.fill(onDeviceC.address(), 0xFF, onDeviceC.size());
  std::vector<int64_t> sizes;
  for (const std::string &name : kernel.dimensions()) {
    sizes.push_back(name == "m" ? m : s);
  }
  kernel.launch({onDeviceA.address(), onDeviceB.address(), onDeviceC.address()}, sizes, {}, 0, 0);
  device.synchronize();
  device.copyToHost(c.data(), onDeviceC.address(), onDeviceC.size());
  CHECK(c == wanted);
}

/// Stores each of its scalars.
constexpr const char *kScalarsCommonIr = R"(
tt.func public @scalars(%pa: !tt.ptr<f32>, %pb: !tt.ptr<f64>, %pc: !tt.ptr<f16>, %pd: !tt.ptr<bf16>,
                        %pe: !tt.ptr<i32>, %pf: !tt.ptr<i64>, %pg: !tt.ptr<i32>, %ph: !tt.ptr<i64>,
                        %a: f32, %b: f64, %c: f16, %d: bf16, %e: i32, %f: i64, %g: i32, %h: i64) {
  tt.store %pa, %a : !tt.ptr<f32>
  tt.store %pb, %b : !tt.ptr<f64>
  tt.store %pc, %c : !tt.ptr<f16>
  tt.store %pd, %d : !tt.ptr<bf16>
  tt.store %pe, %e : !tt.ptr<i32>
  tt.store %pf, %f : !tt.ptr<i64>
  tt.store %pg, %g : !tt.ptr<i32>
  tt.store %ph, %h : !tt.ptr<i64>
  tt.return
}
)";

/// The same; of the types that need a header, the bits.
constexpr const char *kScalarsCuda = R"(
extern "C" __global__ void scalars(float *pa, double *pb, unsigned short *pc, unsigned short *pd, int *pe, long long *pf,
                                   unsigned *pg, unsigned long long *ph, float a, double b, unsigned short c,
                                   unsigned short d, int e, long long f, unsigned g, unsigned long long h) {
  *pa = a; *pb = b; *pc = c; *pd = d; *pe = e; *pf = f; *pg = g; *ph = h;
}
)";

Attributes withScalars(const char *language, const char *source) {
  Attributes attributes = {{"language", language},
                           {"source", source},
                           {"entry", "scalars"},
                           {"arguments",
                            "pa: written fp32[1], pb: written fp64[1], pc: written fp16[1], pd: written bf16[1], "
                            "pe: written int32[1], pf: written int64[1], pg: written int32[1], ph: written int64[1], "
                            "a: fp32, b: fp64, c: fp16, d: bf16, e: scalar int32, f: scalar int64, g: scalar uint32, "
                            "h: scalar uint64"},
                           {"grid", "1"}};
  if (std::string_view(language) == "cuda") {
    attributes.emplace_back("block", "1");
  }
  return attributes;
}

/// The kernel stores the bits that its scalars have in their types.
void checkScalars(const Attributes &attributes) {
  const api::Device &device = Session::get().device;
  api::Kernel kernel =
      api::Kernel::obtain(Session::get().runtime, device, api::Description::create("user_kernel", attributes));
  CHECK(kernel.scalars() == std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "h"});
  CHECK(kernel.scalarTypes() ==
        std::vector<std::string>{"fp32", "fp64", "fp16", "bf16", "int32", "int64", "uint32", "uint64"});
  const std::vector<size_t> bytes = {4, 8, 2, 2, 4, 8, 4, 8};
  std::vector<api::Buffer> buffers;
  std::vector<uint64_t> addresses;
  for (size_t size : bytes) {
    buffers.emplace_back(device, size);
    addresses.push_back(buffers.back().address());
  }
  kernel.launch(addresses, {}, {0.1f, 0.1, 0.333251953125, -3.140625, -7, INT64_MIN + 5, 0xFFFFFFFFu, UINT64_MAX - 2});
  device.synchronize();
  std::vector<uint64_t> stored;
  for (const api::Buffer &buffer : buffers) {
    uint64_t &bits = stored.emplace_back(0);
    device.copyToHost(&bits, buffer.address(), buffer.size());
  }
  CHECK(stored == std::vector<uint64_t>{0x3DCCCCCD, 0x3FB999999999999A, 0x3555, 0xC049, 0xFFFFFFF9, 0x8000000000000005,
                                        0xFFFFFFFF, 0xFFFFFFFFFFFFFFFD});
  CHECK_THROWS_WITH(kernel.launch(addresses, {}, {1.0f, 1.0, 1.0, 1.0, 1.5, 0, 0, 0}),
                    "scalar e must be an integer, since it is of type int32: got the float 1.5");
  CHECK_THROWS_WITH(kernel.launch(addresses, {}, {1.0f, 1.0, 1.0, 1.0, 1, 0, -1, 0}),
                    "scalar g must be in the range of uint32: got -1");
}

jitk_status_t statusOf(const Attributes &attributes, std::string &message) {
  try {
    api::Kernel::obtain(Session::get().runtime, Session::get().device,
                        api::Description::create("user_kernel", attributes));
  } catch (const api::Exception &failure) {
    message = failure.what() + ("\n" + failure.toolOutput());
    return failure.status();
  }
  return JITK_STATUS_OK;
}

/// The attributes with one of them changed.
Attributes changed(Attributes attributes, const std::string &name, const std::string &value) {
  for (auto &[attribute, text] : attributes) {
    text = attribute == name ? value : text;
  }
  return attributes;
}

/// Writes n elements of y from element `first` on, and `surplus` more.
std::string fillFrom(int first, int surplus) {
  return R"(
tt.func public @fill(%y: !tt.ptr<f32>, %n: i32) {
  %pid = tt.get_program_id x : i32
  %c256 = arith.constant 256 : i32
  %first = arith.constant )" +
         std::to_string(first) + R"( : i32
  %surplus = arith.constant )" +
         std::to_string(surplus) + R"( : i32
  %ones = arith.constant dense<1.0> : tensor<256xf32>
  %base = arith.muli %pid, %c256 : i32
  %start = arith.addi %base, %first : i32
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %starts = tt.splat %start : i32 -> tensor<256xi32>
  %i = arith.addi %starts, %range : tensor<256xi32>
  %end = arith.addi %n, %surplus : i32
  %ends = tt.splat %end : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %ends : tensor<256xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %yp, %ones, %mask : tensor<256x!tt.ptr<f32>>
  tt.return
}
)";
}

/// Writes y from the n elements of x from element `first` on.
std::string copyFrom(int first) {
  return R"(
tt.func public @fill(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %pid = tt.get_program_id x : i32
  %c256 = arith.constant 256 : i32
  %first = arith.constant dense<)" +
         std::to_string(first) + R"(> : tensor<256xi32>
  %base = arith.muli %pid, %c256 : i32
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %bases = tt.splat %base : i32 -> tensor<256xi32>
  %i = arith.addi %bases, %range : tensor<256xi32>
  %from = arith.addi %i, %first : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<256xi32>
  %zero = arith.constant dense<0.0> : tensor<256xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %from : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %yp = tt.addptr %ys, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %read = tt.load %xp, %mask, %zero : tensor<256x!tt.ptr<f32>>
  tt.store %yp, %read, %mask : tensor<256x!tt.ptr<f32>>
  tt.return
}
)";
}

/// What a checked run says of such a kernel.
std::vector<std::string> damageOf(const std::string &source) {
  std::string reads = source.find("%x: ") == std::string::npos ? "" : "x: read fp32[n], ";
  std::string text = api::Description::create("user_kernel", {{"language", "commonir"},
                                                              {"source", source},
                                                              {"entry", "fill"},
                                                              {"arguments", reads + "y: written fp32[n], n: int32"},
                                                              {"grid", "ceil(n/256)"},
                                                              {"n", "*"}})
                         .text();
  return checked::run(Session::get().runtime, Session::get().device, {text, {{"n", kElements}}}, /*check=*/false)
      .damage;
}

} // namespace

TEST_SUITE("conformance/UserKernel") {
  TEST_CASE("a kernel that leaves its tensor is found") {
    CHECK(damageOf(fillFrom(0, 0)).empty());
    CHECK(damageOf(copyFrom(0)).empty());
    if (lane.isEmulator()) {
      auto checkFault = [](const std::string &source, const char *found, const char *place, const char *tensor) {
        CAPTURE(source);
        for (const char *part : {found, place, tensor}) {
          CHECK_THROWS_WITH_AS(damageOf(source), doctest::Contains(part), api::Exception);
        }
      };
      checkFault(fillFrom(0, 1), "out of bounds in st.global.b32 at source:18:3 by cta (3, 0, 0) warp 3 lane 8",
                 "4 bytes outside every allocation, from byte 4000 of the 4000 at 0x", "; y lies at 0x");
      checkFault(fillFrom(-2, 0), "out of bounds in st.global.b32 at source:18:3 by cta (0, 0, 0)",
                 "4 bytes outside every allocation, from byte -4 of the 4000 at 0x", "; y lies at 0x");
      checkFault(copyFrom(1), "out of bounds in ld.global.b32.else at source:18:11 by cta (3, 0, 0) warp 3 lane 7",
                 "4 bytes outside every allocation, from byte 4000 of the 4000 at 0x", "; x lies at 0x");
      return;
    }
    CHECK(damageOf(fillFrom(0, 1)) == std::vector<std::string>{"the guard band after y was overwritten, byte 0"});
    CHECK(damageOf(fillFrom(-2, 0)) == std::vector<std::string>{"the guard band before y was overwritten, byte 8"});
  }

  TEST_CASE("a kernel whose result depends on what the workspace held is found") {
    std::string text = api::Description::create("user_kernel", {{"language", "commonir"},
                                                                {"source", kLeakCommonIr},
                                                                {"entry", "leak"},
                                                                {"arguments", "y: written int32[1], w: workspace"},
                                                                {"grid", "1"},
                                                                {"workspace", "256"}})
                           .text();
    const Session &session = Session::get();
    CHECK(checked::differenceBetweenLaunches(session.runtime, session.device, {text}, /*launches=*/4) == "");
    CHECK(checked::differenceBetweenLaunches(session.runtime, session.device, {text}, /*launches=*/5) ==
          "launch 4 left another y than launch 0, from byte 0 on");
    checked::Outcome once = checked::run(session.runtime, session.device, {text}, /*check=*/false);
    CHECK(once.tensors.at(0) == std::vector<uint8_t>(4, 0xFF)); // NaN, of which no result is right
  }

  TEST_CASE("a kernel in CommonIR") { checkAxpy(withSource("commonir", kAxpyCommonIr)); }
  TEST_CASE("a product in CommonIR gets the copies that the op's own does") {
    const Session &session = Session::get();
    std::string target = session.device.target();
    bool hasTma = target.ends_with("sm_90a");
    const char *text = "matmul m=*%128 n=*%256 k=*%64 b_layout=col";
    DynamicSizes sizes = {{"m", 384}, {"n", 512}, {"k", 320}};
    checked::Outcome own = checked::run(session.runtime, session.device, {text, sizes});
    REQUIRE(own.passed());

    api::Artifact built = api::Artifact::compile(session.runtime, api::Description::parse(text), target);
    api::Description product = api::Description::create(
        "user_kernel",
        {{"language", "commonir"},
         {"source", std::string(built.dump(JITK_DUMP_COMMON_IR))},
         {"entry", "matmul"},
         {"arguments", "a: read bf16[m, k], b: read bf16[n, k], c: written bf16[m, n], m: int32, n: int32, "
                       "k: int32"},
         {"grid", hasTma ? "min(ceil(m/128)*ceil(n/256), multiprocessors)" : "ceil(m/128)*ceil(n/128)"},
         {"m", "*%128"},
         {"n", "*%256"},
         {"k", "*%64"}});
    api::Artifact compiled = api::Artifact::compile(session.runtime, product, target);
    for (const char *copy : {"async_tma_copy_global_to_local", "async_tma_copy_local_to_global"}) {
      CHECK((compiled.dump(JITK_DUMP_TTGIR).find(copy) != std::string_view::npos) == hasTma);
    }

    api::Kernel kernel = api::Kernel::obtain(session.runtime, session.device, product);
    std::vector<api::Buffer> buffers;
    std::vector<uint64_t> addresses;
    for (const std::vector<uint8_t> &tensor : own.tensors) {
      buffers.emplace_back(session.device, tensor.size());
      addresses.push_back(buffers.back().address());
      session.device.copyToDevice(addresses.back(), tensor.data(), tensor.size());
    }
    session.device.fill(addresses[2], 0xFF, buffers[2].size());
    kernel.launch(addresses, {320, 384, 512});
    session.device.synchronize();
    std::vector<uint8_t> result(own.tensors[2].size());
    session.device.copyToHost(result.data(), addresses[2], result.size());
    CHECK(result == own.tensors[2]);
  }

  TEST_CASE("a product of which a launch leaves no rows, or whose rows lie at one place, far away, or to the right") {
    const Session &session = Session::get();
    std::string target = session.device.target();
    std::string tensors = "a: read bf16[128,256] align 16, b: read bf16[256,256] align 16, "
                          "c: written fp32[128,256] align 16, ";
    auto product = [&](const std::string &numbers, const std::string &grid) -> Attributes {
      Attributes attributes = {{"language", "commonir"},
                               {"source", kMaskedProductCommonIr},
                               {"entry", "product"},
                               {"arguments", tensors + numbers},
                               {"grid", grid}};
      for (auto [name, form] : {std::pair("m", "*"), std::pair("s", "*%8")}) {
        if (numbers.find(std::string("= ") + name) != std::string::npos) {
          attributes.emplace_back(name, form);
        }
      }
      return attributes;
    };
    auto copiesTiles = [&](const Attributes &attributes) {
      api::Artifact compiled =
          api::Artifact::compile(session.runtime, api::Description::create("user_kernel", attributes), target);
      return compiled.dump(JITK_DUMP_TTGIR).find("async_tma_copy_global_to_local") != std::string_view::npos;
    };

    // Nothing says that there are rows, or that they are apart.
    Attributes any = product("end: int32 = m, s: int32 = s", "1");
    CHECK(!copiesTiles(any));
    for (int64_t m : {0, 1, 100, 200}) {
      checkMaskedProduct(any, m, 256, m, 256);
    }
    checkMaskedProduct(any, 128, 0, 128, 0);
    Attributes rows = product("end: int32 = m-200, s: int32 = 256", "1");
    for (int64_t m : {0, 200, 300}) {
      checkMaskedProduct(rows, m, 256, m - 200, 256);
    }
    Attributes strides = product("end: int32 = 128, s: int32 = s", "1");
    for (int64_t s : {0, 8, 256}) {
      checkMaskedProduct(strides, 0, s, 128, s);
    }
    checkMaskedProduct(product("end: int32 = 0, s: int32 = 256", "1"), 0, 0, 0, 256);

    // No CTA runs where there are none.
    for (const char *grid : {"ceil(m/128)", "min(ceil(m/128), multiprocessors)"}) {
      Attributes some = product("end: int32 = m, s: int32 = 256", grid);
      CHECK(copiesTiles(some) == target.ends_with("sm_90a"));
      for (int64_t m : {1, 100, 128}) {
        checkMaskedProduct(some, m, 256, m, 256);
      }
    }

    // Row 2^32 is past the end, and its low half is not.
    Attributes far = changed(product("f: int64 = m*4294967296, end: int32 = 128, s: int32 = 256", "1"), "source",
                             movedProductCommonIr(/*isWide=*/true));
    CHECK(!copiesTiles(far));
    Attributes near = changed(product("f: int32 = m*128, end: int32 = 128, s: int32 = 256", "1"), "source",
                              movedProductCommonIr(/*isWide=*/false));
    CHECK(copiesTiles(near) == target.ends_with("sm_90a"));
    for (int64_t m : {0, 1}) {
      checkMaskedProduct(far, m, 256, m == 0 ? 128 : 0, 256);
      checkMaskedProduct(near, m, 256, m == 0 ? 128 : 0, 256);
    }

    // To the left of a row lies the end of the one above.
    Attributes leftward =
        changed(product("end: int32 = 101, s: int32 = 256", "1"), "source", leftwardProductCommonIr());
    CHECK(!copiesTiles(leftward));
    checkMaskedProduct(leftward, 0, 256, 100, 256);
  }

  TEST_CASE("a loop with stages reads what it has written") {
    constexpr int64_t kMatrices = 6, kSize = 1024;
    const Session &session = Session::get();
    const api::Device &device = session.device;
    api::Kernel kernel =
        api::Kernel::obtain(session.runtime, device,
                            api::Description::create("user_kernel", {{"language", "commonir"},
                                                                     {"source", kChainCommonIr},
                                                                     {"entry", "chain"},
                                                                     {"arguments", "x: updated fp32[6144] align 16, "
                                                                                   "n: int32 = 5"},
                                                                     {"grid", "1"}}));
    std::vector<float> x(kMatrices * kSize, 0.0f), wanted;
    for (int64_t i = 0; i < kMatrices * kSize; ++i) {
      wanted.push_back(float(i / kSize));
    }
    api::Buffer onDevice(device, x.size() * sizeof(float));
    device.copyToDevice(onDevice.address(), x.data(), onDevice.size());
    kernel.launch(std::vector<uint64_t>{onDevice.address()});
    device.synchronize();
    device.copyToHost(x.data(), onDevice.address(), onDevice.size());
    CHECK(x == wanted);
  }

  TEST_CASE("loops have fewer stages where as many as they ask for leave no room for a reduction") {
    constexpr int64_t kMatrices = 9, kRows = 64, kColumns = 128;
    const Session &session = Session::get();
    const api::Device &device = session.device;
    api::Kernel kernel = api::Kernel::obtain(
        session.runtime, device,
        api::Description::create(
            "user_kernel",
            {{"language", "commonir"},
             {"source", kGreatestCommonIr},
             {"entry", "greatest"},
             {"arguments", "x: read fp32[n,64,128], y: written fp32[n,128], rows: written int32[n,128], n: int32"},
             {"grid", "1"},
             {"n", "*"}}));
    std::vector<float> x, y(kMatrices * kColumns), greatest(y.size());
    std::vector<int32_t> rows(y.size()), wanted(y.size());
    for (int64_t matrix = 0; matrix < kMatrices; ++matrix) {
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t column = 0; column < kColumns; ++column) {
          // A permutation of the rows for each column.
          auto value = float((row * 37 + column * 11 + matrix * 5) % kRows);
          x.push_back(value);
          if (value == float(kRows - 1)) {
            greatest[size_t(matrix * kColumns + column)] = value;
            wanted[size_t(matrix * kColumns + column)] = int32_t(row);
          }
        }
      }
    }
    api::Buffer onDeviceX(device, x.size() * sizeof(float)), onDeviceY(device, y.size() * sizeof(float)),
        onDeviceRows(device, rows.size() * sizeof(int32_t));
    device.copyToDevice(onDeviceX.address(), x.data(), onDeviceX.size());
    kernel.launch({onDeviceX.address(), onDeviceY.address(), onDeviceRows.address()}, {kMatrices}, {}, 0, 0);
    device.synchronize();
    device.copyToHost(y.data(), onDeviceY.address(), onDeviceY.size());
    device.copyToHost(rows.data(), onDeviceRows.address(), onDeviceRows.size());
    CHECK(y == greatest);
    CHECK(rows == wanted);
    constexpr uint64_t kSlot = kRows * kColumns * sizeof(float);
    uint64_t numSlots = device.target().ends_with("sm_80") ? 4 : 6;
    CHECK(kernel.info().shared_bytes / kSlot == numSlots);
  }
  TEST_CASE("a kernel in TTGIR") { checkAxpy(withSource("ttgir", kAxpyTtgir)); }

  TEST_CASE("a kernel in CUDA C++ runs on a GPU, and no emulator takes it") {
    if (!lane.isEmulator()) {
      checkAxpy(cudaAxpy());
      return;
    }
    std::string message;
    CHECK(statusOf(cudaAxpy(), message) == JITK_STATUS_UNSUPPORTED);
    CHECK(message.find("an emulator runs kernels in CommonIR and TTGIR, and none in CUDA C++") != std::string::npos);
  }

  TEST_CASE("scalars of every type arrive") {
    checkScalars(withScalars("commonir", kScalarsCommonIr));
    if (!lane.isEmulator()) {
      checkScalars(withScalars("cuda", kScalarsCuda));
    }
  }

  TEST_CASE("what the source and the description do not agree on is named") {
    Attributes good = withSource("ttgir", kAxpyTtgir);
    std::string message;
    auto refused = [&](const Attributes &attributes, const char *why) {
      message.clear();
      CHECK(statusOf(attributes, message) == JITK_STATUS_INVALID_ARGUMENT);
      CHECK_MESSAGE(message.find(why) != std::string::npos, message);
    };
    refused(changed(good, "entry", "axpi"), "entry must be one of the source's kernels, axpy: got 'axpi'");
    refused(changed(good, "arguments", "x: read fp32[n], y: updated fp32[n], a: fp32"),
            "number of arguments must be 4, as the source has them: got 3");
    refused(changed(good, "arguments", "x: read fp16[n], y: updated fp32[n], a: fp32, n: int32"),
            "argument x must be a tensor of fp16 as the source has it: got !tt.ptr<f32>");
    refused(changed(good, "arguments", "x: read fp32[n], y: updated fp32[n], a: fp32, n: int64"),
            "argument n must be int64 as the source has it: got i32");
    refused(changed(good, "arguments", "x: read fp32[n], y: updated fp32[n], a: bf16, n: int32"),
            "argument a must be bf16 as the source has it: got f32");
    refused(changed(good, "arguments", "x: read fp32[n], y: updated fp32[n], a: fp32, n: scalar uint64"),
            "argument n must be uint64 as the source has it: got i32");
    refused(changed(good, "source", "module {\n  tt.func public @axpy(%x: !tt.nothing)\n}"), "source:2:");
    const char *noKernel = "source must have a kernel, a public tt.func with a body: got none";
    refused(changed(good, "source", "module {}"), noKernel);
    refused(changed(good, "source", "module { tt.func private @axpy() { tt.return } }"), noKernel);
    refused(changed(good, "source", "module { tt.func public @axpy(%x: !tt.ptr<f32>) }"), noKernel);
    refused(changed(changed(good, "source", R"(module {
      tt.func public @axpy(%x: !tt.ptr<f32> {tt.divisibility = "16"}) { tt.return }
    })"),
                    "arguments", "x: updated fp32[n]"),
            "tt.divisibility of argument x must be an integer");
    refused(changed(changed(good, "source", R"(module attributes {"ttg.num-ctas" = "two"} {
      tt.func public @axpy() { tt.return }
    })"),
                    "arguments", ""),
            "ttg.num-ctas of the source must be an integer between 1 and 16: got another attribute");
  }

  TEST_CASE("a tensor must be aligned as the source wants it") {
    api::Kernel kernel = api::Kernel::obtain(Session::get().runtime, Session::get().device,
                                             api::Description::create("user_kernel", withSource("ttgir", kAxpyTtgir)));
    CHECK(kernel.tensorAlignment(0) == 16);
    CHECK_THROWS_WITH(kernel.launch({0x1008, 0x1000}, {1}, {2.0f}),
                      "address of tensor x must be aligned to 16 bytes: got 0x1008");
    CHECK_THROWS_WITH(kernel.launch({0x1000}, {1}, {2.0f}), "number of tensors must be 2: got 1");
    CHECK_THROWS_WITH(kernel.launch({0x1000, 0x1000}, {1}, {}), "number of scalars must be 1: got 0");
  }
}
