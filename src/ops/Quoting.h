// Texts as words of a line.

#pragma once

#include "src/support/Status.h"

#include <string>
#include <string_view>

namespace jitk {

/// The text itself if it is a plain word, else in quotes: "a b", with \", \\, \n, \t, and \xNN for other control
/// characters.
std::string quoteWord(std::string_view text);

/// Takes a word off the front of `line`, which does not begin with space. From a quote on, space does not end it, and
/// the quotes and escapes are undone. Fails with InvalidArgument for a quote that does not end and an unknown escape.
Result<std::string> takeWord(std::string_view &line);

} // namespace jitk
