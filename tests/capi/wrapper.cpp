// jitk.hpp over the stub compiler: ownership, exceptions, and the same way as lifecycle.c.

#include "jitk/jitk.hpp"

#include <cstdio>

using namespace jitk::api;

static int numFailures = 0;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      ++numFailures;                                                                                                   \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                              \
    }                                                                                                                  \
  } while (false)

static void launchOnce(const Runtime &runtime) {
  Device device = Device::open(runtime, "emulator:sm_90a");
  Description description = Description::create("matmul", {{"m", "*"}, {"n", "64"}, {"k", "64"}});
  Plan plan = Plan::create(runtime);
  plan.add(description);
  plan.addJson(plan.toJson());
  CHECK(plan.size() == 1);
  jitk_prepare_options_t options = {};
  options.device = device.get();
  plan.prepare(options);
  plan.wait();
  plan.seal();
  Kernel kernel = plan.kernel(device, description);
  CHECK((kernel.tensors() == std::vector<std::string>{"a", "b", "c"}));
  CHECK(kernel.dimensions() == std::vector<std::string>{"m"});
  CHECK(kernel.scalars().empty());
  CHECK(kernel.tensorAlignment(0) == 16);
  CHECK(kernel.info().registers == 32);
  CHECK(kernel.workspaceBytes({5}) == 0);
  Buffer a(device, 1024), b(device, 1024), c(device, 1024);
  Buffer moved = std::move(c);
  CHECK(c.size() == 0 && moved.size() == 1024);
  kernel.launch({a.address(), b.address(), moved.address()}, {8});
  device.synchronize();

  Kernel copy = kernel;
  Kernel taken = std::move(kernel);
  CHECK(!kernel && copy.get() == taken.get());
  Artifact artifact = Artifact::compile(runtime, description, "sm_90a");
  CHECK(artifact.dump(JITK_DUMP_PTX) == "// stub");
  CHECK(artifact.info().tier == JITK_TIER_COMPILED);
}

static void launchChecked(const Runtime &runtime) {
  Device device = Device::open(runtime, "emulator:sm_90a");
  Kernel kernel = Kernel::obtain(runtime, device, Description::parse("matmul m=* n=64 k=64"));
  Buffer memory(device, 3 * 8 * 1024);
  int64_t shapes[3][2] = {{8, 64}, {64, 64}, {8, 64}};
  jitk_dltensor_t tensors[3] = {};
  const jitk_dltensor_t *pointers[3];
  for (size_t i = 0; i < 3; ++i) {
    tensors[i].data = reinterpret_cast<void *>(memory.address() + 8 * 1024 * i);
    tensors[i].device.device_type = 1;
    tensors[i].ndim = 2;
    tensors[i].dtype = {4, 16, 1};
    tensors[i].shape = shapes[i];
    pointers[i] = &tensors[i];
  }
  jitk_dlpack_launch_t launch = {};
  launch.struct_size = sizeof launch;
  launch.tensors = pointers;
  launch.num_tensors = 3;
  kernel.launchDlpack(launch);
  shapes[2][1] = 63;
  try {
    kernel.launchDlpack(launch);
    CHECK(false);
  } catch (const Exception &exception) {
    CHECK(std::string(exception.what()) == "size 1 of tensor c must be 64: got 63");
  }
}

/// What a plan tells of its preparation and its kernels, and what its runtime tells of both.
static void askPlan() {
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  options.compiler_library = JITK_STUB_COMPILER;
  int late = 0;
  options.late_compilation = [](void *user, const jitk_late_compilation_t *compilation) {
    *static_cast<int *>(user) += compilation->cause == JITK_CAUSE_MISSED;
  };
  options.late_compilation_user = &late;
  Runtime runtime = Runtime::create(&options);
  Device device = Device::open(runtime, "emulator:sm_90a");
  Plan plan = Plan::create(runtime);
  Description small = Description::parse("matmul m=*<=16 n=64 k=64"),
              large = Description::parse("matmul m=* n=64 k=64");
  plan.add(small);
  jitk_prepare_options_t prepare = {};
  prepare.device = device.get();
  plan.prepare(prepare);
  plan.waitFor(small);
  plan.cancel();
  plan.wait();
  CHECK(plan.trace().find("traceEvents") != std::string::npos);
  CHECK(late == 0);
  CHECK(bool(plan.kernel(device, large)));
  CHECK(late == 1);
  plan.seal();
  Dispatch dispatch = Dispatch::create(plan, device, large, {"m"});
  CHECK(std::string(dispatch.kernel({16}).info().description) == small.text());
  CHECK(std::string(dispatch.kernel({17}).info().description) == large.text());
  CHECK(runtime.counters().compilations == 2);
  CHECK(runtime.key(large, "sm_90a").find(buildId()) != std::string::npos);
}

static void failures(const Runtime &runtime) {
  try {
    (void)Description::parse("nonsense");
    CHECK(false);
  } catch (const Exception &exception) {
    CHECK(exception.status() == JITK_STATUS_INVALID_ARGUMENT);
    CHECK(exception.stage() == "schema");
    CHECK(std::string(exception.what()).find("got 'nonsense'") != std::string::npos);
  }
  try {
    (void)Artifact::compile(runtime, Description::parse("matmul m=1 n=13 k=1"), "sm_90a");
    CHECK(false);
  } catch (const Exception &exception) {
    CHECK(exception.status() == JITK_STATUS_UNSUPPORTED);
    CHECK(exception.toolOutput() == "stub: bad luck");
  }
}

int main() {
  CHECK(version() == std::to_string(JITK_VERSION_MAJOR) + "." + std::to_string(JITK_VERSION_MINOR) + "." +
                         std::to_string(JITK_VERSION_PATCH));
  CHECK(!opNames().empty());
  CHECK(opInfo("matmul").find("b_layout") != std::string::npos);
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  options.compiler_library = JITK_STUB_COMPILER;
  Runtime runtime = Runtime::create(&options);
  CHECK(runtime.report().find(jitk_version()) != std::string::npos);
  launchOnce(runtime);
  launchChecked(runtime);
  askPlan();
  failures(runtime);
  return numFailures == 0 ? 0 : 1;
}
