#include "src/support/Env.h"

#include <cstdlib>
#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("support/Env");

TEST_CASE("JITK_STORE goes before the cache folders") {
  Environment found;
  found.store = "/somewhere";
  found.cacheHome = "/cache";
  CHECK(found.storeFolder() == "/somewhere");
}

TEST_CASE("the store lies in the cache folder, else under the home") {
  Environment found;
  found.home = "/home/user";
  CHECK(found.storeFolder() == "/home/user/.cache/jitk");
  found.cacheHome = "/cache";
  CHECK(found.storeFolder() == "/cache/jitk");
}

TEST_CASE("a relative cache folder is ignored") {
  Environment found;
  found.cacheHome = "cache";
  CHECK(found.storeFolder() == std::nullopt);
}

TEST_CASE("no home means no store folder") { CHECK(Environment{}.storeFolder() == std::nullopt); }

TEST_CASE("an empty JITK_JOBS is an absent one") {
  setenv("JITK_JOBS", "", 1);
  CHECK(readEnvironment().jobs == std::nullopt);
  setenv("JITK_JOBS", "3", 1);
  CHECK(readEnvironment().jobs == "3");
  unsetenv("JITK_JOBS");
}

TEST_CASE("bundles are divided by colons") {
  setenv("JITK_BUNDLES", "/a.jitk::/b.jitk:", 1);
  CHECK(readEnvironment().bundles == std::vector<std::string>{"/a.jitk", "/b.jitk"});
  unsetenv("JITK_BUNDLES");
}

TEST_CASE("an empty JITK_STORE is not an absent one") {
  setenv("JITK_STORE", "", 1);
  CHECK(readEnvironment().storeFolder() == "");
  unsetenv("JITK_STORE");
}

TEST_SUITE_END();
