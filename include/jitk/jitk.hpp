// C++ over jitk.h: handles that release themselves, failures as exceptions. Header-only; C++17.
//
// Each class is a counted reference to a handle: copying one retains, an empty one may only be assigned or destroyed.
// What a function does, and which threads may call it, stands in jitk.h beside the function of the same name. Where
// exceptions are off, use jitk.h.

#ifndef JITK_JITK_HPP
#define JITK_JITK_HPP

#include "jitk/jitk.h"

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace jitk::api {

/// A failure of the library: a copy of its details.
class Exception : public std::exception {
public:
  /// `error` is null where there was no memory even for the details.
  Exception(jitk_status_t status, jitk_error_t error)
      : status_(status), message_(jitk_error_message(error)), stage_(jitk_error_stage(error)),
        toolOutput_(jitk_error_tool_output(error)), key_(jitk_error_key(error)) {}

  const char *what() const noexcept override { return message_.c_str(); }
  jitk_status_t status() const { return status_; }
  const std::string &stage() const { return stage_; }
  const std::string &toolOutput() const { return toolOutput_; }
  const std::string &key() const { return key_; }

private:
  jitk_status_t status_;
  std::string message_, stage_, toolOutput_, key_;
};

/// Collects the error of one call and throws it: `call.check(jitk_...(..., call.error()))`.
class Call {
public:
  Call() = default;
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
  ~Call() { jitk_error_release(error_); }

  jitk_error_t *error() { return &error_; }
  void check(jitk_status_t status) {
    if (status != JITK_STATUS_OK) {
      throw Exception(status, error_);
    }
  }

private:
  jitk_error_t error_ = nullptr;
};

/// A counted reference.
template <typename T, void (*Retain)(T), void (*Release)(T)> class Handle {
public:
  Handle() = default;
  /// Takes over the caller's reference.
  explicit Handle(T handle) : handle_(handle) {}
  Handle(const Handle &other) : handle_(other.handle_) { Retain(handle_); }
  Handle(Handle &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle &operator=(Handle other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { Release(handle_); }

  T get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

protected:
  T handle_ = nullptr;
};

/// Takes a text over and returns its bytes.
inline std::string takeText(jitk_text_t text) {
  std::string bytes(jitk_text_data(text), jitk_text_size(text));
  jitk_text_release(text);
  return bytes;
}

inline std::string version() { return jitk_version(); }
inline std::string buildId() { return jitk_build_id(); }

inline std::vector<std::string> opNames() {
  std::vector<std::string> names;
  for (size_t i = 0, count = jitk_op_count(); i < count; ++i) {
    names.emplace_back(jitk_op_name(i));
  }
  return names;
}

/// The op's schema as JSON.
inline std::string opInfo(const std::string &op) {
  Call call;
  jitk_text_t text = nullptr;
  call.check(jitk_op_info(op.c_str(), &text, call.error()));
  return takeText(text);
}

class Description : public Handle<jitk_description_t, jitk_description_retain, jitk_description_release> {
public:
  using Handle::Handle;

  static Description create(const std::string &op, const std::vector<std::pair<std::string, std::string>> &attributes) {
    std::vector<const char *> names, values;
    for (const auto &[name, value] : attributes) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    Call call;
    jitk_description_t handle = nullptr;
    call.check(jitk_description_create(op.c_str(), names.data(), values.data(), names.size(), &handle, call.error()));
    return Description(handle);
  }

  static Description parse(const std::string &text) {
    Call call;
    jitk_description_t handle = nullptr;
    call.check(jitk_description_parse(text.c_str(), &handle, call.error()));
    return Description(handle);
  }

  std::string text() const { return jitk_description_text(handle_); }
  std::string label() const { return jitk_description_label(handle_); }
  std::string op() const { return jitk_description_op(handle_); }
};

class Device;

class Runtime : public Handle<jitk_runtime_t, jitk_runtime_retain, jitk_runtime_release> {
public:
  using Handle::Handle;

  static Runtime create(const jitk_runtime_options_t *options = nullptr) {
    Call call;
    jitk_runtime_t handle = nullptr;
    call.check(jitk_runtime_create(options, &handle, call.error()));
    return Runtime(handle);
  }

  std::string report() const {
    Call call;
    jitk_text_t text = nullptr;
    call.check(jitk_runtime_report(handle_, &text, call.error()));
    return takeText(text);
  }

  jitk_counters_t counters() const {
    Call call;
    jitk_counters_t counters = {};
    counters.struct_size = sizeof counters;
    call.check(jitk_runtime_counters(handle_, &counters, call.error()));
    return counters;
  }

  std::string key(const Description &description, const std::string &target) const {
    Call call;
    jitk_text_t text = nullptr;
    call.check(jitk_runtime_key(handle_, description.get(), target.c_str(), &text, call.error()));
    return takeText(text);
  }

  std::string configurations(const Description &description, const std::string &target) const {
    Call call;
    jitk_text_t text = nullptr;
    call.check(jitk_runtime_configurations(handle_, description.get(), target.c_str(), &text, call.error()));
    return takeText(text);
  }

  void storeConfiguration(const Device &device, const Description &description, const std::string &configuration) const;

  std::string listStore(bool verify = false) const {
    Call call;
    jitk_text_t text = nullptr;
    call.check(jitk_store_list(handle_, verify ? 1 : 0, &text, call.error()));
    return takeText(text);
  }

  std::string explain(const Description &description, const std::string &target) const {
    Call call;
    jitk_text_t text = nullptr;
    call.check(jitk_store_explain(handle_, description.get(), target.c_str(), &text, call.error()));
    return takeText(text);
  }

  std::string explainKey(const std::string &key) const {
    Call call;
    jitk_text_t text = nullptr;
    call.check(jitk_store_explain_key(handle_, key.c_str(), &text, call.error()));
    return takeText(text);
  }

  size_t exportStore(const std::string &path) const {
    Call call;
    size_t count = 0;
    call.check(jitk_store_export(handle_, path.c_str(), &count, call.error()));
    return count;
  }

  size_t importBundle(const std::string &path) const {
    Call call;
    size_t count = 0;
    call.check(jitk_store_import(handle_, path.c_str(), &count, call.error()));
    return count;
  }

  void collectStore(uint64_t bytes) const {
    Call call;
    call.check(jitk_store_collect(handle_, bytes, call.error()));
  }
};

class Device : public Handle<jitk_device_t, jitk_device_retain, jitk_device_release> {
public:
  using Handle::Handle;

  static Device open(const Runtime &runtime, const std::string &name, const jitk_device_options_t *options = nullptr) {
    Call call;
    jitk_device_t handle = nullptr;
    call.check(jitk_device_open(runtime.get(), name.c_str(), options, &handle, call.error()));
    return Device(handle);
  }

  std::string name() const { return jitk_device_name(handle_); }
  std::string target() const { return jitk_device_target(handle_); }

  uint64_t allocate(size_t bytes) const {
    Call call;
    uint64_t address = 0;
    call.check(jitk_device_allocate(handle_, bytes, &address, call.error()));
    return address;
  }
  void free(uint64_t address) const {
    Call call;
    call.check(jitk_device_free(handle_, address, call.error()));
  }
  void copyToDevice(uint64_t destination, const void *source, size_t bytes) const {
    Call call;
    call.check(jitk_device_copy_to_device(handle_, destination, source, bytes, call.error()));
  }
  void copyToHost(void *destination, uint64_t source, size_t bytes) const {
    Call call;
    call.check(jitk_device_copy_to_host(handle_, destination, source, bytes, call.error()));
  }
  void fill(uint64_t destination, uint8_t value, size_t bytes) const {
    Call call;
    call.check(jitk_device_fill(handle_, destination, value, bytes, call.error()));
  }
  void synchronize() const {
    Call call;
    call.check(jitk_device_synchronize(handle_, call.error()));
  }
};

inline void Runtime::storeConfiguration(const Device &device, const Description &description,
                                        const std::string &configuration) const {
  Call call;
  call.check(
      jitk_runtime_store_configuration(handle_, device.get(), description.get(), configuration.c_str(), call.error()));
}

/// Device memory that frees itself. Movable, not copyable.
class Buffer {
public:
  Buffer() = default;
  Buffer(Device device, size_t bytes) : device_(std::move(device)), address_(device_.allocate(bytes)), size_(bytes) {}
  Buffer(Buffer &&other) noexcept
      : device_(std::move(other.device_)), address_(std::exchange(other.address_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer &operator=(Buffer other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() {
    if (device_) {
      jitk_device_free(device_.get(), address_, nullptr);
    }
  }

  uint64_t address() const { return address_; }
  size_t size() const { return size_; }

private:
  Device device_;
  uint64_t address_ = 0;
  size_t size_ = 0;
};

/// A scalar of a launch, of any type; see jitk_scalar_t.
struct Scalar : jitk_scalar_t {
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>> Scalar(T value) : jitk_scalar_t{} {
    if constexpr (std::is_floating_point_v<T>) {
      kind = JITK_SCALAR_FLOAT;
      float_value = static_cast<double>(value);
    } else if constexpr (std::is_signed_v<T>) {
      kind = JITK_SCALAR_INT;
      int_value = value;
    } else {
      kind = JITK_SCALAR_UINT;
      uint_value = value;
    }
  }
};

class Kernel : public Handle<jitk_kernel_t, jitk_kernel_retain, jitk_kernel_release> {
public:
  using Handle::Handle;

  /// Gets one kernel now; see jitk_runtime_kernel.
  static Kernel obtain(const Runtime &runtime, const Device &device, const Description &description) {
    Call call;
    jitk_kernel_t handle = nullptr;
    call.check(jitk_runtime_kernel(runtime.get(), device.get(), description.get(), &handle, call.error()));
    return Kernel(handle);
  }

  jitk_kernel_info_t info() const {
    Call call;
    jitk_kernel_info_t info = {};
    info.struct_size = sizeof info;
    call.check(jitk_kernel_info(handle_, &info, call.error()));
    return info;
  }

  std::vector<std::string> tensors() const { return names(jitk_kernel_num_tensors, jitk_kernel_tensor_name); }
  std::vector<std::string> dimensions() const { return names(jitk_kernel_num_dimensions, jitk_kernel_dimension_name); }
  std::vector<std::string> scalars() const { return names(jitk_kernel_num_scalars, jitk_kernel_scalar_name); }
  /// "fp32", "int64", ..., as jitk_kernel_scalar_type has them.
  std::vector<std::string> scalarTypes() const { return names(jitk_kernel_num_scalars, jitk_kernel_scalar_type); }
  uint32_t tensorAlignment(size_t index) const { return jitk_kernel_tensor_alignment(handle_, index); }

  uint64_t workspaceBytes(const std::vector<int64_t> &sizes) const {
    Call call;
    uint64_t bytes = 0;
    call.check(jitk_kernel_workspace_bytes(handle_, sizes.data(), sizes.size(), &bytes, call.error()));
    return bytes;
  }

  void launch(const jitk_launch_t &launch) const {
    Call call;
    call.check(jitk_kernel_launch(handle_, &launch, call.error()));
  }

  /// With tensors that say what they are, and are checked; see jitk_kernel_launch_dlpack.
  void launchDlpack(const jitk_dlpack_launch_t &launch) const {
    Call call;
    call.check(jitk_kernel_launch_dlpack(handle_, &launch, call.error()));
  }

  void launch(const std::vector<uint64_t> &tensors, const std::vector<int64_t> &sizes = {},
              const std::vector<Scalar> &scalars = {}, uint64_t workspace = 0, uint64_t workspaceBytes = 0,
              void *stream = nullptr, uint64_t flags = 0) const {
    jitk_launch_t arguments = {};
    arguments.struct_size = sizeof arguments;
    arguments.tensors = tensors.data();
    arguments.num_tensors = tensors.size();
    arguments.dimensions = sizes.data();
    arguments.num_dimensions = sizes.size();
    arguments.typed_scalars = scalars.data();
    arguments.num_typed_scalars = scalars.size();
    arguments.workspace = workspace;
    arguments.workspace_bytes = workspaceBytes;
    arguments.stream = stream;
    arguments.flags = flags;
    launch(arguments);
  }

private:
  std::vector<std::string> names(size_t (*count)(jitk_kernel_t), const char *(*name)(jitk_kernel_t, size_t)) const {
    std::vector<std::string> all;
    for (size_t i = 0, n = count(handle_); i < n; ++i) {
      all.emplace_back(name(handle_, i));
    }
    return all;
  }
};

class Plan : public Handle<jitk_plan_t, jitk_plan_retain, jitk_plan_release> {
public:
  using Handle::Handle;
  static constexpr uint32_t kForever = UINT32_MAX;

  static Plan create(const Runtime &runtime, const jitk_plan_options_t *options = nullptr) {
    Call call;
    jitk_plan_t handle = nullptr;
    call.check(jitk_plan_create_with_options(runtime.get(), options, &handle, call.error()));
    return Plan(handle);
  }

  void add(const Description &description, int32_t priority = 0) const {
    Call call;
    call.check(jitk_plan_add(handle_, description.get(), priority, call.error()));
  }
  void addJson(const std::string &text) const {
    Call call;
    call.check(jitk_plan_add_json(handle_, text.c_str(), call.error()));
  }
  std::string toJson() const {
    Call call;
    jitk_text_t text = nullptr;
    call.check(jitk_plan_to_json(handle_, &text, call.error()));
    return takeText(text);
  }
  size_t size() const { return jitk_plan_size(handle_); }
  void exportBundle(const std::string &target, const std::string &path) const {
    Call call;
    call.check(jitk_plan_export(handle_, target.c_str(), path.c_str(), call.error()));
  }

  /// Starts; `options.struct_size` is set here.
  void prepare(jitk_prepare_options_t options) const {
    options.struct_size = sizeof options;
    Call call;
    call.check(jitk_plan_prepare(handle_, &options, call.error()));
  }
  void wait(uint32_t timeoutMs = kForever) const {
    Call call;
    call.check(jitk_plan_wait(handle_, timeoutMs, call.error()));
  }
  void waitFor(const Description &description, uint32_t timeoutMs = kForever) const {
    Call call;
    call.check(jitk_plan_wait_kernel(handle_, description.get(), timeoutMs, call.error()));
  }
  /// The last preparation as Chrome's trace events.
  std::string trace() const {
    Call call;
    jitk_text_t text = nullptr;
    call.check(jitk_plan_trace(handle_, &text, call.error()));
    return takeText(text);
  }
  void cancel() const { jitk_plan_cancel(handle_); }
  void seal() const {
    Call call;
    call.check(jitk_plan_seal(handle_, call.error()));
  }
  Kernel kernel(const Device &device, const Description &description) const {
    Call call;
    jitk_kernel_t handle = nullptr;
    call.check(jitk_plan_kernel(handle_, device.get(), description.get(), &handle, call.error()));
    return Kernel(handle);
  }
};

/// From sizes to a kernel of a sealed plan; see jitk_dispatch_t.
class Dispatch : public Handle<jitk_dispatch_t, jitk_dispatch_retain, jitk_dispatch_release> {
public:
  using Handle::Handle;

  static Dispatch create(const Plan &plan, const Device &device, const Description &pattern,
                         const std::vector<std::string> &dimensions) {
    std::vector<const char *> names;
    for (const std::string &name : dimensions) {
      names.push_back(name.c_str());
    }
    Call call;
    jitk_dispatch_t handle = nullptr;
    call.check(jitk_dispatch_create(plan.get(), device.get(), pattern.get(), names.data(), names.size(), &handle,
                                    call.error()));
    return Dispatch(handle);
  }

  Kernel kernel(const std::vector<int64_t> &sizes) const {
    Call call;
    jitk_kernel_t handle = nullptr;
    call.check(jitk_dispatch_kernel(handle_, sizes.data(), sizes.size(), &handle, call.error()));
    jitk_kernel_retain(handle);
    return Kernel(handle);
  }
};

class Artifact : public Handle<jitk_artifact_t, jitk_artifact_retain, jitk_artifact_release> {
public:
  using Handle::Handle;

  static Artifact compile(const Runtime &runtime, const Description &description, const std::string &target) {
    Call call;
    jitk_artifact_t handle = nullptr;
    call.check(jitk_runtime_compile(runtime.get(), description.get(), target.c_str(), &handle, call.error()));
    return Artifact(handle);
  }

  /// What a stored entry holds.
  static Artifact read(const Runtime &runtime, const std::string &key) {
    Call call;
    jitk_artifact_t handle = nullptr;
    call.check(jitk_store_read(runtime.get(), key.c_str(), &handle, call.error()));
    return Artifact(handle);
  }

  std::string_view dump(jitk_dump_t kind) const {
    size_t size = 0;
    const char *bytes = jitk_artifact_dump(handle_, kind, &size);
    return bytes ? std::string_view(bytes, size) : std::string_view();
  }
  jitk_kernel_info_t info() const {
    Call call;
    jitk_kernel_info_t info = {};
    info.struct_size = sizeof info;
    call.check(jitk_artifact_info(handle_, &info, call.error()));
    return info;
  }
};

} // namespace jitk::api

#endif // JITK_JITK_HPP
