#include "src/runtime/Target.h"

#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("runtime/Target");

TEST_CASE("a target is written as it was read") {
  for (const char *text : {"sm_80", "sm_89", "sm_90a", "sm_100", "sm_120a", "emulator:sm_80", "emulator:sm_100a"}) {
    CAPTURE(text);
    Result<Target> target = Target::parse(text);
    REQUIRE(target.ok());
    CHECK(target->toString() == text);
  }
}

TEST_CASE("the architecture does not say who runs it") {
  CHECK(Target::parse("emulator:sm_90a")->architecture() == "sm_90a");
}

TEST_CASE("what is no target is refused with what was found") {
  for (const char *text : {"", "sm_", "sm_9x", "sm_80a", "sm_090", "sm_5", "sm_99999999999", "90", "cuda:sm_90",
                           "emulator:", "sm_90a ", "sm_-90"}) {
    CAPTURE(text);
    Result<Target> target = Target::parse(text);
    REQUIRE_FALSE(target.ok());
    CHECK(target.status().code() == StatusCode::InvalidArgument);
    CHECK(target.status().message().find("got '" + std::string(text) + "'") != std::string_view::npos);
  }
}

TEST_CASE("an architecture that no code is generated for is refused with those that there are") {
  for (const char *text : {"sm_75", "sm_12", "sm_95", "sm_999", "emulator:sm_70", "sm_110a"}) {
    CAPTURE(text);
    Result<Target> target = Target::parse(text);
    REQUIRE_FALSE(target.ok());
    CHECK(target.status().code() == StatusCode::Unsupported);
    CHECK(target.status().message().starts_with(std::string_view(text).starts_with("emulator:")
                                                    ? "target must be one of emulator:sm_80, "
                                                    : "target must be one of sm_80, "));
    CHECK(target.status().message().ends_with("sm_121a: got '" + std::string(text) + "'"));
  }
}

TEST_CASE("an architecture whose kernels need its other form names that") {
  for (const char *text : {"sm_90", "emulator:sm_90"}) {
    CAPTURE(text);
    Result<Target> target = Target::parse(text);
    REQUIRE_FALSE(target.ok());
    CHECK(target.status().code() == StatusCode::Unsupported);
    std::string name = text;
    CHECK(target.status().message() == "target must be " + name +
                                           "a: sm_90 has no wgmma, of which its kernels are "
                                           "made: got '" +
                                           name + "'");
  }
}

TEST_CASE("every architecture is a target") {
  for (std::string_view architecture : Target::architectures()) {
    CAPTURE(architecture);
    CHECK(Target::parse(architecture).ok());
  }
}

TEST_SUITE_END();
