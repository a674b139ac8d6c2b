// Products, quotients, composition and inverse of linear layouts.

#include "src/ir/layout/F2Span.h"
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

namespace {

/// The inputs of `a`, then those that only `b` has.
llvm::SmallVector<StringRef> unionOfNames(ArrayRef<StringRef> a, ArrayRef<StringRef> b) {
  llvm::SmallVector<StringRef> names(a);
  llvm::copy_if(b, std::back_inserter(names), [&](StringRef name) { return !llvm::is_contained(a, name); });
  return names;
}

int32_t outSizeOr1(const LinearLayout &layout, StringRef out) {
  return layout.hasOutDim(out) ? layout.getOutDimSize(out) : 1;
}

/// `basis` of `layout` as a coordinate in `outs`, moved up by `shifts`.
Basis embed(const LinearLayout &layout, ArrayRef<int32_t> basis, ArrayRef<OutDim> outs, ArrayRef<unsigned> shifts) {
  Basis result;
  for (auto [out, shift] : llvm::zip_equal(outs, shifts)) {
    result.push_back(layout.hasOutDim(out.name) ? basis[layout.getOutDimIndex(out.name)] << shift : 0);
  }
  return result;
}

/// The bits of each output of `outs` that `layout` has.
llvm::SmallVector<unsigned> outBits(const LinearLayout &layout, ArrayRef<OutDim> outs) {
  return llvm::map_to_vector(outs, [&](const OutDim &out) { return llvm::Log2_32(outSizeOr1(layout, out.name)); });
}

bool hasDimsOf(const LinearLayout &layout, const LinearLayout &part) {
  return llvm::all_of(part.getInDims(),
                      [&](const InDim &in) {
                        return in.bases.empty() || layout.getInDimSizeLog2(in.name) >= int32_t(in.bases.size());
                      }) &&
         llvm::all_of(part.getOutDims(), [&](const OutDim &out) {
           return out.size == 1 || (layout.hasOutDim(out.name) && layout.getOutDimSize(out.name) >= out.size);
         });
}

bool areEmbedded(ArrayRef<Basis> bases, const LinearLayout &part, StringRef in, ArrayRef<OutDim> outs,
                 ArrayRef<unsigned> shifts) {
  return llvm::all_of(llvm::zip_equal(bases, part.getBases(in)),
                      [&](auto pair) { return std::get<0>(pair) == embed(part, std::get<1>(pair), outs, shifts); });
}

std::vector<OutDim> divideSizes(ArrayRef<OutDim> outs, ArrayRef<unsigned> bits) {
  std::vector<OutDim> result;
  for (auto [out, shift] : llvm::zip_equal(outs, bits)) {
    result.push_back({out.name, out.size >> shift});
  }
  return result;
}

/// The bases moved down by `shifts`; none if one has a bit below.
std::optional<std::vector<Basis>> shiftDown(ArrayRef<Basis> bases, ArrayRef<unsigned> shifts) {
  std::vector<Basis> result;
  for (const Basis &basis : bases) {
    Basis shifted;
    for (auto [coordinate, shift] : llvm::zip_equal(basis, shifts)) {
      if (coordinate & ((1 << shift) - 1)) {
        return std::nullopt;
      }
      shifted.push_back(coordinate >> shift);
    }
    result.push_back(std::move(shifted));
  }
  return result;
}

/// The flat number cut into coordinates of the given sizes, the first the most minor.
Basis unflatten(uint64_t word, ArrayRef<unsigned> bits) {
  Basis result;
  for (unsigned width : bits) {
    result.push_back(word & ((uint64_t(1) << width) - 1));
    word >>= width;
  }
  return result;
}

llvm::SmallVector<unsigned> inBits(const LinearLayout &layout) {
  return llvm::map_to_vector(layout.getInDims(), [](const InDim &in) { return unsigned(in.bases.size()); });
}

std::vector<OutDim> insAsOuts(const LinearLayout &layout) {
  std::vector<OutDim> outs;
  for (const InDim &in : layout.getInDims()) {
    outs.push_back({in.name, 1 << in.bases.size()});
  }
  return outs;
}

/// The images of the unit vectors of the outputs under a pseudo-inverse.
llvm::SmallVector<uint64_t> pseudoinverseColumns(const LinearLayout &layout) {
  llvm::SmallVector<uint64_t> columns = layout.getFlatBases();
  unsigned numIns = columns.size(), numOuts = layout.getTotalOutDimSizeLog2();
  uint64_t inMask = numIns == 64 ? ~uint64_t(0) : (uint64_t(1) << numIns) - 1;
  // Units that nothing reaches complete the columns to a basis, come from no input, and so vanish from the solutions.
  columns.append(complementF2(columns, numOuts));
  F2Span span(columns);
  llvm::SmallVector<uint64_t> inverse;
  for (unsigned bit = 0; bit < numOuts; ++bit) {
    inverse.push_back(*span.solve(uint64_t(1) << bit) & inMask);
  }
  return inverse;
}

} // namespace

