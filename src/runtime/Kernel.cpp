#include "src/runtime/Kernel.h"

#include "src/runtime/ScalarValue.h"
#include "src/runtime/Stopwatch.h"
#include "src/support/ExitSection.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstring>
#include <utility>

namespace jitk {

static constexpr size_t kTensorMapBytes = 128;

/// What the driver copies from while a launch is enqueued; on the stack of `launch`.
struct Kernel::Storage {
  alignas(64) std::byte maps[kMaximalTensorMaps][kTensorMapBytes];
  std::bitset<kMaximalTensorMaps> isEncoded;
  uint64_t values[kMaximalArguments];
  void *arguments[kMaximalArguments];
};

// --- loading

Result<std::shared_ptr<const Kernel>> Kernel::load(std::shared_ptr<Device> device,
                                                   std::shared_ptr<const Problem> problem, Obtained obtained) {
  Stopwatch watch;
  ExitSection section;
  JITK_TRY(section.status());
  const std::string &target = obtained.entry->key.parts().target;
  if (std::string wanted = device->target().toString(); target != wanted) {
    return invalidArgument("kernel must be compiled for the device's target " + wanted + ": got " + target)
        .atStage("load");
  }
  Result<Recipe> recipe = Recipe::deserialize(obtained.entry->recipe);
  if (!recipe.ok()) {
    return std::move(recipe).takeStatus().atStage("load");
  }
  std::shared_ptr<Kernel> kernel(new Kernel);
  kernel->device_ = std::move(device);
  kernel->problem_ = std::move(problem);
  kernel->obtained_ = std::move(obtained);
  kernel->recipe_ = recipe->onDevice(kernel->device_->multiprocessors());
  if (Status bound = kernel->bind(); !bound.ok()) {
    return std::move(bound).atStage("load").withNote("while loading " + kernel->problem_->label);
  }
  kernel->loadMilliseconds_ = watch.milliseconds();
  return std::shared_ptr<const Kernel>(std::move(kernel));
}

Status Kernel::bind() {
  JITK_ASSIGN(module_, device_->load(entry().code));
  for (const LaunchStep &step : recipe_.steps) {
    BoundStep bound = {.function = nullptr, .fixed = {}, .grid = BoundGrid(step.grid), .arguments = {}};
    JITK_ASSIGN(bound.function, module_->function(step.symbol, step.sharedBytes));
    bound.fixed.cluster = step.cluster;
    bound.fixed.threads = step.threads;
    bound.fixed.threadsY = step.threadsY;
    bound.fixed.threadsZ = step.threadsZ;
    bound.fixed.sharedBytes = step.sharedBytes;
    bound.fixed.programmaticLaunch = step.programmaticLaunch;
    for (const Argument &argument : step.arguments) {
      bool constant = argument.expression.isConstant();
      bool scalar = argument.kind == Argument::Kind::Scalar;
      bound.arguments.push_back({argument.kind, argument.index, constant ? argument.expression.evaluate({}) : 0,
                                 constant ? nullptr : &argument.expression,
                                 scalar ? recipe_.scalars[argument.index].type : ScalarType::Fp32});
    }
    steps_.push_back(std::move(bound));
  }
  sizeRules_ = SizeRules(problem_->description, recipe_.dimensions);
  contract_ = TensorContract(problem_->description, recipe_.tensors, recipe_.dimensions);
  plain_.bind(recipe_, sizeRules_, steps_.front().function->direct(), steps_.front().fixed);
  return okStatus();
}

// --- checking; the messages are built apart, so that the usual path stays short

[[gnu::cold, gnu::noinline]] static Status wrongCount(const char *what, size_t wanted, size_t found) {
  return invalidArgument(std::string("number of ") + what + " must be " + std::to_string(wanted) + ": got " +
                         std::to_string(found));
}

[[gnu::cold, gnu::noinline]] static Status wrongAddress(const std::string &name, uint64_t alignment, uint64_t found) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (int shift = 60; shift >= 0; shift -= 4) {
    hex += kDigits[(found >> shift) & 15];
  }
  hex.erase(0, std::min(hex.find_first_not_of('0'), size_t{15}));
  std::string wanted =
      found == 0 ? " must not be null: got 0x" : " must be aligned to " + std::to_string(alignment) + " bytes: got 0x";
  return invalidArgument("address of " + name + wanted + hex);
}

