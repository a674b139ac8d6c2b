#include "src/capi/Backends.h"
#include "src/capi/Guard.h"

using namespace jitk;
using namespace jitk::capi;

static constexpr std::string_view kEmulatorPrefix = "emulator:";

static Result<std::shared_ptr<Device>> openEmulator(Runtime &runtime, std::string_view name,
                                                    const jitk_device_options_t &given) {
  static constexpr uint32_t kMostWorkers = 1024;
  if (given.emulator_workers > kMostWorkers) {
    return invalidArgument("options.emulator_workers must be at most " + std::to_string(kMostWorkers) + ": got " +
                           std::to_string(given.emulator_workers));
  }
  EmulatorOptions options;
  JITK_ASSIGN(options.target, Target::parse(name));
  options.immediate = given.emulator_immediate != 0;
  options.seed = given.emulator_seed;
  options.workers = given.emulator_workers;
  // The runtime outlives its devices.
  options.print = [&log = runtime.log()](std::string_view text) {
    log.info("kernel", text.ends_with('\n') ? text.substr(0, text.size() - 1) : text);
  };
  JITK_ASSIGN(Compiler * compiler, runtime.compiler().get());
  JITK_ASSIGN(std::unique_ptr<Device> device, compiler->createEmulator(options));
  return std::shared_ptr<Device>(std::move(device));
}

/// A GPU is opened once a runtime and context, so that two handles of it share its kernels.
static Result<std::shared_ptr<Device>> openOnce(jitk_runtime_s &runtime, const Backend &backend,
                                                const std::string &name, void *context) {
  std::lock_guard lock(runtime.mutex);
  std::weak_ptr<Device> &known = runtime.devices[{name, context}];
  if (std::shared_ptr<Device> device = known.lock()) {
    return device;
  }
  JITK_ASSIGN(std::shared_ptr<Device> device,
              backend.open(std::string_view(name).substr(backend.prefix.size()), context));
  known = device;
  return device;
}

static Result<std::shared_ptr<Device>> openDevice(jitk_runtime_s &runtime, const std::string &name,
                                                  const jitk_device_options_t &options) {
  if (name.starts_with(kEmulatorPrefix)) {
    if (options.cuda_context) {
      return invalidArgument("options.cuda_context is for a GPU: got the device '" + name + "'");
    }
    return openEmulator(*runtime.runtime, name, options);
  }
  std::string known;
  for (const Backend &backend : backends()) {
    if (name.starts_with(backend.prefix)) {
      if (options.emulator_immediate != 0 || options.emulator_workers != 0 || options.emulator_seed != 0) {
        return invalidArgument("options.emulator_immediate, emulator_workers and emulator_seed are for an emulator: "
                               "got device '" +
                               name + "'");
      }
      return openOnce(runtime, backend, name, options.cuda_context);
    }
    known += std::string(backend.prefix) + "N, ";
  }
  return invalidArgument("device must be " + known + "emulator:sm_NN: got '" + name + "'");
}

/// Runs `body` on the device behind the wall.
template <typename Body> static jitk_status_t onDevice(jitk_device_t device, jitk_error_t *error, Body &&body) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(device, "device"));
    JITK_TRY(checkProcess(device));
    return Status(body(*device->device)).atStage("device");
  });
}

extern "C" {

jitk_status_t jitk_device_open(jitk_runtime_t runtime, const char *name, const jitk_device_options_t *options,
                               jitk_device_t *device, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(device, "device"));
    *device = nullptr;
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    JITK_TRY(require(name, "name"));
    jitk_device_options_t read = {};
    if (options) {
      JITK_TRY(readStruct(options, "options", read));
    }
    auto handle = std::make_unique<jitk_device_s>();
    handle->runtime = runtime->runtime;
    Result<std::shared_ptr<Device>> opened = openDevice(*runtime, name, read);
    if (!opened.ok()) {
      return std::move(opened).takeStatus().atStage("device");
    }
    handle->device = *std::move(opened);
    handle->name = handle->device->name();
    handle->target = handle->device->target().toString();
    *device = handle.release();
    return okStatus();
  });
}

void jitk_device_retain(jitk_device_t device) { retain(device); }
void jitk_device_release(jitk_device_t device) { releaseInOwnProcess(device); }
const char *jitk_device_name(jitk_device_t device) { return device ? device->name.c_str() : ""; }
const char *jitk_device_target(jitk_device_t device) { return device ? device->target.c_str() : ""; }

jitk_status_t jitk_device_allocate(jitk_device_t device, size_t bytes, uint64_t *address, jitk_error_t *error) {
  return onDevice(device, error, [&](Device &on) -> Status {
    JITK_TRY(require(address, "address"));
    JITK_ASSIGN(*address, on.allocate(bytes));
    return okStatus();
  });
}

jitk_status_t jitk_device_free(jitk_device_t device, uint64_t address, jitk_error_t *error) {
  return onDevice(device, error, [&](Device &on) { return address == 0 ? okStatus() : on.free(address); });
}

jitk_status_t jitk_device_copy_to_device(jitk_device_t device, uint64_t destination, const void *source, size_t bytes,
                                         jitk_error_t *error) {
  return onDevice(device, error, [&](Device &on) -> Status {
    if (bytes == 0) {
      return okStatus(); // no pointer is looked at, so null is fine
    }
    JITK_TRY(require(source, "source"));
    return on.copyToDevice(destination, source, bytes);
  });
}

jitk_status_t jitk_device_copy_to_host(jitk_device_t device, void *destination, uint64_t source, size_t bytes,
                                       jitk_error_t *error) {
  return onDevice(device, error, [&](Device &on) -> Status {
    if (bytes == 0) {
      return okStatus(); // no pointer is looked at, so null is fine
    }
    JITK_TRY(require(destination, "destination"));
    return on.copyToHost(destination, source, bytes);
  });
}

jitk_status_t jitk_device_fill(jitk_device_t device, uint64_t destination, uint8_t value, size_t bytes,
                               jitk_error_t *error) {
  return onDevice(device, error, [&](Device &on) { return on.fill(destination, value, bytes); });
}

jitk_status_t jitk_device_synchronize(jitk_device_t device, jitk_error_t *error) {
  return onDevice(device, error, [](Device &on) { return on.synchronize(); });
}

} // extern "C"
