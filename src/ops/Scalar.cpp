#include "src/ops/Scalar.h"

namespace jitk {

// In the order of the enumerators.
static constexpr struct {
  std::string_view name;
  uint32_t bytes;
  bool isFloat;
} kTypes[] = {{"fp32", 4, true},   {"fp64", 8, true},   {"fp16", 2, true},    {"bf16", 2, true},
              {"int32", 4, false}, {"int64", 8, false}, {"uint32", 4, false}, {"uint64", 8, false}};

std::string_view scalarTypeName(ScalarType type) { return kTypes[size_t(type)].name; }
uint32_t scalarBytes(ScalarType type) { return kTypes[size_t(type)].bytes; }
bool isFloat(ScalarType type) { return kTypes[size_t(type)].isFloat; }

std::string scalarTypeNames() {
  std::string names;
  for (const auto &type : kTypes) {
    names += (names.empty() ? "" : ", ") + std::string(type.name);
  }
  return names;
}

std::optional<ScalarType> parseScalarType(std::string_view word) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == word) {
      return ScalarType(i);
    }
  }
  return std::nullopt;
}

} // namespace jitk
