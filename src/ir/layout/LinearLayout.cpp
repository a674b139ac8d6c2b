#include "src/ir/layout/LinearLayout.h"

#include "src/ir/layout/F2Span.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

using llvm::ArrayRef;
using llvm::StringRef;

namespace jitk::ir {

LinearLayout::LinearLayout(std::vector<InDim> ins, std::vector<OutDim> outs)
    : ins_(std::move(ins)), outs_(std::move(outs)) {
  assert(llvm::all_of(outs_, [](const OutDim &out) { return llvm::isPowerOf2_32(out.size); }) &&
         "an output's size must be a power of two");
  for ([[maybe_unused]] const InDim &in : ins_) {
    for ([[maybe_unused]] const Basis &basis : in.bases) {
      assert(basis.size() == outs_.size() && "a basis must have one coordinate for each output");
      assert(llvm::all_of(
                 llvm::zip_equal(basis, outs_),
                 [](auto pair) { return std::get<0>(pair) >= 0 && std::get<0>(pair) < std::get<1>(pair).size; }) &&
             "a basis must lie inside the outputs");
    }
  }
}

LinearLayout LinearLayout::strided1D(int32_t size, int32_t stride, StringRef inDim, StringRef outDim) {
  assert(llvm::isPowerOf2_32(size) && "a dimension's size must be a power of two");
  InDim in{inDim.str(), {}};
  for (int32_t bit = 1; bit < size; bit *= 2) {
    in.bases.push_back({bit * stride});
  }
  return LinearLayout({std::move(in)}, {{outDim.str(), std::max(size * stride, 1)}});
}

LinearLayout LinearLayout::identity1D(int32_t size, StringRef inDim, StringRef outDim) {
  return strided1D(size, 1, inDim, outDim);
}

LinearLayout LinearLayout::zeros1D(int32_t size, StringRef inDim, StringRef outDim, int32_t outDimSize) {
  assert(llvm::isPowerOf2_32(size) && "a dimension's size must be a power of two");
  InDim in{inDim.str(), std::vector<Basis>(llvm::Log2_32(size), Basis{0})};
  return LinearLayout({std::move(in)}, {{outDim.str(), outDimSize}});
}

LinearLayout::Names LinearLayout::getInDimNames() const {
  return llvm::map_to_vector<4>(ins_, [](const InDim &in) { return StringRef(in.name); });
}

LinearLayout::Names LinearLayout::getOutDimNames() const {
  return llvm::map_to_vector<4>(outs_, [](const OutDim &out) { return StringRef(out.name); });
}

bool LinearLayout::hasInDim(StringRef inDim) const { return llvm::is_contained(getInDimNames(), inDim); }

bool LinearLayout::hasOutDim(StringRef outDim) const { return llvm::is_contained(getOutDimNames(), outDim); }

unsigned LinearLayout::getOutDimIndex(StringRef outDim) const {
  for (auto [index, out] : llvm::enumerate(outs_)) {
    if (out.name == outDim) {
      return index;
    }
  }
  assert(false && "the layout has no such output");
  return 0;
}

ArrayRef<LinearLayout::Basis> LinearLayout::getBases(StringRef inDim) const {
  for (const InDim &in : ins_) {
    if (in.name == inDim) {
      return in.bases;
    }
  }
  return {};
}

int32_t LinearLayout::getInDimSizeLog2(StringRef inDim) const { return getBases(inDim).size(); }

int32_t LinearLayout::getOutDimSizeLog2(StringRef outDim) const {
  return llvm::Log2_32(outs_[getOutDimIndex(outDim)].size);
}

int32_t LinearLayout::getTotalInDimSizeLog2() const {
  int32_t bits = 0;
  for (const InDim &in : ins_) {
    bits += in.bases.size();
  }
  return bits;
}

int32_t LinearLayout::getTotalOutDimSizeLog2() const {
  int32_t bits = 0;
  for (const OutDim &out : outs_) {
    bits += llvm::Log2_32(out.size);
  }
  return bits;
}

LinearLayout::Basis LinearLayout::apply(ArrayRef<Index> indices) const {
  Basis result(outs_.size(), 0);
  for (auto [name, index] : indices) {
    ArrayRef<Basis> bases = getBases(name);
    assert(uint32_t(index) >> bases.size() == 0 && "an index must lie inside its input");
    for (auto [bit, basis] : llvm::enumerate(bases)) {
      for (size_t out = 0; out < result.size() && (index >> bit & 1); ++out) {
        result[out] ^= basis[out];
      }
    }
  }
  return result;
}

uint64_t LinearLayout::applyFlat(uint64_t index) const { return multiplyF2(getFlatBases(), index); }

llvm::SmallVector<uint64_t> LinearLayout::getFlatBases() const {
  assert(getTotalOutDimSizeLog2() <= 64 && "a flattened output has at most 64 bits");
  llvm::SmallVector<uint64_t> flat;
  for (const InDim &in : ins_) {
    for (const Basis &basis : in.bases) {
      uint64_t word = 0;
      unsigned shift = 0;
      for (auto [coordinate, out] : llvm::zip_equal(basis, outs_)) {
        word |= uint64_t(coordinate) << shift;
        shift += llvm::Log2_32(out.size);
      }
      flat.push_back(word);
    }
  }
  return flat;
}

unsigned LinearLayout::rank() const { return F2Span(getFlatBases()).dimension(); }

bool LinearLayout::isIdentity() const {
  if (getTotalInDimSizeLog2() != getTotalOutDimSizeLog2()) {
    return false;
  }
  return llvm::all_of(llvm::enumerate(getFlatBases()),
                      [](auto basis) { return basis.value() == uint64_t(1) << basis.index(); });
}

llvm::StringMap<int32_t> LinearLayout::getFreeVariableMasks() const {
  llvm::StringMap<int32_t> masks;
  F2Span span;
  llvm::SmallVector<uint64_t> flat = getFlatBases();
  const uint64_t *next = flat.begin();
  for (const InDim &in : ins_) {
    int32_t mask = 0;
    for (size_t bit = 0; bit < in.bases.size(); ++bit) {
      mask |= span.insert(*next++) ? 0 : int32_t(1) << bit;
    }
    masks[in.name] = mask;
  }
  return masks;
}

int32_t LinearLayout::getNumConsecutiveInOut() const {
  llvm::SmallVector<uint64_t> flat = getFlatBases();
  unsigned firstBits = ins_.empty() ? 0 : ins_.front().bases.size();
  unsigned run = 0;
  while (run < firstBits && flat[run] == uint64_t(1) << run) {
    ++run;
  }
  // Another input that reaches into the run breaks it up.
  for (uint64_t basis : ArrayRef(flat).drop_front(run)) {
    if (basis != 0) {
      run = std::min<unsigned>(run, llvm::countr_zero(basis));
    }
  }
  return 1 << run;
}

bool LinearLayout::sublayoutIsZero(ArrayRef<StringRef> inDims, ArrayRef<StringRef> outDims) const {
  LinearLayout part = sublayout(inDims, outDims);
  return llvm::all_of(part.getFlatBases(), [](uint64_t basis) { return basis == 0; });
}

void LinearLayout::print(llvm::raw_ostream &os) const {
  for (const InDim &in : ins_) {
    os << " - " << in.name << " (size " << (1 << in.bases.size()) << "):";
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      os << ' ' << (1 << bit) << "->(";
      llvm::interleaveComma(basis, os);
      os << ')';
    }
    os << '\n';
  }
  os << " - to:";
  for (const OutDim &out : outs_) {
    os << ' ' << out.name << " (size " << out.size << ')';
  }
  os << '\n';
}

std::string LinearLayout::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const LinearLayout &layout) {
  layout.print(os);
  return os;
}

} // namespace jitk::ir
