#include "src/ops/plan/Configuration.h"

#include <nlohmann/json.hpp>

namespace jitk {

struct Configuration::Json {
  nlohmann::json object;
};

Configuration::Configuration(std::unique_ptr<Json> json) : json_(std::move(json)) {}
Configuration::Configuration(Configuration &&) noexcept = default;
Configuration::~Configuration() = default;

Result<Configuration> Configuration::parse(std::string_view text) {
  auto json = std::make_unique<Json>();
  json->object = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json->object.is_object()) {
    return invalidArgument("a model configuration is a JSON object: got " +
                           std::string(json->object.is_discarded() ? "malformed text" : json->object.type_name()));
  }
  return Configuration(std::move(json));
}

bool Configuration::has(std::string_view field) const { return json_->object.contains(field); }

void Configuration::contradict(std::string_view field, const std::string &wanted, const std::string &found) {
  if (status_.ok()) {
    status_ = invalidArgument("field " + std::string(field) + " must " + wanted + ": got " + found);
  }
}

int64_t Configuration::positive(std::string_view field) {
  if (!has(field)) {
    if (status_.ok()) {
      status_ = invalidArgument("field " + std::string(field) + " is missing");
    }
    return 1;
  }
  const nlohmann::json &value = json_->object[field];
  if (!value.is_number_integer() || value.get<int64_t>() <= 0 || value.get<int64_t>() > INT32_MAX) {
    contradict(field, "be a positive integer", value.dump());
    return 1;
  }
  return value.get<int64_t>();
}

int64_t Configuration::positiveOr(std::string_view field, int64_t otherwise) {
  return has(field) ? positive(field) : otherwise;
}

std::string Configuration::word(std::string_view field) {
  if (!has(field)) {
    if (status_.ok()) {
      status_ = invalidArgument("field " + std::string(field) + " is missing");
    }
    return {};
  }
  const nlohmann::json &value = json_->object[field];
  if (!value.is_string()) {
    contradict(field, "be a string", value.dump());
    return {};
  }
  return value.get<std::string>();
}

std::string Configuration::nestedWord(std::string_view object, std::string_view field) const {
  if (!has(object) || !json_->object[object].is_object() || !json_->object[object].contains(field)) {
    return {};
  }
  const nlohmann::json &value = json_->object[object][field];
  return value.is_string() ? value.get<std::string>() : std::string();
}

void Configuration::requireBlock(std::string_view object, std::string_view field, int64_t rows, int64_t columns) {
  const nlohmann::json &outer = json_->object[object];
  nlohmann::json wanted = {rows, columns};
  nlohmann::json found = outer.contains(field) ? outer[field] : nlohmann::json();
  if (found != wanted) {
    contradict(std::string(object) + "." + std::string(field), "be " + wanted.dump(), found.dump());
  }
}

void Configuration::requireMultiple(std::string_view field, int64_t value, int64_t divisor,
                                    std::string_view divisorName) {
  if (divisor > 0 && value % divisor != 0) {
    contradict(field, "be a multiple of " + std::string(divisorName) + " " + std::to_string(divisor),
               std::to_string(value));
  }
}

Status Configuration::takeStatus() { return std::move(status_); }

} // namespace jitk