Status Kernel::checkTensors(std::span<const uint64_t> tensors) const {
  if (tensors.size() != recipe_.tensors.size()) {
    return wrongCount("tensors", recipe_.tensors.size(), tensors.size());
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] == 0 || (tensors[i] & (recipe_.alignments[i] - 1)) != 0) {
      return wrongAddress("tensor " + recipe_.tensors[i], recipe_.alignments[i], tensors[i]);
    }
  }
  return okStatus();
}

[[gnu::cold, gnu::noinline]] static Status needsTyped(const ScalarForm &form) {
  return invalidArgument("scalar " + form.name + " must be given in typed_scalars, since it is of type " +
                         std::string(scalarTypeName(form.type)) + ": got scalars");
}

Status Kernel::checkScalars(const LaunchRequest &request) const {
  size_t count = request.scalars.size() + request.typedScalars.size();
  if (count != recipe_.scalars.size()) {
    return wrongCount("scalars", recipe_.scalars.size(), count);
  }
  for (size_t i = 0; i < count; ++i) {
    const ScalarForm &form = recipe_.scalars[i];
    if (request.typedScalars.empty() && form.type != ScalarType::Fp32) {
      return needsTyped(form);
    }
    if (!request.typedScalars.empty() && !encodeScalar(request.typedScalars[i], form.type)) {
      return unfitScalar(request.typedScalars[i], form);
    }
  }
  return okStatus();
}

Status Kernel::checkWorkspace(const LaunchRequest &request) const {
  int64_t needed = recipe_.workspaceBytes.evaluate(request.dimensions);
  if (needed <= 0) {
    return okStatus();
  }
  if (request.workspaceBytes < static_cast<uint64_t>(needed)) {
    return invalidArgument("workspace must have at least " + std::to_string(needed) + " bytes: got " +
                           std::to_string(request.workspaceBytes));
  }
  if (request.workspace == 0 || request.workspace % kWorkspaceAlignment != 0) {
    return wrongAddress("the workspace", kWorkspaceAlignment, request.workspace);
  }
  return okStatus();
}

Result<uint64_t> Kernel::workspaceBytes(std::span<const int64_t> dimensions) const {
  JITK_TRY(sizeRules_.check(dimensions));
  return static_cast<uint64_t>(std::max<int64_t>(0, recipe_.workspaceBytes.evaluate(dimensions)));
}

// --- launching

static bool isEmpty(const std::array<uint32_t, 3> &grid) { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }

[[gnu::cold, gnu::noinline]] static Status wrongExtent(const std::string &symbol, size_t axis, int64_t found) {
  return invalidArgument("the dimensions are too large for a grid: axis " + std::to_string(axis) + " of " + symbol +
                         " must be at most " + std::to_string(kLargestGrid[axis]) + ": got " + std::to_string(found));
}

Status Kernel::evaluateGrid(const BoundStep &step, std::span<const int64_t> dimensions, Grid &grid) const {
  if (step.grid.isSkipped(dimensions)) {
    grid = {0, 0, 0};
    return okStatus();
  }
  for (size_t axis = 0; axis < grid.size(); ++axis) {
    int64_t extent = step.grid.extent(axis, dimensions);
    if (extent < 0 || extent > kLargestGrid[axis]) {
      return wrongExtent(recipe_.steps[size_t(&step - steps_.data())].symbol, axis, extent);
    }
    grid[axis] = static_cast<uint32_t>(extent);
  }
  return okStatus();
}

