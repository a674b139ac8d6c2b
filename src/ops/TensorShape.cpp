#include "src/ops/TensorShape.h"

#include "src/ops/SizeRules.h"
#include "src/ops/UserKernel.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace jitk {

int64_t TensorShape::numElements() const {
  int64_t count = 1;
  for (int64_t size : sizes) {
    count *= size;
  }
  return count;
}

int64_t TensorShape::bytes() const { return numElements() * dtypeBytes(dtype); }

int64_t TensorShape::span() const {
  int64_t elements = numElements();
  if (rowSize == 0 || elements == 0) {
    return bytes();
  }
  return (rowBegin(elements / rowSize - 1) + rowSize) * dtypeBytes(dtype);
}

int64_t TensorShape::rowBegin(int64_t row) const {
  return pageRows == 0 ? row * rowStride : row / pageRows * pageStride + row % pageRows * rowStride;
}

static constexpr std::pair<std::string_view, int64_t> kDtypes[] = {{"fp16", 2},  {"bf16", 2},  {"fp32", 4},
                                                                   {"fp64", 8},  {"e4m3", 1},  {"int8", 1},
                                                                   {"uint8", 1}, {"int32", 4}, {"int64", 8}};

int64_t dtypeBytes(std::string_view dtype) {
  const auto *found = std::ranges::find(kDtypes, dtype, &std::pair<std::string_view, int64_t>::first);
  return found == std::end(kDtypes) ? 0 : found->second;
}

