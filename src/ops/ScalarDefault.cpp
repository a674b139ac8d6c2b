#include "src/ops/ScalarDefault.h"

#include "src/ops/TensorShape.h"

#include <charconv>
#include <cmath>

namespace jitk {

double defaultOf(const ScalarSchema &scalar, const Description &description) {
  constexpr std::string_view kInverseRoot = "1/sqrt(";
  std::string_view text = scalar.defaultValue;
  if (text.starts_with(kInverseRoot)) {
    text.remove_prefix(kInverseRoot.size());
    text.remove_suffix(1);
    return 1 / std::sqrt(double(extentOf(text, description).addend));
  }
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

} // namespace jitk
