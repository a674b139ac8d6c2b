// A model configuration whose fields are read with checks.

#pragma once

#include "src/support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

/// Reads typed fields of a JSON object and remembers the first failure, so that a reader asks for all its fields and
/// checks once. A field of a member that is an object is named with a dot: "rope_scaling.factor".
class Configuration {
public:
  static Result<Configuration> parse(std::string_view text);
  Configuration(Configuration &&) noexcept;
  ~Configuration();

  /// Whether the field is there and not null.
  bool has(std::string_view field) const;
  /// A positive integer; 1 after a failure.
  int64_t positive(std::string_view field);
  /// An integer of at least 0; 0 after a failure.
  int64_t natural(std::string_view field);
  /// A finite number of at least `least`; `least` after a failure.
  double number(std::string_view field, double least);
  std::string word(std::string_view field);
  /// The string in `field`, or in `older` as older files call it. Where both stand they must be equal.
  std::string word(std::string_view field, std::string_view older);
  std::vector<std::string> words(std::string_view field);
  std::vector<int64_t> naturals(std::string_view field);
  /// The model's dtype as schemas spell it; from `dtype`, or `torch_dtype` as older files call it.
  std::string dtype();
  /// Requires what the JSON text `wanted` says.
  void require(std::string_view field, std::string_view wanted);
  /// The same where the field is there and not null.
  void requireIfGiven(std::string_view field, std::string_view wanted);

  /// Records that `field` contradicts something: "field <field> must <wanted>: got <found>".
  void contradict(std::string_view field, const std::string &wanted, const std::string &found);
  /// Records a contradiction unless `value`, which `field` holds, is a multiple of `divisor`, which `divisorName`
  /// holds.
  void requireMultiple(std::string_view field, int64_t value, int64_t divisor, std::string_view divisorName);
  /// Records a contradiction unless `ranks` can share `value`, which `field` sets, in whole blocks of `block`.
  void requireShares(std::string_view field, int64_t value, int64_t ranks, int64_t block);

  /// The first failure; OK if there is none.
  Status takeStatus();

private:
  struct Json;
  struct Field;
  explicit Configuration(std::unique_ptr<Json> json);
  int64_t integer(std::string_view field, int64_t least);
  /// What `field` holds: a null pointer where there is none.
  Field find(std::string_view field) const;

  std::unique_ptr<Json> json_;
  Status status_;
};

} // namespace jitk
