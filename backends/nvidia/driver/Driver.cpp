#include "backends/nvidia/driver/Driver.h"

#include <dlfcn.h>

namespace jitk::nvidia {

using namespace api;

/// Fills the table; returns the first required symbol that is missing, or null.
static const char *findFunctions(void *library, Functions &functions) {
  const char *missing = nullptr;
#define JITK_FIND(name, symbol, parameters)                                                                            \
  functions.name = reinterpret_cast<decltype(functions.name)>(::dlsym(library, #symbol));
#define JITK_FIND_REQUIRED(name, symbol, parameters)                                                                   \
  JITK_FIND(name, symbol, parameters)                                                                                  \
  if (!functions.name && !missing) {                                                                                   \
    missing = #symbol;                                                                                                 \
  }
  JITK_CUDA_FUNCTIONS(JITK_FIND_REQUIRED, JITK_FIND)
#undef JITK_FIND_REQUIRED
#undef JITK_FIND
  return missing;
}

Result<std::shared_ptr<const Driver>> Driver::open(const std::string &path) {
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    return unavailable(std::string("CUDA driver cannot be opened: ") + ::dlerror());
  }
  std::shared_ptr<Driver> driver(new Driver);
  if (const char *missing = findFunctions(library, driver->functions_)) {
    return unavailable("CUDA driver is too old: " + path + " has no " + missing);
  }
  // Whatever it answers, such as an error that has no name, the machine has no driver that works.
  if (Status begun = driver->check((*driver)->init(0), "cuInit"); !begun.ok()) {
    return unavailable(std::string(begun.message()));
  }
  if (Status asked = driver->check((*driver)->driverGetVersion(&driver->version_), "cuDriverGetVersion"); !asked.ok()) {
    return unavailable(std::string(asked.message()));
  }
  return std::shared_ptr<const Driver>(std::move(driver));
}

Status Driver::check(CUresult result, std::string_view function) const {
  if (result == CUDA_SUCCESS) {
    return okStatus();
  }
  const char *name = nullptr;
  const char *text = nullptr;
  (void)functions_.getErrorName(result, &name);
  (void)functions_.getErrorString(result, &text);
  std::string message(function);
  message += ": " + (name ? std::string(name) : "error " + std::to_string(result));
  if (text) {
    message += std::string(": ") + text;
  }
  return {statusCodeOf(result), std::move(message)};
}

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

StatusCode statusCodeOf(CUresult result) {
  switch (result) {
  case CUDA_SUCCESS:
    return StatusCode::Ok;
  case CUDA_ERROR_INVALID_VALUE:
  case CUDA_ERROR_INVALID_CONTEXT:
  case CUDA_ERROR_INVALID_HANDLE:
    // Addresses and streams are the caller's; what is ours was checked before.
    return StatusCode::InvalidArgument;
  case CUDA_ERROR_OUT_OF_MEMORY:
    return StatusCode::OutOfMemory;
  case CUDA_ERROR_NOT_INITIALIZED:
  case CUDA_ERROR_STUB_LIBRARY:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
  case CUDA_ERROR_SYSTEM_NOT_READY:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    return StatusCode::Unavailable;
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_INVALID_SOURCE:
  case CUDA_ERROR_NOT_SUPPORTED:
    return StatusCode::Unsupported;
  case CUDA_ERROR_DEINITIALIZED:
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
    return StatusCode::DeviceLost;
  default:
    break;
  }
  if (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED) {
    return StatusCode::DeviceLost; // faults of a kernel, after which the context is unusable
  }
  if (result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_CAPTURED_EVENT) {
    return StatusCode::InvalidArgument; // the stream is being captured in a way that forbids the call
  }
  return StatusCode::Internal;
}

} // namespace jitk::nvidia
