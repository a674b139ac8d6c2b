// Each function of the driver's table, failing in many ways: it is one status that names it, or it does no harm.

#include "backends/nvidia/driver/CudaDevice.h"
#include "tests/fakes/FakeCuda.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace jitk;
using namespace jitk::nvidia;
using jitk::test::FakeCuda;

TEST_SUITE_BEGIN("driver/EachCall");

namespace {

const std::vector<uint8_t> kCode = {0x7f, 'E', 'L', 'F'};

constexpr const char *kSymbols[] = {
#define JITK_SYMBOL(name, symbol, parameters) #symbol,
    JITK_CUDA_FUNCTIONS(JITK_SYMBOL, JITK_SYMBOL)
#undef JITK_SYMBOL
};

/// Failures of these do not matter: a name for an error, a thread's context or mode put back, code that goes.
const std::set<std::string> kHarmless = {
    "cuGetErrorName",
    "cuGetErrorString",
    "cuCtxGetCurrent",
    "cuCtxPopCurrent_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventQuery",
    "cuCtxRecordEvent",
    "cuStreamDestroy_v2",
    "cuModuleUnload",
    "cuLibraryUnload",
    "cuThreadExchangeStreamCaptureMode",
    "cuDevicePrimaryCtxRelease_v2",
};

struct Answer {
  int code;
  StatusCode meaning;
};

constexpr Answer kAnswers[] = {
    {1, StatusCode::InvalidArgument},   {2, StatusCode::OutOfMemory},       {3, StatusCode::Unavailable},
    {34, StatusCode::Unavailable},      {46, StatusCode::Unavailable},      {100, StatusCode::Unavailable},
    {101, StatusCode::Unavailable},     {200, StatusCode::Unsupported},     {201, StatusCode::InvalidArgument},
    {209, StatusCode::Unsupported},     {214, StatusCode::DeviceLost},      {218, StatusCode::Unsupported},
    {222, StatusCode::Unsupported},     {400, StatusCode::InvalidArgument}, {500, StatusCode::Internal},
    {600, StatusCode::Internal},        {700, StatusCode::DeviceLost},      {701, StatusCode::Internal},
    {702, StatusCode::DeviceLost},      {709, StatusCode::DeviceLost},      {719, StatusCode::DeviceLost},
    {801, StatusCode::Unsupported},     {802, StatusCode::Unavailable},     {803, StatusCode::Unavailable},
    {900, StatusCode::InvalidArgument}, {999, StatusCode::Internal},
};

/// The fake driver of one kind, and all that is asked of a device from its opening to its end.
struct Life {
  explicit Life(const char *library) : path(library) {
    void *opened = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(opened);
    fake = reinterpret_cast<decltype(&fake_cuda)>(::dlsym(opened, "fake_cuda"))();
    contexts = reinterpret_cast<decltype(&fake_cuda_contexts)>(::dlsym(opened, "fake_cuda_contexts"))();
    engineContext =
        reinterpret_cast<decltype(&fake_cuda_engine_context)>(::dlsym(opened, "fake_cuda_engine_context"))(0);
    isOld = std::string(path) == JITK_FAKE_CUDA_OLD;
  }

  /// The first failure.
  Status live(void *context) {
    *fake = FakeCuda();
    contexts->clear();
    fake->failures = failures;
    JITK_ASSIGN(std::shared_ptr<const Driver> driver, Driver::open(path));
    JITK_ASSIGN(std::shared_ptr<Device> device, CudaDevice::open(driver, 0, static_cast<api::CUcontext>(context)));
    JITK_TRY(useMemory(*device));
    JITK_TRY(useCode(*device));
    return device->synchronize();
  }

  static Status useMemory(Device &device) {
    JITK_ASSIGN(uint64_t address, device.allocate(16));
    std::array<uint8_t, 16> bytes = {};
    Status used = [&]() -> Status {
      JITK_TRY(device.fill(address, 1, bytes.size()));
      JITK_TRY(device.copyToDevice(address, bytes.data(), 8));
      return device.copyToHost(bytes.data(), address, bytes.size());
    }();
    Status freed = device.free(address);
    if (!freed.ok()) {
      std::free(reinterpret_cast<void *>(address)); // the fake's own way
    }
    return used.ok() ? std::move(freed) : std::move(used);
  }

