// PTX to machine code.
//
// Three tools can do it: the program ptxas in a child, the nvJitLink library in this process, the driver's linker. Each
// image has a different one, and each gives different code, so that its identity is part of a kernel's key. Only ptxas
// honors the register budgets of specialized warps.

#pragma once

#include "src/runtime/Target.h"
#include "src/support/Status.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jitk::nvidia {

struct AssembleOptions {
  /// After it a child is killed. A tool in this process cannot be stopped and ignores it.
  std::chrono::milliseconds deadline = std::chrono::minutes(2);
  bool lineInfo = false; ///< keep the locations of the PTX for profilers
};

/// An ELF image for one architecture, and what the tool reports of it; of several kernels, the largest figure.
struct Cubin {
  std::vector<uint8_t> code = {};
  uint32_t registers = 0;   ///< a thread
  uint32_t spillBytes = 0;  ///< stores and loads
  uint32_t sharedBytes = 0; ///< static
  std::string log = {};
};

/// Immutable; thread-safe.
class Assembler {
public:
  virtual ~Assembler() = default;
  /// Name and version: "ptxas 13.0.88". Equal identities give equal code.
  virtual std::string identity() const = 0;
  /// Fails with Internal and the tool's output where the tool refuses the text or serializes its warpgroup products,
  /// DeadlineExceeded where it was killed,
  /// Unavailable where it could not run.
  virtual Result<Cubin> assemble(std::string_view ptx, const Target &target,
                                 const AssembleOptions &options = {}) const = 0;
};

struct AssemblerChoice {
  std::string name = {}; ///< "ptxas", "nvjitlink", "driver"; empty = the first one found, in this order
  std::string path = {}; ///< of the library or program; empty = the usual places. Needs a name
  /// What it must know at least; older ones are passed over. 80 is PTX 8.0; 0 = anything. See `leastPtxVersion`.
  unsigned ptxVersion = 0;
};

/// The newest PTX that a tool knows, from its name and version: 87 for "ptxas 12.8.93". 0 if that is not told.
unsigned ptxVersionOf(std::string_view identity);

/// Opens an assembler. Fails with Unavailable, naming every place that was searched, and what there is too old;
/// InvalidArgument for another name.
Result<std::shared_ptr<const Assembler>> openAssembler(const AssemblerChoice &choice = {});

} // namespace jitk::nvidia