std::string dtypeNames() {
  std::string names;
  for (const auto &[name, bytes] : kDtypes) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

Result<int64_t> sizeOf(const Description &description, std::string_view attribute, const DynamicSizes &sizes) {
  const AttributeValue &value = description.attributes().find(attribute)->second;
  if (const auto *integer = std::get_if<int64_t>(&value)) {
    return *integer;
  }
  const Dimension &dimension = description.dimension(attribute);
  if (dimension.isStatic()) {
    return dimension.value;
  }
  auto found = sizes.find(attribute);
  if (found == sizes.end()) {
    return invalidArgument("dimension " + std::string(attribute) + " of " + description.op() +
                           " is dynamic and needs a size");
  }
  return found->second;
}

/// Takes what stands before `separator` off the front of `text`, and the separator too.
static std::string_view takeUpTo(std::string_view &text, char separator) {
  std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(part.size() + 1);
  return part;
}

static int64_t number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// A number, or the value of an integer attribute.
static int64_t constant(std::string_view text, const Description &description) {
  bool isNumber = text.front() >= '0' && text.front() <= '9';
  return isNumber ? number(text) : description.integer(text);
}

/// Reads the forms that the schemas use: "m", "1", "batch+1", "ceil(k/128)", "varlen?1:batch"; folds what is static.
/// The second number may be an integer attribute.
Extent extentOf(std::string_view expression, const Description &description) {
  constexpr std::string_view kCeil = "ceil(";
  if (expression.find('?') != std::string_view::npos) {
    bool holds = description.flag(takeUpTo(expression, '?'));
    std::string_view first = takeUpTo(expression, ':');
    return extentOf(holds ? first : expression, description);
  }
  Extent extent;
  std::string_view name = expression;
  if (expression.starts_with(kCeil)) {
    expression.remove_prefix(kCeil.size());
    name = takeUpTo(expression, '/');
    expression.remove_suffix(1);
    extent.divisor = constant(expression, description);
  } else if (expression.find('+') != std::string_view::npos) {
    name = takeUpTo(expression, '+');
    extent.addend = constant(expression, description);
  } else if (expression.front() >= '0' && expression.front() <= '9') {
    extent.addend = number(expression);
    return extent;
  }
  const AttributeValue &value = description.attributes().find(name)->second;
  const auto *dimension = std::get_if<Dimension>(&value);
  if (dimension && !dimension->isStatic()) {
    extent.dimension = name;
    return extent;
  }
  int64_t size = dimension ? dimension->value : std::get<int64_t>(value);
  return {"", 1, (size + extent.divisor - 1) / extent.divisor + extent.addend};
}

static Result<int64_t> sizeOf(const Extent &extent, const Description &description, const DynamicSizes &sizes) {
  if (extent.dimension.empty()) {
    return extent.addend;
  }
  JITK_ASSIGN(int64_t size, sizeOf(description, extent.dimension, sizes));
  return (size + extent.divisor - 1) / extent.divisor + extent.addend;
}

static Result<int64_t> evaluate(std::string_view expression, const Description &description,
                                const DynamicSizes &sizes) {
  return sizeOf(extentOf(expression, description), description, sizes);
}

/// Refuses sizes that no dynamic dimension takes, and those that break a rule. One that no tensor needs may be missing.
static Status checkSizes(const Description &description, const DynamicSizes &sizes) {
  for (const auto &[name, size] : sizes) {
    auto attribute = description.attributes().find(name);
    const Dimension *dimension =
        attribute == description.attributes().end() ? nullptr : std::get_if<Dimension>(&attribute->second);
    if (!dimension || dimension->isStatic()) {
      return invalidArgument(description.op() + " has no dynamic dimension of that name: got '" + name + "'");
    }
  }
  std::vector<std::string> names;
  std::vector<int64_t> values;
  for (const auto &[name, size] : sizes) {
    names.push_back(name);
    values.push_back(size);
  }
  return SizeRules(description, std::move(names)).check(values);
}

static std::string dtypeOf(const TensorSchema &tensor, const Description &description) {
  return tensor.type.starts_with('@') ? description.word(tensor.type.substr(1)) : std::string(tensor.type);
}

static Result<std::vector<TensorForm>> userTensorForms(const Description &description) {
  JITK_ASSIGN(UserKernel kernel, readUserKernel(description));
  std::vector<TensorForm> forms;
  for (UserArgument &argument : kernel.arguments) {
    if (argument.kind == UserArgument::Kind::Tensor) {
      TensorForm &form = forms.emplace_back();
      form.name = std::move(argument.name);
      form.dtype = std::move(argument.dtype);
      form.extents = std::move(argument.extents);
    }
  }
  return forms;
}

Result<std::vector<ScalarForm>> scalarForms(const Description &description) {
  JITK_ASSIGN(const OpSchema *schema, findOp(description.op()));
  std::vector<ScalarForm> forms;
  for (const ScalarSchema &scalar : schema->scalars) {
    forms.push_back({std::string(scalar.name)});
  }
  if (isUserKernel(description)) {
    JITK_ASSIGN(UserKernel kernel, readUserKernel(description));
    for (const UserArgument &argument : kernel.arguments) {
      if (argument.kind == UserArgument::Kind::Scalar) {
        forms.push_back({argument.name, argument.scalar});
      }
    }
  }
  return forms;
}

Result<std::vector<TensorForm>> tensorForms(const Description &description) {
  JITK_ASSIGN(const OpSchema *schema, findOp(description.op()));
  if (isUserKernel(description)) {
    return userTensorForms(description);
  }
  std::vector<TensorForm> forms;
  for (const TensorSchema &tensor : schema->tensors) {
    if (!isPresent(tensor.presentIf, description)) {
      continue;
    }
    TensorForm form;
    form.name = tensor.name;
    form.dtype = dtypeOf(tensor, description);
    for (std::string_view expression : tensor.shape) {
      form.extents.push_back(extentOf(expression, description));
    }
    form.transposed = isTransposed(tensor, description);
    if (form.transposed) {
      std::swap(form.extents.end()[-1], form.extents.end()[-2]);
    }
    form.rowAxes = tensor.rowAxes;
    form.rowStride = description.rowStride(tensor.name).value_or(0);
    form.pageStride = description.pageStride(tensor.name).value_or(0);
    forms.push_back(std::move(form));
  }
  return forms;
}

static Result<std::vector<TensorShape>> userTensorShapes(const Description &description, const DynamicSizes &sizes) {
  JITK_ASSIGN(UserKernel kernel, readUserKernel(description));
  std::vector<TensorShape> shapes;
  for (const UserArgument &argument : kernel.arguments) {
    if (argument.kind != UserArgument::Kind::Tensor) {
      continue;
    }
    TensorShape shape{argument.name, argument.dtype, {}, argument.access};
    for (const Extent &extent : argument.extents) {
      JITK_ASSIGN(int64_t size, sizeOf(extent, description, sizes));
      shape.sizes.push_back(size);
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Result<std::vector<TensorShape>> tensorShapes(const Description &description, const DynamicSizes &sizes) {
  JITK_ASSIGN(const OpSchema *schema, findOp(description.op()));
  JITK_TRY(checkSizes(description, sizes));
  if (isUserKernel(description)) {
    return userTensorShapes(description, sizes);
  }
  std::vector<TensorShape> shapes;
  for (const TensorSchema &tensor : schema->tensors) {
    if (!isPresent(tensor.presentIf, description)) {
      continue;
    }
    TensorShape shape;
    shape.name = tensor.name;
    shape.dtype = dtypeOf(tensor, description);
    shape.access = tensor.access;
    for (std::string_view expression : tensor.shape) {
      JITK_ASSIGN(int64_t size, evaluate(expression, description, sizes));
      shape.sizes.push_back(size);
    }
    std::optional<int64_t> rowStride = description.rowStride(tensor.name);
    std::optional<int64_t> pageStride = description.pageStride(tensor.name);
    if (rowStride || pageStride) {
      shape.rowSize = 1;
      for (std::string_view expression : rowOf(tensor, description)) {
        JITK_ASSIGN(int64_t size, evaluate(expression, description, sizes));
        shape.rowSize *= size;
      }
      shape.rowStride = rowStride.value_or(shape.rowSize);
    }
    if (pageStride) {
      JITK_ASSIGN(shape.pageRows, evaluate(pageRowsOf(tensor), description, sizes));
      shape.pageStride = *pageStride;
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

} // namespace jitk
