#include "src/capi/RecipeText.h"

#include <nlohmann/json.hpp>

namespace jitk::capi {

using Json = nlohmann::ordered_json;

/// A number, or the formula with its operators written out: "ceildiv(m, 128)".
static Json toJson(const Expression &expression, const Recipe &recipe) {
  if (expression.isConstant()) {
    return expression.terms().front().value;
  }
  static constexpr const char *kNames[] = {"", "", "add", "sub", "mul", "ceildiv", "floordiv", "min", "max"};
  std::vector<std::string> stack;
  for (const Expression::Term &term : expression.terms()) {
    if (term.op == Expression::Op::Constant) {
      stack.push_back(std::to_string(term.value));
      continue;
    }
    if (term.op == Expression::Op::Dimension) {
      stack.push_back(recipe.dimensions[static_cast<size_t>(term.value)]);
      continue;
    }
    if (term.op == Expression::Op::Multiprocessors) {
      stack.push_back("multiprocessors");
      continue;
    }
    std::string right = std::move(stack.back());
    stack.pop_back();
    stack.back() = std::string(kNames[static_cast<size_t>(term.op)]) + "(" + stack.back() + ", " + right + ")";
  }
  return stack.front();
}

template <typename Range> static Json toJson(const Range &expressions, const Recipe &recipe) {
  Json json = Json::array();
  for (const Expression &expression : expressions) {
    json.push_back(toJson(expression, recipe));
  }
  return json;
}

static Json toJson(const Argument &argument, const Recipe &recipe) {
  switch (argument.kind) {
  case Argument::Kind::Tensor:
    return Json{{"tensor", recipe.tensors[argument.index]}};
  case Argument::Kind::Integer32:
    return Json{{"i32", toJson(argument.expression, recipe)}};
  case Argument::Kind::Integer64:
    return Json{{"i64", toJson(argument.expression, recipe)}};
  case Argument::Kind::Scalar:
    return Json{{"scalar", recipe.scalars[argument.index].name}};
  case Argument::Kind::Workspace:
    return Json{{"workspace", toJson(argument.expression, recipe)}};
  case Argument::Kind::TensorMap:
    return Json{{"tensor_map", argument.index}};
  case Argument::Kind::Null:
    break;
  }
  return nullptr;
}

static Json toJson(const TensorMap &map, const Recipe &recipe) {
  Json json = {{"element_type", map.elementType},
               {"swizzle", map.swizzle},
               {"promotion", static_cast<uint32_t>(map.promotion)},
               {"sizes", toJson(map.sizes, recipe)},
               {"strides", toJson(map.strides, recipe)},
               {"box", map.box}};
  if (map.tensor == TensorMap::kWorkspace) {
    json["workspace"] = toJson(map.offset, recipe);
  } else {
    json["tensor"] = recipe.tensors[map.tensor];
  }
  return json;
}

static Json toJson(const LaunchStep &step, const Recipe &recipe) {
  Json json = {{"symbol", step.symbol},
               {"grid", toJson(step.grid, recipe)},
               {"block", {step.threads, step.threadsY, step.threadsZ}},
               {"cluster", step.cluster},
               {"shared_bytes", step.sharedBytes},
               {"programmatic_launch", step.programmaticLaunch},
               {"arguments", Json::array()}};
  for (const Argument &argument : step.arguments) {
    json["arguments"].push_back(toJson(argument, recipe));
  }
  return json;
}

std::string recipeText(const Recipe &recipe) {
  Json json = {{"dimensions", recipe.dimensions},
               {"tensors", recipe.tensors},
               {"alignments", recipe.alignments},
               {"scalars", Json::array()},
               {"workspace_bytes", toJson(recipe.workspaceBytes, recipe)},
               {"tensor_maps", Json::array()},
               {"steps", Json::array()}};
  for (const ScalarForm &scalar : recipe.scalars) {
    json["scalars"].push_back({{"name", scalar.name}, {"type", scalarTypeName(scalar.type)}});
  }
  for (const TensorMap &map : recipe.tensorMaps) {
    json["tensor_maps"].push_back(toJson(map, recipe));
  }
  for (const LaunchStep &step : recipe.steps) {
    json["steps"].push_back(toJson(step, recipe));
  }
  return json.dump(2);
}

} // namespace jitk::capi
