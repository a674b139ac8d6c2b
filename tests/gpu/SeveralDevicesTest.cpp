// One runtime and one plan on two GPUs of a host.

#include "tests/gpu/EngineDriver.h"
#include "tests/gpu/OnDevice.h"

#include <numeric>
#include <thread>

using namespace jitk;
using gpu::EngineDriver;
using gpu::OnDevice;

namespace {

constexpr const char *kProblems[] = {
    "matmul m=300 n=520 k=1032 dtype=bf16",
    "flash_attention heads=8 kv_heads=2 seq_q=300 seq_k=500 head_dim=128 causal=true",
    "fp8_block_matmul m=300 n=520 k=1040",
};
constexpr int kNumDevices = 2;

/// A runtime of its own, so that what it counts is of this test, on two devices.
struct TwoDevices {
  TwoDevices() {
    jitk_runtime_options_t options = {};
    options.struct_size = sizeof options;
    options.store_path = "";
    runtime = api::Runtime::create(&options);
    for (int i = 0; i < kNumDevices; ++i) {
      devices.push_back(api::Device::open(runtime, "cuda:" + std::to_string(i)));
    }
  }

  api::Runtime runtime;
  std::vector<api::Device> devices;
};

/// Fails where there is one device only: a lane for one leaves this suite out by name (-tse=gpu/SeveralDevices).
void requireTwoDevices() {
  (void)gpu::Session::get(); // initializes the driver
  EngineDriver driver;
  int count = 0;
  REQUIRE(driver.deviceCount(&count) == 0);
  REQUIRE_MESSAGE(count >= kNumDevices, "needs two GPUs: got " << count << "; -tse=gpu/SeveralDevices leaves this out");
}

std::vector<api::Scalar> scalarsOf(const std::string &text) {
  return std::vector<api::Scalar>((*findOp(parseDescription(text)->op()))->scalars.size(), 0.04F);
}

std::vector<uint8_t> outputOf(const OnDevice &tensors) {
  std::vector<uint8_t> all;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors.isWritten(i)) {
      std::vector<uint8_t> bytes = tensors.bytes(i);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
  }
  return all;
}

void poison(const OnDevice &tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors.isWritten(i)) {
      tensors.poison(i);
    }
  }
}

/// Status and message of a call that must fail.
struct Refusal {
  jitk_status_t status = JITK_STATUS_OK;
  std::string message;
};

template <typename Call> Refusal refusalOf(Call call) {
  jitk_error_t error = nullptr;
  Refusal refusal;
  refusal.status = call(&error);
  refusal.message = jitk_error_message(error);
  jitk_error_release(error);
  return refusal;
}

} // namespace

