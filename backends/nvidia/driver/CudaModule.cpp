#include "backends/nvidia/driver/CudaModule.h"

#include "backends/nvidia/driver/CurrentContext.h"

namespace jitk::nvidia {

using namespace api;

// Dynamic shared memory up to here needs no opting in.
static constexpr uint32_t kDefaultSharedBytes = 48 * 1024;

Result<std::shared_ptr<const PrimaryContext>> PrimaryContext::retain(std::shared_ptr<const Driver> driver,
                                                                     CUdevice device) {
  CUcontext context = nullptr;
  JITK_TRY(driver->check((*driver)->primaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"));
  return std::make_shared<const PrimaryContext>(std::move(driver), device, context);
}

// --- loading

Result<std::shared_ptr<DeviceModule>> CudaModule::load(std::shared_ptr<const PrimaryContext> context,
                                                       std::span<const uint8_t> code) {
  const Driver &driver = context->driver();
  CurrentContext current(driver, context->handle());
  JITK_TRY(current.status());
  std::shared_ptr<CudaModule> module(new CudaModule(std::move(context)));
  if (driver.hasLibraries()) {
    JITK_TRY(
        driver.check(driver->libraryLoadData(&module->library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                     "cuLibraryLoadData"));
  } else {
    JITK_TRY(driver.check(driver->moduleLoadData(&module->module_, code.data()), "cuModuleLoadData"));
  }
  return std::shared_ptr<DeviceModule>(std::move(module));
}

CudaModule::~CudaModule() {
  const Driver &driver = context_->driver();
  CurrentContext current(driver, context_->handle());
  // Nobody is left to tell: at the end of a process the driver may be gone already.
  if (library_) {
    (void)driver->libraryUnload(library_);
  }
  if (module_) {
    (void)driver->moduleUnload(module_);
  }
}

Status CudaModule::find(const std::string &symbol, CUfunction &function) const {
  const Driver &driver = context_->driver();
  if (module_) {
    return driver.check(driver->moduleGetFunction(&function, module_, symbol.c_str()), "cuModuleGetFunction");
  }
  CUkernel kernel = nullptr;
  JITK_TRY(driver.check(driver->libraryGetKernel(&kernel, library_, symbol.c_str()), "cuLibraryGetKernel"));
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
  const auto &cluster = parameters.cluster;
  if (cluster[0] * cluster[1] * cluster[2] != 1) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count++].value.clusterDim = {cluster[0], cluster[1], cluster[2]};
  }
  if (parameters.programmaticLaunch) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[count++].value.programmaticStreamSerializationAllowed = 1;
  }
  return count;
}

Status CudaFunction::launch(const LaunchParameters &parameters, StreamHandle stream) {
  const Driver &driver = context_.driver();
  CurrentContext current(driver, context_.handle());
  JITK_TRY(current.status());
  LaunchAttribute attributes[2];
  unsigned numAttributes = fillAttributes(parameters, attributes);
  if (driver->launchKernelEx) {
    LaunchConfig config = {
        parameters.grid[0],
        parameters.grid[1],
        parameters.grid[2],
        parameters.threads,
        1,
        1,
        parameters.sharedBytes,
        static_cast<CUstream>(stream),
        attributes,
        numAttributes,
    };
    return driver.check(driver->launchKernelEx(&config, function_, parameters.arguments, nullptr), "cuLaunchKernelEx");
  }
  if (numAttributes != 0) {
    return unsupported("clusters and programmatic launch need a driver of CUDA 11.8 or newer: got " +
                       std::to_string(driver.version()));
  }
  return driver.check(driver->launchKernel(function_, parameters.grid[0], parameters.grid[1], parameters.grid[2],
                                           parameters.threads, 1, 1, parameters.sharedBytes,
                                           static_cast<CUstream>(stream), parameters.arguments, nullptr),
                      "cuLaunchKernel");
}

} // namespace jitk::nvidia
