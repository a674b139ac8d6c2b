#include "src/ops/JsonText.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace jitk {

using Json = nlohmann::ordered_json;

namespace {

/// Watches the members of the objects that are open; remembers the first that came twice.
class MemberWatch {
public:
  bool operator()(int, Json::parse_event_t event, const Json &parsed) {
    switch (event) {
    case Json::parse_event_t::object_start:
      open_.emplace_back();
      break;
    case Json::parse_event_t::object_end:
      open_.pop_back();
      break;
    case Json::parse_event_t::key:
      if (!open_.back().insert(parsed.get<std::string>()).second && twice_.empty()) {
        twice_ = parsed.dump();
      }
      break;
    default:
      break;
    }
    return true;
  }

  const std::string &twice() const { return twice_; }

private:
  std::vector<std::set<std::string>> open_;
  std::string twice_;
};

} // namespace

/// "line 1, column 5: ...", without what the library puts before it.
static std::string placeAndReason(std::string_view message) {
  size_t place = message.find("line ");
  return std::string(place == std::string_view::npos ? message : message.substr(place));
}

Result<Json> parseJson(std::string_view text) {
  MemberWatch watch;
  Json json;
  try {
    json = Json::parse(text, std::ref(watch));
  } catch (const Json::exception &failure) {
    return invalidArgument("malformed JSON: " + placeAndReason(failure.what()));
  }
  if (!watch.twice().empty()) {
    return invalidArgument("member must be given once: got " + watch.twice() + " twice");
  }
  return json;
}

std::string jsonText(const Json &json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

} // namespace jitk
