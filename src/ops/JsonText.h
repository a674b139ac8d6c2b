// Reading JSON that people may have edited.

#pragma once

#include "src/support/Status.h"

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace jitk {

/// Parses a JSON text, of any type. Fails with InvalidArgument, naming the place, where the text is malformed, and
/// naming the member where one object has it twice.
Result<nlohmann::ordered_json> parseJson(std::string_view text);

} // namespace jitk
