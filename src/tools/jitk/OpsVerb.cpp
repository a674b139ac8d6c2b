// jitk ops: what can be asked for.

#include "jitk/jitk.hpp"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace jitk::tool {

using Json = nlohmann::ordered_json;

/// A JSON value as one cell.
static std::string cell(const Json &value) {
  if (value.is_null()) {
    return "";
  }
  if (!value.is_array()) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  std::string text;
  for (const Json &item : value) {
    text += (text.empty() ? "" : ", ") + cell(item);
  }
  return text;
}

static std::string member(const Json &object, const char *name) {
  return object.contains(name) ? cell(object[name]) : "";
}

static void show(const std::string &op) {
  Json schema = Json::parse(api::opInfo(op));
  std::printf("%s: %s\n\n", op.c_str(), member(schema, "summary").c_str());
  Table attributes({"attribute", "type", "default", "allowed", "meaning"});
  for (const Json &attribute : schema["attributes"]) {
    attributes.add({member(attribute, "name"), member(attribute, "kind"), member(attribute, "default"),
                    member(attribute, "words") + member(attribute, "allowed"), member(attribute, "meaning")});
  }
  std::printf("%s\n", attributes.render().c_str());
  Table tensors({"tensor", "dtype", "shape", "access", "meaning"});
  for (const Json &tensor : schema["tensors"]) {
    bool written = tensor.contains("written") && tensor["written"].get<bool>();
    tensors.add({member(tensor, "name"), member(tensor, "type") + member(tensor, "dtype"), member(tensor, "shape"),
                 written ? "written" : "read", member(tensor, "meaning")});
  }
  std::printf("%s\n", tensors.render().c_str());
}

void addOpsVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("ops", "list the ops with their attributes and tensors");
  auto op = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("op", *op, "only this op");
  verb->add_flag("--json", *json, "the schemas as JSON");
  verb->callback([=, &action] {
    action = [=] {
      std::vector<std::string> names = op->empty() ? api::opNames() : std::vector<std::string>{*op};
      Json all = Json::array();
      for (const std::string &name : names) {
        if (*json) {
          all.push_back(Json::parse(api::opInfo(name)));
        } else {
          show(name);
        }
      }
      if (*json) {
        std::printf("%s\n", all.dump(2).c_str());
      }
      return int(kOk);
    };
  });
}

} // namespace jitk::tool
