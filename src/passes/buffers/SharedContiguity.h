// How far the elements of a buffer lie side by side in shared memory.

#pragma once

#include "src/ir/ttg/Ttg.h"

namespace jitk::passes {

/// The elements along `dim`, counted from any multiple of the answer, that have consecutive addresses: how wide a copy
/// that follows `dim` may write.
int64_t sharedContiguity(ir::ttg::MemDescType buffer, unsigned dim);

} // namespace jitk::passes
