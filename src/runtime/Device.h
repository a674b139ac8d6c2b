// The device interface: what the runtime needs of a GPU, of the emulator, or of any backend to come.

#pragma once

#include "src/runtime/DirectLaunch.h"
#include "src/runtime/L2Promotion.h"
#include "src/runtime/Target.h"
#include "src/support/Status.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace jitk {

/// A stream of the device's API (CUstream), passed through; null = the device's default stream.
using StreamHandle = void *;

/// Resolved launch of one kernel: everything static is folded, everything dynamic evaluated.
struct LaunchParameters {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  uint32_t threads = 0; ///< of a block, along x
  uint32_t threadsY = 1, threadsZ = 1;
  uint32_t sharedBytes = 0;
  bool programmaticLaunch = false; ///< may begin before the grids before it have finished, where the driver can
  void **arguments = nullptr;      ///< one pointer a parameter, as cuLaunchKernel takes them

  bool isCluster() const { return cluster[0] * cluster[1] * cluster[2] != 1; }
};

/// A loaded function. Owned by its module.
class DeviceFunction {
public:
  virtual ~DeviceFunction() = default;
  /// Enqueues the kernel on `stream`. Takes no ownership; the arguments are copied before it returns. Thread-safe.
  /// Does not synchronize: a fault of the kernel shows at `Device::synchronize`.
  virtual Status launch(const LaunchParameters &parameters, StreamHandle stream) = 0;
  /// The shortest way to launch it, for once `launch` has launched it; without `enqueue` where there is none.
  virtual DirectLaunch direct() const { return {}; }
};

/// Loaded code. Immutable; shareable between threads; unloaded with the last reference.
class DeviceModule {
public:
  virtual ~DeviceModule() = default;
  /// The function of that name; the module owns it. `sharedBytes` is the dynamic shared memory it will be launched
  /// with at most: whatever the device must be told of it is told here, not at the launch.
  virtual Result<DeviceFunction *> function(const std::string &symbol, uint32_t sharedBytes) = 0;
};

/// A device. All functions are thread-safe.
class Device {
public:
  virtual ~Device() = default;
  virtual Target target() const = 0;
  virtual int ordinal() const { return 0; } ///< among the devices of its kind
  virtual std::string name() const = 0;     ///< "NVIDIA H200", "emulator"
  /// How many CTAs run at a time where each takes a whole multiprocessor; at least one.
  virtual uint32_t multiprocessors() const = 0;

  virtual Result<std::shared_ptr<DeviceModule>> load(std::span<const uint8_t> code) = 0;

  virtual Result<uint64_t> allocate(size_t bytes) = 0;
  virtual Status free(uint64_t address) = 0;
  virtual Status copyToDevice(uint64_t destination, const void *source, size_t bytes) = 0;
  virtual Status copyToHost(void *destination, uint64_t source, size_t bytes) = 0;
  virtual Status fill(uint64_t destination, uint8_t value, size_t bytes) {
    return copyToDevice(destination, std::vector<uint8_t>(bytes, value).data(), bytes);
  }
  /// Encodes a tensor map (128 bytes, 64-byte aligned) as cuTensorMapEncodeTiled does; strides in bytes, innermost
  /// dimension first, without the innermost stride.
  virtual Status encodeTensorMap(void *map, uint32_t elementType, uint64_t address, std::span<const uint64_t> sizes,
                                 std::span<const uint64_t> strides, std::span<const uint32_t> box, uint32_t swizzle,
                                 L2Promotion promotion) = 0;
  /// Waits for all work; reports faults of kernels launched before, and on the emulator its findings.
  virtual Status synchronize() = 0;
};

} // namespace jitk
