#include "jitk/jitk.hpp"

int main() {
  auto runtime = jitk::api::Runtime::create();
  auto device = jitk::api::Device::open(runtime, "emulator:sm_90a"); // or "cuda:0"
  auto matmul = jitk::api::Description::parse("matmul m=16 n=32 k=64 dtype=bf16 b_layout=col");
  auto kernel = jitk::api::Kernel::obtain(runtime, device, matmul);
  jitk::api::Buffer a(device, 16 * 64 * 2), b(device, 32 * 64 * 2), c(device, 16 * 32 * 2);
  device.fill(a.address(), 0, a.size());
  device.fill(b.address(), 0, b.size());
  kernel.launch({a.address(), b.address(), c.address()});
  device.synchronize();
}
