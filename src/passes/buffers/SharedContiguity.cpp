#include "src/passes/buffers/SharedContiguity.h"

namespace jitk::passes {
int64_t sharedContiguity(ir::ttg::MemDescType buffer, unsigned dim) { return buffer.getDimSize(dim); }
} // namespace jitk::passes
