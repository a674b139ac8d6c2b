// jitk ops: what can be asked for.

#include "jitk/jitk.hpp"
#include "src/ops/Description.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace jitk::tool {

using Json = nlohmann::ordered_json;

/// The items of a list of strings, as one text.
static std::string joined(const Json &items, const char *separator = ", ") {
  std::string text;
  for (const Json &item : items) {
    text += (text.empty() ? "" : separator) + item.get<std::string>();
  }
  return text;
}

/// "@other" in a schema means: as attribute `other`.
static std::string resolved(const std::string &text) { return text.starts_with('@') ? "as " + text.substr(1) : text; }

/// What stands for the default of an attribute that has no text of it.
static std::string withoutDefault(const std::string &kind) {
  return kind == "text"          ? ""
         : kind == "stride"      ? "a row's length"
         : kind == "page stride" ? "a page's length"
                                 : "(required)";
}

static std::string allowedCell(const Json &attribute) {
  if (attribute.contains("allowed")) {
    return joined(attribute["allowed"]);
  }
  if (attribute["kind"] == "flag") {
    return "true, false";
  }
  if (attribute["kind"] == "text") {
    return "any text";
  }
  if (attribute["kind"] == "number") {
    return "above 0 ... " + attribute["maximum"].dump();
  }
  bool bounded = attribute["maximum"] != Dimension::kLargest;
  std::string range = attribute["minimum"].dump() + (bounded ? " ... " + attribute["maximum"].dump() : " or more");
  return attribute["kind"] == "dimension" ? range + ", or *" : range;
}

/// "only with masked", "not with varlen", or nothing.
static std::string conditionOf(const Json &object) {
  std::string flag = object.value("present_if", "");
  return flag.empty() ? "" : flag.starts_with('!') ? "not with " + flag.substr(1) : "only with " + flag;
}

/// What must hold between dimensions, one sentence a line.
static std::string rulesOf(const Json &schema) {
  std::string text;
  for (const Json &multiple : schema.value("multiples", Json::array())) {
    text += multiple["dimension"].get<std::string>() + " is a multiple of " + multiple["of"].get<std::string>() + ".\n";
  }
  for (const Json &product : schema.value("products", Json::array())) {
    std::string condition = conditionOf(product);
    text += joined(product["factors"], " x ") + " is at most " + product["maximum"].dump() +
            (condition.empty() ? "" : ", " + condition) + ".\n";
  }
  return text;
}

static void show(const std::string &op) {
  Json schema = Json::parse(api::opInfo(op));
  std::printf("%s: %s\n\n", op.c_str(), schema["summary"].get<std::string>().c_str());
  Table attributes({"attribute", "type", "default", "allowed", "meaning"});
  for (const Json &attribute : schema["attributes"]) {
    attributes.add({attribute["name"], attribute["kind"],
                    resolved(attribute.value("default", withoutDefault(attribute["kind"]))), allowedCell(attribute),
                    attribute["meaning"]});
  }
  std::printf("%s\n", attributes.render().c_str());
  if (schema.contains("own_dimensions")) {
    std::printf("Any other attribute is a dimension.\n");
  }
  if (std::string rules = rulesOf(schema); !rules.empty()) {
    std::printf("%s\n", rules.c_str());
  }
  Table tensors({"tensor", "dtype", "shape", "access", "meaning"});
  for (const Json &tensor : schema["tensors"]) {
    std::string meaning = tensor["meaning"];
    if (std::string condition = conditionOf(tensor); !condition.empty()) {
      meaning += (meaning.empty() ? "" : "; ") + condition;
    }
    tensors.add(
        {tensor["name"], resolved(tensor["type"]), "[" + joined(tensor["shape"]) + "]", tensor["access"], meaning});
  }
  if (!tensors.empty()) {
    std::printf("%s", tensors.render().c_str());
  }
  if (schema["scalars"].empty()) {
    return;
  }
  Table scalars({"scalar", "default", "meaning"});
  for (const Json &scalar : schema["scalars"]) {
    scalars.add({scalar["name"], scalar["default"], scalar["meaning"]});
  }
  std::printf("\n%s", scalars.render().c_str());
}

static void list() {
  Table ops({"op", "computes"});
  for (const std::string &op : api::opNames()) {
    ops.add({op, Json::parse(api::opInfo(op))["summary"]});
  }
  std::printf("%s\njitk ops <op> shows its attributes, tensors and scalars. A dimension is a number, or known at "
              "launch only: *, "
              "*%%16, *<=4096.\n",
              ops.render().c_str());
}

static void printJson(const std::vector<std::string> &names) {
  Json all = Json::array();
  for (const std::string &name : names) {
    all.push_back(Json::parse(api::opInfo(name)));
  }
  std::printf("%s\n", all.dump(2).c_str());
}

void addOpsVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("ops", "list the ops, or one op's attributes, tensors and scalars");
  auto op = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("op", *op, "the op to show (default: list all)");
  verb->add_flag("--json", *json, "the schemas as JSON");
  verb->callback([=, &action] {
    action = [=] {
      if (*json) {
        printJson(op->empty() ? api::opNames() : std::vector<std::string>{*op});
      } else if (op->empty()) {
        list();
      } else {
        show(*op);
      }
      return int(kOk);
    };
  });
}

} // namespace jitk::tool
