#include "perf/overhead/EmulatorSpeed.h"

#include "jitk/jitk.hpp"

#include <chrono>

namespace jitk::perf {

static constexpr size_t kSize = 128;

Samples measureEmulatorSpeed(const char *target, int count) {
  jitk_runtime_options_t runtimeOptions = {};
  runtimeOptions.struct_size = sizeof runtimeOptions;
  runtimeOptions.store_path = "";
  api::Runtime runtime = api::Runtime::create(&runtimeOptions);
  jitk_device_options_t deviceOptions = {};
  deviceOptions.struct_size = sizeof deviceOptions;
  deviceOptions.emulator_workers = 1;
  api::Device device = api::Device::open(runtime, target, &deviceOptions);
  api::Kernel kernel =
      api::Kernel::obtain(runtime, device, api::Description::parse("matmul m=128 n=128 k=128 dtype=fp16"));
  api::Buffer a(device, kSize * kSize * 2), b(device, kSize * kSize * 2), c(device, kSize * kSize * 2);
  device.fill(a.address(), 0, a.size());
  device.fill(b.address(), 0, b.size());
  Samples milliseconds;
  for (int i = 0; i <= count; ++i) {
    auto begin = std::chrono::steady_clock::now();
    kernel.launch({a.address(), b.address(), c.address()});
    device.synchronize();
    if (i > 0) { // the first one warms up
      milliseconds.add(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
  }
  return milliseconds;
}

} // namespace jitk::perf
