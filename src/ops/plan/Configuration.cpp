#include "src/ops/plan/Configuration.h"

#include "src/ops/JsonText.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace jitk {

struct Configuration::Json {
  nlohmann::ordered_json object;
};

struct Configuration::Field {
  const nlohmann::ordered_json *json = nullptr;

  std::string text() const { return json ? json->dump() : "none"; }
  bool isIntegerWithin(int64_t least, int64_t most) const {
    return json && json->is_number_integer() && *json >= least && *json <= most;
  }
  template <typename Predicate> bool isListOf(Predicate predicate) const {
    return json && json->is_array() && std::ranges::all_of(*json, predicate);
  }
};

Configuration::Configuration(std::unique_ptr<Json> json) : json_(std::move(json)) {}
Configuration::Configuration(Configuration &&) noexcept = default;
Configuration::~Configuration() = default;

Result<Configuration> Configuration::parse(std::string_view text) {
  Result<nlohmann::ordered_json> parsed = parseJson(text);
  if (!parsed.ok()) {
    return invalidArgument("a model configuration must be a JSON object: got " +
                           std::string(parsed.status().message()));
  }
  auto json = std::make_unique<Json>(*std::move(parsed));
  if (!json->object.is_object()) {
    return invalidArgument("a model configuration must be a JSON object: got " + std::string(json->object.type_name()));
  }
  return Configuration(std::move(json));
}

Configuration::Field Configuration::find(std::string_view field) const {
  const nlohmann::ordered_json *value = &json_->object;
  while (!field.empty()) {
    size_t end = std::min(field.find('.'), field.size());
    auto member = value->is_object() ? value->find(field.substr(0, end)) : value->end();
    if (member == value->end()) {
      return {};
    }
    value = &*member;
    field.remove_prefix(std::min(end + 1, field.size()));
  }
  return {value};
}

bool Configuration::has(std::string_view field) const {
  Field value = find(field);
  return value.json && !value.json->is_null();
}

void Configuration::contradict(std::string_view field, const std::string &wanted, const std::string &found) {
  if (status_.ok()) {
    status_ = invalidArgument("field " + std::string(field) + " must " + wanted + ": got " + found);
  }
}

/// Far above any model's sizes, and low enough that products of two and sums of such products fit 64 bits.
static constexpr int64_t kLargest = int64_t(1) << 24;

int64_t Configuration::integer(std::string_view field, int64_t least) {
  Field value = find(field);
  if (!value.isIntegerWithin(least, kLargest)) {
    contradict(field, "be an integer between " + std::to_string(least) + " and " + std::to_string(kLargest),
               value.text());
    return least;
  }
  return value.json->get<int64_t>();
}

int64_t Configuration::positive(std::string_view field) { return integer(field, 1); }

int64_t Configuration::natural(std::string_view field) { return integer(field, 0); }

double Configuration::number(std::string_view field, double least) {
  Field value = find(field);
  // JSON has no infinities, but its reader gives one for a number beyond a double's range.
  if (!value.json || !value.json->is_number() || !(value.json->get<double>() >= least) ||
      !std::isfinite(value.json->get<double>())) {
    contradict(field, "be a number of at least " + nlohmann::json(least).dump(), value.text());
    return least;
  }
  return value.json->get<double>();
}

std::string Configuration::word(std::string_view field) {
  Field value = find(field);
  if (!value.json || !value.json->is_string()) {
    contradict(field, "be a string", value.text());
    return {};
  }
  return value.json->get<std::string>();
}

std::string Configuration::word(std::string_view field, std::string_view older) {
  if (!has(field)) {
    return word(older);
  }
  if (has(older) && word(field) != word(older)) {
    contradict(field, "equal " + std::string(older) + " '" + word(older) + "'", "'" + word(field) + "'");
  }
  return word(field);
}

std::vector<std::string> Configuration::words(std::string_view field) {
  Field value = find(field);
  if (!value.isListOf([](const auto &each) { return each.is_string(); })) {
    contradict(field, "be a list of strings", value.text());
    return {};
  }
  return value.json->get<std::vector<std::string>>();
}

std::vector<int64_t> Configuration::naturals(std::string_view field) {
  Field value = find(field);
  if (!value.isListOf([](const auto &each) { return Field{&each}.isIntegerWithin(0, kLargest); })) {
    contradict(field, "be a list of integers between 0 and " + std::to_string(kLargest), value.text());
    return {};
  }
  return value.json->get<std::vector<int64_t>>();
}

std::string Configuration::dtype() {
  std::string_view field = has("dtype") ? "dtype" : "torch_dtype";
  std::string name = word("dtype", "torch_dtype");
  if (name != "bfloat16" && name != "float16") {
    contradict(field, "be bfloat16 or float16", "'" + name + "'");
  }
  return name == "float16" ? "fp16" : "bf16";
}

void Configuration::require(std::string_view field, std::string_view wanted) {
  Field value = find(field);
  if (!value.json || *value.json != nlohmann::ordered_json::parse(wanted)) {
    contradict(field, "be " + std::string(wanted), value.text());
  }
}

void Configuration::requireIfGiven(std::string_view field, std::string_view wanted) {
  if (has(field)) {
    require(field, wanted);
  }
}

void Configuration::requireMultiple(std::string_view field, int64_t value, int64_t divisor,
                                    std::string_view divisorName) {
  if (value % divisor != 0) {
    contradict(field, "be a multiple of " + std::string(divisorName) + " " + std::to_string(divisor),
               std::to_string(value));
  }
}

void Configuration::requireShares(std::string_view field, int64_t value, int64_t ranks, int64_t block) {
  if (value % (ranks * block) == 0) {
    return;
  }
  std::string share = block == 1 ? "equal shares" : "shares of whole blocks of " + std::to_string(block);
  contradict(field, "give " + share + " to " + std::to_string(ranks) + " ranks", std::to_string(value));
}

Status Configuration::takeStatus() { return std::move(status_); }

} // namespace jitk
