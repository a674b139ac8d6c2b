// The example, and all that a program without C++ of its own needs: a module for tvm_ffi.load_module.
//
//   plan(device, descriptions)      functions of the kernels, prepared on jitk's workers, in the order of the
//   descriptions empty(device, shape, dtype)     a tensor in memory of the device: an emulator takes no other
//   synchronize(device)             waits for all work, and raises what went wrong
//
// It has one runtime, which JITK_* of the environment configure.

#include "jitk_tvm_ffi.hpp"

#include <map>
#include <mutex>
#include <string_view>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/string.h>

namespace api = jitk::api;
namespace ffi = tvm::ffi;
using jitk::tvm_ffi::translated;

namespace {

/// The runtime and its devices, each opened once, since an emulator's memory is its own.
class Session {
public:
  /// Made at the first need, and never destroyed: a process may end while kernels are made.
  static Session &get() {
    static Session *session = new Session;
    return *session;
  }

  api::Device device(const std::string &name) {
    std::lock_guard lock(mutex_);
    auto found = devices_.find(name);
    return found != devices_.end() ? found->second
                                   : devices_.emplace(name, api::Device::open(runtime_, name)).first->second;
  }
  const api::Runtime &runtime() const { return runtime_; }

private:
  Session() : runtime_(api::Runtime::create()) {}

  std::mutex mutex_; ///< guards devices_
  api::Runtime runtime_;
  std::map<std::string, api::Device> devices_;
};

ffi::Array<ffi::Function> plan(const ffi::String &deviceName, const ffi::Array<ffi::String> &lines) {
  return translated([&] {
    api::Device device = Session::get().device(deviceName);
    api::Plan plan = api::Plan::create(Session::get().runtime());
    std::vector<api::Description> descriptions;
    for (const ffi::String &line : lines) {
      descriptions.push_back(api::Description::parse(line));
      plan.add(descriptions.back());
    }
    jitk_prepare_options_t options = {};
    options.device = device.get();
    plan.prepare(options);
    plan.wait();
    plan.seal();
    ffi::Array<ffi::Function> functions;
    for (const api::Description &description : descriptions) {
      functions.push_back(jitk::tvm_ffi::toFunction(plan.kernel(device, description)));
    }
    return functions;
  });
}

/// Memory of one device, for tensors.
struct Allocator {
  void AllocData(DLTensor *tensor) {
    tensor->data = reinterpret_cast<void *>(device.allocate(std::max<size_t>(ffi::GetDataSize(*tensor), 1)));
  }
  void FreeData(DLTensor *tensor) { jitk_device_free(device.get(), reinterpret_cast<uint64_t>(tensor->data), nullptr); }
  api::Device device;
};

ffi::Tensor empty(const ffi::String &deviceName, const ffi::Shape &shape, DLDataType dtype) {
  return translated([&] {
    std::string name = deviceName;
    bool isCuda = name.rfind("cuda:", 0) == 0;
    DLDevice place = {isCuda ? kDLCUDA : kDLCPU, isCuda ? std::stoi(name.substr(5)) : 0};
    return ffi::Tensor::FromNDAlloc(Allocator{Session::get().device(name)}, shape, dtype, place);
  });
}

void synchronize(const ffi::String &deviceName) {
  translated([&] { Session::get().device(deviceName).synchronize(); });
}

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(plan, plan);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(empty, empty);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(synchronize, synchronize);
