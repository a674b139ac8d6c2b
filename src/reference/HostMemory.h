// Whether the tensors of a problem fit into this machine at all.

#pragma once

#include "src/ops/TensorShape.h"

#include <span>

namespace jitk::reference {

/// Fails with OutOfMemory, naming the tensor that is too much, if the tensors together are larger than the machine's
/// memory, or than 64 bits can count.
Status checkHostMemory(std::span<const TensorShape> shapes);

} // namespace jitk::reference
