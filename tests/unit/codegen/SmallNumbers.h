// Small integers in every element type of a product. Sums of their products are exact in all accumulators, so that
// results can be compared bit by bit.

#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace jitk::codegen::test {

/// How an element type is spelled, how wide it is, and how it writes -4, ..., 4.
struct NumberFormat {
  std::string element;
  unsigned bytes;
  uint32_t bits[5]; ///< of 0, 1, 2, 3, 4
  uint32_t sign;    ///< the bit of a negative number; 0: two's complement

  uint32_t encode(int value) const {
    uint32_t magnitude = bits[value < 0 ? -value : value];
    if (value >= 0) {
      return magnitude;
    }
    return sign ? magnitude | sign : (~magnitude + 1) & (bytes == 1 ? 0xffu : 0xffffffffu);
  }
};

inline const NumberFormat f16 = {"f16", 2, {0, 0x3c00, 0x4000, 0x4200, 0x4400}, 0x8000};
inline const NumberFormat bf16 = {"bf16", 2, {0, 0x3f80, 0x4000, 0x4040, 0x4080}, 0x8000};
inline const NumberFormat f32 = {"f32", 4, {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000}, 0x80000000};
inline const NumberFormat e4m3 = {"f8E4M3FN", 1, {0, 0x38, 0x40, 0x44, 0x48}, 0x80};
inline const NumberFormat e5m2 = {"f8E5M2", 1, {0, 0x3c, 0x40, 0x42, 0x44}, 0x80};
inline const NumberFormat s8 = {"i8", 1, {0, 1, 2, 3, 4}, 0};

/// Numbers from -4 to 4, the same for the same seed.
inline std::vector<int> smallNumbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> values(count);
  for (int &value : values) {
    value = int(random() % 9) - 4;
  }
  return values;
}

inline std::vector<uint8_t> encode(const std::vector<int> &values, const NumberFormat &format) {
  std::vector<uint8_t> bytes(values.size() * format.bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = format.encode(values[i]);
    std::memcpy(&bytes[i * format.bytes], &bits, format.bytes);
  }
  return bytes;
}

/// Accumulators as integers; all of them hold integers.
inline std::vector<int> decode(const std::vector<uint8_t> &bytes, const NumberFormat &format) {
  std::vector<int> values(bytes.size() / format.bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, &bytes[i * format.bytes], format.bytes);
    if (format.element == "f32") {
      float value;
      std::memcpy(&value, &bits, sizeof value);
      values[i] = int(value);
    } else if (format.element == "f16") {
      // Sums stay below the numbers that f16 rounds.
      int exponent = int(bits >> 10 & 31), mantissa = int(bits & 1023) | 1024;
      int magnitude = exponent == 0 ? 0 : exponent >= 25 ? mantissa << (exponent - 25) : mantissa >> (25 - exponent);
      values[i] = bits & 0x8000 ? -magnitude : magnitude;
    } else {
      values[i] = int(bits);
    }
  }
  return values;
}

/// A B of row-major matrices m x k and k x n.
inline std::vector<int> multiply(const std::vector<int> &a, const std::vector<int> &b, int m, int n, int k) {
  std::vector<int> c(size_t(m) * n);
  for (int i = 0; i < m; ++i) {
    for (int l = 0; l < k; ++l) {
      for (int j = 0; j < n; ++j) {
        c[size_t(i) * n + j] += a[size_t(i) * k + l] * b[size_t(l) * n + j];
      }
    }
  }
  return c;
}

} // namespace jitk::codegen::test
