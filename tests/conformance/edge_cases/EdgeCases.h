// The edge cases of each op, a file an op: small enough for the emulator.

#pragma once

#include "src/tools/checked/CheckedRun.h"

#include <vector>

namespace jitk::conformance {

std::vector<checked::Problem> matmulEdgeCases();
std::vector<checked::Problem> flashAttentionEdgeCases();
std::vector<checked::Problem> fp8BlockMatmulEdgeCases();
std::vector<checked::Problem> groupedFp8BlockMatmulEdgeCases();
std::vector<checked::Problem> gatedDeltaRuleEdgeCases();
std::vector<checked::Problem> mlaDecodeEdgeCases();
std::vector<checked::Problem> pagedAttentionEdgeCases();

} // namespace jitk::conformance
