// A device in a context that the engine made, beside the primary one.

#include "jitk/jitk.hpp"
#include "tests/gpu/EngineDriver.h"

#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

using namespace jitk;
using gpu::EngineDriver;

namespace {

constexpr const char *kSource = "extern \"C\" __global__ void count(int *to, int n) {\n"
                                "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "  if (i < n) { to[i] = i; }\n"
                                "}\n";

/// Counts to 1000 on a stream, and looks.
void check(const api::Runtime &runtime, const api::Device &device, void *stream) {
  constexpr int64_t kCount = 1000;
  api::Kernel kernel =
      api::Kernel::obtain(runtime, device,
                          api::Description::create("user_kernel", {{"language", "cuda"},
                                                                   {"source", kSource},
                                                                   {"entry", "count"},
                                                                   {"arguments", "to: written int32[n], n: int32"},
                                                                   {"grid", "ceil(n/128)"},
                                                                   {"block", "128"},
                                                                   {"n", "*"}}));
  std::vector<int32_t> found(kCount, -1);
  api::Buffer buffer(device, kCount * sizeof(int32_t));
  device.fill(buffer.address(), 0xFF, buffer.size());
  kernel.launch({buffer.address()}, {kCount}, {}, 0, 0, stream);
  device.synchronize();
  device.copyToHost(found.data(), buffer.address(), buffer.size());
  for (int64_t i = 0; i < kCount; ++i) {
    REQUIRE(found[size_t(i)] == i);
  }
}

} // namespace

TEST_SUITE("gpu/EngineContext") {
  TEST_CASE("kernels run in a context of the engine and in the primary one, and leave the current one alone") {
    EngineDriver driver;
    jitk_runtime_options_t runtimeOptions = {};
    runtimeOptions.struct_size = sizeof runtimeOptions;
    runtimeOptions.store_path = "";
    api::Runtime runtime = api::Runtime::create(&runtimeOptions);
    api::Device primary = api::Device::open(runtime, "cuda:0"); // initializes the driver

    EngineDriver::Context engine = nullptr;
    EngineDriver::Stream stream = nullptr;
    REQUIRE(driver.create(&engine, 0, 0) == 0); // and makes it current
    REQUIRE(driver.createStream(&stream, 1) == 0);
    {
      jitk_device_options_t options = {};
      options.struct_size = sizeof options;
      options.cuda_context = engine;
      api::Device own = api::Device::open(runtime, "cuda:0", &options);
      check(runtime, own, stream);
      CHECK(driver.current() == engine);
      check(runtime, primary, nullptr);
      CHECK(driver.current() == engine);
      // Neither from a thread without a context.
      std::thread([&] {
        check(runtime, own, stream);
        check(runtime, primary, nullptr);
        CHECK(driver.current() == nullptr);
      }).join();
    }
    CHECK(driver.destroyStream(stream) == 0);
    CHECK(driver.destroy(engine) == 0);
    CHECK(driver.setCurrent(nullptr) == 0);
    check(runtime, primary, nullptr);
  }
}
