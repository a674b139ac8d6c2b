#include "src/runtime/PlanFile.h"

#include "src/ops/DescriptionJson.h"
#include "src/ops/JsonText.h"
#include "src/ops/OpSchema.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace jitk {

using Json = nlohmann::ordered_json;

static constexpr int kPlanVersion = 1;

static Status malformed(const std::string &what) { return invalidArgument("plan file " + what).atStage("plan"); }

/// A string without the characters that would end or garble a message about it.
static Result<std::string> wordOf(const std::string &what, const Json &value) {
  auto text = value.get<std::string>();
  if (std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; })) {
    return malformed(what + " must have no control characters: got " + value.dump());
  }
  return text;
}

/// A text that is written as a string or as a list of its lines.
static Result<std::string> linesOf(const std::string &name, const Json &value) {
  std::string text;
  for (const Json &line : value.is_array() ? value : Json::array({value})) {
    if (!line.is_string()) {
      return malformed("attribute " + name + " must be a string or a list of strings: got " + line.dump());
    }
    text += line.get<std::string>() + (value.is_array() ? "\n" : "");
  }
  return text;
}

/// The text of an attribute that is written as a string, an integer, a truth value or, where a number is wanted, one.
static Result<std::string> attributeText(const AttributeSchema *schema, const std::string &name, const Json &value) {
  if (schema && schema->kind == AttributeSchema::Kind::Number && value.is_number()) {
    return value.dump();
  }
  if (value.is_string()) {
    return wordOf("attribute " + name, value);
  }
  if (value.is_number_integer() || value.is_boolean()) {
    return value.dump();
  }
  return malformed("attribute " + name + " must be a string, an integer or a truth value: got " + value.dump());
}

static Result<Plan::Item> parseItem(const Json &json) {
  if (!json.is_object() || !json.contains("op") || !json["op"].is_string()) {
    return malformed("kernel must be an object with a string member op");
  }
  JITK_ASSIGN(std::string op, wordOf("op", json["op"]));
  JITK_ASSIGN(const OpSchema *schema, findOp(op));
  std::vector<std::pair<std::string, std::string>> texts;
  if (json.contains("attributes")) {
    if (!json["attributes"].is_object()) {
      return malformed("member attributes must be an object");
    }
    for (const auto &[name, value] : json["attributes"].items()) {
      const AttributeSchema *attribute = schema->attribute(name);
      bool isText = attribute && attribute->kind == AttributeSchema::Kind::Text && !value.is_number();
      JITK_ASSIGN(std::string text, isText ? linesOf(name, value) : attributeText(attribute, name, value));
      texts.emplace_back(name, std::move(text));
    }
  }
  int32_t priority = 0;
  if (json.contains("priority")) {
    const Json &given = json["priority"];
    if (!given.is_number_integer() || given < INT32_MIN || given > INT32_MAX) {
      return malformed("member priority must be an integer of 32 bits: got " + given.dump());
    }
    priority = given.get<int32_t>();
  }
  std::vector<OpSchema::Given> given(texts.begin(), texts.end());
  JITK_ASSIGN(Description description, schema->describe(given));
  return Plan::Item{std::make_shared<const Problem>(std::move(description)), priority};
}

Result<std::vector<Plan::Item>> parsePlanFile(std::string_view text) {
  Result<Json> parsed = parseJson(text);
  if (!parsed.ok()) {
    return malformed("has " + std::string(parsed.status().message()));
  }
  const Json &json = *parsed;
  if (!json.is_object()) {
    return malformed("must be a JSON object");
  }
  if (!json.contains("jitk_plan") || json["jitk_plan"] != kPlanVersion) {
    return malformed("must have the member jitk_plan with the value " + std::to_string(kPlanVersion));
  }
  if (!json.contains("kernels") || !json["kernels"].is_array()) {
    return malformed("must have the member kernels, a list");
  }
  std::vector<Plan::Item> items;
  for (const Json &kernel : json["kernels"]) {
    Result<Plan::Item> item = parseItem(kernel);
    if (!item.ok()) {
      return std::move(item).takeStatus().atStage("plan").withNote("in kernel " + std::to_string(items.size()) +
                                                                   " of the plan file");
    }
    items.push_back(*std::move(item));
  }
  return items;
}

std::string writePlanFile(const std::vector<Plan::Item> &items) {
  Json json = {{"jitk_plan", kPlanVersion}, {"kernels", Json::array()}};
  for (const Plan::Item &item : items) {
    const Description &description = item.problem->description;
    Json kernel = {{"op", description.op()}, {"attributes", attributesToJson(description)}};
    if (item.priority != 0) {
      kernel["priority"] = item.priority;
    }
    json["kernels"].push_back(std::move(kernel));
  }
  return json.dump(2);
}

} // namespace jitk
