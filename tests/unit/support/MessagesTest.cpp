#include <doctest/doctest.h>

TEST_CASE("messages of tests show the text of a C string") {
  const char *text = "sm_90a", *none = nullptr;
  CHECK(doctest::toString(text) == doctest::String("\"sm_90a\""));
  CHECK(doctest::toString(none) == doctest::String("null"));
}
