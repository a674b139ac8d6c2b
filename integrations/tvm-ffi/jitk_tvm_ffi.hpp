// A prepared kernel as a function of TVM-FFI: tensors come as DLPack, are checked, and nothing is copied.
//
// Header-only; C++17. Needs the headers of apache-tvm-ffi and jitk's, and links both libraries.

#ifndef JITK_TVM_FFI_HPP
#define JITK_TVM_FFI_HPP

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

// After DLPack's header, whose DLTensor it then takes.
#include "jitk/jitk.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace jitk::tvm_ffi {

/// Makes a failure of jitk's one of TVM-FFI's: a TypeError or ValueError where the caller is at fault. The message has
/// the status before it.
[[noreturn]] inline void rethrow(const api::Exception &failure) {
  std::string message = std::string(jitk_status_name(failure.status())) + ": " + failure.what();
  if (!failure.toolOutput().empty()) {
    message += "\n" + failure.toolOutput();
  }
  if (failure.status() == JITK_STATUS_INVALID_ARGUMENT) {
    TVM_FFI_THROW(ValueError) << message;
  }
  TVM_FFI_THROW(RuntimeError) << message;
}

/// Runs `body`, whose failures become TVM-FFI's.
template <typename Body> auto translated(Body &&body) {
  try {
    return body();
  } catch (const api::Exception &failure) {
    rethrow(failure);
  }
}

/// A kernel that is called with its tensors, then its scalars, then, where it needs a workspace, a tensor of bytes.
/// Dynamic dimensions are read off the shapes. It is enqueued on the stream that TVM-FFI's environment has for the
/// device of the first tensor. A call takes no lock and allocates nothing, and may come from any thread.
class KernelFunction {
public:
  explicit KernelFunction(api::Kernel kernel) : kernel_(std::move(kernel)), numTensors_(kernel_.tensors().size()) {
    for (const std::string &type : kernel_.scalarTypes()) {
      takesInteger_.push_back(type.find("int") != std::string::npos);
    }
  }

  void operator()(::tvm::ffi::PackedArgs arguments, ::tvm::ffi::Any *) const {
    const size_t count = static_cast<size_t>(arguments.size()), numScalars = takesInteger_.size();
    if (numTensors_ > kMost || numScalars > kMost || count < numTensors_ + numScalars ||
        count > numTensors_ + numScalars + 1) {
      TVM_FFI_THROW(TypeError) << "kernel must be given " << numTensors_ << " tensors, " << numScalars
                               << " scalars and, where it needs one, a workspace: got " << count << " arguments";
    }
    std::array<const DLTensor *, kMost> tensors;
    std::array<jitk_scalar_t, kMost> scalars;
    for (size_t i = 0; i < numTensors_; ++i) {
      tensors[i] = tensorOf(arguments, i);
    }
    for (size_t i = 0; i < numScalars; ++i) {
      scalars[i] = scalarOf(arguments, numTensors_ + i, takesInteger_[i]);
    }
    jitk_dlpack_launch_t launch = {};
    launch.struct_size = sizeof launch;
    launch.tensors = tensors.data();
    launch.num_tensors = numTensors_;
    launch.typed_scalars = scalars.data();
    launch.num_typed_scalars = numScalars;
    if (count > numTensors_ + numScalars) {
      const DLTensor *workspace = tensorOf(arguments, count - 1);
      launch.workspace = reinterpret_cast<uint64_t>(workspace->data) + workspace->byte_offset;
      launch.workspace_bytes = ::tvm::ffi::GetDataSize(*workspace);
    }
    if (numTensors_ > 0) {
      launch.stream = TVMFFIEnvGetStream(tensors[0]->device.device_type, tensors[0]->device.device_id);
    }
    translated([&] {
      api::Call call;
      call.check(jitk_kernel_launch_dlpack(kernel_.get(), &launch, call.error()));
    });
  }

private:
  /// More than any kernel has.
  static constexpr size_t kMost = 64;

  static const DLTensor *tensorOf(::tvm::ffi::PackedArgs arguments, size_t index) {
    if (auto tensor = arguments[static_cast<int>(index)].try_cast<DLTensor *>()) {
      return *tensor;
    }
    TVM_FFI_THROW(TypeError) << "argument " << index << " must be a tensor: got "
                             << arguments[static_cast<int>(index)].GetTypeKey();
  }

  static jitk_scalar_t scalarOf(::tvm::ffi::PackedArgs arguments, size_t index, bool takesInteger) {
    auto argument = arguments[static_cast<int>(index)];
    if (takesInteger) {
      // Not a float, which would be cut.
      if (auto number = argument.try_cast<int64_t>()) {
        return api::Scalar(*number);
      }
    } else if (auto number = argument.try_cast<double>()) {
      return api::Scalar(*number);
    }
    TVM_FFI_THROW(TypeError) << "argument " << index << " must be " << (takesInteger ? "an integer" : "a number")
                             << ": got " << argument.GetTypeKey();
  }

  api::Kernel kernel_;
  size_t numTensors_;
  std::vector<bool> takesInteger_;
};

inline ::tvm::ffi::Function toFunction(api::Kernel kernel) {
  return ::tvm::ffi::Function::FromPacked(KernelFunction(std::move(kernel)));
}

} // namespace jitk::tvm_ffi

#endif
