// How launches and loads behave on a real driver: under graph capture, with wrong arguments, with tensors that say what
// they are, and whoever assembled the code.

#include "src/tools/timing/Gpu.h"
#include "tests/gpu/OnDevice.h"

#include <functional>

using namespace jitk;
using gpu::OnDevice;
using gpu::Session;

namespace {

constexpr char kMatmul[] = "matmul m=300 n=520 k=1032 dtype=bf16 b_layout=col";
constexpr size_t kOutput = 2;

api::Kernel obtain(const api::Runtime &runtime, const char *text) {
  return api::Kernel::obtain(runtime, Session::get().device, api::Description::parse(text));
}

/// What a call of the library answers: its status, and the message of a failure.
struct Answer {
  jitk_status_t status = JITK_STATUS_OK;
  std::string message;
};

Answer answerOf(const std::function<jitk_status_t(jitk_error_t *)> &call) {
  jitk_error_t error = nullptr;
  Answer answer;
  answer.status = call(&error);
  answer.message = jitk_error_message(error);
  jitk_error_release(error);
  return answer;
}

Answer launch(const api::Kernel &kernel, const std::vector<uint64_t> &tensors, jitk_device_t device = nullptr) {
  jitk_launch_t request = {};
  request.struct_size = sizeof request;
  request.tensors = tensors.data();
  request.num_tensors = tensors.size();
  request.device = device;
  return answerOf([&](jitk_error_t *error) { return jitk_kernel_launch(kernel.get(), &request, error); });
}

/// Tensors of a problem as DLPack has them.
struct DlTensors {
  explicit DlTensors(const OnDevice &problem) : shapes(problem.size()), tensors(problem.size()) {
    std::vector<uint64_t> addresses = problem.addresses();
    for (size_t i = 0; i < problem.size(); ++i) {
      shapes[i] = problem.shape(i).sizes;
      jitk_dltensor_t &tensor = tensors[i];
      tensor = {};
      tensor.data = reinterpret_cast<void *>(addresses[i]);
      tensor.device.device_type = 2;
      tensor.ndim = static_cast<int32_t>(shapes[i].size());
      tensor.dtype = {4, 16, 1}; // bf16
      tensor.shape = shapes[i].data();
      pointers.push_back(&tensor);
    }
  }

  Answer launch(const api::Kernel &kernel) const {
    jitk_dlpack_launch_t request = {};
    request.struct_size = sizeof request;
    request.tensors = pointers.data();
    request.num_tensors = pointers.size();
    return answerOf([&](jitk_error_t *error) { return jitk_kernel_launch_dlpack(kernel.get(), &request, error); });
  }

  std::vector<std::vector<int64_t>> shapes;
  std::vector<jitk_dltensor_t> tensors;
  std::vector<const jitk_dltensor_t *> pointers;
};

} // namespace

