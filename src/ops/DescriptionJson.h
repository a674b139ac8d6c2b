// The attributes of a description as JSON, the form that plan files have.

#pragma once

#include "src/ops/Description.h"

#include <nlohmann/json_fwd.hpp>

namespace jitk {

/// {"m": "*<=64", "n": 4096, "causal": true, "dtype": "bf16"}: static dimensions, integers and truth values bare, all
/// else as text, but for empty texts, which are left out; in the order of the names.
nlohmann::ordered_json attributesToJson(const Description &description);

} // namespace jitk
