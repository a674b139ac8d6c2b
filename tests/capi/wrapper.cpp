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
  CHECK(!opNames().empty());
  CHECK(opInfo("matmul").find("b_layout") != std::string::npos);
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  options.compiler_library = JITK_STUB_COMPILER;
  Runtime runtime = Runtime::create(&options);
  CHECK(runtime.report().find(jitk_version()) != std::string::npos);
  launchOnce(runtime);
  failures(runtime);
  return numFailures == 0 ? 0 : 1;
}
