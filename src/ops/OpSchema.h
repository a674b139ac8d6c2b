// Op schemas: what can be asked for.
//
// One table a family names attributes, tensors and scalars. Everything that shows or checks an op reads these tables:
// the C API, plan files, `jitk ops`, the generated pages.

#pragma once

#include "src/ops/Description.h"
#include "src/support/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jitk {

struct AttributeSchema {
  enum class Kind : uint8_t {
    Dimension,
    Integer,
    Flag,
    Number, ///< above 0, in fp32; kept as its shortest decimal text, so that equal numbers are equal attributes
    Word,
    Text, ///< anything without a zero byte
    /// "a_stride": elements from the beginning of a row of tensor `a` to that of the next; no fewer than a row has.
    /// Empty where rows lie side by side, whether that is given or not (`Description::rowStride` reads it).
    Stride,
    /// "a_page_stride": elements from the beginning of a page of tensor `a`, the rows that one index before a row's
    /// axes counts, to that of the next; no fewer than its rows take. Empty as a Stride (`Description::pageStride`
    /// reads it).
    PageStride,
  };

  std::string_view name;
  Kind kind;
  /// Text of the value where none is given; "@other" means the value of attribute `other`; empty = must be given, but
  /// for a Text or a stride, which is then empty. A Number's is as a ScalarSchema's, and its attribute is empty where
  /// it has that value (`numberOf` reads it).
  std::string_view defaultValue;
  std::string_view meaning;
  std::vector<std::string_view> words = {}; ///< Word: all that is allowed; Integer: the same, empty = a range
  int64_t minimum = 1;                      ///< Integer, strides, and a Dimension's size or bound
  int64_t maximum = Dimension::kLargest;    ///< and a Number's
  /// Dimension: the least size at a launch. Most are sizes of tensors, which may be empty.
  int64_t leastAtLaunch = 0;
  /// Dimension: the size where none is given, by a rule over the other attributes; `defaultValue` says so. Null = there
  /// is no rule.
  int64_t (*choose)(const Description &description) = nullptr;
  /// Where it does not hold, as a TensorSchema's presentIf, the attribute means nothing and is as one that is not
  /// given: one kernel has one description. For attributes whose default is a value or another attribute.
  std::string_view meansIf = {};
};

/// What a launch does with a tensor.
enum class Access : uint8_t {
  Read,
  Written, ///< never read: what lies there before does not matter
  Updated, ///< read and written
};

/// "read", "written", "updated".
std::string_view accessName(Access access);

struct TensorSchema {
  std::string_view name;
  std::string_view type; ///< "fp32", or "@dtype": the word of an attribute
  /// One expression a dimension over the attributes: "m", "1", "a+b", "ceil(k/128)", "ceil(a/b)", or by a flag
  /// "varlen?1:batch".
  std::vector<std::string_view> shape;
  Access access = Access::Read;
  std::string_view meaning;
  /// Name of a flag, "!name" for its opposite, or "mode=chunk", an attribute's word; empty = always there.
  std::string_view presentIf = {};
  /// "b_layout=col": with that word its memory is that of its transpose, in the last two axes; empty = never.
  std::string_view transposedIf = {};
  /// So many axes, the last ones as it lies in memory, are a row: what is contiguous where there is a Stride.
  size_t rowAxes = 1;
};

struct ScalarSchema {
  std::string_view name;
  /// What a launch passes that has no reason for another: a number, or "1/sqrt(e)" with an expression e as in a
  /// TensorSchema's shape, over attributes that are no dimensions (ScalarDefault.h). A launch itself must pass a value.
  std::string_view defaultValue;
  std::string_view meaning;
};

/// Sizes whose product a kernel counts in 32 bits.
struct ProductRule {
  std::vector<std::string_view> factors; ///< as a TensorSchema's shape; one alone is a bound of its sum
  std::string_view presentIf = {};       ///< as a TensorSchema's
};

struct OpSchema {
  std::string_view name;
  std::string_view summary;
  std::vector<AttributeSchema> attributes;
  std::vector<TensorSchema> tensors; ///< in the order of a launch
  std::vector<ScalarSchema> scalars; ///< in the order of a launch
  /// Dimensions that are multiples of another, static or at each launch: {"heads", "kv_heads"}.
  std::vector<std::pair<std::string_view, std::string_view>> multiples = {};
  /// Products that are at most `Dimension::kLargest`: of static sizes, and of all sizes at each launch.
  std::vector<ProductRule> products = {};
  /// Attributes that are not named above are dimensions of the user's.
  bool ownDimensions = false;
  /// What else must hold between attributes; null = nothing. Sees no size that is known at launch only: what it would
  /// say of one belongs to `multiples` or `products`.
  Status (*check)(const Description &description) = nullptr;

  /// Name and text of an attribute, as a user gives it.
  using Given = std::pair<std::string_view, std::string_view>;

  /// Makes a complete description. Fails with InvalidArgument, naming the attribute, the value found and what is
  /// allowed.
  Result<Description> describe(std::span<const Given> given) const;
  /// The attribute of that name; null if there is none.
  const AttributeSchema *attribute(std::string_view name) const;
  /// The schema as a JSON object, for people and tools.
  std::string toJson() const;
};

/// Whether a tensor or a rule with this `presentIf` is there, or an attribute with this `meansIf` means something.
bool isPresent(std::string_view condition, const Description &description);
/// Whether the tensor lies transposed in memory.
bool isTransposed(const TensorSchema &tensor, const Description &description);
/// The extents of one of its rows, as in its shape.
std::vector<std::string_view> rowOf(const TensorSchema &tensor, const Description &description);
/// The rows of one of its pages, as in its shape. For tensors with a page stride.
std::string_view pageRowsOf(const TensorSchema &tensor);

/// All ops, in the order of their names. Lives as long as the library.
std::span<const OpSchema> allOps();
/// The op of that name. Fails with InvalidArgument, naming those that there are.
Result<const OpSchema *> findOp(std::string_view name);

/// `findOp` and `describe` in one.
Result<Description> describe(std::string_view op, std::span<const OpSchema::Given> given);
/// The same from one line: "matmul m=* n=4096 k=7168". A value with spaces stands in quotes (Quoting.h).
Result<Description> parseDescription(std::string_view line);

} // namespace jitk