LinearLayout LinearLayout::operator*(const LinearLayout &outer) const {
  std::vector<OutDim> outs;
  for (StringRef name : unionOfNames(getOutDimNames(), outer.getOutDimNames())) {
    outs.push_back({name.str(), outSizeOr1(*this, name) * outSizeOr1(outer, name)});
  }
  llvm::SmallVector<unsigned> shifts = outBits(*this, outs), noShifts(outs.size(), 0);
  std::vector<InDim> ins;
  for (StringRef name : unionOfNames(getInDimNames(), outer.getInDimNames())) {
    InDim in{name.str(), {}};
    for (const Basis &basis : getBases(name)) {
      in.bases.push_back(embed(*this, basis, outs, noShifts));
    }
    for (const Basis &basis : outer.getBases(name)) {
      in.bases.push_back(embed(outer, basis, outs, shifts));
    }
    ins.push_back(std::move(in));
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

std::optional<LinearLayout> LinearLayout::divideLeft(const LinearLayout &divisor) const {
  if (!hasDimsOf(*this, divisor)) {
    return std::nullopt;
  }
  llvm::SmallVector<unsigned> bits = outBits(divisor, outs_), noShifts(outs_.size(), 0);
  std::vector<InDim> ins;
  for (const InDim &in : ins_) {
    ArrayRef<Basis> bases = in.bases;
    size_t low = divisor.getInDimSizeLog2(in.name);
    auto rest = shiftDown(bases.drop_front(low), bits);
    if (!rest || !areEmbedded(bases.take_front(low), divisor, in.name, outs_, noShifts)) {
      return std::nullopt;
    }
    ins.push_back({in.name, std::move(*rest)});
  }
  return LinearLayout(std::move(ins), divideSizes(outs_, bits));
}

std::optional<LinearLayout> LinearLayout::divideRight(const LinearLayout &divisor) const {
  if (!hasDimsOf(*this, divisor)) {
    return std::nullopt;
  }
  std::vector<OutDim> outs = divideSizes(outs_, outBits(divisor, outs_));
  llvm::SmallVector<unsigned> shifts =
      llvm::map_to_vector(outs, [](const OutDim &out) { return unsigned(llvm::Log2_32(out.size)); });
  auto isInside = [&](const Basis &basis) {
    return llvm::all_of(llvm::zip_equal(basis, outs),
                        [](auto pair) { return std::get<0>(pair) < std::get<1>(pair).size; });
  };
  std::vector<InDim> ins;
  for (const InDim &in : ins_) {
    ArrayRef<Basis> bases = in.bases;
    size_t high = divisor.getInDimSizeLog2(in.name);
    if (!llvm::all_of(bases.drop_back(high), isInside) ||
        !areEmbedded(bases.take_back(high), divisor, in.name, outs_, shifts)) {
      return std::nullopt;
    }
    ins.push_back({in.name, bases.drop_back(high).vec()});
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

std::optional<LinearLayout> LinearLayout::quotient(ArrayRef<StringRef> dims) const {
  LinearLayout identity, result = *this;
  for (StringRef dim : dims) {
    if (!hasInDim(dim) || !hasOutDim(dim) || getInDimSize(dim) != getOutDimSize(dim)) {
      return std::nullopt;
    }
    identity *= identity1D(getInDimSize(dim), dim, dim);
  }
  std::optional<LinearLayout> rest = divideLeft(identity);
  if (!rest) {
    return std::nullopt;
  }
  auto stays = [&](StringRef name) { return !llvm::is_contained(dims, name); };
  Names ins = getInDimNames(), outs = getOutDimNames();
  llvm::erase_if(ins, [&](StringRef name) { return !stays(name); });
  llvm::erase_if(outs, [&](StringRef name) { return !stays(name); });
  return rest->sublayout(ins, outs);
}

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  std::vector<InDim> ins;
  for (const InDim &in : ins_) {
    InDim composed{in.name, {}};
    for (const Basis &basis : in.bases) {
      llvm::SmallVector<Index, 4> indices;
      for (auto [out, coordinate] : llvm::zip_equal(outs_, basis)) {
        indices.push_back({out.name, coordinate});
      }
      composed.bases.push_back(outer.apply(indices));
    }
    ins.push_back(std::move(composed));
  }
  return LinearLayout(std::move(ins), outer.outs_);
}

LinearLayout LinearLayout::pseudoinvert() const {
  llvm::SmallVector<uint64_t> columns = pseudoinverseColumns(*this);
  llvm::SmallVector<unsigned> widths = inBits(*this);
  const uint64_t *next = columns.begin();
  std::vector<InDim> ins;
  for (const OutDim &out : outs_) {
    InDim in{out.name, {}};
    for (unsigned bit = 0; bit < llvm::Log2_32(out.size); ++bit) {
      in.bases.push_back(unflatten(*next++, widths));
    }
    ins.push_back(std::move(in));
  }
  return LinearLayout(std::move(ins), insAsOuts(*this));
}

LinearLayout LinearLayout::invert() const {
  assert(isInvertible() && "only an invertible layout has an inverse");
  return pseudoinvert();
}

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &outer) const { return compose(outer.pseudoinvert()); }

} // namespace jitk::ir
