// Every doctest program includes this first: CAPTURE, INFO and failed checks show a C string's text, not its address.
// Doctest's own switch for it compares C strings by their text too, and refuses to compare other pointers.

#pragma once

#include <doctest/doctest.h>

template <> struct doctest::StringMaker<const char *> {
  static String convert(const char *text) { return text ? String("\"") + text + "\"" : "null"; }
};