  /// Launches code that goes while it runs, and loads other code, before which what has finished is unloaded.
  Status useCode(Device &device) {
    if (!isOld) {
      alignas(64) std::array<uint8_t, 128> map;
      const uint64_t sizes[] = {64, 64}, strides[] = {128};
      const uint32_t box[] = {64, 64};
      JITK_TRY(device.encodeTensorMap(map.data(), 6, 4096, sizes, strides, box, 3, L2Promotion::None));
    }
    uint64_t value = 0;
    void *arguments[] = {&value};
    LaunchParameters parameters;
    parameters.threads = 128;
    parameters.arguments = arguments;
    JITK_ASSIGN(std::shared_ptr<DeviceModule> module, device.load(kCode));
    JITK_ASSIGN(DeviceFunction * function, module->function("kernel", 100'000));
    fake->busy = true;
    JITK_TRY(function->launch(parameters, nullptr));
    module.reset();
    fake->busy = false;
    JITK_ASSIGN(module, device.load(kCode));
    return okStatus();
  }

  const char *const path;
  FakeCuda *fake;
  std::vector<void *> *contexts; ///< of this thread
  void *engineContext;
  bool isOld;
  std::map<std::string, int> failures; ///< of the next life
};

/// What errors are called: versions of a function are not told apart.
std::string nameOf(const std::string &symbol) { return symbol.substr(0, symbol.find("_v2")); }

bool begins(const std::string &symbol) { return symbol == "cuInit" || symbol == "cuDriverGetVersion"; }

} // namespace

TEST_CASE("each call of the driver that fails is one status that names it, or does no harm") {
  std::set<std::string> called;
  for (const char *path : {JITK_FAKE_CUDA_NEW, JITK_FAKE_CUDA_OLD}) {
    CAPTURE(path);
    Life life(path);
    for (void *context : {static_cast<void *>(nullptr), life.engineContext}) {
      CAPTURE(context);
      REQUIRE(life.live(context).toString() == okStatus().toString());
      CHECK(life.fake->numModules == 0);
      std::set<std::string> ofThisLife;
      for (const auto &[symbol, calls] : life.fake->numCalls) {
        ofThisLife.insert(symbol);
      }
      // What names an error is called after one; contexts and modes are looked at only where a test remembers calls.
      ofThisLife.insert({"cuGetErrorName", "cuGetErrorString"});
      for (const std::string &symbol : ofThisLife) {
        CAPTURE(symbol);
        called.insert(symbol);
        for (const Answer &answer : kAnswers) {
          CAPTURE(answer.code);
          life.failures = {{symbol, answer.code}};
          Status status = life.live(context);
          if (kHarmless.contains(symbol)) {
            CHECK(status.toString() == okStatus().toString());
          } else {
            CHECK(status.code() == (begins(symbol) ? StatusCode::Unavailable : answer.meaning));
            CHECK(status.message().starts_with(nameOf(symbol) + ": "));
          }
          // Whatever failed, what was got is given back, unless that is what failed.
          CHECK(life.fake->numModules == (symbol == "cuModuleUnload" || symbol == "cuLibraryUnload" ? 2 : 0));
          CHECK(life.fake->numContexts == (symbol == "cuDevicePrimaryCtxRelease_v2" ? 1 : 0));
          CHECK(life.fake->numEvents == (symbol == "cuEventDestroy_v2" ? 1 : 0));
          bool isLost = symbol == "cuEventQuery" && answer.meaning == StatusCode::DeviceLost; // then nothing runs
          CHECK(life.fake->numStreams == (symbol == "cuStreamDestroy_v2" ? 1 : 0));
          CHECK(life.fake->numUnloadedInFlight == (isLost ? 1 : 0));
          CHECK((life.contexts->empty() || symbol == "cuCtxPopCurrent_v2"));
        }
      }
      life.failures.clear();
      CHECK(life.live(context).ok());
    }
  }
  for (const char *symbol : kSymbols) {
    CAPTURE(symbol);
    CHECK(called.contains(symbol));
  }
}

TEST_CASE("an error without a name is told by its number") {
  Life life(JITK_FAKE_CUDA_NEW);
  life.failures = {{"cuMemAlloc_v2", 2}, {"cuGetErrorName", 1}, {"cuGetErrorString", 1}};
  CHECK(life.live(nullptr).toString() == "cuMemAlloc: error 2; while allocating 16 bytes");
}

TEST_SUITE_END();
