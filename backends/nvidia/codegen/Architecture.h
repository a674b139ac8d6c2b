// How LLVM and the assemblers spell a target.

#pragma once

#include "src/runtime/Target.h"

#include <string>

namespace jitk::nvidia {

/// "sm_90a".
inline std::string architectureName(const Target &target) {
  return "sm_" + std::to_string(target.capability) + (target.archSpecific ? "a" : "");
}

} // namespace jitk::nvidia
