// The GPU that the tests of this folder share, and problems on it.

#pragma once

#include "jitk/jitk.hpp"
#include "src/reference/Instance.h"
#include "src/reference/Numeric.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace jitk::gpu {

struct Session {
  api::Runtime runtime;
  api::Device device;

  static const Session &get() {
    static const Session session;
    return session;
  }

private:
  Session() {
    jitk_runtime_options_t options = {};
    options.struct_size = sizeof options;
    options.store_path = "";
    runtime = api::Runtime::create(&options);
    device = api::Device::open(runtime, "cuda:0");
  }
};

/// The tensors of a problem on a device.
class OnDevice {
public:
  explicit OnDevice(const std::string &text, uint64_t seed, api::Device device = Session::get().device)
      : device_(std::move(device)) {
    auto description = parseDescription(text);
    REQUIRE(description.ok());
    auto tensors = reference::makeTensors(*description, {}, seed);
    REQUIRE(tensors.ok());
    for (reference::HostTensor &tensor : *tensors) {
      std::vector<uint8_t> memory = reference::spreadRows(tensor);
      buffers_.emplace_back(device_, memory.size());
      device_.copyToDevice(buffers_.back().address(), memory.data(), memory.size());
      shapes_.push_back(tensor.shape);
    }
  }

  std::vector<uint64_t> addresses() const {
    std::vector<uint64_t> all;
    for (const api::Buffer &buffer : buffers_) {
      all.push_back(buffer.address());
    }
    return all;
  }

  std::vector<uint8_t> bytes(size_t index) const {
    std::vector<uint8_t> image(buffers_[index].size());
    device_.copyToHost(image.data(), buffers_[index].address(), image.size());
    return image;
  }
  std::vector<float> values(size_t index) const { return reference::decode(shapes_[index].dtype, bytes(index)); }
  void poison(size_t index) const { device_.fill(buffers_[index].address(), 0xFF, buffers_[index].size()); }
  size_t size() const { return buffers_.size(); }
  const TensorShape &shape(size_t index) const { return shapes_[index]; }
  bool isWritten(size_t index) const { return shapes_[index].access == Access::Written; }

private:
  api::Device device_;
  std::vector<api::Buffer> buffers_;
  std::vector<TensorShape> shapes_;
};

} // namespace jitk::gpu
