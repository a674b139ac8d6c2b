#include "src/tools/timing/CublasPeer.h"

#include "src/ops/OpSchema.h"
#include "src/reference/Work.h"
#include "src/tools/timing/Contender.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace jitk::timing {

static int64_t size(const Description &description, std::string_view name, const DynamicSizes &sizes) {
  Result<int64_t> value = sizeOf(description, name, sizes);
  if (!value.ok()) {
    throw std::invalid_argument(value.status().toString());
  }
  return *value;
}

Product productOf(const Description &d, const DynamicSizes &sizes) {
  return {.m = size(d, "m", sizes),
          .n = size(d, "n", sizes),
          .k = size(d, "k", sizes),
          .dtype = d.word("dtype"),
          .outDtype = d.word("out_dtype"),
          .columnMajorB = d.word("b_layout") == "col",
          .hasBias = d.flag("bias"),
          .hasAddend = d.flag("residual") || d.flag("accumulate"),
          .activation = d.word("activation"),
          .columnMajorA = d.word("a_layout") == "col"};
}

bool hasRowsApart(const Description &description) {
  const OpSchema &op = **findOp(description.op());
  return std::ranges::any_of(
      op.tensors, [&](const TensorSchema &tensor) { return description.rowStride(tensor.name).has_value(); });
}

bool hasCublasPeer(const Description &description) {
  return description.op() == "matmul" && description.word("activation") != "silu" && !hasRowsApart(description);
}

std::optional<Yardstick> bf16Yardstick(const Description &description, const DynamicSizes &sizes) {
  if (!description.op().ends_with("fp8_block_matmul")) {
    return std::nullopt;
  }
  Yardstick yardstick = {"cuBLASLt bf16, best of 8",
                         {.m = size(description, "m", sizes),
                          .n = size(description, "n", sizes),
                          .k = size(description, "k", sizes),
                          .dtype = "bf16",
                          .outDtype = "bf16",
                          .columnMajorB = true},
                         ""};
  Product &product = yardstick.product;
  if (description.op() == "grouped_fp8_block_matmul") {
    yardstick.name = "cuBLASLt bf16 in a batch, best of 8";
    product.batch = std::max<int64_t>(1, size(description, "groups", sizes));
    product.m = description.flag("masked") ? reference::validRowsOfGroup(description, sizes)
                                           : (product.m + product.batch - 1) / product.batch;
  }
  yardstick.tensors = "matmul b_layout=col dtype=bf16 m=" + std::to_string(product.batch * product.m) +
                      " n=" + std::to_string(product.batch * product.n) + " k=" + std::to_string(product.k);
  return yardstick;
}

std::function<void(void *)> CublasPeer::best(const Product &product, const ProductAddresses &addresses) {
  constexpr int kAlgorithms = 8;
  constexpr size_t kWorkspace = size_t(64) << 20;
  if (workspace_.size() == 0) {
    workspace_ = api::Buffer(device_, kWorkspace);
  }
  auto algorithms = std::make_shared<CublasLt::Algorithms>(library_.find(product, kAlgorithms, kWorkspace));
  uint64_t workspace = workspace_.address();
  auto run = [=](size_t index) { return [=](void *stream) { algorithms->run(index, addresses, workspace, stream); }; };
  std::function<void(void *)> best;
  double least = HUGE_VAL;
  for (size_t index = 0; index < algorithms->size(); ++index) {
    Gpu::Graph graph = gpu_.record(5, run(index));
    gpu_.replay(graph);
    double time = median({gpu_.replay(graph), gpu_.replay(graph), gpu_.replay(graph)});
    if (time < least) {
      least = time;
      best = run(index);
    }
  }
  return best;
}

} // namespace jitk::timing
