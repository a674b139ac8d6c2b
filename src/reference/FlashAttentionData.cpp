#include "src/reference/Data.h"
#include "src/reference/TokenSpans.h"

namespace jitk::reference {

/// In [0, longest]: the first is the longest, the second is 0.
static std::vector<int32_t> drawLengths(int64_t batch, int64_t longest, Random &random) {
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < batch; ++i) {
    lengths.push_back(int32_t(i == 0 ? longest : i == 1 ? 0 : random.below(longest + 1)));
  }
  return lengths;
}

void fillFlashAttention(const Description &description, const Sizes &sizes, const GivenValues &given, Random &random,
                        std::vector<HostTensor> &tensors) {
  int64_t batch = sizes["batch"];
  bool isPacked = description.flag("packed");
  for (HostTensor &tensor : tensors) {
    const std::string &name = tensor.shape.name;
    if (given.contains(name)) {
      continue;
    }
    if (name.starts_with("seq_lens_")) {
      setIntegers(tensor, drawLengths(batch, sizes["seq_" + name.substr(name.size() - 1)], random));
    } else if (name.starts_with("cu_seqlens_")) {
      setIntegers(tensor, drawOffsets(batch, sizes["total_" + name.substr(name.size() - 1)], random));
    }
  }
  if (!isPacked && !description.flag("varlen")) {
    return;
  }
  std::vector<TokenSpan> queries = querySpans(description, sizes, Operands(tensors));
  std::vector<TokenSpan> keys = keySpans(description, sizes, Operands(tensors));
  for (HostTensor &tensor : tensors) {
    const std::string &name = tensor.shape.name;
    if (name == "q") {
      poisonOutside(tensor, queries, isPacked ? sizes["total_q"] : batch * sizes["seq_q"]);
    } else if (name == "k" || name == "v") {
      poisonOutside(tensor, keys, isPacked ? sizes["total_k"] : batch * sizes["seq_k"]);
    }
  }
}

} // namespace jitk::reference
