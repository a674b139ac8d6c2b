#include "src/capi/Guard.h"
#include "src/capi/KernelInfo.h"

using namespace jitk;
using namespace jitk::capi;

/// "cuda:0 (sm_90a)", "emulator:sm_90a".
static std::string placeOf(const Device &device) {
  std::string target = device.target().toString();
  return device.target().kind == Target::Kind::Cuda ? "cuda:" + std::to_string(device.ordinal()) + " (" + target + ")"
                                                    : target;
}

static Status otherDevice(const Device &wanted, const Device &found) {
  std::string own = placeOf(wanted), other = placeOf(found);
  return invalidArgument("launch.device must be the device that the kernel was loaded on, " + own + ": got " +
                         (own == other ? "another one of that name" : other));
}

static LaunchRequest requestOf(const jitk_launch_t &launch) {
  return {
      .tensors = {launch.tensors, launch.num_tensors},
      .dimensions = {launch.dimensions, launch.num_dimensions},
      .scalars = {launch.scalars, launch.num_scalars},
      .typedScalars = {launch.typed_scalars, launch.num_typed_scalars},
      .workspace = launch.workspace,
      .workspaceBytes = launch.workspace_bytes,
      .stream = launch.stream,
      .programmatic = (launch.flags & JITK_LAUNCH_PROGRAMMATIC) != 0,
  };
}

static Status readLaunch(const jitk_launch_t *given, const Kernel &kernel, LaunchRequest &request) {
  jitk_launch_t launch;
  JITK_TRY(readStruct(given, "launch", launch));
  JITK_TRY(checkArray(launch.tensors, launch.num_tensors, "launch.tensors"));
  JITK_TRY(checkArray(launch.dimensions, launch.num_dimensions, "launch.dimensions"));
  JITK_TRY(checkScalars(launch));
  JITK_TRY(checkLaunchFlags(launch.flags));
  if (launch.device && launch.device->device != kernel.device()) {
    return otherDevice(*kernel.device(), *launch.device->device);
  }
  request = requestOf(launch);
  return okStatus();
}

/// Whether the kernel can be given the launch as it is: most can. Of the rest `launchInFull` says what is wrong.
static bool isUsual(jitk_kernel_t kernel, const jitk_launch_t *launch) {
  bool isWhole =
      kernel && launch && kKnownBytes<jitk_launch_t> == sizeof *launch && launch->struct_size == sizeof *launch;
  if (!isWhole) [[unlikely]] {
    return false;
  }
  // Not decided one by one: a branch for each would cost more than they do.
  uint64_t unusual = (kernel->generation ^ processGeneration()) | reinterpret_cast<uintptr_t>(launch->device) |
                     (launch->flags & ~JITK_LAUNCH_PROGRAMMATIC);
  return unusual == 0;
}

[[gnu::noinline, gnu::cold]] static jitk_status_t launchInFull(jitk_kernel_t kernel, const jitk_launch_t *launch,
                                                               jitk_error_t *error) {
  std::string key;
  return guard(error, key, [&]() -> Status {
    JITK_TRY(require(kernel, "kernel"));
    JITK_TRY(checkProcess(kernel));
    LaunchRequest request;
    const Served &served = kernel->served;
    Status status = readLaunch(launch, kernel->current(), request);
    if (status.ok()) {
      status = served.standIn ? served.standIn->launch(request) : served.kernel->launch(request);
    }
    return status.ok() ? okStatus() : failedLaunch(std::move(status), *kernel, key);
  });
}

/// The name at `index`, or null.
static const char *nameAt(const std::vector<std::string> &names, size_t index) {
  return index < names.size() ? names[index].c_str() : nullptr;
}

/// The scalar at `index`, or null.
static const ScalarForm *scalarAt(jitk_kernel_t kernel, size_t index) {
  return index < jitk_kernel_num_scalars(kernel) ? &kernel->current().recipe().scalars[index] : nullptr;
}

/// The names of the dimensions of a launch.
static const std::vector<std::string> &dimensionsOf(const jitk_kernel_s &kernel) {
  return kernel.served.standIn ? kernel.served.standIn->dimensions() : kernel.served.kernel->recipe().dimensions;
}

Status jitk::capi::giveKernel(Result<Served> got, const std::shared_ptr<Runtime> &runtime, const jitk_device_s &device,
                              const jitk_description_s &description, jitk_kernel_t *kernel, std::string &key) {
  if (!got.ok()) {
    key = keyNameOf(*runtime, *description.problem, device.device->target());
    return std::move(got).takeStatus();
  }
  *kernel = new jitk_kernel_s(runtime, *std::move(got));
  return okStatus();
}

