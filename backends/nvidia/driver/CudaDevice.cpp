#include "backends/nvidia/driver/CudaDevice.h"

#include "backends/nvidia/driver/CurrentContext.h"
#include "src/support/Env.h"

#include <algorithm>
#include <charconv>
#include <mutex>

namespace jitk::nvidia {

using namespace api;

/// The first driver that takes code which this library makes for such a device.
static int leastDriver(uint32_t capability) {
  struct Architecture {
    uint32_t capability;
    int driver;
  };
  // Later than the device's own first driver where its `a` form came later: sm_90a.
  static constexpr Architecture architectures[] = {{80, 11000},  {86, 11010},  {87, 11040},  {89, 11080}, {90, 12000},
                                                   {100, 12070}, {103, 12090}, {120, 12080}, {121, 12090}};
  for (const Architecture &known : architectures) {
    if (known.capability == capability) {
      return known.driver;
    }
  }
  return 0;
}

Result<std::shared_ptr<Device>> CudaDevice::open(std::shared_ptr<const Driver> driver, int ordinal,
                                                 CUcontext engineContext) {
  int count = 0;
  JITK_TRY(driver->check((*driver)->deviceGetCount(&count), "cuDeviceGetCount"));
  if (ordinal < 0 || ordinal >= count) {
    return unavailable("CUDA device must be one of " + std::to_string(count) + ": got cuda:" + std::to_string(ordinal));
  }
  CUdevice device = 0;
  JITK_TRY(driver->check((*driver)->deviceGet(&device, ordinal), "cuDeviceGet"));
  int major = 0, minor = 0, multiprocessors = 0;
  JITK_TRY(driver->check((*driver)->deviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
                         "cuDeviceGetAttribute"));
  JITK_TRY(driver->check((*driver)->deviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
                         "cuDeviceGetAttribute"));
  JITK_TRY(
      driver->check((*driver)->deviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
                    "cuDeviceGetAttribute"));
  char name[256] = {};
  JITK_TRY(driver->check((*driver)->deviceGetName(name, sizeof name - 1, device), "cuDeviceGetName"));

  Target target;
  target.kind = Target::Kind::Cuda;
  target.capability = static_cast<uint32_t>(10 * major + minor);
  // Code is made for the very device, so its architecture-specific instructions may be used.
  target.archSpecific = target.capability >= 90;
  if (int least = leastDriver(target.capability); driver->version() < least) {
    return unavailable("CUDA driver is too old for " + target.architecture() + ": must be of CUDA " +
                       versionText(least) + " or newer: got " + versionText(driver->version()));
  }
  JITK_ASSIGN(std::shared_ptr<DeviceContext> context,
              engineContext ? DeviceContext::borrow(std::move(driver), device, engineContext)
                            : DeviceContext::retainPrimary(std::move(driver), device));
  return std::shared_ptr<Device>(new CudaDevice(std::move(context), ordinal, target, name, uint32_t(multiprocessors)));
}

Result<std::shared_ptr<DeviceModule>> CudaDevice::load(std::span<const uint8_t> code) {
  return CudaModule::load(context_, code);
}

Result<uint64_t> CudaDevice::allocate(size_t bytes) {
  CurrentContext current(driver(), context_->handle());
  JITK_TRY(current.status());
  RelaxedCapture relaxed(driver());
  CUdeviceptr address = 0;
  // The driver refuses zero bytes; the caller gets an address all the same.
  JITK_TRY(driver().check(driver()->memAlloc(&address, std::max<size_t>(bytes, 1)), "cuMemAlloc"),
           "while allocating " + std::to_string(bytes) + " bytes");
  return uint64_t{address};
}

Status CudaDevice::free(uint64_t address) {
  CurrentContext current(driver(), context_->handle());
  JITK_TRY(current.status());
  RelaxedCapture relaxed(driver());
  return driver().check(driver()->memFree(address), "cuMemFree");
}

template <typename Enqueue> Status CudaDevice::transfer(const char *name, Enqueue enqueue) {
  CurrentContext current(driver(), context_->handle());
  JITK_TRY(current.status());
  RelaxedCapture relaxed(driver());
  JITK_ASSIGN(CUstream stream, context_->transfers());
  JITK_TRY(driver().check(enqueue(stream), name));
  return driver().check(driver()->streamSynchronize(stream), "cuStreamSynchronize");
}

Status CudaDevice::copyToDevice(uint64_t destination, const void *source, size_t bytes) {
  return bytes == 0 ? okStatus() : transfer("cuMemcpyHtoDAsync", [&](CUstream stream) {
    return driver()->memcpyHtoD(destination, source, bytes, stream);
  });
}

Status CudaDevice::copyToHost(void *destination, uint64_t source, size_t bytes) {
  return bytes == 0 ? okStatus() : transfer("cuMemcpyDtoHAsync", [&](CUstream stream) {
    return driver()->memcpyDtoH(destination, source, bytes, stream);
  });
}

Status CudaDevice::fill(uint64_t destination, uint8_t value, size_t bytes) {
  return bytes == 0 ? okStatus() : transfer("cuMemsetD8Async", [&](CUstream stream) {
    return driver()->memsetD8(destination, value, bytes, stream);
  });
}

Status CudaDevice::encodeTensorMap(void *map, uint32_t elementType, uint64_t address, std::span<const uint64_t> sizes,
                                   std::span<const uint64_t> strides, std::span<const uint32_t> box, uint32_t swizzle,
                                   L2Promotion promotion) {
  if (!driver()->tensorMapEncodeTiled) {
    return unsupported("tensor maps need a driver of CUDA 12 or newer: got " + std::to_string(driver().version()));
  }
  // No interleaving; zeros outside.
  enum { InterleaveNone = 0, FillZero = 0 };
  static constexpr uint32_t kElementStrides[] = {1, 1, 1, 1, 1};
  // The driver wants a context, whichever, although it encodes on the host.
  return callAnywhere(driver(), context_->handle(), "cuTensorMapEncodeTiled", [&] {
    return driver()->tensorMapEncodeTiled(map, static_cast<int>(elementType), static_cast<uint32_t>(sizes.size()),
                                          reinterpret_cast<void *>(address), sizes.data(), strides.data(), box.data(),
                                          kElementStrides, InterleaveNone, static_cast<int>(swizzle),
                                          static_cast<int>(promotion), FillZero);
  });
}

Status CudaDevice::synchronize() {
  CurrentContext current(driver(), context_->handle());
  JITK_TRY(current.status());
  return driver().check(driver()->ctxSynchronize(), "cuCtxSynchronize");
}

// --- the backend's entries

/// The driver of this process. Kept once it opened: cuInit is for good. A failure is tried again.
static Result<std::shared_ptr<const Driver>> processDriver() {
  static std::mutex mutex;
  static std::shared_ptr<const Driver> driver; // guarded by mutex
  std::lock_guard lock(mutex);
  if (!driver) {
    JITK_ASSIGN(driver, Driver::open(environment().driverLibrary.value_or("libcuda.so.1")));
  }
  return driver;
}

Result<std::shared_ptr<Device>> openDevice(std::string_view name, void *engineContext) {
  int ordinal = -1;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ordinal);
  if (error != std::errc() || end != name.data() + name.size() || ordinal < 0) {
    return invalidArgument("CUDA device must be cuda:0, cuda:1, ...: got 'cuda:" + std::string(name) + "'");
  }
  JITK_ASSIGN(std::shared_ptr<const Driver> driver, processDriver());
  return CudaDevice::open(std::move(driver), ordinal, static_cast<CUcontext>(engineContext));
}

std::string describeDriver() {
  Result<std::shared_ptr<const Driver>> driver = processDriver();
  if (!driver.ok()) {
    return driver.status().toString();
  }
  int count = 0;
  Status counted = (*driver)->check((**driver)->deviceGetCount(&count), "cuDeviceGetCount");
  return "driver " + std::to_string((*driver)->version()) + ", " +
         (counted.ok() ? std::to_string(count) + " devices" : counted.toString());
}

} // namespace jitk::nvidia
