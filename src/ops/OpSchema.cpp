#include "src/ops/OpSchema.h"

#include "src/ops/Families.h"
#include "src/ops/Number.h"
#include "src/ops/Quoting.h"
#include "src/ops/ScalarDefault.h"
#include "src/ops/SizeRules.h"
#include "src/ops/Spelling.h"
#include "src/ops/TensorShape.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace jitk {

using Kind = AttributeSchema::Kind;
using Attributes = std::map<std::string, AttributeValue, std::less<>>;

std::string_view accessName(Access access) {
  switch (access) {
  case Access::Read:
    return "read";
  case Access::Written:
    return "written";
  case Access::Updated:
    return "updated";
  }
  return "";
}

static Status wrongValue(const AttributeSchema &schema, const std::string &wanted, std::string_view found) {
  return invalidArgument("attribute " + std::string(schema.name) + " must be " + wanted + ": got '" +
                         std::string(found) + "'");
}

static std::string rangeText(const AttributeSchema &schema) {
  return "between " + std::to_string(schema.minimum) + " and " + std::to_string(schema.maximum);
}

static Result<AttributeValue> parseDimension(const AttributeSchema &schema, std::string_view text) {
  Result<Dimension> dimension = Dimension::parse(text);
  if (!dimension.ok()) {
    return std::move(dimension).takeStatus().withNote("in attribute " + std::string(schema.name));
  }
  int64_t largest = dimension->isStatic() ? dimension->value : dimension->bound;
  bool unbounded = !dimension->isStatic() && dimension->bound == 0;
  if (!unbounded && (largest < schema.minimum || largest > schema.maximum)) {
    return wrongValue(schema, rangeText(schema), text);
  }
  return AttributeValue(*dimension);
}

static Status checkWord(const AttributeSchema &schema, std::string_view text) {
  if (std::find(schema.words.begin(), schema.words.end(), text) == schema.words.end()) {
    return wrongValue(schema, "one of " + allowedWords(text, schema.words), text);
  }
  return okStatus();
}

static Result<AttributeValue> parseInteger(const AttributeSchema &schema, std::string_view text) {
  if (!schema.words.empty()) {
    JITK_TRY(checkWord(schema, text));
  }
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < schema.minimum || value > schema.maximum) {
    return wrongValue(schema, "an integer " + rangeText(schema), text);
  }
  return AttributeValue(value);
}

/// Whether the text is a zero, of a number that is none where it is zero.
static bool isNone(const AttributeSchema &schema, std::string_view text) {
  return schema.defaultValue == "0" && !text.empty() && text.find_first_not_of("0.") == std::string_view::npos &&
         text.find('0') != std::string_view::npos;
}

static Result<AttributeValue> canonicalNumber(const AttributeSchema &schema, std::string_view text) {
  if (isNone(schema, text)) {
    return AttributeValue(std::string());
  }
  std::optional<float> value = parseNumber(text);
  if (!value || double(*value) > double(schema.maximum)) {
    return wrongValue(schema, "a number above 0 and at most " + std::to_string(schema.maximum), text);
  }
  return AttributeValue(numberText(*value));
}

static Result<AttributeValue> parseValue(const AttributeSchema &schema, std::string_view text) {
  switch (schema.kind) {
  case Kind::Dimension:
    return parseDimension(schema, text);
  case Kind::Integer:
  case Kind::Stride:
  case Kind::PageStride:
    return parseInteger(schema, text);
  case Kind::Flag:
    if (text != "true" && text != "false") {
      return wrongValue(schema, "true or false", text);
    }
    return AttributeValue(text == "true");
  case Kind::Number:
    return canonicalNumber(schema, text);
  case Kind::Word:
    JITK_TRY(checkWord(schema, text));
    return AttributeValue(std::string(text));
  case Kind::Text:
    if (text.find('\0') != std::string_view::npos) {
      return wrongValue(schema, "text without a zero byte", text.substr(0, text.find('\0')));
    }
    return AttributeValue(std::string(text));
  }
  return internalError("attribute kind is unknown");
}

