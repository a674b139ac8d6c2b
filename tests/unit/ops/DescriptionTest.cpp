#include "src/ops/Description.h"

#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("ops/Description");

TEST_CASE("a dimension is written as it was read") {
  for (const char *text : {"1", "4096", "*", "*%16", "*<=4096", "*%16<=4096", "*%16<=16"}) {
    CAPTURE(text);
    Result<Dimension> dimension = Dimension::parse(text);
    REQUIRE(dimension.ok());
    CHECK(dimension->toString() == text);
  }
}

TEST_CASE("what is no dimension is refused with what was found") {
  for (const char *text : {"", "0", "-1", "x", "12x", "*%", "*%0", "*<=", "*<=-1", "*16", "*<=16%4", "1 ",
                           "99999999999999999999", "*%16<=15", "*%2147483393"}) {
    CAPTURE(text);
    Result<Dimension> dimension = Dimension::parse(text);
    REQUIRE_FALSE(dimension.ok());
    CHECK(dimension.status().code() == StatusCode::InvalidArgument);
    CHECK(dimension.status().message().find("got '" + std::string(text) + "'") != std::string_view::npos);
  }
}

TEST_CASE("equal descriptions have equal text, in the order of the names") {
  Description one("matmul", {{"n", Dimension{4096, 1, 0}}, {"dtype", std::string("bf16")}, {"m", Dimension{}}});
  Description two("matmul", {{"m", Dimension{}}, {"dtype", std::string("bf16")}, {"n", Dimension{4096, 1, 0}}});
  CHECK(one == two);
  CHECK(one.toString() == "matmul dtype=bf16 m=* n=4096");
}

TEST_CASE("truth values and integers have their own text") {
  Description description("op", {{"causal", true}, {"heads", int64_t{8}}});
  CHECK(description.toString() == "op causal=true heads=8");
  CHECK(description.flag("causal"));
  CHECK(description.integer("heads") == 8);
}

TEST_SUITE_END();
