#include "src/reference/Numeric.h"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>

using namespace jitk::reference;

TEST_SUITE("reference/Numeric") {
  TEST_CASE("fp16 rounds to the nearest even, underflows gradually and overflows to infinity") {
    CHECK(encodeHalf(1.0f) == 0x3C00);
    CHECK(encodeHalf(-2.5f) == 0xC100);
    CHECK(encodeHalf(1.0f + 0x1p-11f) == 0x3C00);     // tie, down to even
    CHECK(encodeHalf(1.0f + 3 * 0x1p-11f) == 0x3C02); // tie, up to even
    CHECK(encodeHalf(65504.0f) == 0x7BFF);
    CHECK(encodeHalf(65520.0f) == 0x7C00);
    CHECK(encodeHalf(0x1p-24f) == 0x0001);
    CHECK(encodeHalf(0x1p-25f) == 0x0000);
    CHECK(encodeHalf(-0.0f) == 0x8000);
    CHECK(encodeHalf(std::numeric_limits<float>::infinity()) == 0x7C00);
    CHECK(decodeHalf(0x3555) == 0.333251953125f);
    CHECK(std::isnan(decodeHalf(encodeHalf(NAN))));
  }

  TEST_CASE("bf16 keeps the upper half, rounded") {
    CHECK(encodeBfloat(1.0f) == 0x3F80);
    CHECK(encodeBfloat(1.0f + 0x1p-8f) == 0x3F80);
    CHECK(encodeBfloat(1.0f + 3 * 0x1p-8f) == 0x3F82);
    CHECK(decodeBfloat(0xC040) == -3.0f);
    CHECK(std::isnan(decodeBfloat(encodeBfloat(NAN))));
  }

  TEST_CASE("e4m3 saturates at 448 and has no infinity") {
    CHECK(encodeE4m3(1.0f) == 0x38);
    CHECK(encodeE4m3(448.0f) == 0x7E);
    CHECK(encodeE4m3(1000.0f) == 0x7E);
    CHECK(encodeE4m3(-std::numeric_limits<float>::infinity()) == 0xFE);
    CHECK(encodeE4m3(0x1p-9f) == 0x01);
    CHECK(encodeE4m3(17.0f) == 0x58); // tie between 16 and 18, to even
    CHECK(encodeE4m3(19.0f) == 0x5A); // tie between 18 and 20, to even
    CHECK(std::isnan(decodeE4m3(0x7F)));
  }

  TEST_CASE("every value of a short format is its own encoding") {
    for (unsigned bits = 0; bits < 0x100; ++bits) {
      float value = decodeE4m3(uint8_t(bits));
      if (!std::isnan(value)) {
        CHECK(encodeE4m3(value) == bits);
      }
    }
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      float value = decodeHalf(uint16_t(bits));
      if (!std::isnan(value)) {
        REQUIRE(encodeHalf(value) == bits);
      }
    }
  }
}
