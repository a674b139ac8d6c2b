// The 64-bit descriptors by which wgmma finds an operand tile in shared memory.
//
// Bits 0-13 address >> 4, 16-29 leading byte offset >> 4, 32-45 stride byte offset >> 4, 49-51 base offset, 62-63
// swizzle (0 none, 1 = 128, 2 = 64, 3 = 32 bytes). A tile is made of patterns of eight rows; a row is as long as the
// swizzle, 16 bytes without one. Rows run along K in a K-major tile and along M or N in an MN-major one. Within a
// pattern the 16-byte chunks of a row are permuted by XOR with the row's address bits.

#pragma once

#include <cstdint>
#include <string>

namespace jitk::emulator {

class MatrixDescriptor {
public:
  explicit MatrixDescriptor(uint64_t bits)
      : bits_(bits), start_(uint32_t(bits & 0x3fff) << 4), leading_(uint32_t(bits >> 16 & 0x3fff) << 4),
        stride_(uint32_t(bits >> 32 & 0x3fff) << 4), rowBytes_(rowBytesOf(unsigned(bits >> 62))) {}

  uint32_t start() const { return start_; }
  uint32_t rowBytes() const { return rowBytes_; }

  /// Why no hardware accepts the descriptor for a tile of `numRows` rows of M or N; empty if it does.
  std::string problem(unsigned numRows, bool mnMajor) const;

  /// Address of the 16-byte chunk that holds bytes [16 * chunk, +16) of K of row `row`. K-major tiles.
  uint32_t chunkAlongK(unsigned row, unsigned chunk) const {
    const uint32_t inPattern = start_ + row % 8 * rowBytes_ + row / 8 * stride_;
    return swizzled(inPattern + chunk * (rowBytes_ == 16 ? leading_ : 16));
  }

  /// Address of the 16-byte chunk that holds bytes [16 * chunk, +16) of M or N of step `k` of K. MN-major tiles.
  uint32_t chunkAlongMn(unsigned k, unsigned chunk) const {
    if (rowBytes_ == 16) {
      return start_ + k % 8 * 16 + k / 8 * leading_ + chunk * stride_;
    }
    const unsigned chunksOfRow = rowBytes_ / 16;
    return swizzled(start_ + k % 8 * rowBytes_ + k / 8 * stride_ + chunk / chunksOfRow * leading_ +
                    chunk % chunksOfRow * 16);
  }

private:
  static constexpr uint32_t rowBytesOf(unsigned swizzle) { return swizzle == 0 ? 16 : 256u >> swizzle; }

  uint32_t swizzled(uint32_t address) const;

  uint64_t bits_;
  uint32_t start_, leading_, stride_, rowBytes_;
};

/// The swizzle of shared memory: bits 4.. of the address XOR bits 7.., as many as chunks of a `rowBytes` row need.
constexpr uint32_t swizzleAddress(uint32_t address, uint32_t rowBytes) {
  return address ^ (address >> 3 & (rowBytes - 1) & 0x70);
}

inline uint32_t MatrixDescriptor::swizzled(uint32_t address) const {
  return rowBytes_ == 16 ? address : swizzleAddress(address, rowBytes_);
}

} // namespace jitk::emulator
