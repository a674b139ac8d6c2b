#include "src/ops/OpSchema.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace jitk {

using Json = nlohmann::ordered_json;

static const char *kindName(AttributeSchema::Kind kind) {
  switch (kind) {
  case AttributeSchema::Kind::Dimension:
    return "dimension";
  case AttributeSchema::Kind::Integer:
    return "integer";
  case AttributeSchema::Kind::Flag:
    return "flag";
  case AttributeSchema::Kind::Number:
    return "number";
  case AttributeSchema::Kind::Word:
    return "word";
  case AttributeSchema::Kind::Text:
    return "text";
  case AttributeSchema::Kind::Stride:
    return "stride";
  case AttributeSchema::Kind::PageStride:
    return "page stride";
  }
  return "";
}

static Json toJson(const AttributeSchema &schema) {
  Json json = {{"name", schema.name}, {"kind", kindName(schema.kind)}, {"meaning", schema.meaning}};
  if (!schema.defaultValue.empty()) {
    json["default"] = schema.defaultValue;
  }
  if (!schema.words.empty()) {
    json["allowed"] = schema.words;
  }
  if (schema.kind == AttributeSchema::Kind::Number) {
    json["maximum"] = schema.maximum;
  }
  constexpr AttributeSchema::Kind kWithRange[] = {AttributeSchema::Kind::Integer, AttributeSchema::Kind::Dimension,
                                                  AttributeSchema::Kind::Stride, AttributeSchema::Kind::PageStride};
  if (std::ranges::find(kWithRange, schema.kind) != std::end(kWithRange)) {
    json["minimum"] = schema.minimum;
    json["maximum"] = schema.maximum;
  }
  return json;
}

static Json toJson(const TensorSchema &schema) {
  Json json = {{"name", schema.name},
               {"type", schema.type},
               {"shape", schema.shape},
               {"access", accessName(schema.access)},
               {"meaning", schema.meaning}};
  if (!schema.presentIf.empty()) {
    json["present_if"] = schema.presentIf;
  }
  return json;
}

std::string OpSchema::toJson() const {
  Json json = {{"op", name},
               {"summary", summary},
               {"attributes", Json::array()},
               {"tensors", Json::array()},
               {"scalars", Json::array()}};
  for (const auto &[multiple, factor] : multiples) {
    json["multiples"].push_back(Json{{"dimension", multiple}, {"of", factor}});
  }
  for (const ProductRule &rule : products) {
    Json product = {{"factors", rule.factors}, {"maximum", Dimension::kLargest}};
    if (!rule.presentIf.empty()) {
      product["present_if"] = rule.presentIf;
    }
    json["products"].push_back(std::move(product));
  }
  if (ownDimensions) {
    json["own_dimensions"] = true;
  }
  for (const AttributeSchema &schema : attributes) {
    json["attributes"].push_back(jitk::toJson(schema));
  }
  for (const TensorSchema &schema : tensors) {
    Json tensor = jitk::toJson(schema);
    if (std::string stride = std::string(schema.name) + "_stride"; attribute(stride)) {
      tensor["row_stride"] = stride;
      tensor["row_axes"] = schema.rowAxes;
    }
    if (std::string stride = std::string(schema.name) + "_page_stride"; attribute(stride)) {
      tensor["page_stride"] = stride;
    }
    json["tensors"].push_back(std::move(tensor));
  }
  for (const ScalarSchema &schema : scalars) {
    json["scalars"].push_back(
        Json{{"name", schema.name}, {"default", schema.defaultValue}, {"meaning", schema.meaning}});
  }
  return json.dump(2);
}

} // namespace jitk
