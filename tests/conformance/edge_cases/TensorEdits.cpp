#include "tests/conformance/edge_cases/TensorEdits.h"

#include "src/reference/Numeric.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>

namespace jitk::conformance {

static void setIntegers(std::vector<reference::HostTensor> &tensors, std::string_view name,
                        const std::vector<int32_t> &values) {
  auto found = std::ranges::find(tensors, name, [](const reference::HostTensor &tensor) { return tensor.shape.name; });
  std::memcpy(found->bytes.data(), values.data(), std::min(found->bytes.size(), values.size() * sizeof(int32_t)));
}

void leaveRange(std::vector<reference::HostTensor> &tensors) {
  setIntegers(tensors, "cu_seqlens", {-7, 6, 6, 13, INT_MAX});
  setIntegers(tensors, "state_indices", {INT_MIN, 2, 3, INT_MAX});
  for (reference::HostTensor &tensor : tensors) {
    // The end reaches over the tokens that were meant for none, whose contents are not numbers.
    if (tensor.shape.name == "q" || tensor.shape.name == "k" || tensor.shape.name == "v" || tensor.shape.name == "g" ||
        tensor.shape.name == "beta") {
      std::ranges::replace(tensor.bytes, uint8_t(0xFF), uint8_t(0));
    }
  }
}

void breakTable(std::vector<reference::HostTensor> &tensors) {
  for (reference::HostTensor &tensor : tensors) {
    if (tensor.shape.name == "block_table") {
      int32_t entries[] = {INT_MAX, 1, INT_MIN, -1};
      std::memcpy(tensor.bytes.data(), entries, std::min(tensor.bytes.size(), sizeof entries));
    } else if (tensor.shape.name.ends_with("_cache")) {
      std::ranges::replace(tensor.bytes, uint8_t(0xFF), uint8_t(0x3F));
    }
  }
}

void takeCacheAway(std::vector<reference::HostTensor> &tensors) { setIntegers(tensors, "seq_lens", {100, 64}); }

void repeatKeys(std::vector<reference::HostTensor> &tensors) {
  for (reference::HostTensor &tensor : tensors) {
    if (tensor.shape.name == "k") {
      size_t row = tensor.bytes.size() / size_t(tensor.shape.numElements() / tensor.shape.sizes.back());
      for (size_t at = row; at < tensor.bytes.size(); at += row) {
        std::copy_n(tensor.bytes.begin(), row, tensor.bytes.begin() + std::ptrdiff_t(at));
      }
    } else if (tensor.shape.name == "g") {
      std::ranges::fill(tensor.bytes, uint8_t(0));
    } else if (tensor.shape.name == "beta") {
      tensor.bytes = reference::encode("fp32", std::vector<float>(size_t(tensor.shape.numElements()), 1));
    }
  }
}

/// Each element of a tensor of floats, if there is one of that name, becomes `edit(row, element)`; rows are along the
/// last dimension.
template <typename Edit>
static void editRows(std::vector<reference::HostTensor> &tensors, std::string_view name, Edit edit) {
  for (reference::HostTensor &tensor : tensors) {
    if (tensor.shape.name == name) {
      std::vector<float> values = reference::decode(tensor.shape.dtype, tensor.bytes);
      for (size_t at = 0; at < values.size(); ++at) {
        values[at] = edit(at / size_t(tensor.shape.sizes.back()), values[at]);
      }
      tensor.bytes = reference::encode(tensor.shape.dtype, values);
    }
  }
}

static void scale(std::vector<reference::HostTensor> &tensors, std::initializer_list<const char *> names,
                  float factor) {
  for (const char *name : names) {
    editRows(tensors, name, [&](size_t, float value) { return factor * value; });
  }
}

void shrinkQueriesAndKeys(std::vector<reference::HostTensor> &tensors) {
  for (const char *name : {"q", "k"}) {
    editRows(tensors, name, [](size_t row, float value) { return row == 0 ? 0 : 0x1p-13F * value; });
  }
}

void zeroKeysUnderLargeValues(std::vector<reference::HostTensor> &tensors) {
  editRows(tensors, "k", [](size_t row, float value) { return row % 7 == 3 ? 0 : value; });
  scale(tensors, {"v", "initial_state"}, 60);
}

void lengthenKeysOfSmallValues(std::vector<reference::HostTensor> &tensors) {
  scale(tensors, {"q", "k"}, 400);
  scale(tensors, {"v", "initial_state"}, 0x1p-9F);
}

void mixNorms(std::vector<reference::HostTensor> &tensors) {
  editRows(tensors, "k", [](size_t row, float value) { return std::ldexp(value, int(row * 5 % 25) - 12); });
  scale(tensors, {"v"}, 0x1p-9F);
}

void sharpenScores(std::vector<reference::HostTensor> &tensors) { scale(tensors, {"q"}, 16); }

} // namespace jitk::conformance
