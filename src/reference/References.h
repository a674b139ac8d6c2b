// The references of the op families, called by name in `computeExpected`.

#pragma once

#include "src/reference/Instance.h"

namespace jitk::reference {

/// The tensors of a problem, decoded, by name.
class Operands {
public:
  explicit Operands(const std::vector<HostTensor> &tensors) : tensors_(tensors) {}
  const HostTensor &tensor(std::string_view name) const;
  std::vector<float> decoded(std::string_view name) const;
  std::vector<int32_t> integers(std::string_view name) const;

private:
  const std::vector<HostTensor> &tensors_;
};

/// The sizes of a problem by attribute.
class Sizes {
public:
  Sizes(const Description &description, const DynamicSizes &sizes) : description_(description), sizes_(sizes) {}
  int64_t operator[](std::string_view attribute) const;

private:
  const Description &description_;
  const DynamicSizes &sizes_;
};

std::vector<Expected> expectMatmul(const Description &description, const Sizes &sizes, const Operands &operands,
                                   uint64_t seed);
std::vector<Expected> expectFp8BlockMatmul(const Description &description, const Sizes &sizes, const Operands &operands,
                                           uint64_t seed);
std::vector<Expected> expectGroupedFp8BlockMatmul(const Description &description, const Sizes &sizes,
                                                  const Operands &operands, uint64_t seed);
/// Fails with InvalidArgument where what the sequences or the slots hold is not specified: offsets that descend before
/// a sequence, a slot of two sequences.
Result<std::vector<Expected>> expectGatedDeltaRule(const Description &description, const Sizes &sizes,
                                                   const Operands &operands, uint64_t seed);
/// Of mla_decode and paged_attention.
std::vector<Expected> expectPagedDecode(const Description &description, const Sizes &sizes, const Operands &operands,
                                        uint64_t seed, double scale);
/// Fails with InvalidArgument where queries are of two sequences: offsets that descend before a sequence.
Result<std::vector<Expected>> expectFlashAttention(const Description &description, const Sizes &sizes,
                                                   const Operands &operands, uint64_t seed);

} // namespace jitk::reference
