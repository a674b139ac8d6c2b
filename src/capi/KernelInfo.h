// Filling jitk_kernel_info_t from what the runtime knows.

#pragma once

#include "jitk/jitk.h"
#include "src/runtime/EntrySource.h"
#include "src/runtime/Kernel.h"

namespace jitk::capi {

/// Registers, bytes, times of compilation, key and target. The strings are the entry's.
void fillFromEntry(const Entry &entry, jitk_kernel_info_t &info);
/// All of a loaded kernel. The strings are the kernel's.
jitk_kernel_info_t infoOf(const Kernel &kernel);

} // namespace jitk::capi
