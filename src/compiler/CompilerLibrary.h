// The compiler behind the interface of src/runtime/Compiler.h.

#pragma once

#include "src/runtime/Compiler.h"

namespace jitk::compiler {

/// The one compiler of the process; lives as long as the library is loaded. Thread-safe.
Compiler &compilerLibrary();

} // namespace jitk::compiler
