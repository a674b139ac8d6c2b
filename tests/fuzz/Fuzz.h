// What each fuzz target defines. With -DJITK_LIBFUZZER=ON libFuzzer drives it, without end; else SeededMain does, for a
// fixed number of inputs that it makes out of the seeds: the default tier's part.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

/// Looks at one input. Ends the process where a promise is broken.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace jitk::test {

/// Inputs that are right.
std::vector<std::vector<uint8_t>> fuzzSeeds();

} // namespace jitk::test

#define FUZZ_REQUIRE(condition)                                                                                        \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                                     \
      std::abort();                                                                                                    \
    }                                                                                                                  \
  } while (false)
