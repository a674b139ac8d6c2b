#include "backends/nvidia/driver/CudaModule.h"

#include "backends/nvidia/driver/CubinNote.h"
#include "backends/nvidia/driver/CurrentContext.h"

#include <algorithm>

namespace jitk::nvidia {

using namespace api;

// Dynamic shared memory up to here needs no opting in.
static constexpr uint32_t kDefaultSharedBytes = 48 * 1024;

// --- loading

/// What a refusal to load means: under capture that loading is not for then, of newer code that the driver may not know
/// it.
static Status explained(Status status, CUresult result, const Driver &driver, int codeVersion) {
  if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT) {
    return std::move(status).withNote("a stream is being captured: prepare before the capture begins");
  }
  if (codeVersion > driver.version()) {
    return std::move(status).withNote("the code is of CUDA " + versionText(codeVersion) + ", the driver of CUDA " +
                                      versionText(driver.version()));
  }
  return status;
}

/// A driver takes code of its own major release, and of earlier ones.
static Status checkVersion(const Driver &driver, int codeVersion) {
  if (codeVersion / 1000 <= driver.version() / 1000) {
    return okStatus();
  }
  const int least = codeVersion / 1000 * 1000;
  return unavailable("CUDA driver must be of CUDA " + versionText(least) +
                     " or newer for code that an assembler of CUDA " + versionText(codeVersion) + " made: got " +
                     versionText(driver.version()))
      .withNote("install a newer driver, or an older assembler, or have the driver assemble (\"driver\")");
}

Result<std::shared_ptr<DeviceModule>> CudaModule::load(std::shared_ptr<DeviceContext> context,
                                                       std::span<const uint8_t> code) {
  context->collect();
  const Driver &driver = context->driver();
  const int codeVersion = cudaVersionOf(code);
  JITK_TRY(checkVersion(driver, codeVersion));
  CurrentContext current(driver, context->handle());
  JITK_TRY(current.status());
  RelaxedCapture relaxed(driver);
  std::shared_ptr<CudaModule> module(new CudaModule(std::move(context)));
  LoadedCode &loaded = module->code_;
  if (driver.hasLibraries()) {
    CUresult result = driver->libraryLoadData(&loaded.library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    JITK_TRY(explained(driver.check(result, "cuLibraryLoadData"), result, driver, codeVersion));
  } else {
    CUresult result = driver->moduleLoadData(&loaded.module, code.data());
    JITK_TRY(explained(driver.check(result, "cuModuleLoadData"), result, driver, codeVersion));
  }
  return std::shared_ptr<DeviceModule>(std::move(module));
}

CudaModule::~CudaModule() {
  bool used = std::any_of(functions_.begin(), functions_.end(),
                          [](const auto &item) { return item.second && item.second->used(); });
  if (code_.library || code_.module) {
    context_->retire(code_, used);
  }
}

Status CudaModule::find(const std::string &symbol, CUfunction &function) const {
  const Driver &driver = context_->driver();
  if (code_.module) {
    return driver.check(driver->moduleGetFunction(&function, code_.module, symbol.c_str()), "cuModuleGetFunction");
  }
  CUkernel kernel = nullptr;
  JITK_TRY(driver.check(driver->libraryGetKernel(&kernel, code_.library, symbol.c_str()), "cuLibraryGetKernel"));
  return driver.check(driver->kernelGetFunction(&function, kernel), "cuKernelGetFunction");
}

Status CudaModule::prepare(CUfunction function, uint32_t sharedBytes) const {
  const Driver &driver = context_->driver();
  if (sharedBytes > kDefaultSharedBytes) {
    JITK_TRY(driver.check(driver->funcSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                   static_cast<int>(sharedBytes)),
                          "cuFuncSetAttribute"),
             "while asking for " + std::to_string(sharedBytes) + " bytes of shared memory");
  }
  // Without lazy loading left to happen, a first launch neither loads nor waits for the device.
  if (driver->funcLoad) {
    JITK_TRY(driver.check(driver->funcLoad(function), "cuFuncLoad"));
  }
  return okStatus();
}

Result<DeviceFunction *> CudaModule::function(const std::string &symbol, uint32_t sharedBytes) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<CudaFunction> &known = functions_[{symbol, sharedBytes}];
  if (!known) {
    CurrentContext current(context_->driver(), context_->handle());
    JITK_TRY(current.status());
    RelaxedCapture relaxed(context_->driver());
    CUfunction function = nullptr;
    JITK_TRY(find(symbol, function), "while looking for kernel " + symbol);
    JITK_TRY(prepare(function, sharedBytes), "while preparing kernel " + symbol);
    known = std::make_unique<CudaFunction>(*context_, function);
  }
  return static_cast<DeviceFunction *>(known.get());
}

// --- launching

/// Fills in the attributes that the launch has; returns how many.
static unsigned fillAttributes(const LaunchParameters &parameters, LaunchAttribute *attributes) {
  unsigned count = 0;
  if (parameters.isCluster()) {
    const auto &cluster = parameters.cluster;
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count++].value.clusterDim = {cluster[0], cluster[1], cluster[2]};
  }
  if (parameters.programmaticLaunch) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  return count;
}

/// Null and the driver's other names for streams that each context has without their being made: those of the current
/// context are meant.
static bool isOfCurrentContext(StreamHandle stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

Status CudaFunction::launch(const LaunchParameters &parameters, StreamHandle stream) {
  if (!used()) {
    used_.store(true, std::memory_order_relaxed); // once, so that launches of several threads share the line
  }
  const Driver &driver = context_.driver();
  LaunchAttribute attributes[2];
  unsigned numAttributes = fillAttributes(parameters, attributes);
  if (driver->launchKernelEx) {
    LaunchConfig config = {
        {parameters.grid[0], parameters.grid[1], parameters.grid[2]},
        {parameters.threads, parameters.threadsY, parameters.threadsZ},
        parameters.sharedBytes,
        stream,
        attributes,
        numAttributes,
    };
    auto launchEx = [&] { return driver->launchKernelEx(&config, function_, parameters.arguments, nullptr); };
    return isOfCurrentContext(stream) ? callWithin(driver, context_.handle(), "cuLaunchKernelEx", launchEx)
                                      : callAnywhere(driver, context_.handle(), "cuLaunchKernelEx", launchEx);
  }
  if (parameters.isCluster()) {
    return unsupported("clusters need a driver of CUDA 11.8 or newer: got " + std::to_string(driver.version()));
  }
  return callWithin(driver, context_.handle(), "cuLaunchKernel", [&] {
    return driver->launchKernel(function_, parameters.grid[0], parameters.grid[1], parameters.grid[2],
                                parameters.threads, parameters.threadsY, parameters.threadsZ, parameters.sharedBytes,
                                static_cast<CUstream>(stream), parameters.arguments, nullptr);
  });
}

/// The driver reads it only.
static LaunchAttribute *programmaticAttribute() {
  static LaunchAttribute attribute = [] {
    LaunchAttribute made = {};
    LaunchParameters parameters;
    parameters.programmaticLaunch = true;
    (void)fillAttributes(parameters, &made);
    return made;
  }();
  return &attribute;
}

DirectLaunch CudaFunction::direct() const {
  return {context_.driver()->launchKernelEx, function_, programmaticAttribute()};
}

} // namespace jitk::nvidia
