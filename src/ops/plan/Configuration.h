// A model configuration whose fields are read with checks.

#pragma once

#include "src/support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace jitk {

/// Reads typed fields of a JSON object and remembers the first failure, so that a reader asks for all its fields and
/// checks once.
class Configuration {
public:
  static Result<Configuration> parse(std::string_view text);
  Configuration(Configuration &&) noexcept;
  ~Configuration();

  /// A positive integer that must be there; 1 after a failure.
  int64_t positive(std::string_view field);
  /// A positive integer, or `otherwise` where the field is absent.
  int64_t positiveOr(std::string_view field, int64_t otherwise);
  std::string word(std::string_view field);
  bool has(std::string_view field) const;
  /// The words of `object.field`, or empty where either is absent.
  std::string nestedWord(std::string_view object, std::string_view field) const;
  /// Whether `object.field` is the list [rows, columns]; reports another list.
  void requireBlock(std::string_view object, std::string_view field, int64_t rows, int64_t columns);

  /// Records that `field` contradicts something: "<field> must <wanted>: got <found>".
  void contradict(std::string_view field, const std::string &wanted, const std::string &found);
  /// Records a contradiction unless `field`'s value is a multiple of `divisor`, which is `divisorName`.
  void requireMultiple(std::string_view field, int64_t value, int64_t divisor, std::string_view divisorName);

  /// The first failure; OK if there is none.
  Status takeStatus();

private:
  struct Json;
  explicit Configuration(std::unique_ptr<Json> json);
  std::unique_ptr<Json> json_;
  Status status_;
};

} // namespace jitk
