// Work of a sealed plan beside a kernel that never ends, as communication kernels and persistent schedulers are:
// nothing in a launch may wait for the device, or the engine stands still for good.

#include "tests/gpu/EngineDriver.h"
#include "tests/gpu/OnDevice.h"

#include <chrono>
#include <thread>

using namespace jitk;
using gpu::EngineDriver;
using gpu::OnDevice;
using gpu::Session;
using Clock = std::chrono::steady_clock;

namespace {

// flags[0]: it runs; flags[1]: it is to end. After some seconds it ends by itself, so that a launch that waits for it
// fails a test and does not hang it.
constexpr const char *kSource = "extern \"C\" __global__ void reside(volatile int *flags) {\n"
                                "  unsigned long long begin, now;\n"
                                "  asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(begin));\n"
                                "  flags[0] = 1;\n"
                                "  do {\n"
                                "    asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n"
                                "  } while (flags[1] == 0 && now - begin < 8000000000ull);\n"
                                "}\n";
constexpr std::chrono::seconds kPatience(5); ///< less than the kernel's own end

constexpr const char *kProblems[] = {
    "matmul m=300 n=520 k=1032 dtype=bf16 b_layout=col",
    "matmul m=8192 n=8192 k=512 dtype=bf16 b_layout=col",
    "flash_attention heads=8 kv_heads=2 seq_q=300 seq_k=500 head_dim=128 causal=true",
    "fp8_block_matmul m=300 n=520 k=1040",
    "grouped_fp8_block_matmul groups=4 m=700 n=520 k=1040",
    "gated_delta_rule batch=2 tokens=600 qk_heads=4 v_heads=8 key_dim=128 qk_l2norm=true",
    "mla_decode batch=5 heads=128 max_kv=700 num_pages=60 splits=66 causal=true seq_q=2",
};

template <typename Condition> bool becomesTrue(Condition condition) {
  for (Clock::time_point end = Clock::now() + kPatience; Clock::now() < end; std::this_thread::yield()) {
    if (condition()) {
      return true;
    }
  }
  return false;
}

/// The primary context, current on this thread as an engine has it.
class CurrentPrimary {
public:
  explicit CurrentPrimary(const EngineDriver &driver) : driver_(driver) {
    EngineDriver::Context context = nullptr;
    REQUIRE(driver_.retainPrimary(&context, 0) == 0);
    REQUIRE(driver_.setCurrent(context) == 0);
  }
  ~CurrentPrimary() {
    driver_.setCurrent(nullptr);
    driver_.releasePrimary(0);
  }

private:
  const EngineDriver &driver_;
};

/// A stream, and an event at its end.
struct Lane {
  explicit Lane(const EngineDriver &theDriver, EngineDriver::StreamKind kind = EngineDriver::kNonBlocking)
      : driver(theDriver) {
    REQUIRE(driver.createStream(&stream, kind) == 0);
    REQUIRE(driver.createEvent(&event, /*CU_EVENT_DISABLE_TIMING*/ 2) == 0);
  }
  ~Lane() {
    driver.destroyEvent(event);
    driver.destroyStream(stream);
  }
  void mark() const { REQUIRE(driver.recordEvent(event, stream) == 0); }
  bool isBusy() const { return driver.queryEvent(event) == EngineDriver::kNotReady; }
  bool isDone() const { return driver.queryEvent(event) == 0; }

  const EngineDriver &driver;
  EngineDriver::Stream stream = nullptr;
  EngineDriver::Event event = nullptr;
};

/// A kernel that runs on a stream of its own until this is gone.
class ResidentKernel {
public:
  explicit ResidentKernel(const EngineDriver &driver, EngineDriver::StreamKind kind = EngineDriver::kNonBlocking)
      : driver_(driver),
        kernel_(api::Kernel::obtain(Session::get().runtime, Session::get().device,
                                    api::Description::create("user_kernel", {{"language", "cuda"},
                                                                             {"source", kSource},
                                                                             {"entry", "reside"},
                                                                             {"arguments", "flags: updated int32[2]"},
                                                                             {"grid", "1"},
                                                                             {"block", "1"}}))),
        lane_(driver, kind) {
    void *memory = nullptr;
    REQUIRE(driver_.allocateHost(&memory, 2 * sizeof(int), 0) == 0);
    flags_ = static_cast<volatile int *>(memory);
    flags_[0] = 0;
    flags_[1] = 0;
    kernel_.launch({reinterpret_cast<uint64_t>(memory)}, {}, {}, 0, 0, lane_.stream);
    lane_.mark();
    REQUIRE(becomesTrue([&] { return flags_[0] == 1; }));
  }
  ~ResidentKernel() {
    flags_[1] = 1;
    CHECK(driver_.synchronizeStream(lane_.stream) == 0);
    driver_.freeHost(const_cast<int *>(flags_));
  }
  ResidentKernel(const ResidentKernel &) = delete;

