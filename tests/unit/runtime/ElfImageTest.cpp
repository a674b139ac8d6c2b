#include "src/runtime/ElfImage.h"

#include "tests/support/SampleElf.h"

#include <doctest/doctest.h>
#include <fstream>
#include <iterator>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("runtime/ElfImage");

TEST_CASE("a file that ends too soon is found at any length") {
  const std::vector<uint8_t> whole = sampleElf();
  CHECK(checkElfImage(whole).ok());
  for (size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(checkElfImage({whole.data(), length}).code() == StatusCode::Internal);
  }
}

TEST_CASE("what a linker made is whole, and half of it is not") {
  std::ifstream stream("/proc/self/exe", std::ios::binary);
  std::vector<uint8_t> program = {std::istreambuf_iterator<char>(stream), {}};
  CHECK(checkElfImage(program).ok());
  program.resize(program.size() / 2);
  CHECK_FALSE(checkElfImage(program).ok());
}

TEST_CASE("no damage to the tables reads outside of the file") {
  const std::vector<uint8_t> whole = sampleElf();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::vector<uint8_t> bad = whole; // of its own size, so that a sanitizer sees what lies outside
      bad[at] = static_cast<uint8_t>(value);
      (void)checkElfImage(bad);
    }
  }
}

TEST_CASE("what is none, or is empty, is told") {
  auto messageOf = [](const std::vector<uint8_t> &bytes) { return std::string(checkElfImage(bytes).message()); };
  CHECK(messageOf({}) == "compiled code must be a whole ELF file: got 0 bytes that are none");
  CHECK(messageOf(sampleElf("")).ends_with("bytes with nothing in them"));
  std::vector<uint8_t> other = sampleElf();
  other[EI_CLASS] = ELFCLASS32;
  CHECK(messageOf(other).ends_with("bytes of another class or byte order"));
}

TEST_SUITE_END();
