// Problem: a description in the form in which it is looked up.

#pragma once

#include "src/ops/Description.h"
#include "src/support/Hash.h"

#include <string>
#include <utility>

namespace jitk {

/// A description with its canonical text and that text's hash, both made once. Immutable.
struct Problem {
  explicit Problem(Description of) : description(std::move(of)), text(description.toString()), hash(hashBytes(text)) {}

  const Description description;
  const std::string text;
  const Hash128 hash;
};

} // namespace jitk
