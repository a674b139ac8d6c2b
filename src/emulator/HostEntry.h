// How a kernel of a host object is found and called.
//
// For each kernel `k` the object defines `k.jitk_kernel`, a record that says what its parameters are and where its
// entry is. The entry takes a thread and one pointer a parameter. The object also says of which instruction table its
// row numbers are.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace jitk::emulator {

inline constexpr const char *kernelRecordSuffix = ".jitk_kernel";
inline constexpr const char *tableHashSymbol = "jitk_emulator_table_hash";

/// The record in the object, followed by one size a parameter, in bytes.
struct KernelRecord {
  void *entry;
  uint32_t maxThreads;   ///< 0 = not said
  uint32_t maxRegisters; ///< of a thread; 0 = not said
  uint32_t numParameters;

  const uint32_t *parameterSizes() const { return &numParameters + 1; }
};

/// A kernel of the module, before its attributes were lowered.
struct KernelSignature {
  std::string name;
  uint32_t maxThreads = 0;
  uint32_t maxRegisters = 0; ///< of a thread
};

/// Adds entries and records for the kernels, whose first argument is the thread. Parameters passed by value on the
/// device become pointers to the caller's bytes.
void addHostEntries(llvm::Module &module, const std::vector<KernelSignature> &kernels);

/// Changes with any row of the instruction table, and with the record above.
uint64_t instructionTableHash();

} // namespace jitk::emulator
