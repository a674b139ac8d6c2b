#include "src/kernels/Kernel.h"
#include "src/kernels/attention/AttentionTile.h"
#include "src/kernels/fp8/PersistentFp8Matmul.h"
#include "src/ops/OpSchema.h"

#include "mlir/IR/MLIRContext.h"

#include <doctest/doctest.h>
#include <set>

using namespace jitk;
using namespace jitk::kernels;

TEST_SUITE_BEGIN("kernels/Configuration");

namespace {

constexpr const char *kProblems[] = {
    "matmul m=4096 n=7168 k=2048",
    "matmul m=40 n=136 k=4000 b_layout=col bias=true",
    "matmul m=* n=4096 k=7168 b_layout=col",
    "fp8_block_matmul m=4096 n=7168 k=2048",
    "fp8_block_matmul m=*<=64 n=4096 k=7168",
    "grouped_fp8_block_matmul groups=8 m=4096 n=4096 k=7168",
    "grouped_fp8_block_matmul masked=true groups=8 m=128 n=4096 k=7168 expected_m=20",
    "flash_attention heads=32 seq_q=4096 head_dim=128 causal=true",
    "flash_attention heads=32 seq_q=50 seq_k=4096 head_dim=64",
    "flash_attention heads=16 seq_q=4096 head_dim=256",
};

Description describe(const std::string &line) {
  Result<Description> description = parseDescription(line);
  REQUIRE_MESSAGE(description.ok(), description.status().toString());
  return *description;
}

const Target &hopper() {
  static const Target target = *Target::parse("sm_90a");
  return target;
}

/// The name of the tile that a description is built with for the most rows.
std::string chosen(const Description &description) {
  if (description.op() == "flash_attention") {
    return chooseAttentionTile(description).name();
  }
  return (description.op() == "matmul" ? choosePersistentVariants(description) : chooseFp8Variants(description))
      .back()
      .tile.name();
}

} // namespace

TEST_CASE("the names of a problem's configurations differ, and the chosen one is the first") {
  for (const char *line : kProblems) {
    CAPTURE(line);
    std::vector<Configuration> all = configurationsOf(describe(line), hopper());
    REQUIRE(all.size() > 1);
    std::set<std::string> names;
    for (const Configuration &each : all) {
      names.insert(each.name);
    }
    CHECK(names.size() == all.size());
    CHECK(all.front().name == chosen(describe(line)));
  }
}

TEST_CASE("a description that names a configuration is built with it") {
  for (const char *line : kProblems) {
    for (const Configuration &each : configurationsOf(describe(line), hopper())) {
      CAPTURE(each.name);
      Description named = describe(std::string(line) + " configuration=" + each.name);
      CHECK(chosen(named) == each.name);
      // The list does not depend on the name.
      CHECK(configurationsOf(named, hopper()).size() == configurationsOf(describe(line), hopper()).size());
    }
  }
}

TEST_CASE("what has one way to be built has no configurations, and takes no name") {
  mlir::MLIRContext context;
  loadKernelDialects(context);
  auto refusal = [&](const char *line, const char *target) {
    return buildKernel(describe(line), *Target::parse(target), context).status().toString();
  };
  CHECK(configurationsOf(describe("matmul m=64 n=64 k=64"), *Target::parse("sm_80")).empty());
  CHECK(configurationsOf(describe("mla_decode heads=16 max_kv=200"), hopper()).empty());
  CHECK(refusal("matmul m=64 n=64 k=64 configuration=128x128", "sm_80") ==
        "configuration of matmul for sm_80 must be left out: there is one way to build it: got '128x128'");
  CHECK(refusal("flash_attention heads=1 seq_q=128 head_dim=256 configuration=256x128", "sm_90a") ==
        "configuration of flash_attention for sm_90a must be one of 64x64.q2.s2, 64x64.q1.s2, 64x64.q1.s1, "
        "128x64.q1.s2, 128x64.q1.s1: got '256x128'");
}

TEST_SUITE_END();
