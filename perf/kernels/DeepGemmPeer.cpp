#include "perf/kernels/DeepGemmPeer.h"

#include "src/tools/timing/CublasPeer.h"

#include <memory>
#include <utility>

namespace jitk::perf {

using timing::DeepGemm;

DeepGemmPeer::DeepGemmPeer(const api::Device &device, const timing::Gpu &gpu, std::filesystem::path folder)
    : device_(device), gpu_(gpu), deepGemm_(std::move(folder)) {}

bool DeepGemmPeer::serves(const Problem &problem) {
  const Description &description = problem.description;
  return description.op().ends_with("fp8_block_matmul") && description.word("out_dtype") == "bf16" &&
         description.word("a_scale_layout") == "row" && !timing::hasRowsApart(description);
}

DeepGemm::Shape DeepGemmPeer::shapeOf(const Problem &problem) {
  DeepGemm::Shape shape = {.m = problem.size("m"), .n = problem.size("n"), .k = problem.size("k")};
  if (problem.description.op() == "grouped_fp8_block_matmul") {
    bool isMasked = problem.description.flag("masked");
    shape.kind = isMasked ? DeepGemm::Groups::Masked : DeepGemm::Groups::Contiguous;
    shape.groups = problem.size("groups");
    shape.m = isMasked ? validRowsOfGroup(problem) : shape.m;
  }
  return shape;
}

DeepGemmPeer::Rows DeepGemmPeer::rowsOf(const Problem &problem) {
  int64_t m = problem.size("m");
  DeepGemm::Shape shape = shapeOf(problem);
  if (shape.kind != DeepGemm::Groups::Masked) {
    return {1, m, m};
  }
  constexpr int64_t kTile = DeepGemm::kRowsOfMaskedTile;
  return {shape.groups, m, (m + kTile - 1) / kTile * kTile};
}

void DeepGemmPeer::copyScales(const Problem &problem, uint64_t scales) {
  // It takes A's scales column by column.
  Rows rows = rowsOf(problem);
  int64_t blocks = (problem.size("k") + 127) / 128, rowsOfColumn = DeepGemm::scaleRows(rows.apart);
  std::vector<float> ours(size_t(rows.groups * rows.rows * blocks)),
      theirs(size_t(rows.groups * blocks * rowsOfColumn));
  device_.copyToHost(ours.data(), scales, ours.size() * sizeof(float));
  for (int64_t group = 0; group < rows.groups; ++group) {
    for (int64_t row = 0; row < rows.rows; ++row) {
      for (int64_t block = 0; block < blocks; ++block) {
        theirs[size_t((group * blocks + block) * rowsOfColumn + row)] =
            ours[size_t((group * rows.rows + row) * blocks + block)];
      }
    }
  }
  scales_ = api::Buffer(device_, theirs.size() * sizeof(float));
  device_.copyToDevice(scales_.address(), theirs.data(), theirs.size() * sizeof(float));
}

void DeepGemmPeer::copyRows(uint64_t to, int64_t toApart, uint64_t from, int64_t fromApart, const Rows &rows,
                            int64_t rowBytes, void *stream) const {
  for (int64_t group = 0; group < rows.groups; ++group) {
    gpu_.copy(to + uint64_t(group * toApart * rowBytes), from + uint64_t(group * fromApart * rowBytes),
              size_t(rows.rows * rowBytes), stream);
  }
}

std::vector<DeepGemmPeer::Kernel> DeepGemmPeer::find(const Problem &problem, const Addresses &address) {
  if (!serves(problem)) {
    return {};
  }
  DeepGemm::Shape shape = shapeOf(problem);
  Rows rows = rowsOf(problem);
  bool areApart = rows.apart != rows.rows;
  int64_t rowsOfA = shape.k, rowsOfC = 2 * shape.n; // in bytes
  uint64_t ofProblem = address("c");
  copyScales(problem, address("a_scale"));
  a_ = areApart ? api::Buffer(device_, uint64_t(rows.groups * rows.apart * rowsOfA)) : api::Buffer();
  c_ = areApart ? api::Buffer(device_, uint64_t(rows.groups * rows.apart * rowsOfC)) : api::Buffer();
  if (areApart) {
    copyRows(a_.address(), rows.apart, address("a"), rows.rows, rows, rowsOfA, gpu_.stream());
    gpu_.synchronize();
  }
  DeepGemm::Tensors tensors = {.a = areApart ? a_.address() : address("a"),
                               .b = address("b"),
                               .scaleOfB = address("b_scale"),
                               .c = areApart ? c_.address() : ofProblem,
                               .scaleOfA = scales_.address(),
                               .groups = address(shape.kind == DeepGemm::Groups::Masked ? "valid_rows" : "row_group"),
                               .rowsOfGroup = rows.apart};
  std::vector<Kernel> kernels;
  for (DeepGemm::Product &product : deepGemm_.find(shape, tensors)) {
    auto shared = std::make_shared<DeepGemm::Product>(std::move(product));
    auto run = [shared](void *stream) { shared->run(stream); };
    auto runIntoC = [this, run, rows, rowsOfC, ofProblem](void *stream) {
      device_.fill(c_.address(), 0xFF, c_.size());
      run(stream);
      copyRows(ofProblem, rows.rows, c_.address(), rows.apart, rows, rowsOfC, stream);
    };
    kernels.push_back({run, areApart ? std::function<void(void *)>(runIntoC) : run});
  }
  return kernels;
}

} // namespace jitk::perf
