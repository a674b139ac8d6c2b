/* Prints, for the library that plays an old one, how much of each struct it knows: compiled with the frozen header. */

#include "jitk/jitk.h"

#include <stdio.h>

#define KNOWN(type)                                                                                                    \
  printf("template <> inline constexpr size_t jitk::capi::kKnownBytes<%s> = %zu;\n", #type, sizeof(type))

int main(void) {
  printf("#pragma once\n#include \"src/capi/Guard.h\"\n");
  KNOWN(jitk_runtime_options_t);
  KNOWN(jitk_device_options_t);
  KNOWN(jitk_kernel_info_t);
  KNOWN(jitk_launch_t);
  KNOWN(jitk_progress_t);
  KNOWN(jitk_prepare_options_t);
  return 0;
}
