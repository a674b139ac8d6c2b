// The recipe of a description's kernel, as a launch has it.

#pragma once

#include "src/kernels/Kernel.h"
#include "src/ops/OpSchema.h"

#include "mlir/IR/MLIRContext.h"

#include <doctest/doctest.h>
#include <string>

namespace jitk::kernels::test {

inline Recipe recipeOf(const std::string &text, const char *target = "sm_90a") {
  mlir::MLIRContext context;
  loadKernelDialects(context);
  Result<Description> description = parseDescription(text);
  REQUIRE(description.ok());
  Result<BuiltKernel> kernel = buildKernel(*description, *Target::parse(target), context);
  REQUIRE(kernel.ok());
  return kernel->recipe;
}

} // namespace jitk::kernels::test