Status Kernel::encodeTensorMaps(const BoundStep &step, const LaunchRequest &request, Storage &storage) const {
  for (const BoundArgument &argument : step.arguments) {
    if (argument.kind != Argument::Kind::TensorMap || storage.isEncoded[argument.index]) {
      continue;
    }
    storage.isEncoded.set(argument.index);
    const TensorMap &map = recipe_.tensorMaps[argument.index];
    uint64_t sizes[kMaximalTensorMapRank], strides[kMaximalTensorMapRank];
    bool isEmpty = false;
    for (size_t axis = 0; axis < map.sizes.size(); ++axis) {
      sizes[axis] = static_cast<uint64_t>(map.sizes[axis].evaluate(request.dimensions));
      isEmpty = isEmpty || sizes[axis] == 0;
    }
    if (isEmpty) {
      // No map has a size of zero: a kernel that runs at all moves nothing of such a tensor.
      std::memset(storage.maps[argument.index], 0, kTensorMapBytes);
      continue;
    }
    for (size_t axis = 0; axis < map.strides.size(); ++axis) {
      strides[axis] = static_cast<uint64_t>(map.strides[axis].evaluate(request.dimensions));
    }
    bool isInWorkspace = map.tensor == TensorMap::kWorkspace;
    uint64_t address = isInWorkspace
                           ? request.workspace + static_cast<uint64_t>(map.offset.evaluate(request.dimensions))
                           : request.tensors[map.tensor];
    JITK_TRY(device_->encodeTensorMap(storage.maps[argument.index], map.elementType, address, {sizes, map.sizes.size()},
                                      {strides, map.strides.size()}, map.box, map.swizzle, map.promotion),
             "while encoding the tensor map of " + (isInWorkspace ? "the workspace" : recipe_.tensors[map.tensor]));
  }
  return okStatus();
}

Status Kernel::packArguments(const BoundStep &step, const LaunchRequest &request, Storage &storage) const {
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    const BoundArgument &argument = step.arguments[i];
    int64_t number = argument.dynamic ? argument.dynamic->evaluate(request.dimensions) : argument.constant;
    uint64_t &value = storage.values[i];
    storage.arguments[i] = &value;
    switch (argument.kind) {
    case Argument::Kind::Tensor:
      value = request.tensors[argument.index];
      break;
    case Argument::Kind::Integer32:
      if (number != static_cast<int32_t>(number)) {
        return invalidArgument("the dimensions are too large: a 32-bit argument of " + problem_->description.op() +
                               " became " + std::to_string(number));
      }
      value = static_cast<uint32_t>(number); // the low half, as the device reads it
      break;
    case Argument::Kind::Integer64:
      value = static_cast<uint64_t>(number);
      break;
    case Argument::Kind::Scalar:
      // Those that are typed were found to fit.
      value = request.typedScalars.empty() ? std::bit_cast<uint32_t>(request.scalars[argument.index])
                                           : *encodeScalar(request.typedScalars[argument.index], argument.scalar);
      break;
    case Argument::Kind::Workspace:
      value = request.workspace + static_cast<uint64_t>(number);
      break;
    case Argument::Kind::TensorMap:
      storage.arguments[i] = storage.maps[argument.index];
      break;
    case Argument::Kind::Null:
      value = 0;
      break;
    }
  }
  return okStatus();
}

Status Kernel::launch(const LaunchRequest &request) const {
  return plain_.launch(request) ? okStatus() : launchInFull(request);
}

Status Kernel::launchInFull(const LaunchRequest &request) const {
  JITK_TRY(sizeRules_.check(request.dimensions));
  Grid grids[kMaximalSteps];
  bool empty = true;
  for (size_t i = 0; i < steps_.size(); ++i) {
    JITK_TRY(evaluateGrid(steps_[i], request.dimensions, grids[i]));
    empty = empty && isEmpty(grids[i]);
  }
  if (empty) {
    return okStatus();
  }
  JITK_TRY(checkTensors(request.tensors));
  JITK_TRY(checkScalars(request));
  JITK_TRY(checkWorkspace(request));

  Storage storage;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!isEmpty(grids[i]) && !recipe_.tensorMaps.empty()) {
      JITK_TRY(encodeTensorMaps(steps_[i], request, storage));
    }
  }
  // All steps or none: what can fail of a later one fails before the first is enqueued.
  for (size_t i = 1; i < steps_.size(); ++i) {
    JITK_TRY(packArguments(steps_[i], request, storage));
  }
  bool follows = request.programmatic; // what it may overlap with is a step of this launch, or the caller allows it
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (isEmpty(grids[i])) {
      continue;
    }
    JITK_TRY(packArguments(steps_[i], request, storage));
    LaunchParameters parameters = steps_[i].fixed;
    parameters.grid = grids[i];
    parameters.arguments = storage.arguments;
    parameters.programmaticLaunch = parameters.programmaticLaunch && std::exchange(follows, true);
    JITK_TRY(steps_[i].function->launch(parameters, request.stream), "while launching " + recipe_.steps[i].symbol);
  }
  plain_.begin();
  return okStatus();
}

} // namespace jitk