  bool isRunning() const { return lane_.isBusy(); }

private:
  const EngineDriver &driver_;
  api::Kernel kernel_;
  Lane lane_;
  volatile int *flags_ = nullptr;
};

/// One problem of the plan, and all that its launch needs.
struct Work {
  explicit Work(const char *theText)
      : text(theText), tensors(text, 7), description(api::Description::parse(text)),
        scalars((*findOp(parseDescription(text)->op()))->scalars.size(), 0.04F) {}

  void launch(void *stream) const {
    kernel.launch(tensors.addresses(), {}, scalars, workspace.address(), workspace.size(), stream);
  }
  /// What the outputs hold.
  std::vector<std::vector<uint8_t>> results() const {
    std::vector<std::vector<uint8_t>> all;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors.isWritten(i)) {
        all.push_back(tensors.bytes(i));
      }
    }
    return all;
  }
  void poison() const {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors.isWritten(i)) {
        tensors.poison(i);
      }
    }
  }

  std::string text;
  OnDevice tensors;
  api::Description description;
  std::vector<api::Scalar> scalars;
  api::Kernel kernel;
  api::Buffer workspace;
};

/// Finds the kernels of all problems, sealed.
std::vector<Work> sealedWork(const api::Plan &plan) {
  std::vector<Work> all;
  for (const char *text : kProblems) {
    all.emplace_back(text);
    plan.add(all.back().description);
  }
  jitk_prepare_options_t prepare = {};
  prepare.device = Session::get().device.get();
  plan.prepare(prepare);
  plan.wait();
  plan.seal();
  for (Work &work : all) {
    work.kernel = plan.kernel(Session::get().device, work.description);
    work.workspace = api::Buffer(Session::get().device, std::max<uint64_t>(work.kernel.workspaceBytes({}), 1));
  }
  return all;
}

} // namespace

TEST_SUITE("gpu/ResidentKernel") {
  TEST_CASE("every kernel of a sealed plan runs for the first time, and ends, beside a kernel that does not") {
    (void)Session::get(); // initializes the driver
    EngineDriver driver;
    CurrentPrimary current(driver);
    api::Plan plan = api::Plan::create(Session::get().runtime);
    std::vector<Work> all = sealedWork(plan);
    Lane lane(driver);
    const jitk_counters_t before = Session::get().runtime.counters();
    std::vector<std::vector<std::vector<uint8_t>>> beside;
    {
      ResidentKernel resident(driver);
      for (const Work &work : all) {
        CAPTURE(work.text);
        work.launch(lane.stream);
        lane.mark();
        REQUIRE(becomesTrue([&] { return lane.isDone(); }));
        REQUIRE(resident.isRunning());
      }
      // From a thread that has no context, too.
      std::thread([&] {
        for (const Work &work : all) {
          work.launch(lane.stream);
        }
      }).join();
      lane.mark();
      CHECK(becomesTrue([&] { return lane.isDone(); }));
      // Copies by the library do not wait for it either.
      for (const Work &work : all) {
        beside.push_back(work.results());
      }
      CHECK(resident.isRunning());
    }
    const jitk_counters_t after = Session::get().runtime.counters();
    CHECK(after.loads == before.loads + 1); // the resident kernel itself
    for (size_t i = 0; i < all.size(); ++i) {
      CAPTURE(all[i].text);
      all[i].poison();
      all[i].launch(nullptr);
      Session::get().device.synchronize();
      CHECK(all[i].results() == beside[i]);
    }
  }

  TEST_CASE("memory is filled, written and read beside a kernel that does not end, whatever its stream") {
    (void)Session::get();
    EngineDriver driver;
    CurrentPrimary current(driver);
    for (EngineDriver::StreamKind kind : {EngineDriver::kBlocking, EngineDriver::kNonBlocking}) {
      CAPTURE(kind);
      api::Buffer memory(Session::get().device, 1 << 20);
      ResidentKernel resident(driver, kind);
      std::vector<uint8_t> bytes(1 << 20);
      Session::get().device.fill(memory.address(), 0xAB, bytes.size());
      const uint8_t value = 7;
      Session::get().device.copyToDevice(memory.address(), &value, 1);
      Session::get().device.copyToHost(bytes.data(), memory.address(), bytes.size());
      CHECK(resident.isRunning());
      CHECK(bytes.front() == 7);
      CHECK(bytes.back() == 0xAB);
    }
  }

  TEST_CASE("kernels are let go of while one runs that does not end, and nobody waits") {
    EngineDriver driver;
    CurrentPrimary current(driver);
    OnDevice tensors(kProblems[0], 7);
    Lane lane(driver);
    api::Kernel kernel =
        api::Kernel::obtain(Session::get().runtime, Session::get().device, api::Description::parse(kProblems[0]));
    ResidentKernel resident(driver);
    kernel.launch(tensors.addresses(), {}, {}, 0, 0, lane.stream);
    kernel = {};
    CHECK(resident.isRunning());
  }
}
