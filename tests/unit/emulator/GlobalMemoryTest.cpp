// The emulator's allocator: bounds, freed memory, alignment.

#include "src/emulator/GlobalMemory.h"

#include <cstring>
#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::emulator;

using Fault = GlobalMemory::Fault;

TEST_SUITE("emulator/GlobalMemory") {
  TEST_CASE("what no address range holds is refused") {
    GlobalMemory memory(false);
    for (size_t bytes : {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2}) {
      CHECK(memory.allocate(bytes).status().code() == StatusCode::OutOfMemory);
    }
  }

  TEST_CASE("an access lies in one live allocation or is a fault") {
    GlobalMemory memory(false);
    const uint64_t a = *memory.allocate(100), b = *memory.allocate(100);
    CHECK(memory.check(a, 100) == Fault::None);
    CHECK(memory.check(a + 99, 1) == Fault::None);
    CHECK(memory.check(a, 101) == Fault::OutOfBounds);
    CHECK(memory.check(a - 1, 1) == Fault::OutOfBounds);
    CHECK(memory.check(a, b - a) == Fault::OutOfBounds);
    CHECK(memory.check(0, 1) == Fault::OutOfBounds);
    CHECK(memory.check(~uint64_t(0), 8) == Fault::OutOfBounds);
    CHECK(memory.check(a, ~uint64_t(0)) == Fault::OutOfBounds);
    REQUIRE(memory.free(a).ok());
    CHECK(memory.check(a, 4) == Fault::Freed);
    CHECK(memory.check(b, 100) == Fault::None);
    CHECK(memory.free(a).code() == StatusCode::InvalidArgument);
    CHECK(memory.free(b + 4).code() == StatusCode::InvalidArgument);
  }

  TEST_CASE("a fault near an allocation says how far it is off") {
    GlobalMemory memory(false);
    const uint64_t a = *memory.allocate(100);
    CHECK(memory.neighbourOf(a + 96).starts_with(", from byte 96 of the 100 at 0x"));
    CHECK(memory.neighbourOf(a - 8).starts_with(", from byte -8 of the 100 at 0x"));
    CHECK(memory.neighbourOf(a + (1 << 20)) == "");
    CHECK(memory.neighbourOf(0) == "");
    REQUIRE(memory.free(a).ok());
    CHECK(memory.neighbourOf(a) == "");
  }

  TEST_CASE("addresses are aligned to 256 bytes and no more") {
    GlobalMemory memory(false);
    for (size_t bytes : {1, 256, 4096, 100000}) {
      const uint64_t address = *memory.allocate(bytes);
      CHECK(address % 256 == 0);
      CHECK(address % 512 != 0);
    }
  }

  TEST_CASE("memory that is used again is poisoned again") {
    GlobalMemory memory(true);
    const uint64_t first = *memory.allocate(64);
    std::memset(reinterpret_cast<void *>(first), 1, 64);
    memory.markInitialised(first, 64);
    CHECK(memory.initialised(first, 64));
    REQUIRE(memory.free(first).ok());
    const uint64_t second = *memory.allocate(64);
    CHECK(second == first);
    CHECK(*reinterpret_cast<const uint8_t *>(second) == 0xff);
    CHECK(!memory.initialised(second, 1));
    memory.markInitialised(second, 4);
    CHECK(memory.initialised(second, 4));
    CHECK(!memory.initialised(second, 5));
  }

  TEST_CASE("addresses are used again when they run out") {
    constexpr size_t page = 4096;
    GlobalMemory memory(false, 64 * page);
    // Each size takes other pages than the one before; together they are many times the range.
    for (int round = 0; round < 200; ++round) {
      const Result<uint64_t> a = memory.allocate((round % 7 + 1) * page), b = memory.allocate((round % 5 + 1) * page);
      REQUIRE(a.ok());
      REQUIRE(b.ok());
      CHECK(memory.check(*a, (round % 7 + 1) * page) == Fault::None);
      CHECK(memory.check(*b, (round % 5 + 1) * page + 1) == Fault::OutOfBounds);
      REQUIRE(memory.free(*b).ok());
      REQUIRE(memory.free(*a).ok());
      CHECK(memory.check(*a, 1) == Fault::Freed);
    }
    CHECK(memory.allocate(60 * page).ok());
    CHECK(memory.allocate(60 * page).status().code() == StatusCode::OutOfMemory);
  }

  TEST_CASE("an allocation of no bytes has an address of its own") {
    GlobalMemory memory(false);
    const uint64_t a = *memory.allocate(0), b = *memory.allocate(0);
    CHECK(a != b);
    CHECK(memory.check(a, 1) == Fault::OutOfBounds);
    CHECK(memory.free(a).ok());
  }
}
