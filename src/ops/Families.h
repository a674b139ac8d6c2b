// The families of ops, each in a file of its own.

#pragma once

#include "src/ops/OpSchema.h"

#include <vector>

namespace jitk {

/// The attribute by which one of the ways to build a kernel is asked for.
inline constexpr std::string_view kConfiguration = "configuration";

/// Of ops whose kernels are chosen by a cost model.
inline AttributeSchema configurationAttribute() {
  return {kConfiguration, AttributeSchema::Kind::Text, "",
          "one of those that `jitk inspect --show configurations` lists; by a cost model where none is given"};
}

/// Of a tensor whose rows may lie apart, as parts of the rows of a wider buffer.
inline AttributeSchema strideAttribute(std::string_view name, std::string_view meaning) {
  return {name, AttributeSchema::Kind::Stride, "", meaning};
}

/// Of a tensor whose pages may lie apart, as parts of wider ones.
inline AttributeSchema pageStrideAttribute(std::string_view name, std::string_view meaning) {
  return {name, AttributeSchema::Kind::PageStride, "", meaning};
}

/// An attribute that means nothing where `condition` does not hold (AttributeSchema::meansIf).
inline AttributeSchema onlyWith(std::string_view condition, AttributeSchema attribute) {
  attribute.meansIf = condition;
  return attribute;
}

/// A tensor whose rows are all heads of a token or a key: its last two axes.
inline TensorSchema headsOfTokens(std::string_view name, std::string_view type, std::vector<std::string_view> shape,
                                  Access access, std::string_view presentIf = {}, std::string_view meaning = {}) {
  return {name, type, std::move(shape), access, meaning, presentIf, "", /*rowAxes=*/2};
}

void addAttentionOps(std::vector<OpSchema> &ops);
void addLinearAttentionOps(std::vector<OpSchema> &ops);
void addMatmulOps(std::vector<OpSchema> &ops);
void addUserKernelOp(std::vector<OpSchema> &ops);

} // namespace jitk
