// Finds and opens libjitk-compiler.so, which only a miss needs.

#pragma once

#include "src/runtime/Compiler.h"
#include "src/support/Status.h"

#include <string>

namespace jitk {

/// An open compiler library. Stays open until the process ends: it has threads' and LLVM's state inside.
struct OpenCompiler {
  Compiler *compiler;
  std::string path;
};

inline constexpr char kCompilerLibraryName[] = "libjitk-compiler.so";

/// The folder of the library or program that holds this code, with a slash at its end.
std::string ownFolder();

/// Opens the library at `path`, or, if that is empty, the one beside the library that this code is in, else the one
/// that ld.so finds. Fails with Unavailable, naming each place that was tried and what was wrong there; also if its
/// build id is not `buildId`.
Result<OpenCompiler> openCompilerLibrary(const std::string &path, const std::string &buildId);

} // namespace jitk