/// Whether a name can be that of a user's dimension: lower-case, as all names are.
static bool isDimensionName(std::string_view name) {
  auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && isLetter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

static bool isStride(const AttributeSchema &schema) {
  return schema.kind == Kind::Stride || schema.kind == Kind::PageStride;
}

/// Refuses names that the schema lacks and names given twice.
static Status checkNames(const OpSchema &op, std::span<const OpSchema::Given> given) {
  for (size_t i = 0; i < given.size(); ++i) {
    auto sameName = [&](const auto &other) { return other.first == given[i].first; };
    auto known = [&](const AttributeSchema &schema) { return schema.name == given[i].first; };
    bool mayBeOwn = op.ownDimensions && isDimensionName(given[i].first);
    if (std::none_of(op.attributes.begin(), op.attributes.end(), known) && !mayBeOwn) {
      std::vector<std::string_view> names;
      for (const AttributeSchema &schema : op.attributes) {
        names.push_back(schema.name);
      }
      return invalidArgument("attribute of " + std::string(op.name) + " must be one of " +
                             allowedWords(given[i].first, names) + ": got '" + std::string(given[i].first) + "'");
    }
    if (std::any_of(given.begin(), given.begin() + static_cast<ptrdiff_t>(i), sameName)) {
      return invalidArgument("attribute must be given once: got '" + std::string(given[i].first) + "' twice");
    }
  }
  return okStatus();
}

/// The text that the user gave, or the default's.
static std::optional<std::string_view> findText(const AttributeSchema &schema, std::span<const OpSchema::Given> given) {
  for (const auto &[name, text] : given) {
    if (name == schema.name) {
      return text;
    }
  }
  bool required = schema.defaultValue.empty() && schema.kind != Kind::Text && !isStride(schema);
  return required ? std::nullopt : std::optional(schema.defaultValue);
}

/// Whether the static dimensions are multiples of those that they must be multiples of.
static Status checkMultiples(const OpSchema &op, const Description &description) {
  for (const auto &[multiple, factor] : op.multiples) {
    const Dimension &size = description.dimension(multiple), &by = description.dimension(factor);
    if (size.isStatic() && by.isStatic() && size.value % by.value != 0) {
      return invalidArgument("attribute " + std::string(multiple) + " must be a multiple of " + std::string(factor) +
                             " " + std::to_string(by.value) + ": got '" + std::to_string(size.value) + "'");
    }
  }
  return okStatus();
}

const AttributeSchema *OpSchema::attribute(std::string_view wanted) const {
  auto found = std::ranges::find(attributes, wanted, &AttributeSchema::name);
  return found == attributes.end() ? nullptr : &*found;
}

namespace {
/// Of a row or a page: its length, or as much as is known of it.
struct Length {
  int64_t least = 1; ///< that a stride must leave room for: its length, or its bound
  bool isStatic = true;

  void multiply(std::string_view expression, const Description &description) {
    Extent extent = extentOf(expression, description);
    int64_t size = extent.addend;
    if (!extent.dimension.empty()) {
      int64_t bound = std::max<int64_t>(1, description.dimension(extent.dimension).bound);
      size += (bound + extent.divisor - 1) / extent.divisor;
      isStatic = false;
    }
    if (__builtin_mul_overflow(least, size, &least)) {
      least = INT64_MAX;
    }
  }
};
} // namespace

static Length rowLengthOf(const TensorSchema &tensor, const Description &description) {
  Length row;
  for (std::string_view expression : rowOf(tensor, description)) {
    row.multiply(expression, description);
  }
  return row;
}

/// Of the rows of a page, each as long as from one to the next.
static Length pageLengthOf(const TensorSchema &tensor, const Description &description) {
  std::optional<int64_t> stride = description.rowStride(tensor.name);
  Length page = stride ? Length{*stride} : rowLengthOf(tensor, description);
  page.multiply(pageRowsOf(tensor), description);
  return page;
}

/// Gives attributes that mean nothing beside the others the value that they have where they are not given.
static Status dropMeaningless(const OpSchema &op, Attributes &values) {
  const Description description(std::string(op.name), values);
  for (const AttributeSchema &schema : op.attributes) {
    if (isPresent(schema.meansIf, description)) {
      continue;
    }
    if (schema.defaultValue.starts_with('@')) {
      values[std::string(schema.name)] = values.at(std::string(schema.defaultValue.substr(1)));
    } else {
      JITK_ASSIGN(values[std::string(schema.name)], parseValue(schema, schema.defaultValue));
    }
  }
  return okStatus();
}

/// A number that is given but equals the default is as one that is not given.
static void dropDefaultNumbers(const OpSchema &op, Attributes &values) {
  for (const AttributeSchema &schema : op.attributes) {
    if (schema.kind != Kind::Number) {
      continue;
    }
    auto &text = std::get<std::string>(values.at(std::string(schema.name)));
    if (text == numberText(float(defaultOf(schema, Description(std::string(op.name), values))))) {
      text.clear();
    }
  }
}

/// Checks the strides against the sizes that are known. One that is as long as a row, or a page, is as one that is not
/// given.
static Status settleStrides(const OpSchema &op, Attributes &values) {
  const Description description(std::string(op.name), values);
  for (const AttributeSchema &schema : op.attributes) {
    const auto *given = std::get_if<int64_t>(&description.attributes().find(schema.name)->second);
    if (!isStride(schema) || !given) {
      continue;
    }
    const bool isOfPages = schema.kind == Kind::PageStride;
    const int64_t stride = *given;
    std::string_view name = schema.name;
    name.remove_suffix(std::string_view(isOfPages ? "_page_stride" : "_stride").size());
    auto tensor = std::ranges::find_if(op.tensors, [&](const TensorSchema &each) {
      return each.name == name && isPresent(each.presentIf, description);
    });
    if (tensor == op.tensors.end()) {
      return wrongValue(schema, "left out where there is no tensor " + std::string(name), std::to_string(stride));
    }
    Length length = isOfPages ? pageLengthOf(*tensor, description) : rowLengthOf(*tensor, description);
    if (length.least > stride) {
      return wrongValue(
          schema, "at least " + std::to_string(length.least) + ", the length of a " + (isOfPages ? "page" : "row"),
          std::to_string(stride));
    }
    if (length.isStatic && length.least == stride) {
      values[std::string(schema.name)] = std::string();
    }
  }
  return okStatus();
}

Result<Description> OpSchema::describe(std::span<const Given> given) const {
  JITK_TRY(checkNames(*this, given));
  Attributes values;
  std::vector<const AttributeSchema *> chosen;
  for (const AttributeSchema &schema : attributes) {
    std::optional<std::string_view> text = findText(schema, given);
    if (!text) {
      return invalidArgument("attribute " + std::string(schema.name) + " of " + std::string(name) +
                             " must be given: " + std::string(schema.meaning));
    }
    // A default alone means another attribute; what was given means itself.
    bool isGiven = std::ranges::any_of(given, [&](const Given &each) { return each.first == schema.name; });
    if (!isGiven && text->starts_with('@')) {
      values[std::string(schema.name)] = values.at(std::string(text->substr(1)));
      continue;
    }
    if (!isGiven && schema.choose) {
      chosen.push_back(&schema);
      continue;
    }
    if (!isGiven && (schema.kind == Kind::Number || isStride(schema))) {
      values[std::string(schema.name)] = std::string();
      continue;
    }
    JITK_ASSIGN(values[std::string(schema.name)], parseValue(schema, *text));
  }
  JITK_TRY(dropMeaningless(*this, values));
  for (const AttributeSchema *schema : chosen) {
    values[std::string(schema->name)] = Dimension{.value = schema->choose(Description(std::string(name), values))};
  }
  dropDefaultNumbers(*this, values);
  for (const auto &[own, text] : given) {
    if (!attribute(own)) {
      AttributeSchema schema{own, Kind::Dimension, "", "", {}, 1, INT32_MAX};
      JITK_ASSIGN(values[std::string(own)], parseValue(schema, text));
    }
  }
  JITK_TRY(settleStrides(*this, values));
  Description description{std::string(name), std::move(values)};
  JITK_TRY(checkMultiples(*this, description));
  JITK_TRY(SizeRules(description, {}).check({}));
  if (check) {
    JITK_TRY(check(description));
  }
  return description;
}

bool isPresent(std::string_view condition, const Description &description) {
  if (condition.starts_with('!')) {
    return !description.flag(condition.substr(1));
  }
  if (size_t equals = condition.find('='); equals != std::string_view::npos) {
    return description.word(condition.substr(0, equals)) == condition.substr(equals + 1);
  }
  return condition.empty() || description.flag(condition);
}

bool isTransposed(const TensorSchema &tensor, const Description &description) {
  return !tensor.transposedIf.empty() && isPresent(tensor.transposedIf, description);
}

std::vector<std::string_view> rowOf(const TensorSchema &tensor, const Description &description) {
  std::vector<std::string_view> axes = tensor.shape;
  if (isTransposed(tensor, description)) {
    std::ranges::reverse(axes.end() - 2, axes.end());
  }
  return {axes.end() - ptrdiff_t(tensor.rowAxes), axes.end()};
}

std::string_view pageRowsOf(const TensorSchema &tensor) {
  return tensor.shape[tensor.shape.size() - tensor.rowAxes - 1];
}

std::span<const OpSchema> allOps() {
  static const std::vector<OpSchema> ops = [] {
    std::vector<OpSchema> all;
    addAttentionOps(all);
    addLinearAttentionOps(all);
    addMatmulOps(all);
    addUserKernelOp(all);
    std::sort(all.begin(), all.end(), [](const OpSchema &a, const OpSchema &b) { return a.name < b.name; });
    return all;
  }();
  return ops;
}

Result<const OpSchema *> findOp(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OpSchema &op : allOps()) {
    if (op.name == name) {
      return &op;
    }
    names.push_back(op.name);
  }
  return invalidArgument("op must be one of " + allowedWords(name, names) + ": got '" + std::string(name) + "'");
}

Result<Description> describe(std::string_view op, std::span<const OpSchema::Given> given) {
  JITK_ASSIGN(const OpSchema *schema, findOp(op));
  return schema->describe(given);
}

Result<Description> parseDescription(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\n"), line.size()));
    if (line.empty()) {
      break;
    }
    JITK_ASSIGN(std::string word, takeWord(line));
    words.push_back(std::move(word));
  }
  if (words.empty()) {
    return invalidArgument("description must begin with the name of an op: got ''");
  }
  std::vector<OpSchema::Given> given;
  for (std::string_view word : std::span(words).subspan(1)) {
    size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return invalidArgument("attribute must be written name=value: got '" + std::string(word.substr(0, 40)) + "'");
    }
    given.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return describe(words.front(), given);
}

} // namespace jitk
