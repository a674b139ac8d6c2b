#include "src/tools/jitk/ProblemOptions.h"

#include "src/ops/Quoting.h"
#include "src/tools/jitk/RuntimeOptions.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace jitk::tool {

void ProblemOptions::addTo(CLI::App &verb, bool withSizes) {
  verb.add_option("op", op, "an op of jitk ops")->required();
  verb.add_option("attributes", attributes, "name=value ..., name=@file for what a file holds");
  if (withSizes) {
    verb.add_option("--size", sizeWords, "name=number: the size of a dynamic dimension (repeatable)");
    verb.add_option("--values", valueWords,
                    "name=number,...: an integer input or a scalar that is not to be drawn (repeatable)");
  }
}

bool ProblemOptions::isKey() const {
  constexpr size_t kLeastDigits = 6;
  return attributes.empty() && op.size() >= kLeastDigits &&
         op.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

std::string ProblemOptions::line() const {
  std::string text = op;
  for (const std::string &attribute : attributes) {
    size_t equals = attribute.find('=');
    if (equals == std::string::npos) {
      text += " " + quoteWord(attribute);
      continue;
    }
    std::string value = attribute.substr(equals + 1);
    value = value.starts_with('@') ? readFile(value.substr(1)) : value;
    text += " " + quoteWord(attribute.substr(0, equals)) + "=" + quoteWord(value);
  }
  return text;
}

DynamicSizes ProblemOptions::sizes() const {
  DynamicSizes sizes;
  for (const std::string &word : sizeWords) {
    size_t equals = word.find('=');
    const char *end = word.data() + word.size();
    const char *begin = equals == std::string::npos ? end : word.data() + equals + 1;
    int64_t value = 0;
    if (auto [rest, error] = std::from_chars(begin, end, value); error != std::errc() || rest != end) {
      throw std::invalid_argument("a size must be written name=number: got '" + word + "'");
    }
    if (!sizes.try_emplace(word.substr(0, equals), value).second) {
      throw std::invalid_argument("a size must be given once: got '" + word.substr(0, equals) + "' twice");
    }
  }
  return sizes;
}

reference::GivenValues ProblemOptions::values() const {
  reference::GivenValues values;
  for (const std::string &word : valueWords) {
    size_t equals = std::min(word.find('='), word.size() - 1);
    std::vector<reference::Number> &numbers = values[word.substr(0, equals)];
    const char *end = word.data() + word.size();
    for (const char *at = word.data() + equals; at != end;) {
      reference::Number value = 0;
      auto [rest, error] = std::from_chars(at + 1, end, value); // behind the '=' or the ','
      if (error != std::errc() || (rest != end && *rest != ',')) {
        throw std::invalid_argument("values must be written name=number,...: got '" + word + "'");
      }
      numbers.push_back(value);
      at = rest;
    }
  }
  return values;
}

template <typename T> static T valueOf(Result<T> result) {
  if (!result.ok()) {
    throw std::invalid_argument(result.status().toString());
  }
  return *std::move(result);
}

void ProblemOptions::check() const { valueOf(tensorShapes(valueOf(parseDescription(line())), sizes())); }

} // namespace jitk::tool
