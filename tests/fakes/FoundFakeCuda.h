// The fake driver for what opens a driver by its name: programs whose search path has it.

#pragma once

#include "tests/fakes/FakeCuda.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

namespace jitk::test {

/// Of the library that JITK_FAKE_CUDA names, which is found by that name from now on; as new.
inline FakeCuda &foundFakeCuda() {
  static void *library = dlopen(JITK_FAKE_CUDA, RTLD_NOW | RTLD_GLOBAL);
  REQUIRE(library);
  auto *get = reinterpret_cast<decltype(&fake_cuda)>(dlsym(library, "fake_cuda"));
  *get() = {};
  return *get();
}

} // namespace jitk::test
