// A kernel in one configuration against the float64 reference, on the emulator.

#pragma once

#include "src/ops/Description.h"
#include "src/reference/Instance.h"
#include "tests/unit/kernels/EmulatedKernel.h"

#include <string>
#include <vector>

namespace jitk::kernels::test {

using BuildOf = llvm::function_ref<Result<BuiltKernel>(const Description &description, const Target &target,
                                                       mlir::MLIRContext &context)>;

/// Runs the problem on each device, compares every output with the reference and all tensors between devices. `given`
/// are values of integer inputs and scalars that are not to be drawn.
void checkKernel(const std::string &problem, BuildOf build, const std::vector<emulator::DeviceOptions> &devices,
                 const reference::GivenValues &given = {});

} // namespace jitk::kernels::test
