// What the program's exit code says.

#pragma once

#include "jitk/jitk.h"

namespace jitk::tool {

enum ExitCode : int {
  kOk = 0,
  kWrongResult = 1, ///< a wrong result, a failed check, damage found, or a defect of the library
  kUsage = 2,       ///< what was asked for is invalid or not supported
  kEnvironment = 3  ///< the machine lacks something, or the work was interrupted
};

/// Whose fault a failure of the library is.
inline ExitCode exitCodeOf(jitk_status_t status) {
  switch (status) {
  case JITK_STATUS_OK:
    return kOk;
  case JITK_STATUS_INVALID_ARGUMENT:
  case JITK_STATUS_UNSUPPORTED:
    return kUsage;
  case JITK_STATUS_DATA_LOSS:
  case JITK_STATUS_INTERNAL:
    return kWrongResult;
  default:
    return kEnvironment;
  }
}

} // namespace jitk::tool