Status jitk::capi::failedLaunch(Status failure, const jitk_kernel_s &kernel, std::string &key) {
  key = kernel.current().entry().key.name();
  return std::move(failure).atStage("launch");
}

extern "C" {

jitk_status_t jitk_runtime_kernel(jitk_runtime_t runtime, jitk_device_t device, jitk_description_t description,
                                  jitk_kernel_t *kernel, jitk_error_t *error) {
  std::string key;
  return guard(error, key, [&]() -> Status {
    JITK_TRY(require(kernel, "kernel"));
    *kernel = nullptr;
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    JITK_TRY(require(device, "device"));
    JITK_TRY(require(description, "description"));
    Result<std::shared_ptr<const Kernel>> got = runtime->runtime->kernel(device->device, description->problem);
    Result<Served> served = got.ok() ? Result<Served>(Served{*std::move(got), nullptr}) : std::move(got).takeStatus();
    return giveKernel(std::move(served), runtime->runtime, *device, *description, kernel, key);
  });
}

void jitk_kernel_retain(jitk_kernel_t kernel) { retain(kernel); }
void jitk_kernel_release(jitk_kernel_t kernel) { releaseInOwnProcess(kernel); }

jitk_status_t jitk_kernel_info(jitk_kernel_t kernel, jitk_kernel_info_t *info, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(kernel, "kernel"));
    jitk_kernel_info_t found = infoOf(kernel->current());
    found.stands_in = kernel->served.standIn && &kernel->current().problem() != &kernel->served.standIn->problem();
    return writeStruct(found, "info", info);
  });
}

size_t jitk_kernel_num_tensors(jitk_kernel_t kernel) { return kernel ? kernel->current().recipe().tensors.size() : 0; }

const char *jitk_kernel_tensor_name(jitk_kernel_t kernel, size_t index) {
  return kernel ? nameAt(kernel->current().recipe().tensors, index) : nullptr;
}

uint32_t jitk_kernel_tensor_alignment(jitk_kernel_t kernel, size_t index) {
  return index < jitk_kernel_num_tensors(kernel) ? kernel->current().recipe().alignments[index] : 0;
}

size_t jitk_kernel_num_dimensions(jitk_kernel_t kernel) { return kernel ? dimensionsOf(*kernel).size() : 0; }

const char *jitk_kernel_dimension_name(jitk_kernel_t kernel, size_t index) {
  return kernel ? nameAt(dimensionsOf(*kernel), index) : nullptr;
}

size_t jitk_kernel_num_scalars(jitk_kernel_t kernel) { return kernel ? kernel->current().recipe().scalars.size() : 0; }

const char *jitk_kernel_scalar_name(jitk_kernel_t kernel, size_t index) {
  const ScalarForm *scalar = scalarAt(kernel, index);
  return scalar ? scalar->name.c_str() : nullptr;
}

const char *jitk_kernel_scalar_type(jitk_kernel_t kernel, size_t index) {
  const ScalarForm *scalar = scalarAt(kernel, index);
  return scalar ? scalarTypeName(scalar->type).data() : nullptr;
}

jitk_status_t jitk_kernel_workspace_bytes(jitk_kernel_t kernel, const int64_t *dimensions, size_t num_dimensions,
                                          uint64_t *bytes, jitk_error_t *error) {
  std::string key;
  return guard(error, key, [&]() -> Status {
    JITK_TRY(require(kernel, "kernel"));
    JITK_TRY(require(bytes, "bytes"));
    JITK_TRY(checkArray(dimensions, num_dimensions, "dimensions"));
    const Served &served = kernel->served;
    std::span<const int64_t> sizes(dimensions, num_dimensions);
    Result<uint64_t> needed =
        served.standIn ? served.standIn->workspaceBytes(sizes) : served.kernel->workspaceBytes(sizes);
    if (!needed.ok()) {
      return failedLaunch(std::move(needed).takeStatus(), *kernel, key);
    }
    *bytes = *needed;
    return okStatus();
  });
}

jitk_status_t jitk_kernel_launch(jitk_kernel_t kernel, const jitk_launch_t *launch, jitk_error_t *error) {
  if (isUsual(kernel, launch) && kernel->plain.launch(requestOf(*launch))) [[likely]] {
    if (error) {
      *error = nullptr;
    }
    return JITK_STATUS_OK;
  }
  return launchInFull(kernel, launch, error);
}

} // extern "C"
