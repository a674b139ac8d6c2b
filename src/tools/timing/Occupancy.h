// How full a kernel makes a multiprocessor of an H100 or H200.

#pragma once

#include "jitk/jitk.h"

namespace jitk::timing {

/// Warps that a multiprocessor holds, of the 64 that it has room for, by the registers, the shared memory and the
/// threads at the start of the kernel; 0 where its threads are not known. perf/report says the same of files.
double occupancyOf(const jitk_kernel_info_t &info);

} // namespace jitk::timing
