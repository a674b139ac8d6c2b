// What only a GPU can show: agreement with cuBLASLt, and equal bits from run to run.
//
// A missing device, driver or library is a failure, not a skip.

#include "src/tools/checked/CheckedRun.h"
#include "src/tools/timing/CublasLt.h"
#include "tests/gpu/OnDevice.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>

using namespace jitk;
using gpu::OnDevice;
using gpu::Session;

namespace {

std::string textOf(const timing::Product &p) {
  return "matmul m=" + std::to_string(p.m) + " n=" + std::to_string(p.n) + " k=" + std::to_string(p.k) +
         " dtype=" + p.dtype + " out_dtype=" + p.outDtype + " b_layout=" + (p.columnMajorB ? "col" : "row") +
         " bias=" + (p.hasBias ? "true" : "false") + " residual=" + (p.hasAddend ? "true" : "false") +
         " activation=" + p.activation;
}

} // namespace

TEST_SUITE("gpu") {
  TEST_CASE("products agree with cuBLASLt over whole matrices") {
    timing::CublasLt cublas;
    const timing::Product products[] = {{128, 128, 128, "fp16", "fp16", false},
                                        {1024, 1024, 1024, "fp16", "fp16", false},
                                        {4096, 2112, 7168, "bf16", "bf16", true},
                                        {64, 7168, 2048, "bf16", "bf16", true},
                                        {1000, 520, 1032, "fp16", "fp32", true},
                                        {8192, 8192, 8192, "bf16", "bf16", true},
                                        {128, 2112, 7168, "bf16", "bf16", true},
                                        {1000, 8192, 264, "fp16", "fp16", false},
                                        {1000, 8192, 264, "bf16", "bf16", true, true, true},
                                        {1000, 4104, 520, "fp16", "fp16", true, true, false, "gelu_tanh"},
                                        {50, 2112, 7168, "bf16", "bf16", true, true, true, "relu"}};
    for (const timing::Product &p : products) {
      CAPTURE(textOf(p));
      OnDevice tensors(textOf(p), 11);
      std::vector<uint64_t> addresses = tensors.addresses();
      size_t c = tensors.size() - 1;
      api::Kernel kernel =
          api::Kernel::obtain(Session::get().runtime, Session::get().device, api::Description::parse(textOf(p)));
      api::Buffer workspace(Session::get().device, std::max<uint64_t>(kernel.workspaceBytes({}), 1));
      kernel.launch(addresses, {}, {}, workspace.address(), workspace.size());
      Session::get().device.synchronize();
      std::vector<float> ours = tensors.values(c);
      tensors.poison(c);
      cublas.find(p, 1, 0).run(0,
                               {.a = addresses[0],
                                .b = addresses[1],
                                .c = addresses[c],
                                .bias = p.hasBias ? addresses[2] : 0,
                                .addend = p.hasAddend ? addresses[c - 1] : 0},
                               0, nullptr);
      Session::get().device.synchronize();
      std::vector<float> theirs = tensors.values(c);
      // Both sum k products of N(0,1) in fp32 in some order and round once: the sums differ by far less than one
      // rounding, so that results differ by at most one unit in the last place of the largest, about 6 sqrt(k).
      double bound = 2 * reference::unitRoundoff(p.outDtype) * 6 * std::sqrt(double(p.k)) + 1e-6 * double(p.k);
      double worst = 0;
      for (size_t i = 0; i < ours.size(); ++i) {
        double difference = std::fabs(double(ours[i]) - theirs[i]);
        worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
      }
      CHECK(worst <= bound);
    }
  }

  TEST_CASE("two hundred launches over changing data give equal bits for equal data") {
    for (const char *text :
         {"matmul m=300 n=520 k=1032 dtype=bf16 b_layout=col",
          "matmul m=128 n=2112 k=7168 b_layout=col bias=true activation=silu",
          "matmul m=2048 n=4224 k=520 b_layout=col bias=true residual=true",
          "flash_attention heads=8 kv_heads=2 seq_q=300 seq_k=500 head_dim=128 causal=true",
          "flash_attention batch=3 heads=8 kv_heads=2 seq_q=300 seq_k=500 head_dim=64 causal=true varlen=true",
          "fp8_block_matmul m=100 n=520 k=1032", "fp8_block_matmul m=300 n=520 k=1040",
          "fp8_block_matmul m=20 n=520 k=1040", "grouped_fp8_block_matmul groups=4 m=700 n=520 k=1040",
          "grouped_fp8_block_matmul masked=true groups=4 m=192 n=520 k=1040",
          "gated_delta_rule batch=2 tokens=600 qk_heads=4 v_heads=8 key_dim=128 qk_l2norm=true",
          "gated_delta_rule mode=recurrent batch=4 tokens=3 qk_heads=4 v_heads=8 key_dim=128",
          "flash_attention batch=5 heads=8 kv_heads=2 seq_q=300 seq_k=500 head_dim=128 causal=true varlen=true",
          "paged_attention batch=5 heads=16 kv_heads=4 max_kv=700 num_pages=60 splits=33 head_dim=128",
          "mla_decode batch=5 heads=128 max_kv=700 num_pages=60 splits=66 causal=true seq_q=2"}) {
      CAPTURE(text);
      CHECK(checked::differenceBetweenLaunches(Session::get().runtime, Session::get().device, {text}, 200) == "");
    }
  }
}