TEST_SUITE("gpu") {
  TEST_CASE("launches that may overlap give the bits of launches in turn") {
    // Each reads what the one before wrote, and writes what it read: too early a read or write would show.
    for (const char *text :
         {"matmul m=64 n=512 k=512 dtype=bf16 b_layout=col", "matmul m=4096 n=512 k=512 dtype=bf16 b_layout=col"}) {
      CAPTURE(text);
      OnDevice tensors(text, 11);
      api::Kernel kernel = obtain(Session::get().runtime, text);
      const api::Device &device = Session::get().device;
      api::Buffer workspace(device, std::max<uint64_t>(kernel.workspaceBytes({}), 1));
      size_t bytes = tensors.bytes(kOutput).size();
      api::Buffer even(device, bytes), odd(device, bytes);
      auto enqueue = [&](void *stream, uint64_t flags) {
        uint64_t from = tensors.addresses()[0];
        for (int link = 0; link < 24; ++link) {
          uint64_t to = link % 2 == 0 ? even.address() : odd.address();
          kernel.launch({from, tensors.addresses()[1], to}, {}, {}, workspace.address(), workspace.size(), stream,
                        flags);
          from = to;
        }
      };
      timing::Gpu gpu(0);
      auto result = [&] {
        gpu.synchronize();
        std::vector<uint8_t> bits(bytes);
        device.copyToHost(bits.data(), odd.address(), bytes);
        device.fill(odd.address(), 0xFF, bytes);
        return bits;
      };
      enqueue(gpu.stream(), 0);
      std::vector<uint8_t> inTurn = result();
      CHECK(inTurn != std::vector<uint8_t>(bytes, 0xFF));
      timing::Gpu::Graph graph = gpu.record(1, [&](void *stream) { enqueue(stream, JITK_LAUNCH_PROGRAMMATIC); });
      for (int repeat = 0; repeat < 20; ++repeat) {
        enqueue(gpu.stream(), JITK_LAUNCH_PROGRAMMATIC);
        CHECK(result() == inTurn);
        gpu.replay(graph);
        CHECK(result() == inTurn);
      }
    }
  }

  TEST_CASE("a captured launch gives the bits of a plain one, at each replay") {
    using Mode = timing::Gpu::CaptureMode;
    // Each family of kernels, in the mode in which a capture forbids most.
    for (const char *text :
         {kMatmul, "gated_delta_rule batch=2 tokens=600 qk_heads=4 v_heads=8 key_dim=128",
          "flash_attention heads=8 kv_heads=2 seq_q=300 seq_k=500 head_dim=128 causal=true",
          "fp8_block_matmul m=300 n=520 k=1040", "grouped_fp8_block_matmul groups=4 m=700 n=520 k=1040",
          "paged_attention batch=5 heads=16 kv_heads=4 max_kv=700 num_pages=60 splits=33 head_dim=128",
          "mla_decode batch=5 heads=128 max_kv=700 num_pages=60 splits=66 causal=true seq_q=2"}) {
      CAPTURE(text);
      OnDevice tensors(text, 7);
      api::Kernel kernel = obtain(Session::get().runtime, text);
      api::Buffer workspace(Session::get().device, std::max<uint64_t>(kernel.workspaceBytes({}), 1));
      std::vector<api::Scalar> scalars((*findOp(parseDescription(text)->op()))->scalars.size(), 0.04F);
      std::vector<size_t> outputs;
      for (size_t i = 0; i < tensors.size(); ++i) {
        if (tensors.isWritten(i)) {
          outputs.push_back(i);
          tensors.poison(i);
        }
      }
      kernel.launch(tensors.addresses(), {}, scalars, workspace.address(), workspace.size());
      Session::get().device.synchronize();
      std::vector<std::vector<uint8_t>> plain;
      for (size_t output : outputs) {
        plain.push_back(tensors.bytes(output));
        tensors.poison(output);
      }
      timing::Gpu gpu(0);
      auto enqueue = [&](void *stream) {
        kernel.launch(tensors.addresses(), {}, scalars, workspace.address(), workspace.size(), stream);
      };
      timing::Gpu::Graph graph = gpu.record(1, enqueue, Mode::Global);
      for (size_t i = 0; i < outputs.size(); ++i) {
        CHECK(tensors.bytes(outputs[i]) == std::vector<uint8_t>(plain[i].size(), 0xFF)); // recorded, not run
      }
      for (int replay = 0; replay < 3; ++replay) {
        for (size_t output : outputs) {
          tensors.poison(output);
        }
        gpu.replay(graph);
        for (size_t i = 0; i < outputs.size(); ++i) {
          CHECK(tensors.bytes(outputs[i]) == plain[i]);
        }
      }
    }
  }

  TEST_CASE("each kernel of a sealed plan is launched first under a capture that forbids all loading") {
    const Session &session = Session::get();
    api::Plan plan = api::Plan::create(session.runtime);
    std::vector<api::Description> descriptions;
    for (const char *text : {"matmul m=* n=128 k=256", "fp8_block_matmul m=*<=64 n=256 k=512",
                             "user_kernel language=cuda entry=k block=32 grid=ceil(n/32) n=* "
                             "arguments=\"x: updated fp32[n], n: int32\" "
                             "source=\"extern \\\"C\\\" __global__ void k(float *x, int n) { x[0] = 1; }\""}) {
      descriptions.push_back(api::Description::parse(text));
      plan.add(descriptions.back());
    }
    jitk_prepare_options_t prepare = {};
    prepare.struct_size = sizeof prepare;
    prepare.device = session.device.get();
    plan.prepare(prepare);
    plan.wait();
    plan.seal();
    constexpr size_t kBytes = 1 << 22;
    api::Buffer memory(session.device, kBytes);
    session.device.fill(memory.address(), 0, kBytes);
    timing::Gpu gpu(0);
    for (const api::Description &description : descriptions) {
      CAPTURE(description.text());
      api::Kernel kernel = plan.kernel(session.device, description);
      const std::vector<uint64_t> tensors(jitk_kernel_num_tensors(kernel.get()), memory.address());
      const std::vector<int64_t> sizes(jitk_kernel_num_dimensions(kernel.get()), 48);
      timing::Gpu::Graph graph = gpu.record(
          2, [&](void *stream) { kernel.launch(tensors, sizes, {}, memory.address(), kBytes, stream); },
          timing::Gpu::CaptureMode::Global);
      CHECK(gpu.replay(graph) > 0);
    }
  }

  TEST_CASE("a kernel that is made and loaded under capture neither fails nor spoils it") {
    const char *late = "matmul m=300 n=520 k=1032 dtype=bf16 b_layout=col out_dtype=fp32";
    OnDevice tensors(late, 9);
    timing::Gpu gpu(0);
    api::Kernel kernel;
    timing::Gpu::Graph graph = gpu.record(1, [&](void *stream) {
      kernel = obtain(Session::get().runtime, late);
      kernel.launch(tensors.addresses(), {}, {}, 0, 0, stream);
    });
    tensors.poison(kOutput);
    gpu.replay(graph);
    std::vector<uint8_t> replayed = tensors.bytes(kOutput);
    tensors.poison(kOutput);
    kernel.launch(tensors.addresses());
    Session::get().device.synchronize();
    CHECK(replayed == tensors.bytes(kOutput));
  }

  TEST_CASE("parameters of any size and order arrive, of the first launch as of later ones") {
    // Numbers of four bytes that stand alone and in pairs, before addresses and numbers of eight.
    const Session &session = Session::get();
    api::Kernel kernel = api::Kernel::obtain(
        session.runtime, session.device,
        api::Description::create(
            "user_kernel",
            {{"language", "cuda"},
             {"source",
              "extern \"C\" __global__ void echo(float f, long long *to, int a, const float *from, int b, int c,\n"
              "                                float g, long long d, int e, float h) {\n"
              "  long long seen[] = {a, b, c, d, e, (long long)f, (long long)g, (long long)h, (long long)*from};\n"
              "  for (int i = 0; i < 9; ++i) { to[i] = seen[i]; }\n"
              "}\n"},
             {"entry", "echo"},
             {"arguments", "f: fp32, to: written int64[9], a: int32, from: fp32[1], b: int32, c: int32, g: fp32, "
                           "d: int64, e: int32, h: fp32"},
             {"grid", "1"},
             {"block", "1"},
             {"a", "*"},
             {"b", "*"},
             {"c", "*"},
             {"d", "*"},
             {"e", "*"}}));
    constexpr size_t kBytes = 9 * sizeof(int64_t);
    api::Buffer to(session.device, kBytes), from(session.device, sizeof(float));
    const float read = 9;
    session.device.copyToDevice(from.address(), &read, sizeof read);
    for (int64_t round = 0; round < 3; ++round) {
      CAPTURE(round);
      session.device.fill(to.address(), 0xFF, kBytes);
      kernel.launch({to.address(), from.address()}, {10 + round, 20, 30, 40, 50 + round},
                    {6.0F + float(round), 7.0F, 8.0F});
      session.device.synchronize();
      std::vector<int64_t> found(9);
      session.device.copyToHost(found.data(), to.address(), kBytes);
      CHECK(found == std::vector<int64_t>{10 + round, 20, 30, 40, 50 + round, 6 + round, 7, 8, 9});
    }
  }

  TEST_CASE("a wrong address or device is refused, and nothing is enqueued") {
    OnDevice tensors(kMatmul, 3);
    api::Kernel kernel = obtain(Session::get().runtime, kMatmul);
    std::vector<uint64_t> good = tensors.addresses(), bad = good;
    const std::vector<uint8_t> untouched(tensors.bytes(kOutput).size(), 0xFF);
    tensors.poison(kOutput);

    bad[1] += 8;
    Answer answer = launch(kernel, bad);
    CHECK(answer.status == JITK_STATUS_INVALID_ARGUMENT);
    CHECK(answer.message.find("address of tensor b must be aligned to 16 bytes: got 0x") == 0);
    bad[1] = 0;
    CHECK(launch(kernel, bad).message == "address of tensor b must not be null: got 0x0");
    api::Device other = api::Device::open(Session::get().runtime, "emulator:sm_90a");
    answer = launch(kernel, good, other.get());
    CHECK(answer.status == JITK_STATUS_INVALID_ARGUMENT);
    CHECK(answer.message == "launch.device must be the device that the kernel was loaded on, cuda:0 (sm_90a): got "
                            "emulator:sm_90a");
    bad = good;
    bad.pop_back();
    CHECK(launch(kernel, bad).message == "number of tensors must be 3: got 2");
    Session::get().device.synchronize();
    CHECK(tensors.bytes(kOutput) == untouched);

    CHECK(launch(kernel, good, Session::get().device.get()).status == JITK_STATUS_OK);
    Session::get().device.synchronize();
    CHECK(tensors.bytes(kOutput) != untouched);
  }

  TEST_CASE("a checked launch gives the bits of an unchecked one, and names what is wrong") {
    constexpr char kRowMajor[] = "matmul m=300 n=520 k=1032 dtype=bf16";
    OnDevice tensors(kRowMajor, 4);
    api::Kernel kernel = obtain(Session::get().runtime, kRowMajor);
    kernel.launch(tensors.addresses());
    Session::get().device.synchronize();
    std::vector<uint8_t> unchecked = tensors.bytes(kOutput);
    tensors.poison(kOutput);
    DlTensors given(tensors);
    CHECK(given.launch(kernel).message == "");
    Session::get().device.synchronize();
    CHECK(tensors.bytes(kOutput) == unchecked);

    tensors.poison(kOutput);
    given.tensors[1].device.device_id = 1;
    CHECK(given.launch(kernel).message == "tensor b must be on CUDA device 0: got device type 2, device 1");
    given = DlTensors(tensors);
    given.tensors[0].device.device_type = 1;
    CHECK(given.launch(kernel).message == "tensor a must be on CUDA device 0: got device type 1, device 0");
    given = DlTensors(tensors);
    given.tensors[0].byte_offset = 2;
    CHECK(given.launch(kernel).message.find("address of tensor a must be aligned to 16 bytes: got 0x") == 0);
    given = DlTensors(tensors);
    given.tensors[0].dtype.code = 2;
    CHECK(given.launch(kernel).message == "type of tensor a must be bf16: got fp16");
    given = DlTensors(tensors);
    given.shapes[2][0] = 299;
    CHECK(given.launch(kernel).message == "size 0 of tensor c must be 300: got 299");
    Session::get().device.synchronize();
    CHECK(tensors.bytes(kOutput) == std::vector<uint8_t>(unchecked.size(), 0xFF));
  }

  TEST_CASE("each assembler's code gives the same bits") {
    std::vector<uint8_t> first;
    for (const char *assembler : {"ptxas", "nvjitlink", "driver"}) {
      CAPTURE(assembler);
      jitk_runtime_options_t options = {};
      options.struct_size = sizeof options;
      options.store_path = "";
      options.assembler = assembler;
      api::Runtime runtime = api::Runtime::create(&options);
      std::string key = runtime.key(api::Description::parse(kMatmul), "sm_90a");
      CHECK(key.find("\"assembler\": \"" + std::string(assembler) + " ") != std::string::npos);
      api::Device device = api::Device::open(runtime, "cuda:0");
      api::Kernel kernel = api::Kernel::obtain(runtime, device, api::Description::parse(kMatmul));
      OnDevice tensors(kMatmul, 6);
      tensors.poison(kOutput);
      kernel.launch(tensors.addresses());
      device.synchronize();
      std::vector<uint8_t> bytes = tensors.bytes(kOutput);
      CHECK(bytes != std::vector<uint8_t>(bytes.size(), 0xFF));
      first = first.empty() ? bytes : std::move(first);
      CHECK(bytes == first);
    }
  }
}
