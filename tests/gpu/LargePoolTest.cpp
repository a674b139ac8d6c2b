// A pool of so many states that 32 bits do not count their elements. The host has no copy of it: a sequence whose state
// lies in the last slot gives the bits that it gives with a pool of that slot alone.

#include "tests/gpu/OnDevice.h"

#include <cstring>

using namespace jitk;
using gpu::OnDevice;
using gpu::Session;

namespace {

constexpr int64_t kSlots = 8200;

size_t indexOf(const OnDevice &problem, std::string_view name) {
  size_t index = 0;
  while (problem.shape(index).name != name) {
    ++index;
  }
  return index;
}

/// The pool on the device: NaN in all slots but the last, of the given contents.
class Pool {
public:
  explicit Pool(const std::vector<uint8_t> &last)
      : device_(Session::get().device), slotBytes_(last.size()), buffer_(device_, kSlots * slotBytes_) {
    device_.fill(buffer_.address(), kFill, buffer_.size());
    device_.copyToDevice(address(kSlots - 1), last.data(), last.size());
  }

  uint64_t address(int64_t slot) const { return buffer_.address() + uint64_t(slot) * slotBytes_; }
  std::vector<uint8_t> slots(int64_t first, int64_t count) const {
    std::vector<uint8_t> bytes(size_t(count) * slotBytes_);
    device_.copyToHost(bytes.data(), address(first), bytes.size());
    return bytes;
  }
  bool othersAreUntouched() const {
    constexpr int64_t kAtATime = 200;
    const std::vector<uint8_t> untouched(kAtATime * slotBytes_, kFill);
    for (int64_t first = 0; first < kSlots - 1; first += kAtATime) {
      std::vector<uint8_t> found = slots(first, std::min(kAtATime, kSlots - 1 - first));
      if (std::memcmp(found.data(), untouched.data(), found.size()) != 0) {
        return false;
      }
    }
    return true;
  }

private:
  static constexpr uint8_t kFill = 0xFF;

  api::Device device_;
  size_t slotBytes_;
  api::Buffer buffer_;
};

} // namespace

TEST_SUITE("gpu/LargePool") {
  TEST_CASE("the last slot of a pool of more than 2^31 elements is read and written, and no other") {
    const Session &session = Session::get();
    for (const char *mode : {"mode=recurrent tokens=3", "mode=chunk tokens=70"}) {
      CAPTURE(mode);
      std::string op =
          std::string("gated_delta_rule ") + mode + " qk_heads=8 v_heads=16 key_dim=128 state_pool=true slots=";
      api::Kernel kernel = api::Kernel::obtain(session.runtime, session.device, api::Description::parse(op + "*"));
      OnDevice problem(op + "1", 5);
      const size_t states = indexOf(problem, "states"), indices = indexOf(problem, "state_indices"),
                   outputs = indexOf(problem, "o");
      Pool pool(problem.bytes(states));
      REQUIRE(kSlots * problem.shape(states).numElements() > int64_t(1) << 31);

      std::vector<uint64_t> addresses = problem.addresses();
      auto run = [&](int64_t slots) {
        problem.poison(outputs);
        api::Buffer workspace(session.device, std::max<uint64_t>(kernel.workspaceBytes({slots}), 256));
        kernel.launch(addresses, {slots}, {}, workspace.address(), workspace.size());
        session.device.synchronize();
        return problem.bytes(outputs);
      };
      std::vector<uint8_t> wanted = run(1);
      const int32_t last = kSlots - 1;
      session.device.copyToDevice(addresses[indices], &last, sizeof last);
      addresses[states] = pool.address(0);
      CHECK(run(kSlots) == wanted);
      CHECK(pool.slots(last, 1) == problem.bytes(states));
      CHECK(pool.othersAreUntouched());
    }
  }
}
