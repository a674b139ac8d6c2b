// The JSON form of a plan; jitk.h shows it at jitk_plan_add_json.

#pragma once

#include "src/runtime/Plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace jitk {

/// Reads all items, each checked against its op's schema. Fails with InvalidArgument, naming the place in the list.
Result<std::vector<Plan::Item>> parsePlanFile(std::string_view text);
/// Writes what `parsePlanFile` reads.
std::string writePlanFile(const std::vector<Plan::Item> &items);

} // namespace jitk
