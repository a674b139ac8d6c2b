#include "src/tools/jitk/Launcher.h"

#include "src/ops/OpSchema.h"
#include "src/tools/checked/CheckedRun.h"

#include <algorithm>
#include <chrono>

namespace jitk::tool {

ProblemTensors::ProblemTensors(const api::Device &device, const std::string &line, const DynamicSizes &sizes,
                               const reference::GivenValues &values) {
  Result<std::vector<reference::HostTensor>> tensors =
      reference::makeTensors(*parseDescription(line), sizes, 1, values);
  for (const reference::HostTensor &tensor : *tensors) {
    std::vector<uint8_t> memory = reference::spreadRows(tensor);
    names_.push_back(tensor.shape.name);
    buffers_.emplace_back(device, memory.size());
    device.copyToDevice(buffers_.back().address(), memory.data(), memory.size());
    addresses_.push_back(buffers_.back().address());
  }
}

uint64_t ProblemTensors::address(std::string_view name) const {
  auto found = std::ranges::find(names_, name);
  return found == names_.end() ? 0 : addresses_[size_t(found - names_.begin())];
}

Launcher::Launcher(const api::Device &device, api::Kernel kernel, const std::string &line, const DynamicSizes &sizes,
                   const reference::GivenValues &values)
    : kernel_(std::move(kernel)), tensors_(device, line, sizes, values),
      scalars_(checked::toScalars(kernel_, reference::makeScalars(*parseDescription(line), values))) {
  for (const std::string &name : kernel_.dimensions()) {
    dimensions_.push_back(sizes.find(name)->second);
  }
  workspace_ = api::Buffer(device, kernel_.workspaceBytes(dimensions_));
}

void Launcher::enqueue(void *stream) const {
  kernel_.launch(tensors_.addresses(), dimensions_, scalars_, workspace_.address(), workspace_.size(), stream);
}

/// One measurement on an emulator.
static double timeByHost(const api::Device &device, const Enqueue &work, int calls) {
  auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < calls; ++call) {
    work(nullptr);
  }
  device.synchronize();
  std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count() / calls;
}

std::vector<std::vector<double>> timeInTurns(const api::Device &device, const timing::Gpu *gpu,
                                             const std::vector<Enqueue> &works, const timing::Protocol &protocol) {
  std::vector<std::vector<double>> times(works.size());
  device.synchronize(); // tensors are there
  if (gpu) {
    std::vector<timing::Contender> contenders;
    for (const Enqueue &work : works) {
      contenders.emplace_back(*gpu, protocol, work);
    }
    timing::takeTurns(contenders);
    std::ranges::transform(contenders, times.begin(), &timing::Contender::times);
    return times;
  }
  for (const Enqueue &work : works) {
    timeByHost(device, work, protocol.calls); // warms up
  }
  for (int round = 0; round < protocol.replays; ++round) {
    for (size_t i = 0; i < works.size(); ++i) {
      times[i].push_back(timeByHost(device, works[i], protocol.calls));
    }
  }
  return times;
}

} // namespace jitk::tool
