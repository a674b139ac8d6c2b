// Vector clocks: what barriers hand on.

#include "src/emulator/Clock.h"

#include <doctest/doctest.h>

using namespace jitk::emulator;

static ThreadClock clockOf(ActorIndex self) {
  ThreadClock clock;
  clock.self = self;
  return clock;
}

TEST_SUITE("emulator/Clock") {
  TEST_CASE("who acquires knows what was released before, and not what came after") {
    ClockJoin barrier(3);
    ThreadClock writer = clockOf(0), reader = clockOf(1);
    const uint32_t before = writer.epoch;
    barrier.release(writer);
    const uint32_t after = writer.epoch;
    CHECK(!reader.knows(0, before));
    barrier.acquire(reader);
    CHECK(reader.knows(0, before));
    CHECK(!reader.knows(0, after));
    CHECK(writer.knows(0, after));
  }

  TEST_CASE("knowledge travels through a third thread") {
    ClockJoin first(3), second(3);
    ThreadClock a = clockOf(0), b = clockOf(1), c = clockOf(2);
    const uint32_t epoch = a.epoch;
    first.release(a);
    first.acquire(b);
    second.release(b);
    second.acquire(c);
    CHECK(c.knows(0, epoch));
    CHECK(!a.knows(1, 1));
  }

  TEST_CASE("a fence covers what is known when it stands, by whoever it was written") {
    ClockJoin barrier(2);
    ThreadClock writer = clockOf(0), reader = clockOf(1);
    const uint32_t epoch = writer.epoch;
    SUBCASE("by the writer") {
      writer.fence();
      barrier.release(writer);
      barrier.acquire(reader);
      CHECK(reader.knowsFenced(0, epoch));
    }
    SUBCASE("by the reader") {
      barrier.release(writer);
      barrier.acquire(reader);
      CHECK(!reader.knowsFenced(0, epoch));
      reader.fence();
      CHECK(reader.knowsFenced(0, epoch));
    }
    SUBCASE("too early") {
      writer.fence();
      const uint32_t later = writer.epoch;
      barrier.release(writer);
      barrier.acquire(reader);
      CHECK(!reader.knowsFenced(0, later));
    }
  }

  TEST_CASE("a cleared join hands on nothing") {
    ClockJoin barrier(2);
    ThreadClock writer = clockOf(0), reader = clockOf(1);
    barrier.release(writer);
    barrier.clear();
    barrier.acquire(reader);
    CHECK(!reader.knows(0, 1));
  }
}
