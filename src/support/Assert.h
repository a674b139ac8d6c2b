// JITK_ASSERT: checks an invariant of our own, never user input.
//
// On in builds with JITK_ASSERTIONS whatever NDEBUG says: there a false condition stops the program with its place.
// Elsewhere the condition is not evaluated.

#pragma once

#if JITK_ASSERTIONS
#include <cstdio>
#include <cstdlib>
#define JITK_ASSERT(condition)                                                                                         \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition);                           \
      std::abort();                                                                                                    \
    }                                                                                                                  \
  } while (false)
#else
#define JITK_ASSERT(condition) static_cast<void>(sizeof(!(condition)))
#endif
