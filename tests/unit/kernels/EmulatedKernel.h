// A kernel of static sizes, compiled for the emulator without a runtime around it: in any configuration, not only in
// the chosen one.

#pragma once

#include "src/emulator/EmulatorDevice.h"
#include "src/kernels/Kernel.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace jitk::kernels::test {

class EmulatedKernel {
public:
  /// Compiles what `build` gives for emulator:sm_90a. What fails, fails the test.
  using Build = llvm::function_ref<Result<BuiltKernel>(const Target &target, mlir::MLIRContext &context)>;
  explicit EmulatedKernel(Build build);

  /// Runs on inputs, which come before the one output, and gives the output's bytes, which begin as 0xEE. The report
  /// must be clean.
  std::vector<uint8_t> run(const emulator::DeviceOptions &options, const std::vector<std::vector<uint8_t>> &inputs,
                           size_t outputBytes) const;
  /// The same with the bytes of every tensor, before and after.
  std::vector<std::vector<uint8_t>> run(const emulator::DeviceOptions &options,
                                        std::vector<std::vector<uint8_t>> images,
                                        const std::vector<float> &scalars = {}) const;

private:
  std::vector<uint8_t> code_;
  Recipe recipe_; ///< with the threads and the shared memory of each step
};

emulator::DeviceOptions deviceOptions(emulator::AsyncMode mode, uint64_t seed, uint32_t multiprocessors);
/// Of each seed, with asynchronous instructions done as late as may be and at once.
std::vector<emulator::DeviceOptions> inBothModes(const std::vector<uint64_t> &seeds, uint32_t multiprocessors);

/// Integers in `dtype`, fp32 or bf16, rounded to nearest even.
std::vector<uint8_t> rounded(const std::vector<int> &values, const std::string &dtype);

} // namespace jitk::kernels::test
