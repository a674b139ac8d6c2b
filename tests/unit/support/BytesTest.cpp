#include "src/support/Bytes.h"

#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("support/Bytes");

TEST_CASE("what is written is read back") {
  ByteWriter writer;
  writer.integer(uint8_t{7});
  writer.integer(int64_t{-5});
  writer.real(0.25);
  writer.string("gate");
  writer.bytes(std::vector<uint8_t>{1, 2, 3});
  std::vector<uint8_t> bytes = writer.take();

  ByteReader reader(bytes);
  CHECK(reader.integer<uint8_t>() == 7);
  CHECK(reader.integer<int64_t>() == -5);
  CHECK(reader.real() == 0.25);
  CHECK(reader.string() == "gate");
  CHECK(reader.bytes().size() == 3);
  CHECK(reader.finished());
}

TEST_CASE("integers are little-endian and lengths have 32 bits") {
  ByteWriter writer;
  writer.integer(uint16_t{0x0102});
  writer.string("a");
  CHECK(writer.take() == std::vector<uint8_t>{2, 1, 1, 0, 0, 0, 'a'});
}

TEST_CASE("a read past the end fails and stays failed") {
  std::vector<uint8_t> bytes = {1, 2, 3};
  ByteReader reader(bytes);
  CHECK(reader.integer<uint32_t>() == 0);
  CHECK(reader.failed());
  CHECK(reader.integer<uint8_t>() == 0);
  CHECK_FALSE(reader.finished());
}

TEST_CASE("a length beyond the end gives no bytes") {
  std::vector<uint8_t> bytes = {0xff, 0xff, 0xff, 0xff, 'a'};
  ByteReader reader(bytes);
  CHECK(reader.string().empty());
  CHECK(reader.failed());
}

TEST_CASE("a count that cannot be true is refused before memory is reserved") {
  std::vector<uint8_t> bytes = {0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0};
  ByteReader reader(bytes);
  CHECK(reader.count(8) == 0);
  CHECK(reader.failed());
}

TEST_CASE("bytes left over are no finished read") {
  std::vector<uint8_t> bytes = {1, 2};
  ByteReader reader(bytes);
  reader.integer<uint8_t>();
  CHECK_FALSE(reader.failed());
  CHECK_FALSE(reader.finished());
}

TEST_SUITE_END();
