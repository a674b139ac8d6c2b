#include "src/support/Hash.h"

#include <doctest/doctest.h>
#include <vector>

using namespace jitk;

TEST_SUITE_BEGIN("support/Hash");

TEST_CASE("the hash is XXH3 with 128 bits, so that file names stay the same") {
  CHECK(hashBytes("").toHex() == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("text and bytes of the same content have the same hash") {
  std::vector<uint8_t> bytes = {'a', 'b', 'c'};
  CHECK(hashBytes(bytes) == hashBytes("abc"));
}

TEST_CASE("hexadecimal keeps leading zeros") { CHECK(Hash128{0, 0xab}.toHex() == "000000000000000000000000000000ab"); }

TEST_SUITE_END();
