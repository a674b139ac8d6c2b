#include "tests/unit/runtime/Stub.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <new>

using namespace jitk;
using namespace jitk::test;

// Counts what the code under test allocates. Not in builds with sanitizers, which have operators of their own.
static std::atomic<size_t> numAllocations = 0;

void *operator new(size_t bytes) {
  ++numAllocations;
  if (void *memory = std::malloc(bytes)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

TEST_SUITE_BEGIN("runtime/Kernel");

TEST_CASE("a launch allocates nothing") {
  StubRuntime stub;
  auto silent = std::make_shared<StubDevice>(kTarget, /*remember=*/false);
  Result<std::shared_ptr<const Kernel>> kernel = stub.runtime->kernel(silent, stubProblem("*%16<=4096"));
  REQUIRE(kernel.ok());
  const std::array<uint64_t, 3> tensors = {0x1000, 0x2000, 0x3000};
  const std::array<int64_t, 1> dimensions = {256};
  size_t before = numAllocations;
  bool good = true;
  for (int i = 0; i < 1000; ++i) {
    good = good && (*kernel)->launch({.tensors = tensors, .dimensions = dimensions, .scalars = {}}).ok();
  }
  CHECK(numAllocations == before);
  CHECK(good);
}

TEST_SUITE_END();
