#include "src/runtime/CompilerLibrary.h"

#include "src/runtime/BuildId.h"
#include "src/runtime/LazyCompiler.h"
#include "tests/unit/runtime/Stub.h"

#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("runtime/CompilerLibrary");

TEST_CASE("a compiler library of the same build is opened") {
  Result<OpenCompiler> opened = openCompilerLibrary(JITK_STUB_COMPILER, kBuildId);
  REQUIRE(opened.ok());
  CHECK(opened->path == JITK_STUB_COMPILER);
  CHECK(opened->compiler->buildId() == kBuildId);
}

TEST_CASE("another build is refused, naming both") {
  Status status = openCompilerLibrary(JITK_STUB_COMPILER, "other").status().clone();
  CHECK(status.code() == StatusCode::Unavailable);
  CHECK(status.toString() == "compiler library cannot be opened: " JITK_STUB_COMPILER
                             ": compiler library must be of build other: got " +
                                 std::string(kBuildId));
}

TEST_CASE("a library that is none is refused") {
  CHECK(openCompilerLibrary("libc.so.6", "build").status().toString() ==
        "compiler library cannot be opened: libc.so.6: not a compiler library: it has no jitk_compiler_open");
}

TEST_CASE("every place that was tried is named") {
  std::string message = openCompilerLibrary("", "build").status().toString();
  CHECK(message.find("/libjitk-compiler.so: cannot open") != std::string::npos);
  CHECK(message.find("; libjitk-compiler.so: ") != std::string::npos);
}

TEST_CASE("the first failure to open is what each later use reports") {
  LazyCompiler compiler("/nowhere/libjitk-compiler.so", "build", "");
  std::string first = compiler.get().status().toString();
  CHECK(compiler.get().status().toString() == first);
  CHECK(compiler.assemblerIdentity(test::kTarget).status().toString() == first);
  CHECK(compiler.path().empty());
}

TEST_SUITE_END();
