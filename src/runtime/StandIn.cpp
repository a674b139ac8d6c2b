#include "src/runtime/StandIn.h"

#include "src/ops/OpSchema.h"

namespace jitk {

/// Whether the attribute is of no effect here, and so has one value of its own in every description.
static bool isFixed(const Description &description, const std::string &name) {
  Result<const OpSchema *> op = findOp(description.op());
  const AttributeSchema *schema = op.ok() ? (*op)->attribute(name) : nullptr;
  return schema && !schema->defaultValue.starts_with('@') && !isPresent(schema->meansIf, description);
}

Description generalize(const Description &description) {
  auto attributes = description.attributes();
  for (auto &[name, value] : attributes) {
    if (auto *dimension = std::get_if<Dimension>(&value); dimension && !isFixed(description, name)) {
      *dimension = Dimension{};
    }
    if (name == "configuration") {
      value = std::string(); // of the special kernel; the general one has others
    }
  }
  return Description(description.op(), std::move(attributes));
}

StandIn::StandIn(std::shared_ptr<const Kernel> generic, std::shared_ptr<const Problem> problem)
    : generic_(std::move(generic)), problem_(std::move(problem)) {
  for (const std::string &name : generic_->recipe().dimensions) {
    const Dimension &dimension = problem_->description.dimension(name);
    sizes_.push_back(dimension.value);
    if (!dimension.isStatic()) {
      dimensions_.push_back(name);
    }
  }
  sizeRules_ = SizeRules(problem_->description, dimensions_);
  contract_ = TensorContract(problem_->description, generic_->recipe().tensors, dimensions_);
}

Status StandIn::replace(std::shared_ptr<const Kernel> own) {
  const Recipe &recipe = own->recipe();
  const Recipe &generic = generic_->recipe();
  if (recipe.dimensions != dimensions_ || recipe.tensors != generic.tensors || recipe.scalars != generic.scalars) {
    return internalError("kernel of " + problem_->label + " must be launched as its generic kernel is");
  }
  own_ = std::move(own);
  ready_.store(own_.get(), std::memory_order_release);
  return okStatus();
}

const Kernel &StandIn::current() const {
  const Kernel *own = ready_.load(std::memory_order_acquire);
  return own ? *own : *generic_;
}

/// Checks the sizes as the problem's own kernel would, and puts the static ones between them.
Result<std::span<const int64_t>> StandIn::genericSizes(std::span<const int64_t> dimensions, Sizes &sizes) const {
  JITK_TRY(sizeRules_.check(dimensions));
  size_t next = 0;
  for (size_t i = 0; i < sizes_.size(); ++i) {
    sizes[i] = sizes_[i] == Dimension::kDynamic ? dimensions[next++] : sizes_[i];
  }
  return std::span<const int64_t>(sizes.data(), sizes_.size());
}

Status StandIn::launch(const LaunchRequest &request) const {
  if (const Kernel *own = ready_.load(std::memory_order_acquire)) {
    Result<uint64_t> needed = own->workspaceBytes(request.dimensions);
    if (!needed.ok() || *needed <= request.workspaceBytes) {
      return own->launch(request);
    }
  }
  Sizes sizes;
  LaunchRequest generic = request;
  JITK_ASSIGN(generic.dimensions, genericSizes(request.dimensions, sizes));
  return generic_->launch(generic);
}

Result<uint64_t> StandIn::workspaceBytes(std::span<const int64_t> dimensions) const {
  if (const Kernel *own = ready_.load(std::memory_order_acquire)) {
    return own->workspaceBytes(dimensions);
  }
  Sizes sizes;
  JITK_ASSIGN(std::span<const int64_t> all, genericSizes(dimensions, sizes));
  return generic_->workspaceBytes(all);
}

} // namespace jitk
