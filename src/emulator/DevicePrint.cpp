#include "src/emulator/DevicePrint.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace jitk::emulator {

namespace {

/// Reads values in the order of the conversions.
class Values {
public:
  explicit Values(const void *values) : next_(reinterpret_cast<uintptr_t>(values)) {}

  template <typename T> T take() {
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, reinterpret_cast<const void *>(next_), sizeof(T));
    next_ += sizeof(T);
    return value;
  }

private:
  uintptr_t next_;
};

template <typename T> void append(std::string &text, const std::string &conversion, T value) {
  const int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  if (length > 0) {
    std::string piece(size_t(length) + 1, '\0');
    std::snprintf(piece.data(), piece.size(), conversion.c_str(), value);
    text.append(piece, 0, size_t(length));
  }
}

/// Formats one value by `conversion`: "%d", "%08llx".
void convert(std::string &text, const std::string &conversion, Values &values) {
  const bool isLong = conversion.find('l') != std::string::npos;
  switch (conversion.back()) {
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
  case 'a':
  case 'A':
    return append(text, conversion, values.take<double>());
  case 'p':
    return append(text, conversion, values.take<const void *>());
  case 's':
    return append(text, conversion, values.take<const char *>());
  default:
    return isLong ? append(text, conversion, values.take<long long>()) : append(text, conversion, values.take<int>());
  }
}

} // namespace

std::string formatDevicePrint(const char *format, const void *arguments) {
  constexpr std::string_view conversions = "diouxXcsfFeEgGaAp%";
  std::string text;
  Values values(arguments);
  for (std::string_view rest = format; !rest.empty();) {
    const size_t literal = std::min(rest.find('%'), rest.size());
    text += rest.substr(0, literal);
    rest.remove_prefix(literal);
    const size_t end = rest.empty() ? rest.npos : rest.find_first_of(conversions, 1);
    if (end == rest.npos) {
      text += rest;
      break;
    }
    if (rest[end] == '%') {
      text += '%';
    } else {
      convert(text, std::string(rest.substr(0, end + 1)), values);
    }
    rest.remove_prefix(end + 1);
  }
  return text;
}

} // namespace jitk::emulator
