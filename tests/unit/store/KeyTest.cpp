#include "src/store/Key.h"

#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("store/Key");

static const KeyParts kParts = {"matmul m=*", "sm_90a", "build", "", "ptxas 12.8"};

TEST_CASE("keys of equal parts are equal") {
  CHECK(Key(kParts) == Key(kParts));
  CHECK(Key(kParts).name() == Key(kParts).name());
}

TEST_CASE("each part makes another key and another name") {
  KeyParts other = kParts;
  SUBCASE("description") { other.description += " "; }
  SUBCASE("target") { other.target = "emulator:sm_90a"; }
  SUBCASE("build") { other.buildId = "other"; }
  SUBCASE("options") { other.options = "fast"; }
  SUBCASE("assembler") { other.assembler = "ptxas 12.9"; }
  CHECK_FALSE(Key(other) == Key(kParts));
  CHECK(Key(other).name() != Key(kParts).name());
}

TEST_CASE("what moves from one part to the next makes another key") {
  CHECK_FALSE(Key({"ab", "c", "", "", ""}) == Key({"a", "bc", "", "", ""}));
}

TEST_CASE("the assembler alone leaves the name of the problem") {
  KeyParts other = kParts;
  other.assembler = "nvjitlink 12.8";
  CHECK(Key(other).problemName() == Key(kParts).problemName());
}

TEST_CASE("a key is read back from its bytes, and from nothing else") {
  Key key(kParts);
  KeyParts parts;
  REQUIRE(Key::parse(key.bytes(), parts));
  CHECK(parts == kParts);
  for (size_t length = 0; length < key.bytes().size(); ++length) {
    CHECK_FALSE(Key::parse(key.bytes().first(length), parts));
  }
}

TEST_CASE("names stay the same from build to build, since stores outlive them") {
  CHECK(Key(kParts).name() == "95952160d2e595172feb61bbc34b4409-c8a7de57");
}

TEST_SUITE_END();
