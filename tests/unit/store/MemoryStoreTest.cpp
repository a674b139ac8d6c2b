#include "src/store/MemoryStore.h"

#include "tests/support/SampleEntry.h"

#include <doctest/doctest.h>

using namespace jitk;
using namespace jitk::test;

TEST_SUITE_BEGIN("store/MemoryStore");

static std::shared_ptr<const Entry> shared(const Key &key) { return std::make_shared<const Entry>(sampleEntry(key)); }

TEST_CASE("an entry is found by an equal key") {
  MemoryStore store(1 << 20);
  std::shared_ptr<const Entry> entry = shared(sampleKey());
  store.add(entry);
  CHECK(store.find(sampleKey()) == entry);
  CHECK(store.find(sampleKey("other")) == nullptr);
}

TEST_CASE("the least recently used entry goes first") {
  size_t one = shared(sampleKey("a"))->footprint();
  MemoryStore store(2 * one);
  store.add(shared(sampleKey("a")));
  store.add(shared(sampleKey("b")));
  REQUIRE(store.find(sampleKey("a")));
  store.add(shared(sampleKey("c")));
  CHECK(store.find(sampleKey("a")));
  CHECK_FALSE(store.find(sampleKey("b")));
  CHECK(store.find(sampleKey("c")));
  CHECK(store.bytes() == 2 * one);
}

TEST_CASE("an entry in use outlives its place") {
  size_t one = shared(sampleKey("a"))->footprint();
  MemoryStore store(one);
  store.add(shared(sampleKey("a")));
  std::shared_ptr<const Entry> used = store.find(sampleKey("a"));
  store.add(shared(sampleKey("b")));
  CHECK_FALSE(store.find(sampleKey("a")));
  CHECK(used->key == sampleKey("a"));
}

TEST_CASE("an entry replaces one of an equal key") {
  MemoryStore store(1 << 20);
  store.add(shared(sampleKey()));
  std::shared_ptr<const Entry> second = shared(sampleKey());
  store.add(second);
  CHECK(store.find(sampleKey()) == second);
  CHECK(store.bytes() == second->footprint());
}

TEST_CASE("an entry above the bound is not kept and pushes nothing out") {
  MemoryStore store(2000);
  store.add(shared(sampleKey("small")));
  store.add(std::make_shared<const Entry>(sampleEntry(sampleKey("large"), 4000)));
  CHECK(store.find(sampleKey("small")));
  CHECK_FALSE(store.find(sampleKey("large")));
}

TEST_SUITE_END();
