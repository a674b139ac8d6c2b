// An op, its attributes and the sizes of a launch, as several verbs take them.

#pragma once

#include "jitk/jitk.hpp"
#include "src/ops/TensorShape.h"
#include "src/reference/Instance.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace jitk::tool {

struct ProblemOptions {
  std::string op;
  std::vector<std::string> attributes, sizeWords, valueWords;

  /// Adds the op and its attributes as positional words and, where asked, --size and --values.
  void addTo(CLI::App &verb, bool withSizes = false);
  /// Whether the first word is the key of a stored entry, or its beginning, and no op.
  bool isKey() const;
  /// "op name=value ...", a value `@path` replaced by what the file holds. Throws std::invalid_argument if it cannot be
  /// read.
  std::string line() const;
  api::Description description() const { return api::Description::parse(line()); }
  /// Throws std::invalid_argument naming a word that is no name=number.
  DynamicSizes sizes() const;
  /// Throws std::invalid_argument naming a word that is no name=number,...
  reference::GivenValues values() const;
  /// Throws std::invalid_argument if the op's schema refuses the attributes or the sizes, before a device is touched.
  void check() const;
};

} // namespace jitk::tool
