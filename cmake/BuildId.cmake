# Writes OUTPUT, the source file that holds the build id, from the content of all that can change generated code.
#
#   cmake -DROOT=<source tree> -DCONFIGURATION=<text> -DOUTPUT=<file> -P BuildId.cmake
#
# Runs at each build; the file is only touched when the id changed. An id from contents, and not from a clock, makes
# two builds of the same sources share a store.

file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/src/* ${ROOT}/backends/*)
list(FILTER sources EXCLUDE REGEX "^src/(tools|reference)/|\\.md$")
list(SORT sources)
set(summary "${CONFIGURATION}")
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND summary "\n${source} ${hash}")
endforeach()
string(SHA256 id "${summary}")
string(SUBSTRING ${id} 0 32 id)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "src/runtime/BuildId.h"

namespace jitk {
const char *const kBuildId = "@VERSION@-@id@";
} // namespace jitk
]] @ONLY)
