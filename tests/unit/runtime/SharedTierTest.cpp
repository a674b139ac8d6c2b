// Machines that share a server: here, runtimes with stores of their own.

#include "tests/support/RedisServer.h"
#include "tests/unit/runtime/Stub.h"

#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/SharedTier");

namespace {

/// A runtime that asks the server at `url`.
struct Machine {
  Machine(const std::string &url, std::string folder) {
    RuntimeOptions options;
    options.storeFolder = std::move(folder);
    options.sharedStore = *RedisAddress::parse(url);
    options.sharedOptions.deadline = std::chrono::seconds(5);
    options.compiler = &compiler;
    options.jobs = 1;
    options.logSink = lines.sink();
    runtime = *Runtime::create(std::move(options));
  }

  Tier obtain(const std::string &m) {
    Result<Obtained> obtained = runtime->entries().obtain(*stubProblem(m), kTarget);
    return obtained.ok() ? obtained->tier : Tier::None;
  }

  StubCompiler compiler;
  LogLines lines;
  std::shared_ptr<Runtime> runtime;
};

} // namespace

TEST_CASE("what one machine compiles the others find, and keep") {
  TemporaryFolder folder;
  RedisServer server(JITK_REDIS_SERVER);
  REQUIRE(server.running());
  Machine first(server.url(), folder.path("first")), second(server.url(), folder.path("second"));
  CHECK(first.obtain("*") == Tier::Compiled);
  CHECK(second.obtain("*") == Tier::Shared);
  CHECK(second.obtain("*") == Tier::Memory);
  CHECK(second.compiler.numCompilations == 0);
  // Kept on its disk, so the next process does not ask the server.
  Machine next("redis://127.0.0.1:1", folder.path("second"));
  CHECK(next.obtain("*") == Tier::Disk);
  CHECK(next.lines.lines().empty());
}

TEST_CASE("a machine without a disk of its own is served too") {
  RedisServer server(JITK_REDIS_SERVER);
  REQUIRE(server.running());
  Machine first(server.url(), ""), second(server.url(), "");
  CHECK(first.obtain("*") == Tier::Compiled);
  CHECK(second.obtain("*") == Tier::Shared);
}

TEST_CASE("without the server each machine compiles, with one line") {
  TemporaryFolder folder;
  Machine machine("redis://127.0.0.1:1", folder.path("store"));
  CHECK(machine.obtain("*") == Tier::Compiled);
  CHECK(machine.obtain("*<=64") == Tier::Compiled);
  CHECK(machine.compiler.numCompilations == 2);
  CHECK(machine.lines.lines().size() == 1);
}

TEST_SUITE_END();
