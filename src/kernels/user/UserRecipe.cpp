#include "src/kernels/user/UserRecipe.h"

namespace jitk::kernels {

/// Adds what a launch gives for an argument, and says how the kernel takes it.
static Argument addArgument(const UserArgument &argument, Recipe &recipe) {
  switch (argument.kind) {
  case UserArgument::Kind::Tensor:
    recipe.tensors.push_back(argument.name);
    recipe.alignments.push_back(argument.alignment);
    return {Argument::Kind::Tensor, static_cast<uint32_t>(recipe.tensors.size() - 1), {}};
  case UserArgument::Kind::Scalar:
    recipe.scalars.push_back({argument.name, argument.scalar});
    return {Argument::Kind::Scalar, static_cast<uint32_t>(recipe.scalars.size() - 1), {}};
  case UserArgument::Kind::Integer32:
    return {Argument::Kind::Integer32, 0, argument.value};
  case UserArgument::Kind::Integer64:
    return {Argument::Kind::Integer64, 0, argument.value};
  case UserArgument::Kind::Workspace:
    return {Argument::Kind::Workspace, 0, argument.value};
  }
  return {};
}

Recipe userRecipe(const UserKernel &kernel, const std::string &symbol) {
  Recipe recipe;
  recipe.dimensions = kernel.dimensions;
  recipe.workspaceBytes = kernel.workspaceBytes;
  LaunchStep step;
  step.symbol = symbol;
  step.grid = kernel.grid;
  step.threads = kernel.block[0];
  step.threadsY = kernel.block[1];
  step.threadsZ = kernel.block[2];
  step.sharedBytes = kernel.sharedBytes;
  for (const UserArgument &argument : kernel.arguments) {
    step.arguments.push_back(addArgument(argument, recipe));
  }
  recipe.steps.push_back(std::move(step));
  return recipe;
}

} // namespace jitk::kernels
