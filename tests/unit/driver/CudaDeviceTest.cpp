#include "backends/nvidia/driver/CudaDevice.h"

#include "backends/nvidia/driver/CubinNote.h"
#include "src/runtime/Kernel.h"
#include "tests/fakes/FakeCuda.h"
#include "tests/support/SampleElf.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <thread>

using namespace jitk;
using namespace jitk::nvidia;
using jitk::test::FakeCuda;
using jitk::test::sampleElf;

TEST_SUITE_BEGIN("driver/CudaDevice");

namespace {

/// A driver on the fake library, with nothing remembered of other tests.
struct Fixture {
  explicit Fixture(const char *path = JITK_FAKE_CUDA_NEW, int version = FakeCuda().version) {
    void *library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    fake = reinterpret_cast<decltype(&fake_cuda)>(::dlsym(library, "fake_cuda"))();
    *fake = FakeCuda();
    fake->version = version;
    engineContextOf =
        reinterpret_cast<decltype(&fake_cuda_engine_context)>(::dlsym(library, "fake_cuda_engine_context"));
    contexts = reinterpret_cast<decltype(&fake_cuda_contexts)>(::dlsym(library, "fake_cuda_contexts"))();
    contexts->clear();
    Result<std::shared_ptr<const Driver>> opened = Driver::open(path);
    REQUIRE(opened.ok());
    driver = *std::move(opened);
  }

  std::shared_ptr<Device> device(int ordinal = 0) { return *CudaDevice::open(driver, ordinal); }
  bool called(const char *symbol) const {
    return std::find(fake->calls.begin(), fake->calls.end(), symbol) != fake->calls.end();
  }

  FakeCuda *fake;
  std::vector<void *> *contexts; ///< of this thread
  void *(*engineContextOf)(int device);
  std::shared_ptr<const Driver> driver;
};

const std::vector<uint8_t> kCode = {0x7f, 'E', 'L', 'F'};

/// A launch of one block with one argument.
LaunchParameters oneBlock() {
  static uint64_t value = 0;
  static void *arguments[] = {&value};
  LaunchParameters parameters;
  parameters.threads = 128;
  parameters.arguments = arguments;
  return parameters;
}

} // namespace

TEST_CASE("a device tells its name and its very own target") {
  Fixture fixture;
  CHECK(fixture.device(0)->name() == "Fake GPU");
  CHECK(fixture.device(0)->target().toString() == "sm_90a");
  CHECK(fixture.device(1)->target().toString() == "sm_80");
}

TEST_CASE("a device that is not there is unavailable") {
  Fixture fixture;
  CHECK(CudaDevice::open(fixture.driver, 2).status().toString() == "CUDA device must be one of 2: got cuda:2");
  CHECK(openDevice("x", nullptr).status().code() == StatusCode::InvalidArgument);
}

TEST_CASE("a device knows its multiprocessors") {
  Fixture fixture;
  CHECK(fixture.device()->multiprocessors() == 132);
}

TEST_CASE("a driver that is not there is unavailable") {
  Result<std::shared_ptr<const Driver>> driver = Driver::open("/nowhere/libcuda.so.1");
  CHECK(driver.status().code() == StatusCode::Unavailable);
}

TEST_CASE("a library without the driver's functions is refused by the first that is missing") {
  Result<std::shared_ptr<const Driver>> driver = Driver::open("libc.so.6");
  CHECK(driver.status().toString() == "CUDA driver is too old: libc.so.6 has no cuInit");
}

TEST_CASE("a driver that is too old for the device is refused at once, and both versions are named") {
  struct Case {
    int driver, ordinal;
    const char *refusal; ///< null = it is not too old
  };
  static constexpr Case cases[] = {
      {11080, 0, "CUDA driver is too old for sm_90a: must be of CUDA 12.0 or newer: got 11.8"},
      {11080, 1, nullptr}, // sm_80
      {12000, 0, nullptr},
      {13000, 0, nullptr},
  };
  for (const Case &each : cases) {
    CAPTURE(each.driver);
    CAPTURE(each.ordinal);
    Fixture fixture(JITK_FAKE_CUDA_NEW, each.driver);
    Result<std::shared_ptr<Device>> device = CudaDevice::open(fixture.driver, each.ordinal);
    CHECK(device.ok() == (each.refusal == nullptr));
    if (each.refusal) {
      CHECK(device.status().code() == StatusCode::Unavailable);
      CHECK(device.status().message() == each.refusal);
      CHECK(fixture.fake->numContexts == 0);
    }
  }
}

