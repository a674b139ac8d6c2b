// Finds the word that a misspelled one was meant to be.

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jitk {

/// The candidate with the least edit distance (insertions, deletions, substitutions, swaps of neighbours), the first of
/// equals; empty if none is nearer than half of the word.
std::string_view nearestWord(std::string_view word, std::span<const std::string_view> candidates);

/// "a, b, c" or, where `found` looks like a misspelled b, "a, b, c (did you mean b?)": what a message says is allowed.
std::string allowedWords(std::string_view found, std::span<const std::string_view> candidates);

} // namespace jitk
