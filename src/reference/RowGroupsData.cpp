#include "src/reference/Data.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace jitk::reference {

static HostTensor &find(std::vector<HostTensor> &tensors, std::string_view name) {
  return *std::ranges::find(tensors, name, [](const HostTensor &tensor) { return tensor.shape.name; });
}

/// What names no group.
static int32_t drawNoGroup(int64_t groups, Random &random) {
  const int32_t choices[] = {-1, int32_t(groups), INT32_MAX, INT32_MIN};
  return choices[random.below(std::size(choices))];
}

/// A group for each run of 128 rows; every third run is short, every fifth one empty.
static std::vector<int32_t> drawGroups(int64_t rows, int64_t groups, Random &random) {
  constexpr int64_t kRun = 128;
  int64_t runs = (rows + kRun - 1) / kRun;
  std::vector<int32_t> ofRuns;
  for (int64_t run = 0; run < runs; ++run) {
    ofRuns.push_back(int32_t(random.below(groups)));
  }
  std::ranges::sort(ofRuns);
  std::vector<int32_t> result;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t run = row / kRun, valid = run % 5 == 4 ? 0 : run % 3 == 1 ? 50 : kRun;
    result.push_back(row % kRun < valid ? ofRuns[size_t(run)] : drawNoGroup(groups, random));
  }
  return result;
}

static std::vector<int32_t> drawCounts(int64_t rows, int64_t groups, Random &random) {
  std::vector<int32_t> result;
  for (int64_t group = 0; group < groups; ++group) {
    result.push_back(int32_t(group == 0 ? rows : group == 1 ? 0 : random.below(rows + 1)));
  }
  return result;
}

static void poisonRows(HostTensor &tensor, const std::vector<bool> &isValid) {
  size_t rowBytes = isValid.empty() ? 0 : tensor.bytes.size() / isValid.size();
  for (size_t row = 0; row < isValid.size(); ++row) {
    if (!isValid[row]) {
      std::memset(tensor.bytes.data() + row * rowBytes, kPoison, rowBytes);
    }
  }
}

void fillRowGroups(const Description &description, const Sizes &sizes, const GivenValues &given, Random &random,
                   std::vector<HostTensor> &tensors) {
  bool isMasked = description.flag("masked");
  int64_t groups = sizes["groups"], m = sizes["m"];
  HostTensor &tensor = find(tensors, isMasked ? "valid_rows" : "row_group");
  if (!given.contains(tensor.shape.name) && groups > 0) {
    std::vector<int32_t> drawn = isMasked ? drawCounts(m, groups, random) : drawGroups(m, groups, random);
    setIntegers(tensor, drawn);
  }
  std::vector<int32_t> integers = Operands(tensors).integers(tensor.shape.name);
  std::vector<bool> isValid;
  for (int64_t row = 0; row < (isMasked ? groups * m : m); ++row) {
    int32_t named = integers[size_t(isMasked ? row / m : row)];
    isValid.push_back(isMasked ? row % m < named : named >= 0 && named < groups);
  }
  poisonRows(find(tensors, "a"), isValid);
  if (description.word("a_scale_layout") == "row") {
    poisonRows(find(tensors, "a_scale"), isValid);
    return;
  }
  // Block after block of a group's rows.
  HostTensor &scales = find(tensors, "a_scale");
  auto rows = size_t(m), blocks = isValid.empty() ? 0 : scales.bytes.size() / sizeof(float) / isValid.size();
  for (size_t row = 0; row < isValid.size(); ++row) {
    for (size_t block = 0; block < blocks && !isValid[row]; ++block) {
      size_t index = (row / rows * blocks + block) * rows + row % rows;
      std::memset(scales.bytes.data() + index * sizeof(float), kPoison, sizeof(float));
    }
  }
}

} // namespace jitk::reference
