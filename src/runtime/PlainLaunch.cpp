#include "src/runtime/PlainLaunch.h"

#include <algorithm>
#include <bit>

namespace jitk {

void PlainLaunch::bind(const Recipe &recipe, const SizeRules &rules, const DirectLaunch &direct,
                       const LaunchParameters &fixed) {
  config_ = {
      {1, 1, 1}, {fixed.threads, fixed.threadsY, fixed.threadsZ}, fixed.sharedBytes, nullptr, direct.programmatic, 0};
  canOverlap_ = fixed.programmaticLaunch;
  function_ = direct.function;
  enqueue_ = !fixed.isCluster() && bindAll(recipe, rules) ? direct.enqueue : nullptr;
}

bool PlainLaunch::bindAll(const Recipe &recipe, const SizeRules &rules) {
  bool fits = recipe.steps.size() == 1 && recipe.tensorMaps.empty() && recipe.tensors.size() <= kTensors &&
              recipe.scalars.size() <= kScalars && recipe.steps[0].arguments.size() <= kArguments;
  bool needsWorkspace = !recipe.workspaceBytes.isConstant() || recipe.workspaceBytes.evaluate({}) > 0;
  bool onlyFloats = std::all_of(recipe.scalars.begin(), recipe.scalars.end(),
                                [](const ScalarForm &scalar) { return scalar.type == ScalarType::Fp32; });
  if (!fits || needsWorkspace || !onlyFloats || !bindSizes(recipe, rules) || !bindGrid(recipe.steps[0])) {
    return false;
  }
  numTensors_ = static_cast<uint8_t>(recipe.tensors.size());
  numScalars_ = static_cast<uint8_t>(recipe.scalars.size());
  std::transform(recipe.alignments.begin(), recipe.alignments.end(), misaligned_,
                 [](uint32_t alignment) { return alignment - 1; });
  const std::vector<Argument> &arguments = recipe.steps[0].arguments;
  return std::all_of(arguments.begin(), arguments.end(),
                     [&](const Argument &argument) { return bindArgument(argument); });
}

/// Sizes of more than 31 bits are declined, so that each can be an argument of 32 bits.
bool PlainLaunch::bindSizes(const Recipe &recipe, const SizeRules &rules) {
  std::optional<std::vector<SizeRules::Limits>> limits = rules.sufficientLimits();
  if (!limits || limits->size() > kDimensions) {
    return false;
  }
  for (const SizeRules::Limits &limit : *limits) {
    int64_t most = std::min<int64_t>(limit.bound, INT32_MAX);
    bool hasOneRange = limit.least >= 0 && limit.least <= most;
    if (!hasOneRange || limit.divisor > most + 1 || !std::has_single_bit(static_cast<uint64_t>(limit.divisor))) {
      return false;
    }
    sizes_[numDimensions_++] = {static_cast<uint32_t>(limit.least), static_cast<uint32_t>(most - limit.least),
                                static_cast<uint32_t>(limit.divisor - 1)};
  }
  return numDimensions_ == recipe.dimensions.size();
}

/// ceil(dimension / constant), or the dimension itself, without an evaluation.
static bool isCeil(const std::vector<Expression::Term> &terms, uint32_t &dimension, uint32_t &divisor) {
  using Op = Expression::Op;
  bool isDimension = terms.size() == 1 && terms[0].op == Op::Dimension;
  bool isQuotient = terms.size() == 3 && terms[0].op == Op::Dimension && terms[1].op == Op::Constant &&
                    terms[2].op == Op::CeilDiv && terms[1].value <= INT32_MAX;
  dimension = static_cast<uint32_t>(terms[0].value);
  divisor = isQuotient ? static_cast<uint32_t>(terms[1].value) : 1;
  return isDimension || isQuotient;
}

bool PlainLaunch::bindGrid(const LaunchStep &step) {
  for (uint32_t axis = 0; axis < 3; ++axis) {
    const Expression &expression = step.grid[axis];
    Extent extent = {axis, kLargestGrid[axis], 0, 1};
    if (expression.isConstant()) {
      int64_t count = expression.evaluate({});
      if (count <= 0 || count > extent.limit) {
        return false;
      }
      config_.grid[axis] = static_cast<uint32_t>(count);
      continue;
    }
    if (!isCeil(expression.terms(), extent.dimension, extent.divisor)) {
      return false;
    }
    extents_[numExtents_++] = extent;
  }
  return true;
}

bool PlainLaunch::bindArgument(const Argument &argument) {
  Place place = {Place::Tensors, static_cast<uint16_t>(argument.index * sizeof(uint64_t))};
  const std::vector<Expression::Term> &terms = argument.expression.terms();
  bool isNumber = argument.kind == Argument::Kind::Integer32 || argument.kind == Argument::Kind::Integer64;
  if (argument.kind == Argument::Kind::Scalar) {
    place.array = Place::Scalars;
  } else if (isNumber && terms.size() == 1 && terms[0].op == Expression::Op::Dimension) {
    place = {Place::Dimensions, static_cast<uint16_t>(terms[0].value * sizeof(int64_t))};
  } else if (argument.kind == Argument::Kind::Null || (isNumber && argument.expression.isConstant())) {
    int64_t value = isNumber ? argument.expression.evaluate({}) : 0;
    bool fits = argument.kind != Argument::Kind::Integer32 || value == static_cast<int32_t>(value);
    if (numConstants_ == kConstants || !fits) {
      return false;
    }
    place = {Place::Constants, static_cast<uint16_t>(numConstants_ * sizeof(uint64_t))};
    constants_[numConstants_++] = static_cast<uint64_t>(value);
  } else if (argument.kind != Argument::Kind::Tensor) {
    return false;
  }
  places_[numArguments_++] = place;
  return true;
}

} // namespace jitk
