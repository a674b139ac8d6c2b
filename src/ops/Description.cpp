#include "src/ops/Description.h"

#include "src/ops/Quoting.h"
#include "src/support/Assert.h"
#include "src/support/Hash.h"

#include <charconv>

namespace jitk {

static Status malformed(std::string_view text) {
  return invalidArgument("dimension must be a positive number, or *, *%16, *<=4096 or *%16<=4096: got '" +
                         std::string(text) + "'");
}

/// Takes a positive number off the front of `text`.
static bool takePositive(std::string_view &text, int64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value <= 0) {
    return false;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

Result<Dimension> Dimension::parse(std::string_view text) {
  Dimension dimension;
  std::string_view rest = text;
  if (!rest.starts_with('*')) {
    if (!takePositive(rest, dimension.value) || !rest.empty()) {
      return malformed(text);
    }
    return dimension;
  }
  rest.remove_prefix(1);
  if (rest.starts_with('%')) {
    rest.remove_prefix(1);
    if (!takePositive(rest, dimension.divisor)) {
      return malformed(text);
    }
  }
  if (rest.starts_with("<=")) {
    rest.remove_prefix(2);
    if (!takePositive(rest, dimension.bound)) {
      return malformed(text);
    }
  }
  if (!rest.empty()) {
    return malformed(text);
  }
  if (int64_t largest = dimension.bound != 0 ? dimension.bound : kLargest; dimension.divisor > largest) {
    return invalidArgument("dimension must have a multiple of its divisor, other than 0, up to " +
                           std::to_string(largest) + ": got '" + std::string(text) + "'");
  }
  return dimension;
}

std::string Dimension::toString() const {
  if (isStatic()) {
    return std::to_string(value);
  }
  std::string text = "*";
  if (divisor != 1) {
    text += "%" + std::to_string(divisor);
  }
  if (bound != 0) {
    text += "<=" + std::to_string(bound);
  }
  return text;
}

/// The attribute of that name and kind.
template <typename T>
static const T &attribute(const std::map<std::string, AttributeValue, std::less<>> &attributes, std::string_view name) {
  auto found = attributes.find(name);
  JITK_ASSERT(found != attributes.end() && std::holds_alternative<T>(found->second));
  return *std::get_if<T>(&found->second);
}

const Dimension &Description::dimension(std::string_view name) const { return attribute<Dimension>(attributes_, name); }

int64_t Description::integer(std::string_view name) const { return attribute<int64_t>(attributes_, name); }

bool Description::flag(std::string_view name) const { return attribute<bool>(attributes_, name); }

const std::string &Description::word(std::string_view name) const { return attribute<std::string>(attributes_, name); }

/// The value of an attribute that may be missing or empty.
static std::optional<int64_t> strideOf(const std::map<std::string, AttributeValue, std::less<>> &attributes,
                                       const std::string &name) {
  auto found = attributes.find(name);
  const auto *stride = found == attributes.end() ? nullptr : std::get_if<int64_t>(&found->second);
  return stride ? std::optional(*stride) : std::nullopt;
}

std::optional<int64_t> Description::rowStride(std::string_view tensor) const {
  return strideOf(attributes_, std::string(tensor) + "_stride");
}

std::optional<int64_t> Description::pageStride(std::string_view tensor) const {
  return strideOf(attributes_, std::string(tensor) + "_page_stride");
}

static std::string valueText(const AttributeValue &value) {
  if (const auto *dimension = std::get_if<Dimension>(&value)) {
    return dimension->toString();
  }
  if (const auto *integer = std::get_if<int64_t>(&value)) {
    return std::to_string(*integer);
  }
  if (const auto *flag = std::get_if<bool>(&value)) {
    return *flag ? "true" : "false";
  }
  return quoteWord(std::get<std::string>(value));
}

/// An empty text is what is there where none is given, so that it need not be written.
static bool isEmptyText(const AttributeValue &value) {
  const auto *text = std::get_if<std::string>(&value);
  return text && text->empty();
}

std::string Description::toString() const {
  std::string text = op_;
  for (const auto &[name, value] : attributes_) {
    if (!isEmptyText(value)) {
      text += " " + name + "=" + valueText(value);
    }
  }
  return text;
}

std::string Description::label() const {
  // Longer than any word of a schema.
  constexpr size_t kLongest = 80;
  std::string text = op_;
  for (const auto &[name, value] : attributes_) {
    const auto *word = std::get_if<std::string>(&value);
    if (word && word->size() > kLongest) {
      text +=
          " " + name + "=<" + std::to_string(word->size()) + " bytes " + hashBytes(*word).toHex().substr(0, 8) + ">";
    } else if (!isEmptyText(value)) {
      text += " " + name + "=" + valueText(value);
    }
  }
  return text;
}

} // namespace jitk
