#include "src/store/Entry.h"

#include "tests/support/SampleEntry.h"

#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("store/Entry");

TEST_CASE("an entry survives its byte form") {
  Entry entry = sampleEntry(sampleKey());
  Result<Entry> back = Entry::deserialize(entry.serialize());
  REQUIRE(back.ok());
  CHECK(back->key == entry.key);
  CHECK(back->recipe == entry.recipe);
  CHECK(back->facts == entry.facts);
  CHECK(back->code == entry.code);
}

TEST_CASE("every flipped bit is found") {
  std::vector<uint8_t> bytes = sampleEntry(sampleKey()).serialize();
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    CAPTURE(bit);
    std::vector<uint8_t> damaged = bytes;
    damaged[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    Result<Entry> back = Entry::deserialize(damaged);
    REQUIRE_FALSE(back.ok());
    CHECK(back.status().code() == StatusCode::DataLoss);
  }
}

TEST_CASE("every truncation and any byte too many is found") {
  std::vector<uint8_t> bytes = sampleEntry(sampleKey()).serialize();
  for (size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(Entry::deserialize(std::span(bytes).first(length)).ok());
  }
  bytes.push_back(0);
  CHECK_FALSE(Entry::deserialize(bytes).ok());
}

TEST_CASE("every flipped bit and every truncation of 20 KB is found") {
  std::vector<uint8_t> bytes = sampleEntry(sampleKey(), 20'000).serialize();
  REQUIRE(bytes.size() > 20'000);
  size_t numAccepted = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    numAccepted += Entry::deserialize(bytes).ok();
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
  for (size_t length = 0; length < bytes.size(); ++length) {
    numAccepted += Entry::deserialize(std::span(bytes).first(length)).ok();
  }
  CHECK(numAccepted == 0);
  CHECK(Entry::deserialize(bytes).ok());
}

TEST_CASE("the failure says what is wrong") {
  std::vector<uint8_t> bytes = sampleEntry(sampleKey()).serialize();
  SUBCASE("magic") {
    bytes[0] = 'x';
    CHECK(Entry::deserialize(bytes).status().message() == "not a store entry");
  }
  SUBCASE("version") {
    bytes[8] = 9;
    CHECK(Entry::deserialize(bytes).status().message() == "entry version must be 3: got 9");
  }
  SUBCASE("checksum") {
    bytes.back() ^= 1;
    CHECK(Entry::deserialize(bytes).status().message() == "checksum differs");
  }
  SUBCASE("nothing") { CHECK(Entry::deserialize({}).status().message() == "not a store entry"); }
}

TEST_CASE("a reference has no code, and stands for its entry with that of the same program") {
  Entry entry = sampleEntry(sampleKey("a"));
  entry.program = "p";
  Result<Entry> reference = Entry::deserialize(entry.reference().serialize());
  REQUIRE(reference.ok());
  CHECK(reference->isReference());
  auto source = std::make_shared<Entry>(sampleEntry(sampleKey("b")));
  source->program = "p";
  std::shared_ptr<const Entry> whole = Entry::resolve(*reference, source);
  REQUIRE(whole);
  CHECK(whole->key == entry.key);
  CHECK(whole->code == source->code);
  CHECK_FALSE(Entry::resolve(*reference, nullptr));
  SUBCASE("another program") { source->program = "q"; }
  SUBCASE("another assembler") { source->key = sampleKey("b", "stub 2"); }
  SUBCASE("a reference") { source->code.clear(); }
  CHECK_FALSE(Entry::resolve(*reference, source));
}

TEST_CASE("an entry without code and program is none") {
  Entry entry = sampleEntry(sampleKey(), /*codeBytes=*/0);
  CHECK_FALSE(Entry::deserialize(entry.serialize()).ok());
}

TEST_SUITE_END();
