#include "src/emulator/MatrixDescriptor.h"

#include "llvm/Support/FormatVariadic.h"

namespace jitk::emulator {

std::string MatrixDescriptor::problem(unsigned numRows, bool mnMajor) const {
  constexpr uint64_t fields = 0xc00e3fff3fff3fff;
  if (bits_ & ~fields) {
    return llvm::formatv("reserved bits are set: {0:x}", bits_ & ~fields);
  }
  if (bits_ >> 49 & 7) {
    return llvm::formatv("base offset {0}: the emulator wants patterns that start where the swizzle repeats",
                         bits_ >> 49 & 7);
  }
  if (rowBytes_ == 16) {
    return {};
  }
  const uint32_t pattern = rowBytes_ * 8;
  if (start_ % pattern >= rowBytes_) {
    return llvm::formatv("start {0:x} is not in the first row of a swizzle pattern of {1} bytes", start_, pattern);
  }
  const bool usesStride = mnMajor || numRows > 8;
  if (usesStride && stride_ % pattern != 0) {
    return llvm::formatv("stride offset {0} is no multiple of the swizzle pattern's {1} bytes", stride_, pattern);
  }
  return {};
}

} // namespace jitk::emulator
