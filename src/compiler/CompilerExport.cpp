// The only symbol that libjitk-compiler.so exports.

#include "src/compiler/CompilerLibrary.h"

extern "C" __attribute__((visibility("default"))) jitk::Compiler *jitk_compiler_open() {
  return &jitk::compiler::compilerLibrary();
}
