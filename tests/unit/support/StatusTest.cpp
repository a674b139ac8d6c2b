#include "src/support/Status.h"

#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("support/Status");

static Status fail() { return invalidArgument("block size must be a power of two: got 48"); }

static Status rise() {
  JITK_TRY(fail(), "while building matmul");
  return okStatus();
}

static Result<int> half(int value) {
  if (value % 2 != 0) {
    return invalidArgument("value must be even: got " + std::to_string(value));
  }
  return value / 2;
}

static Result<int> quarter(int value) {
  JITK_ASSIGN(int first, half(value));
  return half(first);
}

TEST_CASE("a status is one pointer wide") { CHECK(sizeof(Status) == sizeof(void *)); }

TEST_CASE("a failure gathers notes while it rises") {
  Status status = rise();
  CHECK(status.code() == StatusCode::InvalidArgument);
  CHECK(status.toString() == "block size must be a power of two: got 48; while building matmul");
}

TEST_CASE("the first stage stays") {

  Status status = fail().atStage("lower").withNote("while trying");
  CHECK(std::move(status).atStage("compile").stage() == "lower");
}

TEST_CASE("a result holds a value or why there is none") {
  CHECK(*quarter(12) == 3);
  CHECK(quarter(6).status().message() == "value must be even: got 3");
}

TEST_CASE("a clone is equal and apart") {
  Status status = fail();
  Status copy = status.clone();
  CHECK(copy.toString() == status.toString());
  CHECK(okStatus().clone().ok());
}

TEST_SUITE_END();