/// An ELF file with the note of a tool of that CUDA release.
static std::vector<uint8_t> codeOfRelease(uint32_t release) {
  struct {
    uint32_t nameBytes = 12, bytes = 8, type = 1000;
    char name[12] = "NVIDIA Corp";
    uint16_t version = 2, virtualArchitecture = 90;
    uint32_t release;
  } note{.release = release};
  return sampleElf({reinterpret_cast<const char *>(&note), sizeof note}, SHT_NOTE);
}

TEST_CASE("code tells which tool made it, and nothing but whole notes is read") {
  CHECK(cudaVersionOf(codeOfRelease(130)) == 13000);
  CHECK(cudaVersionOf(codeOfRelease(128)) == 12080);
  CHECK(cudaVersionOf(codeOfRelease(99)) == 0);
  CHECK(cudaVersionOf(codeOfRelease(0x7fffffff)) == 0);
  CHECK(cudaVersionOf(sampleElf()) == 0);
  CHECK(cudaVersionOf({}) == 0);
  const std::vector<uint8_t> whole = codeOfRelease(130);
  for (size_t at = 0; at < whole.size(); ++at) {
    (void)cudaVersionOf(std::vector<uint8_t>(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(at)));
    std::vector<uint8_t> bad = whole;
    bad[at] ^= 0xff;
    (void)cudaVersionOf(bad);
  }
}

TEST_CASE("code is compared with the driver before it is loaded, and both versions are named") {
  for (int driver : {11080, 12040, 13000}) {
    for (uint32_t release : {118u, 120u, 124u, 128u, 130u, 131u}) {
      CAPTURE(driver);
      CAPTURE(release);
      Fixture fixture(JITK_FAKE_CUDA_NEW, driver);
      Result<std::shared_ptr<DeviceModule>> module = fixture.device(1)->load(codeOfRelease(release));
      // Of one major release, code of newer tools runs on older drivers.
      const uint32_t major = release / 10, minor = release % 10;
      bool fits = static_cast<int>(major) <= driver / 1000;
      CHECK(module.ok() == fits);
      if (!fits) {
        CHECK(module.status().code() == StatusCode::Unavailable);
        CHECK(module.status().message() == "CUDA driver must be of CUDA " + std::to_string(major) +
                                               ".0 or newer for code that an assembler of CUDA " +
                                               std::to_string(major) + "." + std::to_string(minor) + " made: got " +
                                               (driver == 11080 ? "11.8" : "12.4"));
        CHECK(fixture.fake->numCalls["cuLibraryLoadData"] == 0);
      }
    }
  }
}

TEST_CASE("a driver that refuses code of a newer minor release is told of with both versions") {
  Fixture fixture(JITK_FAKE_CUDA_NEW, 12040);
  fixture.fake->failures["cuLibraryLoadData"] = 209;
  Status refused = fixture.device()->load(codeOfRelease(128)).status().clone();
  CHECK(refused.code() == StatusCode::Unsupported);
  CHECK(refused.toString().ends_with("; the code is of CUDA 12.8, the driver of CUDA 12.4"));
}

TEST_CASE("the context is held while the device lives, and no thread keeps it") {
  Fixture fixture;
  {
    std::shared_ptr<Device> device = fixture.device();
    CHECK(fixture.fake->numContexts == 1);
    REQUIRE(device->synchronize().ok());
    CHECK(fixture.contexts->empty());
  }
  CHECK(fixture.fake->numContexts == 0);
}

