#include "src/capi/Guard.h"

#include <array>

using namespace jitk;
using namespace jitk::capi;

namespace {

// Of dlpack.h.
enum { kDeviceCpu = 1, kDeviceCuda = 2, kDeviceCudaManaged = 13 };
enum { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kFloat8E4m3 = 10 };

// More tensors than any kernel has.
constexpr size_t kMaximalTensors = kMaximalArguments;

} // namespace

/// The schemas' word for a type, or "another one" where they have none.
static std::string_view wordOf(const jitk_dldata_type_t &type) {
  struct Row {
    uint8_t code, bits;
    std::string_view word;
  };
  static constexpr Row kRows[] = {{kFloat, 16, "fp16"},  {kFloat, 32, "fp32"}, {kFloat, 64, "fp64"},
                                  {kBfloat, 16, "bf16"}, {kInt, 32, "int32"},  {kInt, 64, "int64"},
                                  {kUInt, 8, "uint8"},   {kInt, 8, "int8"},    {kFloat8E4m3, 8, "e4m3"}};
  for (const Row &row : kRows) {
    if (type.code == row.code && type.bits == row.bits && type.lanes == 1) {
      return row.word;
    }
  }
  return "another one";
}

static Status checkDevice(const jitk_dltensor_t &tensor, const std::string &name, const Device &device) {
  bool cuda = device.target().kind == Target::Kind::Cuda;
  int32_t type = tensor.device.device_type;
  bool there = cuda ? (type == kDeviceCuda && tensor.device.device_id == device.ordinal()) || type == kDeviceCudaManaged
                    : type == kDeviceCpu;
  if (!there) {
    return invalidArgument("tensor " + name + " must be " +
                           (cuda ? "on CUDA device " + std::to_string(device.ordinal()) : "in host memory") +
                           ": got device type " + std::to_string(type) + ", device " +
                           std::to_string(tensor.device.device_id));
  }
  return okStatus();
}

/// Fills views and addresses.
static Status readTensors(const jitk_dlpack_launch_t &launch, const Kernel &kernel, std::span<TensorView> views,
                          std::span<uint64_t> addresses) {
  for (size_t i = 0; i < views.size(); ++i) {
    const jitk_dltensor_t *tensor = launch.tensors[i];
    const std::string &name = kernel.recipe().tensors[i];
    if (!tensor || tensor->ndim < 0 || (tensor->ndim > 0 && !tensor->shape)) {
      return invalidArgument("tensor " + name + " must have a shape: got none");
    }
    JITK_TRY(checkDevice(*tensor, name, *kernel.device()));
    views[i] = {wordOf(tensor->dtype), {tensor->shape, static_cast<size_t>(tensor->ndim)}, tensor->strides};
    addresses[i] = reinterpret_cast<uint64_t>(tensor->data) + tensor->byte_offset;
  }
  return okStatus();
}

static Status launchChecked(const Served &served, const Kernel &kernel, const jitk_dlpack_launch_t &launch) {
  const TensorContract &contract = served.standIn ? served.standIn->contract() : kernel.contract();
  if (!contract.known()) {
    return unsupported("tensors of " + kernel.problem().description.op() + " have no schema to be checked by");
  }
  const Recipe &recipe = kernel.recipe();
  if (launch.num_tensors != recipe.tensors.size() || launch.num_tensors > kMaximalTensors) {
    return invalidArgument("number of tensors must be " + std::to_string(recipe.tensors.size()) + ": got " +
                           std::to_string(launch.num_tensors));
  }
  std::array<TensorView, kMaximalTensors> views;
  std::array<uint64_t, kMaximalTensors> addresses;
  std::array<int64_t, kMaximalDimensions> sizes;
  std::span<const TensorView> tensors(views.data(), launch.num_tensors);
  JITK_TRY(readTensors(launch, kernel, {views.data(), launch.num_tensors}, {addresses.data(), launch.num_tensors}));
  size_t numDimensions = served.standIn ? served.standIn->dimensions().size() : recipe.dimensions.size();
  std::span<const int64_t> dimensions(launch.dimensions, launch.num_dimensions);
  if (dimensions.empty()) {
    JITK_TRY(contract.readDimensions(tensors, {sizes.data(), numDimensions}));
    dimensions = {sizes.data(), numDimensions};
  } else if (dimensions.size() != numDimensions) {
    return invalidArgument("number of dimensions must be " + std::to_string(numDimensions) + ": got " +
                           std::to_string(dimensions.size()));
  }
  JITK_TRY(contract.check(tensors, dimensions));
  LaunchRequest request = {.tensors = {addresses.data(), launch.num_tensors},
                           .dimensions = dimensions,
                           .scalars = {launch.scalars, launch.num_scalars},
                           .typedScalars = {launch.typed_scalars, launch.num_typed_scalars},
                           .workspace = launch.workspace,
                           .workspaceBytes = launch.workspace_bytes,
                           .stream = launch.stream,
                           .programmatic = (launch.flags & JITK_LAUNCH_PROGRAMMATIC) != 0};
  return served.standIn ? served.standIn->launch(request) : kernel.launch(request);
}

extern "C" jitk_status_t jitk_kernel_launch_dlpack(jitk_kernel_t kernel, const jitk_dlpack_launch_t *launch,
                                                   jitk_error_t *error) {
  std::string key;
  return guard(error, key, [&]() -> Status {
    JITK_TRY(require(kernel, "kernel"));
    JITK_TRY(checkProcess(kernel));
    jitk_dlpack_launch_t read;
    JITK_TRY(readStruct(launch, "launch", read));
    JITK_TRY(checkArray(read.tensors, read.num_tensors, "launch.tensors"));
    JITK_TRY(checkArray(read.dimensions, read.num_dimensions, "launch.dimensions"));
    JITK_TRY(checkScalars(read));
    JITK_TRY(checkLaunchFlags(read.flags));
    Status status = launchChecked(kernel->served, kernel->current(), read);
    return status.ok() ? okStatus() : failedLaunch(std::move(status), *kernel, key);
  });
}
