// The small languages in the attributes of a user's kernel.
//
//   arguments   argument {"," argument}
//   argument    name ":" (["read"|"written"|"updated"] dtype "[" [sum {"," sum}] "]" ["align" number]
//                        | ("int32"|"int64") ["=" sum] | ["scalar"] float | "scalar" integer
//                        | "workspace" ["=" sum])
//   float       "fp32" | "fp64" | "fp16" | "bf16"
//   integer     "int32" | "int64" | "uint32" | "uint64"
//   sum         product {("+"|"-") product}
//   product     factor {"*" factor}
//   factor      number | name | "(" sum ")" | ("ceil"|"floor") "(" sum "/" sum ")"
//               | ("min"|"max") "(" sum "," sum ")" | "multiprocessors"
//
// A name is that of a dimension. What divides must be a number, or a static dimension.

#pragma once

#include "src/ops/UserKernel.h"

#include <map>
#include <string_view>
#include <vector>

namespace jitk {

/// What a name stands for: a dynamic dimension of the launch, or a number.
using Names = std::map<std::string, Expression, std::less<>>;

/// Each fails with InvalidArgument, naming the attribute, where in it something else was wanted, and what is found.
Result<std::vector<Expression>> parseExpressions(std::string_view attribute, std::string_view text, const Names &names);
Result<std::vector<UserArgument>> parseArguments(std::string_view text, const Names &names,
                                                 const std::vector<std::string> &dimensions);

/// Words that no dimension may have as its name.
bool isReserved(std::string_view name);

} // namespace jitk
