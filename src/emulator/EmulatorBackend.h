// What the compiler library needs of the emulator: code for it, and a device that runs it.

#pragma once

#include "src/emulator/HostCompiler.h"
#include "src/runtime/Compiler.h"
#include "src/runtime/Device.h"

#include <memory>

namespace jitk::emulator {

/// A device that runs what `compileForHost` makes. InvalidArgument for a target that is not the emulator's.
Result<std::unique_ptr<Device>> createDevice(const EmulatorOptions &options);

} // namespace jitk::emulator