TEST_SUITE("gpu/SeveralDevices") {
  TEST_CASE("a plan is prepared for two devices, compiled once, and gives the same bits on both") {
    requireTwoDevices();
    TwoDevices host;
    EngineDriver driver;
    api::Plan plan = api::Plan::create(host.runtime);
    std::vector<api::Description> descriptions;
    for (const char *text : kProblems) {
      descriptions.push_back(api::Description::parse(text));
      plan.add(descriptions.back());
    }
    for (const api::Device &device : host.devices) {
      jitk_prepare_options_t prepare = {};
      prepare.device = device.get();
      plan.prepare(prepare);
      plan.wait();
    }
    plan.seal();
    const jitk_counters_t counters = host.runtime.counters();
    CHECK(counters.compilations == std::size(kProblems));
    CHECK(counters.loads == kNumDevices * std::size(kProblems));

    for (size_t problem = 0; problem < std::size(kProblems); ++problem) {
      CAPTURE(kProblems[problem]);
      std::vector<OnDevice> tensors;
      std::vector<api::Kernel> kernels;
      std::vector<api::Buffer> workspaces;
      for (const api::Device &device : host.devices) {
        tensors.emplace_back(kProblems[problem], 5, device);
        kernels.push_back(plan.kernel(device, descriptions[problem]));
        workspaces.emplace_back(device, std::max<uint64_t>(kernels.back().workspaceBytes({}), 1));
        poison(tensors.back());
      }
      const std::vector<uint8_t> untouched = outputOf(tensors[0]);
      auto launch = [&](size_t i) {
        kernels[i].launch(tensors[i].addresses(), {}, scalarsOf(kProblems[problem]), workspaces[i].address(),
                          workspaces[i].size());
      };
      // Whatever context is current: none, and each of the two.
      for (int current = -1; current < kNumDevices; ++current) {
        CAPTURE(current);
        std::thread([&] {
          EngineDriver::Context context = nullptr;
          if (current >= 0) {
            CHECK(driver.retainPrimary(&context, current) == 0);
            CHECK(driver.setCurrent(context) == 0);
          }
          for (size_t i = 0; i < kNumDevices; ++i) {
            launch(i);
          }
          CHECK(driver.current() == context);
          if (current >= 0) {
            CHECK(driver.releasePrimary(current) == 0);
          }
        }).join();
        for (const api::Device &device : host.devices) {
          device.synchronize();
        }
        std::vector<uint8_t> first = outputOf(tensors[0]);
        CHECK(first != untouched);
        CHECK(first == outputOf(tensors[1]));
        for (const OnDevice &one : tensors) {
          poison(one);
        }
      }
      // Both at a time, from a thread each.
      std::vector<std::thread> threads;
      for (size_t i = 0; i < kNumDevices; ++i) {
        threads.emplace_back([&launch, i] {
          for (int run = 0; run < 200; ++run) {
            launch(i);
          }
        });
      }
      for (size_t i = 0; i < kNumDevices; ++i) {
        threads[i].join();
        host.devices[i].synchronize();
      }
      CHECK(outputOf(tensors[0]) != untouched);
      CHECK(outputOf(tensors[0]) == outputOf(tensors[1]));
    }
    CHECK(host.runtime.counters().loads == counters.loads);
  }

  TEST_CASE("a plain kernel, which is launched by the driver directly, runs on its own device") {
    requireTwoDevices();
    TwoDevices host;
    EngineDriver driver;
    constexpr int64_t kCount = 1000;
    // Where it runs shows in the numbers too: each device has its own offset.
    const api::Description description = api::Description::create(
        "user_kernel", {{"language", "cuda"},
                        {"source", "extern \"C\" __global__ void count(int *to, int n, int offset) {\n"
                                   "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "  if (i < n) { to[i] = offset + i; }\n"
                                   "}\n"},
                        {"entry", "count"},
                        {"arguments", "to: written int32[n], n: int32, offset: int32"},
                        {"grid", "ceil(n/128)"},
                        {"block", "128"},
                        {"n", "*"},
                        {"offset", "*"}});
    std::vector<api::Kernel> kernels;
    std::vector<api::Buffer> buffers;
    for (const api::Device &device : host.devices) {
      kernels.push_back(api::Kernel::obtain(host.runtime, device, description));
      buffers.emplace_back(device, kCount * sizeof(int32_t));
    }
    for (int current = -1; current < kNumDevices; ++current) {
      CAPTURE(current);
      std::thread([&] {
        EngineDriver::Context context = nullptr;
        if (current >= 0) {
          CHECK(driver.retainPrimary(&context, current) == 0);
          CHECK(driver.setCurrent(context) == 0);
        }
        for (int round = 0; round < 3; ++round) { // the first of all is looked at in full
          for (size_t i = 0; i < kNumDevices; ++i) {
            host.devices[i].fill(buffers[i].address(), 0xFF, buffers[i].size());
            const auto first = static_cast<int64_t>(100'000 * (i + 1)) + round;
            kernels[i].launch({buffers[i].address()}, {kCount, first}, {});
            host.devices[i].synchronize();
            std::vector<int32_t> found(kCount, -1), wanted(kCount);
            std::iota(wanted.begin(), wanted.end(), static_cast<int32_t>(first));
            host.devices[i].copyToHost(found.data(), buffers[i].address(), buffers[i].size());
            CHECK(found == wanted);
          }
        }
        CHECK(driver.current() == context);
        if (current >= 0) {
          CHECK(driver.releasePrimary(current) == 0);
        }
      }).join();
    }
  }

  TEST_CASE("what is of the other device is refused, and nothing is enqueued") {
    requireTwoDevices();
    TwoDevices host;
    EngineDriver driver;
    const char *text = kProblems[0];
    api::Kernel kernel = api::Kernel::obtain(host.runtime, host.devices[1], api::Description::parse(text));
    OnDevice tensors(text, 3, host.devices[1]);
    poison(tensors);
    const std::vector<uint8_t> untouched = outputOf(tensors);
    std::vector<uint64_t> addresses = tensors.addresses();

    jitk_launch_t launch = {};
    launch.struct_size = sizeof launch;
    launch.tensors = addresses.data();
    launch.num_tensors = addresses.size();
    launch.device = host.devices[0].get();
    Refusal refusal = refusalOf([&](jitk_error_t *error) { return jitk_kernel_launch(kernel.get(), &launch, error); });
    CHECK(refusal.status == JITK_STATUS_INVALID_ARGUMENT);
    CHECK(refusal.message ==
          "launch.device must be the device that the kernel was loaded on, cuda:1 (sm_90a): got cuda:0 (sm_90a)");

    std::vector<std::vector<int64_t>> shapes;
    for (size_t i = 0; i < tensors.size(); ++i) {
      shapes.push_back(tensors.shape(i).sizes);
    }
    std::vector<jitk_dltensor_t> given(tensors.size());
    std::vector<const jitk_dltensor_t *> pointers;
    for (size_t i = 0; i < given.size(); ++i) {
      given[i] = {};
      given[i].data = reinterpret_cast<void *>(addresses[i]);
      given[i].device.device_type = 2;
      given[i].device.device_id = 1;
      given[i].ndim = static_cast<int32_t>(shapes[i].size());
      given[i].dtype = {4, 16, 1}; // bf16
      given[i].shape = shapes[i].data();
      pointers.push_back(&given[i]);
    }
    jitk_dlpack_launch_t checked = {};
    checked.struct_size = sizeof checked;
    checked.tensors = pointers.data();
    checked.num_tensors = pointers.size();
    auto launchChecked = [&] {
      return refusalOf([&](jitk_error_t *error) { return jitk_kernel_launch_dlpack(kernel.get(), &checked, error); });
    };
    given[0].device.device_id = 0;
    refusal = launchChecked();
    CHECK(refusal.status == JITK_STATUS_INVALID_ARGUMENT);
    CHECK(refusal.message == "tensor a must be on CUDA device 1: got device type 2, device 0");
    host.devices[1].synchronize();
    CHECK(outputOf(tensors) == untouched);
    given[0].device.device_id = 1;
    CHECK(launchChecked().message == "");
    host.devices[1].synchronize();
    CHECK(outputOf(tensors) != untouched);

    EngineDriver::Context other = nullptr;
    REQUIRE(driver.create(&other, 0, 1) == 0);
    jitk_device_options_t options = {};
    options.struct_size = sizeof options;
    options.cuda_context = other;
    refusal = refusalOf([&](jitk_error_t *error) {
      jitk_device_t device = nullptr;
      return jitk_device_open(host.runtime.get(), "cuda:0", &options, &device, error);
    });
    CHECK(refusal.status == JITK_STATUS_INVALID_ARGUMENT);
    CHECK(refusal.message == "context must be of the device 0: got one of the device 1");
    CHECK(driver.destroy(other) == 0);
  }
}
