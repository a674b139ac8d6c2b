#include "src/emulator/TensorMap.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

namespace jitk::emulator {

namespace {

constexpr uint64_t magic = 0x6a69746b746d6170; // marks the bytes as an emulator's tensor map

/// The layout of the 128 bytes.
struct Blob {
  uint64_t magic;
  uint64_t address;
  uint64_t strides[4];
  uint32_t sizes[5];
  uint16_t box[5];
  uint8_t elementStrides[5];
  uint8_t elementType;
  uint8_t rank;
  uint8_t swizzle;
  uint8_t interleave;
  uint8_t fill;
};
static_assert(sizeof(Blob) <= tensorMapBytes);

// By CUtensorMapDataType: u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32 ftz, tf32, tf32 ftz.
constexpr uint8_t bytesOfType[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

} // namespace

uint32_t TensorMap::elementBytes() const { return elementType < std::size(bytesOfType) ? bytesOfType[elementType] : 1; }

uint32_t TensorMap::boxBytes() const {
  uint32_t bytes = elementBytes();
  for (uint32_t i = 0; i < rank; ++i) {
    bytes *= box[i];
  }
  return bytes;
}

Status TensorMap::validate() const {
  if (elementType >= std::size(bytesOfType)) {
    return unsupported(llvm::formatv("element type of a tensor map: got {0}", elementType));
  }
  if (rank < 1 || rank > 5) {
    return invalidArgument(llvm::formatv("rank of a tensor map must be 1 to 5: got {0}", rank));
  }
  if (address % 16 != 0) {
    return invalidArgument(llvm::formatv("address of a tensor map must be a multiple of 16: got {0:x}", address));
  }
  if (interleave != 0) {
    return unsupported("interleaved tensor maps");
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0 || sizes[i] > uint64_t(1) << 32) {
      return invalidArgument(llvm::formatv("size of dimension {0} must be 1 to 2^32: got {1}", i, sizes[i]));
    }
    if (box[i] == 0 || box[i] > 256) {
      return invalidArgument(llvm::formatv("box of dimension {0} must be 1 to 256: got {1}", i, box[i]));
    }
    if (elementStrides[i] == 0 || elementStrides[i] > 8) {
      return invalidArgument(llvm::formatv("element stride {0} must be 1 to 8: got {1}", i, elementStrides[i]));
    }
    if (i + 1 < rank && (strides[i] % 16 != 0 || strides[i] >= uint64_t(1) << 40)) {
      return invalidArgument(llvm::formatv("stride {0} must be a multiple of 16 below 2^40: got {1}", i, strides[i]));
    }
  }
  const uint32_t innerBytes = box[0] * elementBytes();
  if (innerBytes % 16 != 0) {
    return invalidArgument(llvm::formatv("inner box must be a multiple of 16 bytes: got {0}", innerBytes));
  }
  if (swizzle > 3) {
    return unsupported(llvm::formatv("swizzle of a tensor map: got {0}", swizzle));
  }
  if (swizzle != 0 && innerBytes > swizzleBytes()) {
    return invalidArgument(
        llvm::formatv("inner box must not exceed the swizzle's {0} bytes: got {1}", swizzleBytes(), innerBytes));
  }
  return okStatus();
}

void TensorMap::encode(void *bytes) const {
  Blob blob = {};
  blob.magic = magic;
  blob.address = address;
  blob.elementType = uint8_t(elementType);
  blob.rank = uint8_t(rank);
  blob.swizzle = uint8_t(swizzle);
  blob.interleave = uint8_t(interleave);
  blob.fill = uint8_t(fill);
  for (uint32_t i = 0; i < 5; ++i) {
    blob.sizes[i] = uint32_t(sizes[i] - 1); // 2^32 fits
    blob.box[i] = uint16_t(box[i]);
    blob.elementStrides[i] = uint8_t(elementStrides[i]);
    if (i < 4) {
      blob.strides[i] = strides[i];
    }
  }
  std::memset(bytes, 0, tensorMapBytes);
  std::memcpy(bytes, &blob, sizeof(blob));
}

std::optional<TensorMap> TensorMap::decode(const void *bytes) {
  Blob blob;
  std::memcpy(&blob, bytes, sizeof(blob));
  if (blob.magic != magic) {
    return std::nullopt;
  }
  TensorMap map;
  map.address = blob.address;
  map.elementType = blob.elementType;
  map.rank = blob.rank;
  map.swizzle = blob.swizzle;
  map.interleave = blob.interleave;
  map.fill = blob.fill;
  for (uint32_t i = 0; i < 5; ++i) {
    map.sizes[i] = uint64_t(blob.sizes[i]) + 1;
    map.box[i] = blob.box[i];
    map.elementStrides[i] = blob.elementStrides[i];
    map.strides[i] = i < 4 ? blob.strides[i] : 0;
  }
  return map;
}

} // namespace jitk::emulator
