#include "backends/nvidia/codegen/ChildProcess.h"

#include <csignal>
#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::nvidia;
using namespace std::chrono_literals;

TEST_SUITE("nvidia/ChildProcess") {
  TEST_CASE("output and exit code come back") {
    Result<ChildResult> child = runChild({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 20s);
    REQUIRE(child);
    CHECK(child->exitCode == 3);
    CHECK(child->output == "out\nerr\n");
  }

  TEST_CASE("a signal is no exit code") {
    Result<ChildResult> child = runChild({"/bin/sh", "-c", "kill -SEGV $$"}, 20s);
    REQUIRE(child);
    CHECK(child->exitCode == -SIGSEGV);
  }

  TEST_CASE("a child that hangs is killed with all that it started") {
    // The shell ignores SIGTERM and leaves a child that holds the pipe open.
    Result<ChildResult> child = runChild({"/bin/sh", "-c", "trap '' TERM; echo begun; sleep 100 & wait"}, 200ms);
    REQUIRE(!child);
    CHECK(child.status().code() == StatusCode::DeadlineExceeded);
    CHECK(child.status().message() == "/bin/sh was killed after 200 ms");
    CHECK(child.status().toolOutput() == "begun\n");
  }

  TEST_CASE("a child that closes its output and hangs is killed") {
    Result<ChildResult> child = runChild({"/bin/sh", "-c", "exec >&- 2>&-; sleep 100"}, 200ms);
    REQUIRE(!child);
    CHECK(child.status().code() == StatusCode::DeadlineExceeded);
  }

  TEST_CASE("a program that does not exist is named") {
    Result<ChildResult> child = runChild({"/no/such/program"}, 1s);
    REQUIRE(!child);
    CHECK(child.status().code() == StatusCode::Unavailable);
    CHECK(child.status().message() == "cannot start /no/such/program: No such file or directory");
  }
}
