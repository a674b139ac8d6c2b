// Fibers: the threads of a CTA as coroutines on one host thread.
//
// A fiber is started on a stack of a pool, runs until it suspends itself or its function returns, and is resumed by the
// host thread that started it. A fiber that will not be resumed is simply left: nothing on its stack is destroyed, so
// code that suspends holds no owning objects.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitk::emulator {

/// A stack with an unmapped page below it. Movable; unmaps itself.
class FiberStack {
public:
  FiberStack() = default;
  FiberStack(FiberStack &&other) noexcept;
  FiberStack &operator=(FiberStack &&other) noexcept;
  ~FiberStack();

  /// Maps a stack; one without memory if the system refuses.
  static FiberStack map(size_t bytes);
  bool mapped() const { return bottom_ != nullptr; }
  void *bottom() const { return bottom_; } ///< lowest usable address
  void *top() const { return bottom_ + bytes_; }
  size_t bytes() const { return bytes_; }

private:
  uint8_t *bottom_ = nullptr;
  size_t bytes_ = 0;
};

/// One coroutine. Not movable while it runs.
class Fiber {
public:
  using Function = void (*)(void *argument);

  /// Prepares `function` to run on `stack` at the first `resume`. What ran on that stack before is forgotten.
  void prepare(const FiberStack &stack, Function function, void *argument);
  /// Runs the fiber until it suspends or ends. Called from outside of it.
  void resume();
  /// Gives control back to the caller of `resume`. Called from inside.
  void suspend();

private:
  struct Entry; // the fiber's first frame

  void *context_ = nullptr; // of the fiber, while it does not run
  void *caller_ = nullptr;  // of whoever resumed it, while it runs
  Function function_ = nullptr;
  void *argument_ = nullptr;
  const FiberStack *stack_ = nullptr;
  // What AddressSanitizer is told of the two stacks.
  void *fakeStack_ = nullptr;
  const void *callerBottom_ = nullptr;
  size_t callerBytes_ = 0;
};

} // namespace jitk::emulator
