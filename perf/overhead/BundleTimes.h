// How long a model's bundle takes: to open it, which is all that an engine waits for, to find each entry, and to import
// it into a disk store.

#pragma once

#include "perf/overhead/Samples.h"

#include <cstddef>

namespace jitk::perf {

/// Milliseconds.
struct BundleTimes {
  size_t fileBytes = 0;
  Samples open, findAll, importAll;
};

/// A bundle of `count` entries with `codeBytes` of code each, which differ, `repeats` times in fresh stores. Throws
/// std::runtime_error.
BundleTimes measureBundle(int count, size_t codeBytes, int repeats);

} // namespace jitk::perf
