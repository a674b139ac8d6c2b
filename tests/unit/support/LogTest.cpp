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
  CHECK(LogFilter::parse("info,json")->json);
  CHECK(LogFilter::parse("info,json")->categories.empty());
}

TEST_CASE("only the listed categories pass") {
  Log log([](LogLevel, std::string_view, std::string_view) {}, *LogFilter::parse("info,store,load"));
  CHECK(log.enabled(LogLevel::Info, "store"));
  CHECK_FALSE(log.enabled(LogLevel::Debug, "store"));
  CHECK(log.enabled(LogLevel::Error, "load"));
  CHECK_FALSE(log.enabled(LogLevel::Error, "compile"));
}

TEST_CASE("JITK_LOG=1 means information about everything") {
  LogFilter filter = *LogFilter::parse("1");
  CHECK(filter.level == LogLevel::Info);
  CHECK(filter.categories.empty());
}

TEST_CASE("categories alone mean all their lines") {
  LogFilter filter = *LogFilter::parse("store,");
  CHECK(filter.level == LogLevel::Debug);
  CHECK(filter.categories == std::vector<std::string>{"store"});
}

TEST_CASE("a word that is none is refused") {
  for (std::string_view text : {"foo", "debug,stor", "Debug", "2"}) {
    CAPTURE(text);
    Result<LogFilter> filter = LogFilter::parse(text);
    REQUIRE_FALSE(filter.ok());
    CHECK(filter.status().code() == StatusCode::InvalidArgument);
  }
  CHECK(LogFilter::parse("debug,stor").status().message() ==
        "JITK_LOG must be words with commas between, of error, warning, info, debug, store, compile, load, kernel, "
        "json, or 1: "
        "got 'stor'");
}

TEST_CASE("a JSON line is UTF-8 whatever the message is") {
  auto line = [](const char *message) { return jsonLine(0, LogLevel::Error, "store", message); };
  auto holds = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
  CHECK(holds(line("/tmp/\xff/x"), "\"/tmp/\\ufffd/x\""));
  CHECK(holds(line("a\xc3"), "\"a\\ufffd\""));                     // ends within a character
  CHECK(holds(line("\xc0\xaf"), "\"\\ufffd\\ufffd\""));            // longer than needed
  CHECK(holds(line("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"")); // half of a pair
  CHECK(holds(line("\xf4\x90\x80\x80"), "\\ufffd"));
  CHECK(holds(line("\xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xe2\x82\xac \xf0\x9f\x98\x80\""));
}

TEST_SUITE_END();
