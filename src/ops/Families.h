// The families of ops, each in a file of its own.

#pragma once

#include "src/ops/OpSchema.h"

#include <vector>

namespace jitk {

void addAttentionOps(std::vector<OpSchema> &ops);
void addLinearAttentionOps(std::vector<OpSchema> &ops);
void addMatmulOps(std::vector<OpSchema> &ops);
void addUserKernelOp(std::vector<OpSchema> &ops);

} // namespace jitk
