// JSON: reading what people may have edited, and writing it.

#pragma once

#include "src/support/Status.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace jitk {

/// Parses a JSON text, of any type. Fails with InvalidArgument, naming the place, where the text is malformed, and
/// naming the member where one object has it twice.
Result<nlohmann::ordered_json> parseJson(std::string_view text);

/// The text of a value, indented. Strings that are no UTF-8, as a path may be, get replacement characters.
std::string jsonText(const nlohmann::ordered_json &json, int indent = 2);

} // namespace jitk
