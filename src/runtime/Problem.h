// Problem: a description in the form in which it is looked up.

#pragma once

#include "src/ops/Description.h"
#include "src/support/Hash.h"

#include <string>
#include <utility>

namespace jitk {

/// A description with its canonical text, that text's hash, and what messages call it, all made once. Immutable.
struct Problem {
  explicit Problem(Description of)
      : description(std::move(of)), text(description.toString()), label(description.label()), hash(hashBytes(text)) {}

  const Description description;
  const std::string text;
  const std::string label; ///< short, for people; not an identity
  const Hash128 hash;
};

} // namespace jitk
