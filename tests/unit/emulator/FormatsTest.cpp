// Number formats against bit patterns from their definitions.

#include "src/emulator/Formats.h"

#include <cmath>
#include <doctest/doctest.h>

using namespace jitk::emulator;

TEST_SUITE("emulator/Formats") {
  TEST_CASE("half precision widens and rounds to nearest even") {
    CHECK(halfToFloat(0x3c00) == 1.0f);
    CHECK(halfToFloat(0xc000) == -2.0f);
    CHECK(halfToFloat(0x0001) == 0x1p-24f);
    CHECK(halfToFloat(0x7bff) == 65504.0f);
    CHECK(std::isinf(halfToFloat(0xfc00)));
    CHECK(std::isnan(halfToFloat(0x7c01)));
    CHECK(floatToHalf(1.0f) == 0x3c00);
    CHECK(floatToHalf(-0.0f) == 0x8000);
    CHECK(floatToHalf(65504.0f) == 0x7bff);
    CHECK(floatToHalf(65519.0f) == 0x7bff);
    CHECK(floatToHalf(65520.0f) == 0x7c00);
    CHECK(floatToHalf(2049.0f) == 0x6800);  // tie, to even: 2048
    CHECK(floatToHalf(2051.0f) == 0x6802);  // tie, to even: 2052
    CHECK(floatToHalf(0x1p-25f) == 0x0000); // tie, to even
    CHECK(floatToHalf(0x1.8p-25f) == 0x0001);
    CHECK(floatToHalf(0x1.ff8p-15f) == 0x03ff); // the largest subnormal
    CHECK(floatToHalf(0x1.ffcp-15f) == 0x0400); // tie, to the smallest normal
    CHECK(floatToHalf(std::nanf("")) == 0x7fff);
  }

  TEST_CASE("every half survives the way through float") {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      if ((bits & 0x7fff) <= 0x7c00 && floatToHalf(halfToFloat(uint16_t(bits))) != bits) {
        FAIL("half " << bits << " gives " << floatToHalf(halfToFloat(uint16_t(bits))));
      }
    }
  }

  TEST_CASE("bfloat16 rounds to nearest even") {
    CHECK(floatToBfloat(1.0f) == 0x3f80);
    CHECK(floatToBfloat(0x1.01p0f) == 0x3f80);       // tie, to even
    CHECK(floatToBfloat(0x1.03p0f) == 0x3f82);       // tie, to even
    CHECK(floatToBfloat(0x1.fffffep127f) == 0x7f80); // rounds to infinity
    CHECK(bfloatToFloat(0xc040) == -3.0f);
  }

  TEST_CASE("e4m3 has no infinity and saturates") {
    CHECK(e4m3ToFloat(0x38) == 1.0f);
    CHECK(e4m3ToFloat(0x7e) == 448.0f);
    CHECK(e4m3ToFloat(0x01) == 0x1p-9f);
    CHECK(e4m3ToFloat(0x08) == 0x1p-6f);
    CHECK(e4m3ToFloat(0x87) == -0x1.cp-7f);
    CHECK(std::isnan(e4m3ToFloat(0x7f)));
    CHECK(floatToE4m3(1.0f) == 0x38);
    CHECK(floatToE4m3(448.0f) == 0x7e);
    CHECK(floatToE4m3(464.0f) == 0x7e);
    CHECK(floatToE4m3(1e9f) == 0x7e);
    CHECK(floatToE4m3(-INFINITY) == 0xfe);
    CHECK(floatToE4m3(17.0f) == 0x58);    // tie between 16 and 18, to even: 16
    CHECK(floatToE4m3(19.0f) == 0x5a);    // tie between 18 and 20, to even: 20
    CHECK(floatToE4m3(0x1p-10f) == 0x00); // tie, to even
    CHECK(floatToE4m3(0x1.8p-10f) == 0x01);
    CHECK(floatToE4m3(std::nanf("")) == 0x7f);
  }

  TEST_CASE("e5m2 saturates below its infinity") {
    CHECK(e5m2ToFloat(0x3c) == 1.0f);
    CHECK(e5m2ToFloat(0x7b) == 57344.0f);
    CHECK(std::isinf(e5m2ToFloat(0x7c)));
    CHECK(floatToE5m2(57344.0f) == 0x7b);
    CHECK(floatToE5m2(1e9f) == 0x7b);
    CHECK(floatToE5m2(0x1p-16f) == 0x01);
    CHECK(floatToE5m2(0x1p-17f) == 0x00);
    CHECK(floatToE5m2(9.0f) == 0x48); // tie between 8 and 10, to even: 8
  }

  TEST_CASE("tf32 drops thirteen bits and rounds ties away") {
    CHECK(tf32ToFloat(0x3f801fff) == 1.0f);
    CHECK(floatToTf32(0x1.004p0f) == 0x3f802000);
    CHECK(floatToTf32(0x1.002p0f) == 0x3f802000); // tie, away
    CHECK(floatToTf32(-0x1.002p0f) == 0xbf802000);
    CHECK(floatToTf32(0x1.001ffep0f) == 0x3f800000);
  }
}
