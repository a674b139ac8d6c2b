// The driver's linker, for images with neither nvJitLink nor ptxas. It needs a device.

#include "backends/nvidia/codegen/AssemblerTools.h"
#include "src/support/Env.h"

namespace jitk::nvidia {

namespace {
using Context = void *;
using LinkState = void *;
using DeviceOrdinal = int;

// Values of CUjit_option and CUjitInputType.
enum JitOption : int {
  InfoLogBuffer = 3,
  InfoLogBufferSize = 4,
  ErrorLogBuffer = 5,
  ErrorLogBufferSize = 6,
  OptimizationLevel = 7,
  JitTarget = 9,
  LogVerbose = 12,
  GenerateLineInfo = 13,
};
constexpr int inputPtx = 1;
constexpr uintptr_t acceleratedTarget = 0x10000; ///< added to the capability for an `a` target

struct DriverFunctions {
  int (*init)(unsigned flags) = nullptr;
  int (*version)(int *) = nullptr;
  int (*deviceGet)(DeviceOrdinal *, int ordinal) = nullptr;
  int (*retainContext)(Context *, DeviceOrdinal) = nullptr;
  int (*releaseContext)(DeviceOrdinal) = nullptr;
  int (*pushContext)(Context) = nullptr;
  int (*popContext)(Context *) = nullptr;
  int (*linkCreate)(unsigned numOptions, JitOption *options, void **values, LinkState *) = nullptr;
  int (*linkAddData)(LinkState, int type, void *data, size_t size, const char *name, unsigned numOptions,
                     JitOption *options, void **values) = nullptr;
  int (*linkComplete)(LinkState, void **cubin, size_t *size) = nullptr;
  int (*linkDestroy)(LinkState) = nullptr;

  bool resolve(const SharedLibrary &library) {
    return library.resolve(init, "cuInit") && library.resolve(version, "cuDriverGetVersion") &&
           library.resolve(deviceGet, "cuDeviceGet") && library.resolve(retainContext, "cuDevicePrimaryCtxRetain") &&
           library.resolve(releaseContext, "cuDevicePrimaryCtxRelease_v2") &&
           library.resolve(pushContext, "cuCtxPushCurrent_v2") && library.resolve(popContext, "cuCtxPopCurrent_v2") &&
           library.resolve(linkCreate, "cuLinkCreate_v2") && library.resolve(linkAddData, "cuLinkAddData_v2") &&
           library.resolve(linkComplete, "cuLinkComplete") && library.resolve(linkDestroy, "cuLinkDestroy");
  }
};

/// Makes the primary context of the first device current for as long as the object lives.
class CurrentContext {
public:
  explicit CurrentContext(const DriverFunctions &driver) : driver_(driver) {
    Context context = nullptr;
    held_ = driver.deviceGet(&device_, 0) == 0 && driver.retainContext(&context, device_) == 0;
    pushed_ = held_ && driver.pushContext(context) == 0;
  }
  ~CurrentContext() {
    Context ignored = nullptr;
    if (pushed_) {
      driver_.popContext(&ignored);
    }
    if (held_) {
      driver_.releaseContext(device_);
    }
  }
  CurrentContext(const CurrentContext &) = delete;
  explicit operator bool() const { return pushed_; }

private:
  const DriverFunctions &driver_;
  DeviceOrdinal device_ = 0;
  bool held_ = false, pushed_ = false;
};

class DriverAssembler : public Assembler {
public:
  DriverAssembler(SharedLibrary library, const DriverFunctions &driver, int version)
      : library_(std::move(library)), driver_(driver),
        identity_("driver " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10)) {}

  std::string identity() const override { return identity_; }

  Result<Cubin> assemble(std::string_view ptx, const Target &target, const AssembleOptions &options) const override {
    CurrentContext context(driver_);
    if (!context) {
      return unavailable("the driver's linker needs a device").atStage("assemble");
    }
    std::string text(ptx), info(16384, '\0'), error(16384, '\0');
    uintptr_t architecture = target.capability + (target.archSpecific ? acceleratedTarget : 0);
    JitOption names[] = {InfoLogBuffer,     InfoLogBufferSize, ErrorLogBuffer, ErrorLogBufferSize,
                         OptimizationLevel, JitTarget,         LogVerbose,     GenerateLineInfo};
    void *values[] = {info.data(),
                      reinterpret_cast<void *>(info.size()),
                      error.data(),
                      reinterpret_cast<void *>(error.size()),
                      reinterpret_cast<void *>(uintptr_t(4)),
                      reinterpret_cast<void *>(architecture),
                      reinterpret_cast<void *>(uintptr_t(1)),
                      reinterpret_cast<void *>(uintptr_t(options.lineInfo))};
    LinkState link = nullptr;
    void *code = nullptr;
    size_t size = 0;
    int failure = driver_.linkCreate(std::size(names), names, values, &link);
    failure =
        failure ? failure
                : driver_.linkAddData(link, inputPtx, text.data(), text.size() + 1, "kernel.ptx", 0, nullptr, nullptr);
    failure = failure ? failure : driver_.linkComplete(link, &code, &size);
    Cubin cubin{.log = info.c_str()};
    if (!failure) {
      const auto *bytes = static_cast<const uint8_t *>(code);
      cubin.code.assign(bytes, bytes + size);
    }
    if (link) {
      driver_.linkDestroy(link);
    }
    if (failure) {
      return internalError("the driver's linker refused the kernel: error " + std::to_string(failure))
          .withToolOutput(std::string(error.c_str()) + info.c_str())
          .atStage("assemble");
    }
    JITK_TRY(readLog(cubin));
    return cubin;
  }

private:
  SharedLibrary library_;
  DriverFunctions driver_;
  std::string identity_;
};
} // namespace

Result<std::shared_ptr<const Assembler>> openDriverLinker(const std::string &path, unsigned ptxVersion) {
  std::string place = path.empty() ? environment().driverLibrary.value_or("libcuda.so.1") : path;
  SharedLibrary library(place);
  DriverFunctions driver;
  if (!library || !driver.resolve(library)) {
    return unavailable("no CUDA driver: searched " + place).atStage("assemble");
  }
  int version = 0;
  if (driver.init(0) != 0 || driver.version(&version) != 0) {
    return unavailable("the CUDA driver does not start: " + place).atStage("assemble");
  }
  auto assembler = std::make_shared<const DriverAssembler>(std::move(library), driver, version);
  JITK_TRY(checkPtxVersion(*assembler, place, ptxVersion));
  return std::shared_ptr<const Assembler>(std::move(assembler));
}

} // namespace jitk::nvidia
