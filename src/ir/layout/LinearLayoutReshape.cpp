// Rearrangement of the dimensions of linear layouts.

#include "src/ir/layout/LinearLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using llvm::ArrayRef;
using llvm::StringRef;

namespace jitk::ir {

using Basis = LinearLayout::Basis;
using InDim = LinearLayout::InDim;
using OutDim = LinearLayout::OutDim;

LinearLayout LinearLayout::sublayout(ArrayRef<StringRef> inDims, ArrayRef<StringRef> outDims) const {
  std::vector<OutDim> outs;
  llvm::SmallVector<size_t> kept;
  for (auto [index, out] : llvm::enumerate(outs_)) {
    if (llvm::is_contained(outDims, StringRef(out.name))) {
      outs.push_back(out);
      kept.push_back(index);
    }
  }
  std::vector<InDim> ins;
  for (const InDim &in : ins_) {
    if (!llvm::is_contained(inDims, StringRef(in.name))) {
      continue;
    }
    InDim part{in.name, {}};
    for (const Basis &basis : in.bases) {
      part.bases.emplace_back(llvm::map_range(kept, [&](size_t index) { return basis[index]; }));
    }
    ins.push_back(std::move(part));
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

LinearLayout LinearLayout::removeZeroBasesAlongDim(StringRef inDim) const {
  LinearLayout result = *this;
  for (InDim &in : result.ins_) {
    if (in.name == inDim) {
      llvm::erase_if(in.bases,
                     [](const Basis &basis) { return llvm::all_of(basis, [](int32_t c) { return c == 0; }); });
    }
  }
  return result;
}

LinearLayout LinearLayout::resizeInDim(StringRef inDim, int32_t newSize) const {
  LinearLayout result = *this;
  for (InDim &in : result.ins_) {
    if (in.name == inDim) {
      in.bases.resize(llvm::Log2_32(newSize), Basis(outs_.size(), 0));
    }
  }
  return result;
}

LinearLayout LinearLayout::resizeOutDim(StringRef outDim, int32_t newSize) const {
  LinearLayout result = *this;
  size_t index = getOutDimIndex(outDim);
  result.outs_[index].size = newSize;
  for (InDim &in : result.ins_) {
    for (Basis &basis : in.bases) {
      basis[index] &= newSize - 1;
    }
  }
  return result;
}

LinearLayout LinearLayout::renameInDim(StringRef oldDim, StringRef newDim) const {
  LinearLayout result = *this;
  for (InDim &in : result.ins_) {
    if (in.name == oldDim) {
      in.name = newDim.str();
    }
  }
  return result;
}

LinearLayout LinearLayout::renameOutDim(StringRef oldDim, StringRef newDim) const {
  LinearLayout result = *this;
  result.outs_[getOutDimIndex(oldDim)].name = newDim.str();
  return result;
}

LinearLayout LinearLayout::transposeIns(ArrayRef<StringRef> newOrder) const {
  assert(newOrder.size() == ins_.size() && "a transposition keeps the inputs");
  LinearLayout result = *this;
  result.ins_.clear();
  for (StringRef name : newOrder) {
    assert(hasInDim(name) && "a transposition keeps the inputs");
    result.ins_.push_back({name.str(), getBases(name).vec()});
  }
  return result;
}

LinearLayout LinearLayout::transposeOuts(ArrayRef<StringRef> newOrder) const {
  assert(newOrder.size() == outs_.size() && "a transposition keeps the outputs");
  LinearLayout result = *this;
  for (auto [position, name] : llvm::enumerate(newOrder)) {
    size_t from = getOutDimIndex(name);
    result.outs_[position] = outs_[from];
    for (auto [in, oldIn] : llvm::zip_equal(result.ins_, ins_)) {
      for (auto [basis, oldBasis] : llvm::zip_equal(in.bases, oldIn.bases)) {
        basis[position] = oldBasis[from];
      }
    }
  }
  return result;
}

LinearLayout LinearLayout::reshapeIns(ArrayRef<Index> newDims) const {
  std::vector<Basis> flat;
  for (const InDim &in : ins_) {
    llvm::append_range(flat, in.bases);
  }
  ArrayRef<Basis> rest = flat;
  LinearLayout result = *this;
  result.ins_.clear();
  for (auto [name, size] : newDims) {
    result.ins_.push_back({name.str(), rest.take_front(llvm::Log2_32(size)).vec()});
    rest = rest.drop_front(llvm::Log2_32(size));
  }
  assert(rest.empty() && "a reshape keeps the total size");
  return result;
}

LinearLayout LinearLayout::reshapeOuts(ArrayRef<Index> newDims) const {
  LinearLayout result = *this;
  result.outs_.clear();
  for (auto [name, size] : newDims) {
    result.outs_.push_back({name.str(), size});
  }
  assert(result.getTotalOutDimSizeLog2() == getTotalOutDimSizeLog2() && "a reshape keeps the total size");
  llvm::SmallVector<uint64_t> flat = getFlatBases();
  const uint64_t *next = flat.begin();
  for (InDim &in : result.ins_) {
    for (Basis &basis : in.bases) {
      uint64_t word = *next++;
      basis.clear();
      for (const OutDim &out : result.outs_) {
        basis.push_back(word & (uint64_t(out.size) - 1));
        word >>= llvm::Log2_32(out.size);
      }
    }
  }
  return result;
}

LinearLayout LinearLayout::flattenIns() const {
  return ins_.empty() ? *this : reshapeIns({{ins_.front().name, getTotalInDimSize()}});
}

LinearLayout LinearLayout::flattenOuts() const {
  return outs_.empty() ? *this : reshapeOuts({{outs_.front().name, getTotalOutDimSize()}});
}

LinearLayout LinearLayout::concatIns(const LinearLayout &other) const {
  assert(outs_ == other.outs_ && "layouts side by side must have the same outputs");
  LinearLayout result = *this;
  result.ins_.insert(result.ins_.end(), other.ins_.begin(), other.ins_.end());
  return result;
}

LinearLayout LinearLayout::concatOuts(const LinearLayout &other) const {
  assert(getInDimNames() == other.getInDimNames() && "layouts side by side must have the same inputs");
  LinearLayout result = *this;
  result.outs_.insert(result.outs_.end(), other.outs_.begin(), other.outs_.end());
  for (auto [in, otherIn] : llvm::zip_equal(result.ins_, other.ins_)) {
    for (auto [basis, otherBasis] : llvm::zip_equal(in.bases, otherIn.bases)) {
      basis.append(otherBasis);
    }
  }
  return result;
}

} // namespace jitk::ir
