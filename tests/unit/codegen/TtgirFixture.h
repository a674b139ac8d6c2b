// Compiles a kernel given as TTGIR text and runs it on an emulator device.

#pragma once

#include "tests/unit/emulator/KernelFixture.h"

#include <cstdint>
#include <string>
#include <vector>

namespace jitk::codegen::test {

using emulator::LaunchReport;
using emulator::test::Machine;

/// Machine code for the host, and how to launch it.
struct CompiledKernel {
  std::vector<uint8_t> code;
  uint32_t threads = 0;
  uint32_t sharedBytes = 0;
  uint32_t scratchBytes = 0; ///< of global memory, a CTA
};

/// Lowers a module with the kernel `k` by the passes that the compiler uses, then compiles it for the emulator.
/// Failures fail the test.
CompiledKernel compileKernel(const std::string &ttgir);

/// The same from CommonIR, for "sm_90a".
CompiledKernel compileCommonIr(const std::string &commonIr, const std::string &target);

/// Runs the kernel. `arguments` are 8-byte values; the scratch pointers are added.
LaunchReport launch(Machine &machine, const CompiledKernel &kernel, std::vector<uint64_t> arguments,
                    std::array<uint32_t, 3> grid = {1, 1, 1});

/// The same with the addresses of the arguments, for those that are no 8-byte values, and in clusters along x.
LaunchReport launchWithPointers(Machine &machine, const CompiledKernel &kernel, std::vector<void *> arguments,
                                std::array<uint32_t, 3> grid, uint32_t cluster = 1);

/// A module of the given target and number of warps.
std::string moduleOf(const std::string &aliases, const std::string &functions, int numWarps = 4, int capability = 90);

/// Runs the kernel on new devices: both asynchronous modes, several orders of threads. Uploads `inputs` (as arguments
/// 0, 1, ...), then passes an output buffer of `numOutputs` elements as the last argument, and gives its contents,
/// which must be the same on all devices. Findings fail the test.
template <typename Out, typename... In>
std::vector<Out> runEverywhere(const CompiledKernel &kernel, size_t numOutputs, const std::vector<In> &...inputs) {
  std::vector<Out> outputs;
  for (const emulator::DeviceOptions &options : emulator::test::allModes()) {
    CAPTURE(options.seed);
    Machine machine(options);
    std::vector<uint64_t> arguments = {machine.upload(inputs)...};
    arguments.push_back(machine.upload(std::vector<Out>(numOutputs)));
    LaunchReport report = launch(machine, kernel, arguments);
    INFO(report.toString());
    REQUIRE(report.clean());
    std::vector<Out> read = machine.download<Out>(arguments.back(), numOutputs);
    REQUIRE((outputs.empty() || std::memcmp(outputs.data(), read.data(), read.size() * sizeof(Out)) == 0));
    outputs = std::move(read);
  }
  return outputs;
}

} // namespace jitk::codegen::test
