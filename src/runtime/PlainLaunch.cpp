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

const PlainLaunch &PlainLaunch::none() {
  static const PlainLaunch declining{};
  return declining;
}

bool PlainLaunch::bindAll(const Recipe &recipe, const SizeRules &rules) {
  bool fits = recipe.steps.size() == 1 && recipe.tensorMaps.empty() && !recipe.tensors.empty() &&
              recipe.tensors.size() <= kTensors && recipe.scalars.size() <= kScalars;
  bool needsWorkspace = !recipe.workspaceBytes.isConstant() || recipe.workspaceBytes.evaluate({}) > 0;
  bool onlyFloats = std::all_of(recipe.scalars.begin(), recipe.scalars.end(),
                                [](const ScalarForm &scalar) { return scalar.type == ScalarType::Fp32; });
  std::optional<Items> sizes = sizeItems(rules);
  if (!fits || needsWorkspace || !onlyFloats || !sizes || sizes->size() != recipe.dimensions.size()) {
    return false;
  }
  numTensorsOnceBegun_ = static_cast<uint8_t>(recipe.tensors.size());
  numDimensions_ = static_cast<uint8_t>(recipe.dimensions.size());
  numScalars_ = static_cast<uint8_t>(recipe.scalars.size());
  return bindGrid(recipe.steps[0]) && bindArguments(recipe.steps[0], tensorItems(recipe.alignments), *sizes);
}

/// Addresses: aligned, and not zero.
PlainLaunch::Items PlainLaunch::tensorItems(const std::vector<uint32_t> &alignments) {
  Items items;
  for (uint32_t alignment : alignments) {
    auto offset = static_cast<uint16_t>(items.size() * sizeof(uint64_t));
    items.push_back({Item::Tensors, offset, 0, alignment - 1, 1, UINT64_MAX - 1});
  }
  return items;
}

/// Sizes of more than 31 bits are declined, so that each can be an argument of 32 bits.
std::optional<PlainLaunch::Items> PlainLaunch::sizeItems(const SizeRules &rules) {
  std::optional<std::vector<SizeRules::Limits>> limits = rules.sufficientLimits();
  if (!limits || limits->size() > kDimensions) {
    return std::nullopt;
  }
  Items items;
  for (const SizeRules::Limits &limit : *limits) {
    int64_t most = std::min<int64_t>(limit.bound, INT32_MAX);
    bool hasOneRange = limit.least >= 0 && limit.least <= most;
    if (!hasOneRange || limit.divisor > most + 1 || !std::has_single_bit(static_cast<uint64_t>(limit.divisor))) {
      return std::nullopt;
    }
    auto offset = static_cast<uint16_t>(items.size() * sizeof(int64_t));
    items.push_back({Item::Dimensions, offset, 0, static_cast<uint64_t>(limit.divisor - 1),
                     static_cast<uint64_t>(limit.least), static_cast<uint64_t>(most - limit.least)});
  }
  return items;
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

/// The item of an argument that is no scalar; none if there is no room for it, or it must be worked out.
std::optional<PlainLaunch::Item> PlainLaunch::itemOf(const Argument &argument, const Items &tensors,
                                                     const Items &sizes) {
  using Kind = Argument::Kind;
  const std::vector<Expression::Term> &terms = argument.expression.terms();
  bool isNumber = argument.kind == Kind::Integer32 || argument.kind == Kind::Integer64;
  if (argument.kind == Kind::Tensor) {
    return tensors[argument.index];
  }
  if (isNumber && terms.size() == 1 && terms[0].op == Expression::Op::Dimension) {
    return sizes[static_cast<size_t>(terms[0].value)];
  }
  bool isConstant = argument.kind == Kind::Null || (isNumber && argument.expression.isConstant());
  int64_t value = isNumber && isConstant ? argument.expression.evaluate({}) : 0;
  bool fits = argument.kind != Kind::Integer32 || value == static_cast<int32_t>(value);
  if (!isConstant || !fits || numConstants_ == kConstants) {
    return std::nullopt;
  }
  constants_[numConstants_] = static_cast<uint64_t>(value);
  return Item{Item::Constants, static_cast<uint16_t>(numConstants_++ * sizeof(uint64_t))};
}

/// Each parameter lies at the next multiple of its size, as the compiler lays them out.
bool PlainLaunch::bindArguments(const LaunchStep &step, const Items &tensors, const Items &sizes) {
  Items items;
  std::vector<bool> isPassed[Item::NumArrays] = {std::vector<bool>(tensors.size()), std::vector<bool>(sizes.size()),
                                                 std::vector<bool>(kConstants)};
  size_t end = 0;
  for (const Argument &argument : step.arguments) {
    bool isScalar = argument.kind == Argument::Kind::Scalar;
    size_t bytes = isScalar || argument.kind == Argument::Kind::Integer32 ? 4 : 8;
    size_t begin = (end + bytes - 1) / bytes * bytes;
    end = begin + bytes;
    if (isScalar && numScalarArguments_ < kScalars) {
      scalarArguments_[numScalarArguments_++] = {static_cast<uint16_t>(begin), static_cast<uint16_t>(argument.index)};
      continue;
    }
    std::optional<Item> item = isScalar ? std::nullopt : itemOf(argument, tensors, sizes);
    if (!item) {
      return false;
    }
    item->destination = static_cast<uint16_t>(begin);
    isPassed[item->array][item->offset / sizeof(uint64_t)] = true;
    items.push_back(*item);
  }
  for (const Items *given : {&tensors, &sizes}) {
    for (Item item : *given) {
      if (!isPassed[item.array][item.offset / sizeof(uint64_t)]) {
        item.destination = static_cast<uint16_t>((end + 7) / 8 * 8);
        items.push_back(item);
      }
    }
  }
  if (items.size() > kItems || end > kBufferBytes - sizeof(uint64_t)) {
    return false;
  }
  itemsEnd_ = std::copy(items.begin(), items.end(), items_);
  parameterBytes_ = end;
  return true;
}

} // namespace jitk
