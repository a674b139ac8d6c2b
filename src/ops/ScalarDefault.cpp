#include "src/ops/ScalarDefault.h"

#include "src/ops/Number.h"
#include "src/ops/TensorShape.h"
#include "src/support/Assert.h"

#include <charconv>
#include <cmath>

namespace jitk {

static double evaluate(std::string_view text, const Description &description) {
  constexpr std::string_view kInverseRoot = "1/sqrt(";
  if (text.starts_with(kInverseRoot)) {
    text.remove_prefix(kInverseRoot.size());
    text.remove_suffix(1);
    return 1 / std::sqrt(double(extentOf(text, description).addend));
  }
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

double defaultOf(const ScalarSchema &scalar, const Description &description) {
  return evaluate(scalar.defaultValue, description);
}

double defaultOf(const AttributeSchema &number, const Description &description) {
  return evaluate(number.defaultValue, description);
}

double numberOf(std::string_view name, const Description &description) {
  if (std::optional<float> given = parseNumber(description.word(name))) {
    return *given;
  }
  Result<const OpSchema *> op = findOp(description.op());
  JITK_ASSERT(op.ok() && (*op)->attribute(name));
  return defaultOf(*(*op)->attribute(name), description);
}

} // namespace jitk
