#include "src/ops/DescriptionJson.h"

#include <nlohmann/json.hpp>

namespace jitk {

using Json = nlohmann::ordered_json;

static Json valueToJson(const AttributeValue &value) {
  if (const auto *dimension = std::get_if<Dimension>(&value)) {
    return dimension->isStatic() ? Json(dimension->value) : Json(dimension->toString());
  }
  if (const auto *integer = std::get_if<int64_t>(&value)) {
    return *integer;
  }
  if (const auto *flag = std::get_if<bool>(&value)) {
    return *flag;
  }
  return std::get<std::string>(value);
}

Json attributesToJson(const Description &description) {
  Json json = Json::object();
  for (const auto &[name, value] : description.attributes()) {
    if (value != AttributeValue(std::string())) {
      json[name] = valueToJson(value);
    }
  }
  return json;
}

} // namespace jitk
