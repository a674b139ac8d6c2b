# Writes OUTPUT, the source file that holds the commit of the sources, for the benchmark programs to say what they measured.
#
#   cmake -DROOT=<source tree> -DOUTPUT=<file> -P Commit.cmake
#
# Runs at each build; the file is only touched when the commit changed.

set(commit "unknown")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${ROOT} describe --always --abbrev=12 --match=no-tag --dirty=+changes
    OUTPUT_VARIABLE found ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit "${found}")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "perf/commit/Commit.h"

namespace jitk::perf {
const char *const kCommit = "@commit@";
} // namespace jitk::perf
]] @ONLY)
