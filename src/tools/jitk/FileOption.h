// Files and folders on the command line.

#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace jitk::tool {

/// Refuses the empty text, which names no file: a script whose variable is not set would lose what it asked for.
inline CLI::Validator notEmpty() {
  return CLI::Validator([](std::string &text) { return std::string(text.empty() ? "must not be empty" : ""); }, "");
}

/// Adds an option that names a file or a folder.
template <typename T>
CLI::Option *addFile(CLI::App &verb, const std::string &names, T &value, const std::string &meaning,
                     const char *kind = "FILE") {
  return verb.add_option(names, value, meaning)->type_name(kind)->check(notEmpty());
}

} // namespace jitk::tool
