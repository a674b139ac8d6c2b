// Loads host objects into the process.

#pragma once

#include "src/emulator/HostEntry.h"
#include "src/support/Status.h"

#include <memory>
#include <span>
#include <string>

namespace jitk::emulator {

/// A loaded object; unloaded with its destruction. Thread-safe.
class HostModule {
public:
  virtual ~HostModule() = default;
  /// The record of a kernel; lives as long as the module.
  virtual Result<const KernelRecord *> kernel(const std::string &name) = 0;
};

/// Links an object that `compileForHost` made. DataLoss if it is none, or of another build's instruction table.
Result<std::unique_ptr<HostModule>> loadHostObject(std::span<const uint8_t> code);

} // namespace jitk::emulator
