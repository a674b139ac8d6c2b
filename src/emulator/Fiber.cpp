#include "src/emulator/Fiber.h"

#include <boost/context/detail/fcontext.hpp>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JITK_FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define JITK_FIBER_ASAN 1
#endif
#ifdef JITK_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace jitk::emulator {

namespace context = boost::context::detail;

namespace {

size_t pageBytes() {
  static const size_t bytes = size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

void startSwitch([[maybe_unused]] void **fakeStack, [[maybe_unused]] const void *bottom,
                 [[maybe_unused]] size_t bytes) {
#ifdef JITK_FIBER_ASAN
  __sanitizer_start_switch_fiber(fakeStack, bottom, bytes);
#endif
}

void finishSwitch([[maybe_unused]] void *fakeStack, [[maybe_unused]] const void **bottom,
                  [[maybe_unused]] size_t *bytes) {
#ifdef JITK_FIBER_ASAN
  __sanitizer_finish_switch_fiber(fakeStack, bottom, bytes);
#endif
}

} // namespace

FiberStack::FiberStack(FiberStack &&other) noexcept
    : bottom_(std::exchange(other.bottom_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

FiberStack &FiberStack::operator=(FiberStack &&other) noexcept {
  std::swap(bottom_, other.bottom_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

FiberStack::~FiberStack() {
  if (bottom_) {
    munmap(bottom_ - pageBytes(), bytes_ + pageBytes());
  }
}

FiberStack FiberStack::map(size_t bytes) {
  FiberStack stack;
  const size_t guard = pageBytes();
  void *memory =
      mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return stack;
  }
  mprotect(memory, guard, PROT_NONE);
  stack.bottom_ = static_cast<uint8_t *>(memory) + guard;
  stack.bytes_ = bytes;
  return stack;
}

struct Fiber::Entry {
  static void run(context::transfer_t transfer) {
    auto *fiber = static_cast<Fiber *>(transfer.data);
    finishSwitch(nullptr, &fiber->callerBottom_, &fiber->callerBytes_);
    fiber->caller_ = transfer.fctx;
    fiber->function_(fiber->argument_);
    // The stack is dead from here on; AddressSanitizer frees its shadow of it.
    startSwitch(nullptr, fiber->callerBottom_, fiber->callerBytes_);
    context::jump_fcontext(fiber->caller_, nullptr);
  }
};

void Fiber::prepare(const FiberStack &stack, Function function, void *argument) {
  stack_ = &stack;
  function_ = function;
  argument_ = argument;
  fakeStack_ = nullptr;
  context_ = context::make_fcontext(stack.top(), stack.bytes(), &Entry::run);
}

void Fiber::resume() {
  void *fakeStack = nullptr;
  startSwitch(&fakeStack, stack_->bottom(), stack_->bytes());
  context_ = context::jump_fcontext(context_, this).fctx;
  finishSwitch(fakeStack, nullptr, nullptr);
}

void Fiber::suspend() {
  startSwitch(&fakeStack_, callerBottom_, callerBytes_);
  caller_ = context::jump_fcontext(caller_, nullptr).fctx;
  finishSwitch(fakeStack_, &callerBottom_, &callerBytes_);
}

} // namespace jitk::emulator
