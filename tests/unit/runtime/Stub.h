// What the tests of this room share: a runtime with a stub compiler, and problems for it.

#pragma once

#include "src/runtime/Runtime.h"
#include "tests/fakes/StubCompiler.h"
#include "tests/support/LogLines.h"
#include "tests/support/TemporaryFolder.h"

#include <memory>
#include <string>

namespace jitk::test {

/// stub m=<given> n=<given>.
inline std::shared_ptr<const Problem> stubProblem(const std::string &m, int64_t n = 64) {
  Description description("stub", {{"m", *Dimension::parse(m)}, {"n", Dimension{n, 1, 0}}});
  return std::make_shared<const Problem>(std::move(description));
}

inline const Target kTarget = {Target::Kind::Cuda, 90, true};

/// A runtime in this process, with a stub compiler and a store of its own.
struct StubRuntime {
  explicit StubRuntime(std::string folder = "") { restart(std::move(folder)); }

  /// Begins again with an empty memory. "" = no disk.
  void restart(std::string folder) {
    RuntimeOptions options;
    options.storeFolder = std::move(folder);
    options.compiler = &compiler;
    options.jobs = 4;
    options.useTuned = useTuned;
    options.lockPatience = std::chrono::seconds(30);
    options.logSink = lines.sink();
    runtime = *Runtime::create(std::move(options));
  }

  bool useTuned = false; ///< of the next restart
  StubCompiler compiler;
  LogLines lines;
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<StubDevice> device = std::make_shared<StubDevice>(kTarget);
};

} // namespace jitk::test
