// Whole numbers on the command line. The parser's own conversion takes "-1" for the largest number and cuts what does
// not fit; these refuse both.

#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <string>
#include <type_traits>

namespace jitk::tool {

/// Accepts digits that make a number between `least` and `most`; with `allowsUnit`, what follows them is for the parser
/// to read.
inline CLI::Validator wholeNumber(uint64_t least, uint64_t most, bool allowsUnit = false) {
  auto check = [=](std::string &text) -> std::string {
    uint64_t value = 0;
    const char *end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, value);
    bool isNumber = error == std::errc() && (rest == end || allowsUnit);
    return isNumber && value >= least && value <= most ? std::string()
                                                       : "must be a whole number between " + std::to_string(least) +
                                                             " and " + std::to_string(most) + ": got '" + text + "'";
  };
  return CLI::Validator(check, "");
}

/// Adds an option that is a whole number between `least` and `most`.
template <typename T>
CLI::Option *addNumber(CLI::App &verb, const std::string &names, T &value, const std::string &meaning,
                       std::type_identity_t<T> least = 0,
                       std::type_identity_t<T> most = std::numeric_limits<T>::max()) {
  return verb.add_option(names, value, meaning)->check(wholeNumber(uint64_t(least), uint64_t(most)));
}

} // namespace jitk::tool
