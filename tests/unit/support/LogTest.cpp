#include "src/support/Log.h"

#include <doctest/doctest.h>

using namespace jitk;

TEST_SUITE_BEGIN("support/Log");

TEST_CASE("a log without a sink drops all lines") {
  Log log;
  CHECK_FALSE(log.enabled(LogLevel::Error, "store"));
  log.error("store", "lost");
}

TEST_CASE("lines above the level are dropped") {
  std::vector<std::string> lines;
  Log log([&](LogLevel, std::string_view, std::string_view message) { lines.emplace_back(message); },
          LogFilter{LogLevel::Warning, {}});
  log.info("store", "quiet");
  log.warning("store", "loud");
  CHECK(lines == std::vector<std::string>{"loud"});
}

TEST_CASE("a JSON line survives any message") {
  std::string line = jsonLine(1.5, LogLevel::Warning, "store", "a \"b\" c:\\d\n\x01 \xc3\xa9");
  CHECK(line.starts_with("{\"time\": 1.500000, \"pid\": "));
  CHECK(line.ends_with("\"level\": \"warning\", \"category\": \"store\", \"message\": "
                       "\"a \\\"b\\\" c:\\\\d\\u000a\\u0001 \xc3\xa9\"}\n"));
  CHECK(LogFilter::parse("info,json").json);
  CHECK(LogFilter::parse("info,json").categories.empty());
}

TEST_CASE("only the listed categories pass") {
  Log log([](LogLevel, std::string_view, std::string_view) {}, LogFilter::parse("info,store,load"));
  CHECK(log.enabled(LogLevel::Info, "store"));
  CHECK_FALSE(log.enabled(LogLevel::Debug, "store"));
  CHECK(log.enabled(LogLevel::Error, "load"));
  CHECK_FALSE(log.enabled(LogLevel::Error, "compile"));
}

TEST_CASE("JITK_LOG=1 means information about everything") {
  LogFilter filter = LogFilter::parse("1");
  CHECK(filter.level == LogLevel::Info);
  CHECK(filter.categories.empty());
}

TEST_CASE("categories alone mean all their lines") {
  LogFilter filter = LogFilter::parse("store,");
  CHECK(filter.level == LogLevel::Debug);
  CHECK(filter.categories == std::vector<std::string>{"store"});
}

TEST_SUITE_END();
