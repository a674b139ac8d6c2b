#include "src/ops/Number.h"

#include <charconv>
#include <cmath>

namespace jitk {

std::optional<float> parseNumber(std::string_view text) {
  float value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || !std::isnormal(value)) {
    return std::nullopt;
  }
  return value;
}

std::string numberText(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

} // namespace jitk