TEST_CASE("a context that is current already is not pushed") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  api::CUcontext context = nullptr;
  (*fixture.driver)->primaryCtxRetain(&context, 0);
  (*fixture.driver)->ctxPushCurrent(context);
  fixture.fake->calls.clear();
  REQUIRE(device->synchronize().ok());
  CHECK_FALSE(fixture.called("cuCtxPushCurrent_v2"));
  CHECK(fixture.contexts->size() == 1);
}

TEST_CASE("code is loaded as a library, made ready when asked for, and unloaded with its last user") {
  Fixture fixture;
  {
    std::shared_ptr<DeviceModule> module = *fixture.device()->load(kCode);
    CHECK(fixture.called("cuLibraryLoadData"));
    Result<DeviceFunction *> function = module->function("kernel", 100'000);
    REQUIRE(function.ok());
    CHECK(fixture.fake->attributes == std::vector<std::pair<int, int>>{{8, 100'000}});
    CHECK(fixture.called("cuFuncLoad"));
    CHECK(*module->function("kernel", 100'000) == *function);
    CHECK(fixture.fake->numModules == 1);
  }
  CHECK(fixture.fake->numModules == 0);
  CHECK(fixture.fake->numContexts == 0);
}

TEST_CASE("little shared memory needs no attribute") {
  Fixture fixture;
  std::shared_ptr<DeviceModule> module = *fixture.device()->load(kCode);
  REQUIRE(module->function("kernel", 48 * 1024).ok());
  CHECK(fixture.fake->attributes.empty());
}

TEST_CASE("a launch passes its grid, its cluster, its attributes and its stream") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  std::shared_ptr<DeviceModule> module = *device->load(kCode);
  DeviceFunction *function = *module->function("kernel", 1024);
  LaunchParameters parameters = oneBlock();
  parameters.grid = {7, 2, 3};
  parameters.cluster = {2, 1, 1};
  parameters.sharedBytes = 1024;
  parameters.programmaticLaunch = true;
  int stream = 0;
  fixture.fake->calls.clear();
  REQUIRE(function->launch(parameters, &stream).ok());
  REQUIRE(fixture.fake->launches.size() == 1);
  const test::FakeLaunch &launch = fixture.fake->launches[0];
  CHECK(launch.symbol == "kernel");
  CHECK(launch.grid[0] == 7);
  CHECK(launch.grid[2] == 3);
  CHECK(launch.block[0] == 128);
  CHECK(launch.cluster[0] == 2);
  CHECK(launch.sharedBytes == 1024);
  CHECK(launch.programmatic);
  CHECK(launch.stream == &stream);
  // A stream says where it belongs, so that nobody asks for the current context.
  CHECK(fixture.fake->calls == std::vector<std::string>{"cuLaunchKernelEx"});
}

TEST_CASE("an old driver loads modules and launches without attributes") {
  Fixture fixture(JITK_FAKE_CUDA_OLD);
  std::shared_ptr<Device> device = fixture.device();
  std::shared_ptr<DeviceModule> module = *device->load(kCode);
  CHECK(fixture.called("cuModuleLoadData"));
  DeviceFunction *function = *module->function("kernel", 0);
  REQUIRE(function->launch(oneBlock(), nullptr).ok());
  CHECK(fixture.called("cuLaunchKernel"));

  LaunchParameters clustered = oneBlock();
  clustered.cluster = {2, 1, 1};
  CHECK(function->launch(clustered, nullptr).code() == StatusCode::Unsupported);
  std::array<uint8_t, 128> map;
  CHECK(device->encodeTensorMap(map.data(), 0, 0, {}, {}, {}, 0, L2Promotion::None).code() == StatusCode::Unsupported);
}

TEST_CASE("a tensor map is encoded by a thread that has no context") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  alignas(64) std::array<uint8_t, 128> map;
  const uint64_t sizes[] = {64, 64}, strides[] = {128};
  const uint32_t box[] = {64, 64};
  auto encode = [&] {
    return device->encodeTensorMap(map.data(), 6, 4096, sizes, strides, box, 3, L2Promotion::None).toString();
  };
  fixture.fake->calls.clear();
  CHECK(encode() == "ok");
  CHECK(fixture.contexts->empty());
  CHECK(fixture.fake->calls == std::vector<std::string>{"cuTensorMapEncodeTiled", "cuCtxGetCurrent",
                                                        "cuCtxPushCurrent_v2", "cuTensorMapEncodeTiled",
                                                        "cuCtxPopCurrent_v2"});
  fixture.contexts->push_back(fixture.engineContextOf(1)); // any will do
  fixture.fake->calls.clear();
  CHECK(encode() == "ok");
  CHECK(fixture.fake->calls == std::vector<std::string>{"cuTensorMapEncodeTiled"});
  fixture.fake->failures["cuTensorMapEncodeTiled"] = 1;
  CHECK(encode() == "cuTensorMapEncodeTiled: error 1");
  fixture.contexts->clear();
  fixture.fake->failures.clear();
  for (L2Promotion promotion : {L2Promotion::None, L2Promotion::To256Bytes}) {
    CHECK(device->encodeTensorMap(map.data(), 6, 4096, sizes, strides, box, 3, promotion).ok());
    uint32_t encoded = 0;
    std::memcpy(&encoded, map.data() + sizeof(uint64_t), sizeof encoded);
    CHECK(encoded == static_cast<uint32_t>(promotion));
  }
}

TEST_CASE("memory is copied, filled and freed") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  uint64_t address = *device->allocate(16);
  REQUIRE(device->fill(address, 0xab, 16).ok());
  uint32_t value = 7;
  REQUIRE(device->copyToDevice(address, &value, sizeof value).ok());
  std::array<uint8_t, 16> bytes;
  REQUIRE(device->copyToHost(bytes.data(), address, bytes.size()).ok());
  CHECK(bytes[0] == 7);
  CHECK(bytes[15] == 0xab);
  CHECK(device->free(address).ok());
  CHECK(device->free(*device->allocate(0)).ok());
  CHECK(device->copyToDevice(0, nullptr, 0).ok());
}

TEST_CASE("what is filled or copied is there for streams that wait for nothing") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  uint64_t address = *device->allocate(16);
  const auto *there = reinterpret_cast<const volatile uint8_t *>(address);
  REQUIRE(device->fill(address, 0xab, 16).ok());
  CHECK(there[15] == 0xab);
  const uint8_t value = 7;
  REQUIRE(device->copyToDevice(address, &value, 1).ok());
  CHECK(there[0] == 7);
  CHECK(device->free(address).ok());
}

TEST_CASE("each failure of the driver has its own code and names the function") {
  struct Row {
    const char *symbol;
    int answer;
    StatusCode code;
  };
  const Row rows[] = {
      {"cuLibraryLoadData", 200, StatusCode::Unsupported},
      {"cuLibraryLoadData", 2, StatusCode::OutOfMemory},
      {"cuLibraryLoadData", 700, StatusCode::DeviceLost},
      {"cuLibraryGetKernel", 500, StatusCode::Internal},
      {"cuKernelGetFunction", 999, StatusCode::Internal},
      {"cuFuncSetAttribute", 1, StatusCode::InvalidArgument},
      {"cuFuncLoad", 2, StatusCode::OutOfMemory},
      {"cuLaunchKernelEx", 400, StatusCode::InvalidArgument},
      {"cuLaunchKernelEx", 719, StatusCode::DeviceLost},
      {"cuLaunchKernelEx", 716, StatusCode::DeviceLost},
      {"cuLaunchKernelEx", 900, StatusCode::InvalidArgument},
      {"cuCtxPushCurrent_v2", 3, StatusCode::Unavailable},
  };
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  for (const Row &row : rows) {
    CAPTURE(row.symbol);
    CAPTURE(row.answer);
    *fixture.fake = FakeCuda();
    fixture.fake->failures[row.symbol] = row.answer;
    auto run = [&]() -> Status {
      JITK_ASSIGN(std::shared_ptr<DeviceModule> module, device->load(kCode));
      JITK_ASSIGN(DeviceFunction * function, module->function("kernel", 100'000));
      return function->launch(oneBlock(), nullptr);
    };
    Status status = run();
    CHECK(status.code() == row.code);
    std::string name = row.symbol;
    CHECK(status.toString().starts_with(name.substr(0, name.find("_v2"))));
    CHECK(fixture.contexts->empty());
    CHECK(fixture.fake->numModules == 0);
  }
}

TEST_CASE("a failure carries the driver's name and text for it") {
  Fixture fixture;
  fixture.fake->failures["cuMemAlloc_v2"] = 2;
  CHECK(fixture.device()->allocate(64).status().toString() ==
        "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory; while allocating 64 bytes");
}

TEST_CASE("a driver that cannot begin is unavailable") {
  Fixture fixture;
  fixture.fake->failures["cuInit"] = 100;
  Result<std::shared_ptr<const Driver>> driver = Driver::open(JITK_FAKE_CUDA_NEW);
  CHECK(driver.status().code() == StatusCode::Unavailable);
  CHECK(driver.status().toString() == "cuInit: CUDA_ERROR_NO_DEVICE");
}

// --- code that goes while it runs

/// Loads code and launches it once on a GPU that does not finish.
std::shared_ptr<DeviceModule> launchedOnce(Fixture &fixture, Device &device) {
  fixture.fake->busy = true;
  std::shared_ptr<DeviceModule> module = *device.load(kCode);
  REQUIRE((*module->function("kernel", 0))->launch(oneBlock(), nullptr).ok());
  return module;
}

TEST_CASE("code that may still run is unloaded when it has finished, and nobody waits") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  std::shared_ptr<DeviceModule> module = launchedOnce(fixture, *device);
  module.reset();
  CHECK(fixture.fake->numModules == 1);
  CHECK_FALSE(fixture.called("cuCtxSynchronize"));
  module = launchedOnce(fixture, *device);
  CHECK(fixture.fake->numModules == 2);
  fixture.fake->busy = false;
  module.reset();
  CHECK(fixture.fake->numModules == 0);
  CHECK(fixture.fake->numEvents == 0);
  CHECK(fixture.fake->numUnloadedInFlight == 0);
}

TEST_CASE("code that was never launched is unloaded at once") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  fixture.fake->busy = true;
  std::shared_ptr<DeviceModule> module = *device->load(kCode);
  REQUIRE(module->function("kernel", 0).ok());
  module.reset();
  CHECK(fixture.fake->numModules == 0);
  CHECK(fixture.fake->numCalls["cuEventCreate"] == 0);
}

TEST_CASE("a device that goes with its code waits for it") {
  Fixture fixture;
  launchedOnce(fixture, *fixture.device()).reset();
  CHECK(fixture.fake->numModules == 0);
  CHECK(fixture.fake->numEvents == 0);
  CHECK(fixture.fake->numContexts == 0);
  CHECK(fixture.fake->numUnloadedInFlight == 0);
}

TEST_CASE("a driver without events of a context is waited for") {
  Fixture fixture(JITK_FAKE_CUDA_OLD);
  std::shared_ptr<Device> device = fixture.device();
  launchedOnce(fixture, *device).reset();
  CHECK(fixture.called("cuCtxSynchronize"));
  CHECK(fixture.fake->numModules == 0);
  CHECK(fixture.fake->numUnloadedInFlight == 0);
}

// --- capture

TEST_CASE("loading and unloading neither fail nor spoil a capture of another thread") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  std::shared_ptr<DeviceModule> running = launchedOnce(fixture, *device);
  fixture.fake->capturing = true;
  std::shared_ptr<DeviceModule> module = *device->load(kCode);
  REQUIRE(module->function("kernel", 100'000).ok());
  module.reset();
  fixture.fake->busy = false;
  running.reset(); // no event can be recorded now: it stays
  CHECK(fixture.fake->numModules == 1);
  CHECK_FALSE(fixture.fake->captureInvalidated);
  fixture.fake->capturing = false;
  device->load(kCode)->reset();
  CHECK(fixture.fake->numModules == 0);
  // The thread's own mode is as it was.
  api::CaptureMode mode = api::CU_STREAM_CAPTURE_MODE_GLOBAL;
  (*fixture.driver)->threadExchangeStreamCaptureMode(&mode);
  CHECK(mode == api::CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_CASE("memory is made, written, read and freed while another thread captures") {
  for (const char *path : {JITK_FAKE_CUDA_NEW, JITK_FAKE_CUDA_OLD}) {
    Fixture fixture(path);
    std::shared_ptr<Device> device = fixture.device();
    fixture.fake->capturing = true;
    Result<uint64_t> address = device->allocate(16);
    REQUIRE(address.ok());
    CHECK(device->fill(*address, 0xab, 16).ok());
    uint8_t value = 7;
    CHECK(device->copyToDevice(*address, &value, 1).ok());
    std::array<uint8_t, 16> bytes = {};
    CHECK(device->copyToHost(bytes.data(), *address, bytes.size()).ok());
    CHECK(bytes[0] == 7);
    CHECK(bytes[15] == 0xab);
    CHECK(device->free(*address).ok());
    CHECK_FALSE(fixture.fake->captureInvalidated);
    api::CaptureMode mode = api::CU_STREAM_CAPTURE_MODE_GLOBAL;
    (*fixture.driver)->threadExchangeStreamCaptureMode(&mode);
    CHECK(mode == api::CU_STREAM_CAPTURE_MODE_GLOBAL);
  }
}

TEST_CASE("transfers have a stream of their own, which is made when it is needed and goes with the device") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  uint64_t address = *device->allocate(16);
  CHECK(fixture.fake->numStreams == 0);
  CHECK(device->fill(address, 1, 16).ok());
  CHECK(device->fill(address, 2, 16).ok());
  CHECK(fixture.fake->numStreams == 1);
  CHECK(device->free(address).ok());
  device.reset();
  CHECK(fixture.fake->numStreams == 0);
}

TEST_CASE("a context that is gone has taken the stream of transfers along") {
  Fixture fixture;
  std::shared_ptr<Device> device =
      *CudaDevice::open(fixture.driver, 0, static_cast<api::CUcontext>(fixture.engineContextOf(0)));
  uint64_t address = *device->allocate(16);
  CHECK(device->fill(address, 1, 16).ok());
  CHECK(device->free(address).ok());
  fixture.fake->failures["cuCtxPushCurrent_v2"] = 709;
  fixture.fake->calls.clear();
  device.reset();
  CHECK_FALSE(fixture.called("cuStreamDestroy_v2"));
}

TEST_CASE("a launch under capture makes no call that a capture forbids") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  std::shared_ptr<DeviceModule> module = *device->load(kCode);
  DeviceFunction *function = *module->function("kernel", 0);
  fixture.fake->capturing = true;
  fixture.fake->calls.clear();
  REQUIRE(function->launch(oneBlock(), nullptr).ok());
  CHECK(fixture.fake->calls ==
        std::vector<std::string>{"cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuLaunchKernelEx", "cuCtxPopCurrent_v2"});
  CHECK_FALSE(fixture.fake->captureInvalidated);
}

TEST_CASE("a load that the driver refuses under capture is a status") {
  Fixture fixture;
  std::shared_ptr<Device> device = fixture.device();
  fixture.fake->failures["cuLibraryLoadData"] = 900;
  CHECK(device->load(kCode).status().toString() ==
        "cuLibraryLoadData: error 900; a stream is being captured: prepare before the capture begins");
}

// --- contexts of the engine

TEST_CASE("in a context of the engine all work happens there, and no primary context is held") {
  Fixture fixture;
  auto engine = static_cast<api::CUcontext>(fixture.engineContextOf(0));
  {
    std::shared_ptr<Device> device = *CudaDevice::open(fixture.driver, 0, engine);
    CHECK(fixture.fake->numContexts == 0);
    std::shared_ptr<DeviceModule> module = *device->load(kCode);
    DeviceFunction *function = *module->function("kernel", 0);
    // From a thread whose current context is another one, from one with none, and from the engine's own.
    fixture.contexts->push_back(fixture.engineContextOf(1));
    CHECK(function->launch(oneBlock(), nullptr).ok());
    CHECK(*fixture.contexts == std::vector<void *>{fixture.engineContextOf(1)});
    std::thread([&] { CHECK(function->launch(oneBlock(), nullptr).ok()); }).join();
    fixture.contexts->push_back(engine);
    fixture.fake->calls.clear();
    CHECK(function->launch(oneBlock(), nullptr).ok());
    CHECK_FALSE(fixture.called("cuCtxPushCurrent_v2"));
    REQUIRE(fixture.fake->launches.size() == 3);
    for (const test::FakeLaunch &launch : fixture.fake->launches) {
      CHECK(launch.hadContext);
    }
  }
  CHECK_FALSE(fixture.called("cuDevicePrimaryCtxRetain"));
  CHECK_FALSE(fixture.called("cuDevicePrimaryCtxRelease_v2"));
  CHECK(fixture.fake->numModules == 0);
}

TEST_CASE("a function is called directly with its context current, or in a stream of it") {
  Fixture fixture;
  auto engine = static_cast<api::CUcontext>(fixture.engineContextOf(0));
  std::shared_ptr<Device> device = *CudaDevice::open(fixture.driver, 0, engine);
  std::shared_ptr<DeviceModule> module = *device->load(kCode);
  DeviceFunction *function = *module->function("kernel", 0);
  DirectLaunch direct = function->direct();
  DirectLaunchConfig config = {{1, 1, 1}, {32, 1, 1}, 0, nullptr, direct.programmatic, 1};
  auto answer = [&] { return direct.enqueue(&config, direct.function, nullptr, nullptr); };
  CHECK(answer() == 201); // no context is current
  CHECK(fixture.fake->launches.empty());
  CHECK(function->launch(oneBlock(), nullptr).ok()); // as is to be done then
  int stream = 0;
  config.stream = &stream;
  CHECK(answer() == 0);
  CHECK(fixture.fake->launches.back().programmatic);
  fixture.contexts->push_back(engine);
  config.stream = nullptr;
  CHECK(answer() == 0);
  CHECK(fixture.fake->launches.size() == 3);
}

TEST_CASE("a driver without launch attributes has no direct call") {
  Fixture fixture(JITK_FAKE_CUDA_OLD);
  std::shared_ptr<Device> device = fixture.device();
  std::shared_ptr<DeviceModule> module = *device->load(kCode);
  CHECK_FALSE(bool((*module->function("kernel", 0))->direct().enqueue));
}

TEST_CASE("a context of another device is refused") {
  Fixture fixture;
  auto engine = static_cast<api::CUcontext>(fixture.engineContextOf(1));
  CHECK(CudaDevice::open(fixture.driver, 0, engine).status().toString() ==
        "context must be of the device 0: got one of the device 1");
  fixture.fake->failures["cuCtxPushCurrent_v2"] = 201;
  CHECK(CudaDevice::open(fixture.driver, 1, engine).status().message().starts_with("cuCtxPushCurrent"));
}

TEST_CASE("one device in two contexts has functions of both") {
  Fixture fixture;
  auto engine = static_cast<api::CUcontext>(fixture.engineContextOf(0));
  std::shared_ptr<Device> primary = fixture.device(0), own = *CudaDevice::open(fixture.driver, 0, engine);
  for (const std::shared_ptr<Device> &device : {primary, own}) {
    std::shared_ptr<DeviceModule> module = *device->load(kCode);
    CHECK((*module->function("kernel", 0))->launch(oneBlock(), nullptr).ok());
    CHECK(fixture.fake->launches.back().hadContext);
  }
}

// --- several devices, several threads

TEST_CASE("two devices launch in contexts of their own, from any thread") {
  Fixture fixture;
  std::shared_ptr<Device> devices[] = {fixture.device(0), fixture.device(1)};
  std::vector<std::shared_ptr<DeviceModule>> modules;
  std::vector<DeviceFunction *> functions;
  for (const std::shared_ptr<Device> &device : devices) {
    modules.push_back(*device->load(kCode));
    functions.push_back(*modules.back()->function("kernel", 0));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        CHECK(functions[static_cast<size_t>(round % 2)]->launch(oneBlock(), nullptr).ok());
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  CHECK(fixture.fake->launches.size() == 400);
  CHECK(std::all_of(fixture.fake->launches.begin(), fixture.fake->launches.end(),
                    [](const test::FakeLaunch &launch) { return launch.hadContext; }));
}

/// A kernel of one tensor and one size that is launched plainly, once it was launched in full.
static std::shared_ptr<const Kernel> plainKernel(std::shared_ptr<Device> device) {
  using Kind = Argument::Kind;
  const Expression n = Expression::dimension(0);
  Recipe recipe;
  recipe.dimensions = {"n"};
  recipe.tensors = {"to"};
  recipe.alignments = {4};
  LaunchStep step;
  step.symbol = "plain";
  step.grid = {Expression::binary(Expression::Op::CeilDiv, n, Expression::constant(128)), Expression::constant(1),
               Expression::constant(1)};
  step.threads = 128;
  step.arguments = {{Kind::Tensor, 0, {}}, {Kind::Integer32, 0, n}};
  recipe.steps = {step};
  auto problem = std::make_shared<const Problem>(Description("plain", {{"n", *Dimension::parse("*")}}));
  Entry entry{Key({"plain", device->target().toString(), "build", "", "stub"}), recipe.serialize(), {}, kCode};
  return *Kernel::load(std::move(device), std::move(problem),
                       {std::make_shared<const Entry>(std::move(entry)), Tier::Compiled, 0});
}

TEST_CASE("plain kernels of two devices are enqueued once each, in their own contexts, whatever is current") {
  Fixture fixture;
  fixture.fake->minor[1] = fixture.fake->minor[0];
  fixture.fake->major[1] = fixture.fake->major[0];
  std::shared_ptr<Device> devices[] = {fixture.device(0), fixture.device(1)};
  api::CUcontext contexts[2] = {};
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (int i = 0; i < 2; ++i) {
    (*fixture.driver)->primaryCtxRetain(&contexts[i], i);
    kernels.push_back(plainKernel(devices[i]));
  }
  const std::vector<uint64_t> tensors = {0x1000};
  const std::vector<int64_t> dimensions = {300};
  int stream = 0;
  auto launch = [&](size_t i, void *on) {
    return kernels[i]->launch({.tensors = tensors, .dimensions = dimensions, .scalars = {}, .stream = on});
  };
  for (size_t i = 0; i < 2; ++i) {
    REQUIRE(launch(i, nullptr).ok()); // in full
  }
  for (int current : {-1, 0, 1}) {
    CAPTURE(current);
    std::vector<void *> stack;
    if (current >= 0) {
      stack.push_back(contexts[current]);
    }
    *fixture.contexts = stack;
    for (int i = 0; i < 2; ++i) {
      CAPTURE(i);
      for (void *on : {static_cast<void *>(nullptr), static_cast<void *>(&stream)}) {
        fixture.fake->launches.clear();
        fixture.fake->numCalls.clear();
        CHECK(launch(size_t(i), on).ok());
        REQUIRE(fixture.fake->launches.size() == 1);
        CHECK(fixture.fake->launches[0].grid[0] == 3);
        CHECK(fixture.fake->launches[0].stream == on);
        // An address and a number, in one piece unless the driver refused that.
        const std::vector<uint8_t> packed = {0, 0x10, 0, 0, 0, 0, 0, 0, 44, 1, 0, 0};
        CHECK(fixture.fake->launches[0].parameters == (!on && current != i ? std::vector<uint8_t>() : packed));
        // The default stream is the current context's: there the driver is asked once more, in the kernel's own.
        bool refused = !on && current != i;
        CHECK(fixture.fake->numCalls["cuLaunchKernelEx"] == (refused ? 2 : 1));
        CHECK((on || fixture.fake->launches[0].hadContext));
        CHECK(*fixture.contexts == stack);
      }
    }
  }
  fixture.contexts->clear();
}

TEST_SUITE_END();
