// What tt.assert says of the element that fails.

#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

using namespace jitk::codegen::test;

namespace {

const std::string layout = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";

/// Asserts that 256 integers are not negative, then copies them.
CompiledKernel checkedCopy(const std::string &location) {
  const std::string type = tensorType({256}, "i32", layout);
  return compileKernel(moduleOf(
      "", kernelOf(pointerParameter("in", "i32") + ", " + pointerParameter("out", "i32"),
                   loadTensor("x", "in", {256}, "i32", layout) + "  %zero = arith.constant dense<0> : " + type +
                       "\n  %ok = arith.cmpi sge, %x, %zero : " + type +
                       "\n  tt.assert %ok, \"x is negative\" : " + tensorType({256}, "i1", layout) + location + "\n" +
                       storeTensor("x", "out", {256}, "i32", layout))));
}

} // namespace

TEST_SUITE("codegen/Assert") {
  TEST_CASE("an assertion that holds changes nothing") {
    const std::vector<int32_t> input(256, 7);
    CHECK(runEverywhere<int32_t>(checkedCopy(""), 256, input) == input);
  }

  TEST_CASE("one that fails names its message, its place and the thread") {
    std::vector<int32_t> input(256, 7);
    input[131] = -1; // the second element of lane 1 of warp 2
    Machine machine;
    const uint64_t out = machine.upload(std::vector<int32_t>(256));
    const LaunchReport report = launch(machine, checkedCopy(" loc(\"model.py\":12:3)"), {machine.upload(input), out});
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].kind == jitk::emulator::FindingKind::Trap);
    CHECK(report.findings[0].detail == "assertion failed: x is negative (model.py:12, function k)");
    CHECK(report.findings[0].warp == 2);
    CHECK(report.findings[0].lane == 1);
  }
}
