// Sequences of C API calls with the stub compiler: any order, on any handles, live, null or retained twice. Each byte
// is a call; the next ones choose its arguments.

#include "jitk/jitk.h"
#include "tests/fuzz/Fuzz.h"

#include <array>
#include <cstdlib>
#include <string>

namespace {

/// Reads an input; zeros after its end.
class Choices {
public:
  Choices(const uint8_t *data, size_t size) : data_(data), size_(size) {}
  bool done() const { return at_ >= size_; }
  unsigned next() { return at_ < size_ ? data_[at_++] : 0; }

private:
  const uint8_t *data_;
  size_t size_, at_ = 0;
};

const char *const kTexts[] = {"matmul m=* n=64 k=64",
                              "matmul m=1 n=64 k=64",
                              "matmul m=1 n=13 k=64",
                              "matmul m=1 n=17 k=64",
                              "matmul",
                              "nonsense",
                              "",
                              "matmul m=*%16<=512 n=64 k=64"};
const char *const kTargets[] = {"sm_90a", "emulator:sm_90a", "sm_1", "", "cuda:0", "emulator:sm_80"};
const char *const kPlans[] = {
    R"({"jitk_plan": 1, "kernels": []})",
    R"({"jitk_plan": 1, "kernels": [{"op": "matmul", "attributes": {"m": 1, "n": 8, "k": 8}}]})", "{", ""};

template <typename T, size_t N> T pick(T const (&all)[N], Choices &choices) { return all[choices.next() % N]; }

/// One of a few handles of a kind, some of them null.
template <typename Handle, void (*Retain)(Handle), void (*Release)(Handle)> class Slots {
public:
  ~Slots() {
    for (Handle handle : handles_) {
      Release(handle);
    }
  }
  Handle get(Choices &choices) { return handles_[choices.next() % handles_.size()]; }
  /// Takes over a reference, in place of an older one.
  void put(Choices &choices, Handle handle) {
    Handle &slot = handles_[choices.next() % handles_.size()];
    Release(slot);
    slot = handle;
  }
  /// Holds one more reference to what another slot holds.
  void copy(Choices &choices) {
    Handle handle = get(choices);
    Retain(handle);
    put(choices, handle);
  }

private:
  std::array<Handle, 3> handles_ = {};
};

struct World {
  Slots<jitk_runtime_t, jitk_runtime_retain, jitk_runtime_release> runtimes;
  Slots<jitk_device_t, jitk_device_retain, jitk_device_release> devices;
  Slots<jitk_description_t, jitk_description_retain, jitk_description_release> descriptions;
  Slots<jitk_plan_t, jitk_plan_retain, jitk_plan_release> plans;
  Slots<jitk_kernel_t, jitk_kernel_retain, jitk_kernel_release> kernels;
  jitk_error_t error = nullptr;

