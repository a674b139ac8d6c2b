// Memory that the library gives, fills and copies: while another thread captures, and behind launches.

#include "tests/gpu/EngineDriver.h"
#include "tests/gpu/OnDevice.h"

#include <thread>

using namespace jitk;
using gpu::EngineDriver;
using gpu::OnDevice;
using gpu::Session;

namespace {

constexpr size_t kBytes = 1 << 20;

/// Takes 20 ms.
constexpr const char *kSlow = "extern \"C\" __global__ void slow(int *result) {\n"
                              "  unsigned long long begin, now;\n"
                              "  asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(begin));\n"
                              "  do {\n"
                              "    asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n"
                              "  } while (now - begin < 20000000ull);\n"
                              "  result[0] = 1;\n"
                              "}\n";

/// Whether memory that is made now holds what is written to it.
bool memoryWorks() {
  const api::Device &device = Session::get().device;
  api::Buffer memory(device, kBytes);
  std::vector<uint8_t> written(kBytes / 2, 7), read(kBytes);
  device.fill(memory.address(), 0xAB, kBytes);
  device.copyToDevice(memory.address(), written.data(), written.size());
  device.copyToHost(read.data(), memory.address(), kBytes);
  return read.front() == 7 && read[written.size() - 1] == 7 && read[written.size()] == 0xAB && read.back() == 0xAB;
}

} // namespace

TEST_SUITE("gpu/Transfers") {
  TEST_CASE("memory is made, filled, copied and freed while another thread captures, and the capture is not spoiled") {
    EngineDriver driver;
    const char *text = "matmul m=300 n=520 k=1032 b_layout=col";
    OnDevice tensors(text, 7);
    api::Kernel kernel =
        api::Kernel::obtain(Session::get().runtime, Session::get().device, api::Description::parse(text));
    EngineDriver::Context context = nullptr;
    REQUIRE(driver.retainPrimary(&context, 0) == 0);
    REQUIRE(driver.setCurrent(context) == 0);
    constexpr int kGlobal = 0; // CU_STREAM_CAPTURE_MODE_GLOBAL: forbids the most, of all threads
    for (EngineDriver::StreamKind kind : {EngineDriver::kBlocking, EngineDriver::kNonBlocking}) {
      CAPTURE(kind);
      EngineDriver::Stream stream = nullptr;
      REQUIRE(driver.createStream(&stream, kind) == 0);
      REQUIRE(driver.beginCapture(stream, kGlobal) == 0);
      kernel.launch(tensors.addresses(), {}, {}, 0, 0, stream);
      bool works = false;
      std::string failure;
      std::thread([&] {
        try {
          works = memoryWorks();
        } catch (const std::exception &error) {
          failure = error.what();
        }
      }).join();
      CHECK(failure == "");
      CHECK(works);
      kernel.launch(tensors.addresses(), {}, {}, 0, 0, stream);
      EngineDriver::Graph graph = nullptr;
      CHECK(driver.endCapture(stream, &graph) == 0);
      CHECK(graph != nullptr);
      CHECK(driver.destroyGraph(graph) == 0);
      CHECK(driver.destroyStream(stream) == 0);
    }
    driver.setCurrent(nullptr);
    driver.releasePrimary(0);
  }

  TEST_CASE("results of the default stream are read without another wait") {
    const api::Device &device = Session::get().device;
    api::Kernel kernel =
        api::Kernel::obtain(Session::get().runtime, device,
                            api::Description::create("user_kernel", {{"language", "cuda"},
                                                                     {"source", kSlow},
                                                                     {"entry", "slow"},
                                                                     {"arguments", "result: written int32[1]"},
                                                                     {"grid", "1"},
                                                                     {"block", "1"}}));
    api::Buffer result(device, sizeof(int32_t));
    for (int repeat = 0; repeat < 3; ++repeat) {
      device.fill(result.address(), 0, sizeof(int32_t));
      kernel.launch({result.address()}, {});
      int32_t value = 0;
      device.copyToHost(&value, result.address(), sizeof value);
      CHECK(value == 1);
    }
  }
}
