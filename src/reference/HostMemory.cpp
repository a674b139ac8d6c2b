#include "src/reference/HostMemory.h"

#include <unistd.h>

namespace jitk::reference {

static uint64_t physicalBytes() { return uint64_t(::sysconf(_SC_PHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE)); }

/// Adds the bytes of a tensor. False if they cannot be counted.
static bool addBytes(const TensorShape &shape, uint64_t &sum) {
  uint64_t bytes = uint64_t(dtypeBytes(shape.dtype));
  for (int64_t size : shape.sizes) {
    if (__builtin_mul_overflow(bytes, uint64_t(size), &bytes)) {
      return false;
    }
  }
  // A row takes as much as its stride, and a page as its own.
  if (shape.rowSize > 0) {
    bool hasPages = shape.pageRows > 0;
    uint64_t elements = uint64_t(shape.rowSize) * uint64_t(hasPages ? shape.pageRows : 1);
    uint64_t stride = uint64_t(hasPages ? shape.pageStride : shape.rowStride);
    if (__builtin_mul_overflow(bytes / elements, stride, &bytes)) {
      return false;
    }
  }
  return !__builtin_add_overflow(sum, bytes, &sum);
}

static std::string sizesText(const TensorShape &shape) {
  std::string text;
  for (int64_t size : shape.sizes) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text + " " + shape.dtype;
}

Status checkHostMemory(std::span<const TensorShape> shapes) {
  uint64_t sum = 0;
  for (const TensorShape &shape : shapes) {
    if (!addBytes(shape, sum) || sum > physicalBytes()) {
      return Status(StatusCode::OutOfMemory, "tensor " + shape.name + ", " + sizesText(shape) +
                                                 ", does not fit into this machine's memory of " +
                                                 std::to_string(physicalBytes()) + " bytes with those before it");
    }
  }
  return okStatus();
}

} // namespace jitk::reference
