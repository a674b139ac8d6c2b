#include "src/ir/layout/OperandDescriptor.h"

#include "src/ir/layout/ShapeFit.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>

using llvm::ArrayRef;

namespace jitk::ir {

namespace {

constexpr int64_t kChunkBytes = 16, kRowsOfAtom = 8;

uint64_t addressField(uint32_t bytes) { return (bytes >> 4) & 0x3FFF; }

/// Where byte `byte` of an atom is stored: 16-byte chunks are permuted by the row.
int64_t swizzled(int64_t byte, unsigned swizzleBytes) {
  return byte ^ (byte / 128 % 8 % (swizzleBytes / kChunkBytes) * kChunkBytes);
}

/// Whether bits double from the first one on, which is their distance. No bits: distance 0.
std::optional<uint32_t> distanceOf(ArrayRef<int64_t> bits) {
  for (size_t i = 1; i < bits.size(); ++i) {
    if (bits[i] != bits.front() << i) {
      return std::nullopt;
    }
  }
  return bits.empty() ? 0 : bits.front();
}

/// The two directions of an operand in memory, as byte offsets by bit.
struct Directions {
  ArrayRef<int64_t> along;  ///< the contiguous dimension
  ArrayRef<int64_t> across; ///< the rows
  unsigned elementBytes;

  /// The bits that lie within `rowBytes` of a row.
  std::optional<size_t> matchRow(int64_t rowBytes) const {
    size_t bit = 0;
    for (; bit < along.size() && int64_t(elementBytes) << bit < rowBytes; ++bit) {
      if (along[bit] != int64_t(elementBytes) << bit) {
        return std::nullopt;
      }
    }
    return bit;
  }

  /// Whether the first rows are those of an atom.
  bool matchesRows(int64_t rowBytes, unsigned swizzleBytes) const {
    for (size_t bit = 0; bit < across.size() && (1 << bit) < kRowsOfAtom; ++bit) {
      int64_t byte = rowBytes << bit;
      if (across[bit] != (swizzleBytes ? swizzled(byte, swizzleBytes) : byte)) {
        return false;
      }
    }
    return true;
  }

  /// The distances of atoms along the contiguous dimension and across it.
  std::optional<std::pair<uint32_t, uint32_t>> match(unsigned swizzleBytes) const;
};

std::optional<std::pair<uint32_t, uint32_t>> Directions::match(unsigned swizzleBytes) const {
  int64_t rowBytes = swizzleBytes ? swizzleBytes : kChunkBytes, atomBytes = kRowsOfAtom * rowBytes;
  std::optional<size_t> rowBits = matchRow(rowBytes);
  if (!rowBits || !matchesRows(rowBytes, swizzleBytes)) {
    return std::nullopt;
  }
  auto alongAtoms = distanceOf(along.drop_front(*rowBits));
  auto acrossAtoms = distanceOf(across.drop_front(std::min<size_t>(across.size(), llvm::Log2_64(kRowsOfAtom))));
  // Atoms lie at multiples of their size: nothing else touches the bits of the swizzle.
  if (!alongAtoms || !acrossAtoms || *alongAtoms % atomBytes || *acrossAtoms % atomBytes) {
    return std::nullopt;
  }
  return std::pair(*alongAtoms, *acrossAtoms);
}

} // namespace

int64_t OperandDescriptor::outerOffset(int32_t outer, unsigned elementBytes) const {
  if (isKMajor) {
    return outer / kRowsOfAtom * strideBytes;
  }
  int64_t bytes = int64_t(outer) * elementBytes;
  return swizzleBytes ? bytes / swizzleBytes * leadingBytes + bytes % swizzleBytes
                      : bytes / kChunkBytes * strideBytes + bytes % kChunkBytes;
}

uint64_t OperandDescriptor::encodeForWgmma() const {
  uint64_t swizzle = swizzleBytes == 128 ? 1 : swizzleBytes == 64 ? 2 : swizzleBytes == 32 ? 3 : 0;
  return addressField(leadingBytes) << 16 | addressField(strideBytes) << 32 | swizzle << 62;
}

uint64_t OperandDescriptor::encodeForTcgen05() const {
  constexpr uint64_t version = 1;
  uint64_t swizzle = swizzleBytes == 128 ? 2 : swizzleBytes == 64 ? 4 : swizzleBytes == 32 ? 6 : 0;
  return addressField(leadingBytes) << 16 | addressField(strideBytes) << 32 | version << 46 | swizzle << 61;
}

OperandBuffer::OperandBuffer(const LinearLayout &buffer, unsigned elementBits, unsigned kDim)
    : elementBytes_(elementBits / 8) {
  assert(buffer.getNumOutDims() == 2 && "an operand has two dimensions");
  LinearLayout toOffset = buffer.pseudoinvert();
  auto read = [&](unsigned dim, llvm::SmallVector<int64_t> &bytes) {
    for (const LinearLayout::Basis &basis : toOffset.getBases(dimName(dim))) {
      bytes.push_back(int64_t(basis[toOffset.getOutDimIndex(kOffset)]) * elementBytes_);
    }
  };
  read(1 - kDim, outerBytes_);
  read(kDim, kBytes_);
}

std::optional<OperandDescriptor> OperandBuffer::describe(int32_t outerSize, int32_t kSize) const {
  unsigned outerBits = llvm::Log2_32_Ceil(outerSize), kBits = llvm::Log2_32_Ceil(kSize);
  if (outerBits > outerBytes_.size() || kBits > kBytes_.size()) {
    return std::nullopt;
  }
  ArrayRef<int64_t> outer = ArrayRef(outerBytes_).take_front(outerBits), k = ArrayRef(kBytes_).take_front(kBits);
  for (unsigned swizzleBytes : {128u, 64u, 32u, 0u}) {
    if (auto distances = Directions{k, outer, elementBytes_}.match(swizzleBytes)) {
      return OperandDescriptor{true, swizzleBytes, distances->first, distances->second};
    }
    if (auto distances = Directions{outer, k, elementBytes_}.match(swizzleBytes)) {
      auto [leading, stride] = *distances;
      return swizzleBytes ? OperandDescriptor{false, swizzleBytes, leading, stride}
                          : OperandDescriptor{false, swizzleBytes, stride, leading};
    }
  }
  return std::nullopt;
}

int64_t OperandBuffer::byteOffset(int32_t outer, int32_t k) const {
  int64_t bytes = 0;
  for (size_t bit = 0; bit < outerBytes_.size(); ++bit) {
    bytes ^= outer >> bit & 1 ? outerBytes_[bit] : 0;
  }
  for (size_t bit = 0; bit < kBytes_.size(); ++bit) {
    bytes ^= k >> bit & 1 ? kBytes_[bit] : 0;
  }
  return bytes;
}

} // namespace jitk::ir