  /// What every call promises.
  void check(jitk_status_t status) {
    FUZZ_REQUIRE((status == JITK_STATUS_OK) == (error == nullptr));
    FUZZ_REQUIRE(jitk_error_code(error) == status);
    FUZZ_REQUIRE(std::string(jitk_status_name(status)) != "UNKNOWN");
    FUZZ_REQUIRE(jitk_error_message(error) && jitk_error_stage(error) && jitk_error_key(error));
    jitk_error_release(error);
    error = nullptr;
  }
  template <typename Handle> void checkGiven(jitk_status_t status, Handle handle) {
    FUZZ_REQUIRE((status == JITK_STATUS_OK) == (handle != nullptr));
    check(status);
  }
};

void makeHandle(World &world, Choices &choices) {
  switch (choices.next() % 5) {
  case 0: {
    jitk_runtime_options_t options = {};
    options.struct_size = choices.next() % 8 == 0 ? choices.next() % sizeof options : sizeof options;
    options.store_path = "";
    options.compiler_library = JITK_STUB_COMPILER;
    options.jobs = choices.next() % 3;
    jitk_runtime_t runtime = nullptr;
    jitk_status_t status = jitk_runtime_create(&options, &runtime, &world.error);
    world.checkGiven(status, runtime);
    return world.runtimes.put(choices, runtime);
  }
  case 1: {
    jitk_device_t device = nullptr;
    jitk_status_t status =
        jitk_device_open(world.runtimes.get(choices), pick(kTargets, choices), nullptr, &device, &world.error);
    world.checkGiven(status, device);
    return world.devices.put(choices, device);
  }
  case 2: {
    jitk_description_t description = nullptr;
    jitk_status_t status = jitk_description_parse(pick(kTexts, choices), &description, &world.error);
    world.checkGiven(status, description);
    return world.descriptions.put(choices, description);
  }
  case 3: {
    jitk_plan_t plan = nullptr;
    jitk_status_t status = jitk_plan_create(world.runtimes.get(choices), &plan, &world.error);
    world.checkGiven(status, plan);
    return world.plans.put(choices, plan);
  }
  default: {
    jitk_kernel_t kernel = nullptr;
    jitk_status_t status = jitk_runtime_kernel(world.runtimes.get(choices), world.devices.get(choices),
                                               world.descriptions.get(choices), &kernel, &world.error);
    world.checkGiven(status, kernel);
    return world.kernels.put(choices, kernel);
  }
  }
}

void usePlan(World &world, Choices &choices) {
  jitk_plan_t plan = world.plans.get(choices);
  switch (choices.next() % 7) {
  case 0:
    return world.check(
        jitk_plan_add(plan, world.descriptions.get(choices), static_cast<int32_t>(choices.next()) - 128, &world.error));
  case 1:
    return world.check(jitk_plan_add_json(plan, pick(kPlans, choices), &world.error));
  case 2: {
    jitk_prepare_options_t options = {};
    options.struct_size = sizeof options;
    options.device = world.devices.get(choices);
    options.target = choices.next() % 2 == 0 ? nullptr : pick(kTargets, choices);
    return world.check(jitk_plan_prepare(plan, &options, &world.error));
  }
  case 3:
    return world.check(jitk_plan_wait(plan, choices.next() % 2 == 0 ? 0 : UINT32_MAX, &world.error));
  case 4:
    return jitk_plan_cancel(plan);
  case 5:
    return world.check(jitk_plan_seal(plan, &world.error));
  default: {
    jitk_kernel_t kernel = nullptr;
    jitk_status_t status =
        jitk_plan_kernel(plan, world.devices.get(choices), world.descriptions.get(choices), &kernel, &world.error);
    world.checkGiven(status, kernel);
    return world.kernels.put(choices, kernel);
  }
  }
}

void launch(World &world, Choices &choices) {
  uint64_t tensors[4];
  int64_t dimensions[4];
  float scalars[4] = {};
  jitk_scalar_t typedScalars[4] = {};
  for (size_t i = 0; i < 4; ++i) {
    tensors[i] = choices.next() * uint64_t{8};
    dimensions[i] = static_cast<int64_t>(choices.next()) - 8;
    typedScalars[i].kind = static_cast<jitk_scalar_kind_t>(choices.next() % 5);
    typedScalars[i].int_value = static_cast<int64_t>(choices.next()) - 8;
  }
  jitk_launch_t arguments = {};
  arguments.struct_size = choices.next() % 8 == 0 ? choices.next() % sizeof arguments : sizeof arguments;
  arguments.tensors = choices.next() % 8 == 0 ? nullptr : tensors;
  arguments.num_tensors = choices.next() % 5;
  arguments.dimensions = choices.next() % 8 == 0 ? nullptr : dimensions;
  arguments.num_dimensions = choices.next() % 5;
  arguments.scalars = scalars;
  arguments.num_scalars = choices.next() % 5;
  arguments.typed_scalars = choices.next() % 8 == 0 ? nullptr : typedScalars;
  arguments.num_typed_scalars = choices.next() % 3;
  arguments.device = world.devices.get(choices);
  world.check(jitk_kernel_launch(world.kernels.get(choices), &arguments, &world.error));
}

void ask(World &world, Choices &choices) {
  jitk_kernel_t kernel = world.kernels.get(choices);
  size_t index = choices.next();
  FUZZ_REQUIRE((jitk_kernel_tensor_name(kernel, index) != nullptr) == (index < jitk_kernel_num_tensors(kernel)));
  FUZZ_REQUIRE((jitk_kernel_dimension_name(kernel, index) != nullptr) == (index < jitk_kernel_num_dimensions(kernel)));
  FUZZ_REQUIRE((jitk_kernel_scalar_name(kernel, index) != nullptr) == (index < jitk_kernel_num_scalars(kernel)));
  FUZZ_REQUIRE((jitk_kernel_scalar_type(kernel, index) != nullptr) == (index < jitk_kernel_num_scalars(kernel)));
  jitk_kernel_info_t info = {};
  info.struct_size = choices.next() % 4 == 0 ? choices.next() % sizeof info : sizeof info;
  world.check(jitk_kernel_info(kernel, &info, &world.error));
  jitk_text_t text = nullptr;
  jitk_status_t status = jitk_runtime_key(world.runtimes.get(choices), world.descriptions.get(choices),
                                          pick(kTargets, choices), &text, &world.error);
  world.checkGiven(status, text);
  jitk_text_release(text);
  text = nullptr;
  status = jitk_runtime_configurations(world.runtimes.get(choices), world.descriptions.get(choices),
                                       pick(kTargets, choices), &text, &world.error);
  world.checkGiven(status, text);
  jitk_text_release(text);
}

void copy(World &world, Choices &choices) {
  switch (choices.next() % 5) {
  case 0:
    return world.runtimes.copy(choices);
  case 1:
    return world.devices.copy(choices);
  case 2:
    return world.descriptions.copy(choices);
  case 3:
    return world.plans.copy(choices);
  default:
    return world.kernels.copy(choices);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Options that end before `compiler_library` mean the stub too: its device cannot launch what others compile.
  static const int isSet = setenv("JITK_COMPILER_LIBRARY", JITK_STUB_COMPILER, 1);
  FUZZ_REQUIRE(isSet == 0);
  World world;
  Choices choices(data, size);
  while (!choices.done()) {
    switch (choices.next() % 6) {
    case 0:
    case 1:
      makeHandle(world, choices);
      break;
    case 2:
      usePlan(world, choices);
      break;
    case 3:
      launch(world, choices);
      break;
    case 4:
      ask(world, choices);
      break;
    default:
      copy(world, choices);
    }
  }
  return 0;
}

std::vector<std::vector<uint8_t>> jitk::test::fuzzSeeds() {
  // Runtime, device, description, plan; add, prepare, wait, seal; kernel, launch, questions.
  std::vector<uint8_t> whole = {0,  0,  1,  1,  0,  0,  1, 0, 1, 0, 0, 2, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0, 128, 2,  0,
                                2,  0,  0,  2,  0,  3,  1, 2, 0, 5, 2, 0, 6, 0, 0, 0, 0, 4, 0, 0, 0, 1, 3,   16, 24,
                                32, 24, 48, 24, 64, 24, 1, 1, 3, 1, 1, 0, 0, 0, 4, 0, 1, 1, 0, 0, 0, 5, 4,   0,  1};
  std::vector<uint8_t> early = {0, 0, 1, 2, 0, 0, 1,  0,  1,  0,  0,  2,  1,  0, 0,
                                4, 0, 0, 0, 0, 3, 16, 24, 32, 24, 48, 24, 64, 24};
  return {whole, early};
}
