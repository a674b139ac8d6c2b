// What MLIR's parser does not survive: text that it recurses over without a limit, or takes at its word, ends the
// process. Text that others wrote is looked at first, token by token.

#pragma once

#include "src/support/Status.h"

#include <string_view>

namespace jitk::ir {

/// Fails with InvalidArgument, naming what is found and its line, if the text
/// - nests deeper than 100 brackets, those of the aliases that it names included,
/// - has a dense array whose elements are neither integers nor floats,
/// - names results of ops by numbers for which a parser would allocate much memory,
/// - has affine maps or sets, or resources, none of which jitk's dialects use.
/// Says nothing of all else that may be wrong: that the parser does. Takes time and memory in proportion to the text.
Status checkText(std::string_view text);

} // namespace jitk::ir
