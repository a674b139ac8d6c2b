#include "src/tools/jitk/ProblemOptions.h"

#include <charconv>
#include <stdexcept>

namespace jitk::tool {

void ProblemOptions::addTo(CLI::App &verb, bool withSizes) {
  verb.add_option("op", op, "an op of jitk ops")->required();
  verb.add_option("attributes", attributes, "name=value ...");
  if (withSizes) {
    verb.add_option("--size", sizeWords, "name=number: the size of a dynamic dimension (repeatable)");
  }
}

std::string ProblemOptions::line() const {
  std::string text = op;
  for (const std::string &attribute : attributes) {
    text += " " + attribute;
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

template <typename T> static T valueOf(Result<T> result) {
  if (!result.ok()) {
    throw std::invalid_argument(result.status().toString());
  }
  return *std::move(result);
}

void ProblemOptions::check() const { valueOf(tensorShapes(valueOf(parseDescription(line())), sizes())); }

} // namespace jitk::tool
