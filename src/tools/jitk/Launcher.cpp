#include "src/tools/jitk/Launcher.h"

#include "src/ops/OpSchema.h"
#include "src/tools/checked/CheckedRun.h"

#include <algorithm>
#include <chrono>

namespace jitk::tool {

Launcher::Launcher(const api::Device &device, api::Kernel kernel, const std::string &line, const DynamicSizes &sizes,
                   const reference::GivenValues &values)
    : device_(device), kernel_(std::move(kernel)) {
  Result<std::vector<reference::HostTensor>> tensors =
      reference::makeTensors(*parseDescription(line), sizes, 1, values);
  scalars_ = checked::toScalars(kernel_, reference::makeScalars(*parseDescription(line), values));
  for (const reference::HostTensor &tensor : *tensors) {
    std::vector<uint8_t> memory = reference::spreadRows(tensor);
    buffers_.emplace_back(device, std::max<size_t>(memory.size(), 1));
    device.copyToDevice(buffers_.back().address(), memory.data(), memory.size());
    addresses_.push_back(buffers_.back().address());
  }
  for (const std::string &name : kernel_.dimensions()) {
    dimensions_.push_back(sizes.find(name)->second);
  }
  workspace_ = api::Buffer(device, std::max<uint64_t>(kernel_.workspaceBytes(dimensions_), 1));
}

double Launcher::time(int launches) const {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i) {
    kernel_.launch(addresses_, dimensions_, scalars_, workspace_.address(), workspace_.size());
  }
  device_.synchronize();
  std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count() / launches;
}

double medianOf(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

} // namespace jitk::tool
