#include "src/ops/plan/Configuration.h"

#include "src/ops/JsonText.h"

#include <nlohmann/json.hpp>

namespace jitk {

struct Configuration::Json {
  nlohmann::ordered_json object;
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

bool Configuration::has(std::string_view field) const {
  auto found = json_->object.find(field);
  return found != json_->object.end() && !found->is_null();
}

void Configuration::contradict(std::string_view field, const std::string &wanted, const std::string &found) {
  if (status_.ok()) {
    status_ = invalidArgument("field " + std::string(field) + " must " + wanted + ": got " + found);
  }
}

/// Far above any model's sizes, and low enough that products of two and sums of such products fit 64 bits.
static constexpr int64_t kLargest = int64_t(1) << 24;

int64_t Configuration::integer(std::string_view field, int64_t least) {
  std::string wanted = "be an integer between " + std::to_string(least) + " and " + std::to_string(kLargest);
  auto value = json_->object.find(field);
  if (value == json_->object.end()) {
    contradict(field, wanted, "none");
    return least;
  }
  if (!value->is_number_integer() || *value < least || *value > kLargest) {
    contradict(field, wanted, value->dump());
    return least;
  }
  return value->get<int64_t>();
}

int64_t Configuration::positive(std::string_view field) { return integer(field, 1); }

int64_t Configuration::natural(std::string_view field) { return integer(field, 0); }

std::string Configuration::word(std::string_view field) {
  auto value = json_->object.find(field);
  if (value == json_->object.end() || !value->is_string()) {
    contradict(field, "be a string", value == json_->object.end() ? "none" : value->dump());
    return {};
  }
  return value->get<std::string>();
}

std::string Configuration::dtype() {
  std::string_view field = has("dtype") ? "dtype" : "torch_dtype";
  std::string name = word(field);
  if (name != "bfloat16" && name != "float16") {
    contradict(field, "be bfloat16 or float16", "'" + name + "'");
  }
  return name == "float16" ? "fp16" : "bf16";
}

/// The text of `object.field`, "none" where either is absent.
static std::string nestedText(const nlohmann::json &object, std::string_view field) {
  return object.is_object() && object.contains(field) ? object[field].dump() : "none";
}

void Configuration::requireWord(std::string_view object, std::string_view field, std::string_view wanted) {
  std::string found = nestedText(json_->object[object], field);
  if (std::string text = nlohmann::json(wanted).dump(); found != text) {
    contradict(std::string(object) + "." + std::string(field), "be " + text, found);
  }
}

void Configuration::requireBlock(std::string_view object, std::string_view field, int64_t rows, int64_t columns) {
  std::string found = nestedText(json_->object[object], field);
  if (std::string text = nlohmann::json{rows, columns}.dump(); found != text) {
    contradict(std::string(object) + "." + std::string(field), "be " + text, found);
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
