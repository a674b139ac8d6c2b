// Filling jitk_kernel_info_t from what the runtime knows.

#pragma once

#include "jitk/jitk.h"
#include "src/runtime/Runtime.h"

#include <string>

namespace jitk::capi {

/// Registers, bytes, times of compilation, key and target. The strings are the entry's.
void fillFromEntry(const Entry &entry, jitk_kernel_info_t &info);
/// All of a loaded kernel. The strings are the kernel's.
jitk_kernel_info_t infoOf(const Kernel &kernel);
/// Of a block, in the step that has the most.
uint32_t mostThreads(const Recipe &recipe);

/// The name of the key that a problem has; "" where it cannot be told.
std::string keyNameOf(Runtime &runtime, const Problem &problem, const Target &target);

} // namespace jitk::capi
