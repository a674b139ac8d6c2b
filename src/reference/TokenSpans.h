// Which rows of their tensors sequences have.

#pragma once

#include "src/reference/References.h"

#include <cstdint>
#include <span>
#include <vector>

namespace jitk::reference {

/// Tokens of one sequence, counted over all of the tensor.
struct TokenSpan {
  int64_t begin, count;
};

/// Offsets [batch + 1], taken as the nearest in [0, tokens], an end before its beginning as the beginning.
std::vector<TokenSpan> packedSpans(std::span<const int32_t> offsets, int64_t tokens);

/// Makes the tokens of no sequence NaN, of a tensor of so many.
void poisonOutside(HostTensor &tensor, std::span<const TokenSpan> spans, int64_t tokens);

/// Those of the queries and of the keys of flash_attention, by what its tensors say.
std::vector<TokenSpan> querySpans(const Description &description, const Sizes &sizes, const Operands &operands);
std::vector<TokenSpan> keySpans(const Description &description, const Sizes &sizes, const Operands &operands);

} // namespace jitk::reference
