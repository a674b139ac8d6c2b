#include "tests/conformance/edge_cases/EdgeCases.h"

#include "tests/conformance/Cases.h"

#include <algorithm>
#include <iterator>

namespace jitk::conformance {

const std::vector<checked::Problem> &edgeCases() {
  static const std::vector<checked::Problem> cases = [] {
    std::vector<checked::Problem> all;
    for (auto *casesOfOp :
         {&matmulEdgeCases, &flashAttentionEdgeCases, &fp8BlockMatmulEdgeCases, &groupedFp8BlockMatmulEdgeCases,
          &gatedDeltaRuleEdgeCases, &mlaDecodeEdgeCases, &pagedAttentionEdgeCases}) {
      std::ranges::move(casesOfOp(), std::back_inserter(all));
    }
    return all;
  }();
  return cases;
}

} // namespace jitk::conformance
