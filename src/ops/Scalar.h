// The scalars of a launch: numbers that a kernel takes by value, and that no shape tells.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jitk {

enum class ScalarType : uint8_t { Fp32, Fp64, Fp16, Bf16, Int32, Int64, UInt32, UInt64 };

/// "fp32", "uint64", ...
std::string_view scalarTypeName(ScalarType type);
/// All of them, with commas between.
std::string scalarTypeNames();
/// None for a word that names no such type.
std::optional<ScalarType> parseScalarType(std::string_view word);
uint32_t scalarBytes(ScalarType type);
bool isFloat(ScalarType type);

struct ScalarForm {
  std::string name;
  ScalarType type = ScalarType::Fp32;
  bool operator==(const ScalarForm &) const = default;
};

} // namespace jitk
