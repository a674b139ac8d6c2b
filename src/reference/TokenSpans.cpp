#include "src/reference/TokenSpans.h"

#include "src/reference/Data.h"

#include <algorithm>

namespace jitk::reference {

std::vector<TokenSpan> packedSpans(std::span<const int32_t> offsets, int64_t tokens) {
  std::vector<TokenSpan> spans;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    int64_t begin = std::clamp<int64_t>(offsets[i], 0, tokens);
    spans.push_back({begin, std::clamp<int64_t>(offsets[i + 1], begin, tokens) - begin});
  }
  return spans;
}

void poisonOutside(HostTensor &tensor, std::span<const TokenSpan> spans, int64_t tokens) {
  std::vector<bool> isIn(size_t(tokens), false);
  for (auto [begin, count] : spans) {
    std::fill_n(isIn.begin() + begin, count, true);
  }
  auto bytes = std::ptrdiff_t(tensor.bytes.size() / size_t(std::max<int64_t>(tokens, 1)));
  for (int64_t token = 0; token < tokens; ++token) {
    if (!isIn[size_t(token)]) {
      std::fill_n(tensor.bytes.begin() + token * bytes, bytes, kPoison);
    }
  }
}

/// `side` is "q" or "k".
static std::vector<TokenSpan> spansOf(const Description &description, const Sizes &sizes, const Operands &operands,
                                      const std::string &side) {
  int64_t most = sizes["seq_" + side];
  std::vector<TokenSpan> spans;
  if (description.flag("packed")) {
    spans = packedSpans(operands.integers("cu_seqlens_" + side), sizes["total_" + side]);
  } else {
    for (int64_t sequence = 0; sequence < sizes["batch"]; ++sequence) {
      spans.push_back({sequence * most, most});
    }
  }
  std::vector<int32_t> lengths(spans.size(), INT32_MAX);
  if (description.flag("varlen")) {
    lengths = operands.integers("seq_lens_" + side);
  }
  for (size_t sequence = 0; sequence < spans.size(); ++sequence) {
    spans[sequence].count = std::clamp<int64_t>(lengths[sequence], 0, std::min(spans[sequence].count, most));
  }
  return spans;
}

std::vector<TokenSpan> querySpans(const Description &description, const Sizes &sizes, const Operands &operands) {
  return spansOf(description, sizes, operands, "q");
}

std::vector<TokenSpan> keySpans(const Description &description, const Sizes &sizes, const Operands &operands) {
  return spansOf(description, sizes, operands, "k");
}

} // namespace jitk::reference
