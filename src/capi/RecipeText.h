// A recipe as JSON, for people.

#pragma once

#include "src/runtime/Recipe.h"

#include <string>

namespace jitk::capi {

std::string recipeText(const Recipe &recipe);

} // namespace jitk::capi
