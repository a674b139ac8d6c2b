#include "src/reference/Instance.h"

#include "src/ops/ScalarDefault.h"
#include "src/ops/UserKernel.h"
#include "src/reference/Data.h"
#include "src/reference/HostMemory.h"
#include "src/reference/Numeric.h"
#include "src/reference/References.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace jitk::reference {

const HostTensor &Operands::tensor(std::string_view name) const {
  for (const HostTensor &candidate : tensors_) {
    if (candidate.shape.name == name) {
      return candidate;
    }
  }
  return tensors_.front(); // not reached: the names are those of the schema
}

std::vector<float> Operands::decoded(std::string_view name) const {
  const HostTensor &found = tensor(name);
  return decode(found.shape.dtype, found.bytes);
}

std::vector<int32_t> Operands::integers(std::string_view name) const {
  const HostTensor &found = tensor(name);
  std::vector<int32_t> values(found.bytes.size() / sizeof(int32_t));
  std::ranges::copy(found.bytes, reinterpret_cast<uint8_t *>(values.data()));
  return values;
}

int64_t Sizes::operator[](std::string_view attribute) const {
  Result<int64_t> size = sizeOf(description_, attribute, sizes_);
  return size.ok() ? *size : 0; // sizes were checked when the tensors were made
}

/// Calls `visit(row, begin)` for each row: where it lies among the rows, and in memory, in bytes.
template <typename Visit> static void forEachRow(const TensorShape &shape, const Visit &visit) {
  int64_t width = dtypeBytes(shape.dtype);
  for (int64_t row = 0, count = shape.numElements() / shape.rowSize; row < count; ++row) {
    visit(size_t(row * shape.rowSize * width), size_t(shape.rowBegin(row) * width));
  }
}

std::vector<uint8_t> spreadRows(const HostTensor &tensor) {
  const TensorShape &shape = tensor.shape;
  if (shape.rowSize == 0) {
    return tensor.bytes;
  }
  std::vector<uint8_t> memory(size_t(shape.span()), kPoison);
  auto rowBytes = size_t(shape.rowSize * dtypeBytes(shape.dtype));
  forEachRow(shape, [&](size_t row, size_t begin) {
    std::memcpy(memory.data() + begin, tensor.bytes.data() + row, rowBytes);
  });
  return memory;
}

/// The first byte of `gap` that a launch has changed; past the end if none.
static size_t changedByte(std::span<const uint8_t> gap) {
  // A gap may be gigabytes, of which each byte is as the one before it.
  if (gap.empty() || (gap[0] == kPoison && std::memcmp(gap.data(), gap.data() + 1, gap.size() - 1) == 0)) {
    return gap.size();
  }
  return size_t(std::ranges::find_if(gap, [](uint8_t byte) { return byte != kPoison; }) - gap.begin());
}

std::vector<uint8_t> gatherRows(const TensorShape &shape, std::vector<uint8_t> memory) {
  if (shape.rowSize == 0) {
    return memory;
  }
  std::vector<uint8_t> rows(size_t(shape.bytes()));
  auto rowBytes = size_t(shape.rowSize * dtypeBytes(shape.dtype));
  forEachRow(shape, [&](size_t row, size_t begin) { std::memcpy(rows.data() + row, memory.data() + begin, rowBytes); });
  return rows;
}

Status checkBetweenRows(const TensorShape &shape, std::span<const uint8_t> memory) {
  if (shape.rowSize == 0) {
    return okStatus();
  }
  auto rowBytes = size_t(shape.rowSize * dtypeBytes(shape.dtype));
  size_t end = 0, changed = memory.size(); // of the row before; the first byte that has changed
  forEachRow(shape, [&](size_t, size_t begin) {
    size_t at = end + changedByte(memory.subspan(end, begin - end));
    changed = at < begin ? std::min(changed, at) : changed;
    end = begin + rowBytes;
  });
  if (changed < memory.size()) {
    return Status(StatusCode::DataLoss,
                  "what lies between the rows of " + shape.name + " was overwritten, byte " + std::to_string(changed));
  }
  return okStatus();
}

/// Values of an input: normal, scales positive and small.
static std::vector<uint8_t> randomValues(const TensorShape &shape, Random &random) {
  if (shape.name.ends_with("_scale")) {
    return drawValues(shape, random, [](Random &ofBlock, size_t) { return 0.002 + 0.008 * ofBlock.uniform(); });
  }
  // e4m3 reaches 448: a standard deviation of 32 uses its range without saturating often.
  double deviation = shape.dtype == "e4m3" ? 32 : 1;
  return drawValues(shape, random, [=](Random &ofBlock, size_t) { return ofBlock.normal() * deviation; });
}

/// Integers of an engine's own kernel, which nobody knows the meaning of: in [0, 100).
static std::vector<uint8_t> smallIntegers(const TensorShape &shape, Random &random) {
  std::vector<uint8_t> bytes(size_t(shape.bytes()));
  size_t width = size_t(dtypeBytes(shape.dtype));
  for (size_t at = 0; at < bytes.size(); at += width) {
    int64_t value = random.below(100);
    std::memcpy(bytes.data() + at, &value, width); // the low bytes come first
  }
  return bytes;
}

/// The least value of an integer dtype, and the one behind the largest; equal ones for what is none.
static std::pair<Number, Number> rangeOf(std::string_view dtype) {
  if (dtype == "uint8") {
    return {0, 256};
  }
  Number end = dtype == "int8" ? 0x1p7L : dtype == "int32" ? 0x1p31L : dtype == "int64" ? 0x1p63L : 0;
  return {-end, end};
}

/// The integers that were given for a tensor.
static Result<std::vector<uint8_t>> givenIntegers(const TensorShape &shape, const std::vector<Number> &values) {
  if (int64_t(values.size()) != shape.numElements()) {
    return invalidArgument("tensor " + shape.name + " must be given " + std::to_string(shape.numElements()) +
                           " values: got " + std::to_string(values.size()));
  }
  std::vector<uint8_t> bytes(size_t(shape.bytes()));
  auto [least, end] = rangeOf(shape.dtype);
  auto width = size_t(dtypeBytes(shape.dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= least && values[i] < end) || std::trunc(values[i]) != values[i]) {
      return invalidArgument("values of tensor " + shape.name + " must be integers of type " + shape.dtype + ": got " +
                             std::to_string(values[i]));
    }
    auto value = int64_t(values[i]);
    std::memcpy(bytes.data() + i * width, &value, width); // the low bytes come first
  }
  return bytes;
}

static Status checkGiven(const Description &description, const std::vector<TensorShape> &shapes,
                         const GivenValues &given) {
  JITK_ASSIGN(std::vector<ScalarForm> scalars, scalarForms(description));
  for (const auto &[name, values] : given) {
    bool isTensor = std::ranges::any_of(shapes, [&](const TensorShape &shape) {
      auto [least, end] = rangeOf(shape.dtype);
      return shape.name == name && least < end && shape.access == Access::Read;
    });
    bool isScalar = std::ranges::find(scalars, name, &ScalarForm::name) != scalars.end();
    if (!isTensor && !(isScalar && values.size() == 1)) {
      return invalidArgument("values must be for an integer input or, one value, for a scalar of " + description.op() +
                             ": got '" + name + "'");
    }
  }
  return okStatus();
}

std::vector<Number> makeScalars(const Description &description, const GivenValues &given) {
  std::vector<Number> scalars;
  for (const ScalarSchema &scalar : (*findOp(description.op()))->scalars) {
    auto found = given.find(scalar.name);
    scalars.push_back(float(found == given.end() ? Number(defaultOf(scalar, description)) : found->second.front()));
  }
  if (isUserKernel(description)) {
    Result<std::vector<ScalarForm>> forms = scalarForms(description);
    for (const ScalarForm &form : *forms) {
      auto found = given.find(form.name);
      scalars.push_back(found == given.end() ? 1 : found->second.front());
    }
  }
  return scalars;
}

/// Whether the op's own filling makes the tensor, after those that it depends on.
static bool isFilledLater(const Description &description, std::string_view tensor) {
  if (description.op() == "grouped_fp8_block_matmul") {
    return tensor == "row_group" || tensor == "valid_rows";
  }
  if (description.op() == "flash_attention") {
    return tensor.starts_with("seq_lens") || tensor.starts_with("cu_seqlens");
  }
  constexpr std::string_view kOfDeltaRule[] = {"q", "k", "g", "beta"};
  if (description.op() == "gated_delta_rule") {
    return std::ranges::find(kOfDeltaRule, tensor) != std::end(kOfDeltaRule);
  }
  std::span<const std::string_view> caches = cachesOf(description);
  return std::ranges::find(caches, tensor) != caches.end();
}

Result<std::vector<HostTensor>> makeTensors(const Description &description, const DynamicSizes &sizes, uint64_t seed,
                                            const GivenValues &given) {
  JITK_ASSIGN(std::vector<TensorShape> shapes, tensorShapes(description, sizes));
  JITK_TRY(checkHostMemory(shapes));
  JITK_TRY(checkGiven(description, shapes, given));
  Random random(seed);
  std::vector<HostTensor> tensors;
  for (TensorShape &shape : shapes) {
    HostTensor tensor{shape, {}};
    if (auto found = given.find(shape.name); found != given.end()) {
      JITK_ASSIGN(tensor.bytes, givenIntegers(shape, found->second));
    } else if (shape.access == Access::Written || isFilledLater(description, shape.name)) {
      tensor.bytes.assign(size_t(shape.bytes()), kPoison);
    } else if (isUserKernel(description) && (shape.dtype.starts_with("int") || shape.dtype == "uint8")) {
      tensor.bytes = smallIntegers(shape, random);
    } else {
      tensor.bytes = randomValues(shape, random);
    }
    tensors.push_back(std::move(tensor));
  }
  if (description.op() == "flash_attention") {
    fillFlashAttention(description, Sizes(description, sizes), given, random, tensors);
  }
  if (description.op() == "gated_delta_rule") {
    fillGatedDeltaRule(description, Sizes(description, sizes), given, random, tensors);
  }
  if (description.op() == "grouped_fp8_block_matmul") {
    fillRowGroups(description, Sizes(description, sizes), given, random, tensors);
  }
  if (!cachesOf(description).empty()) {
    JITK_TRY(fillPagedDecode(description, Sizes(description, sizes), given, random, tensors));
  }
  return tensors;
}

Result<std::vector<Expected>> computeExpected(const Description &description, const DynamicSizes &dynamicSizes,
                                              const std::vector<HostTensor> &tensors, uint64_t seed,
                                              const std::vector<double> &scalars) {
  Operands operands(tensors);
  Sizes sizes(description, dynamicSizes);
  if (description.op() == "matmul") {
    return expectMatmul(description, sizes, operands, seed);
  }
  if (description.op() == "fp8_block_matmul") {
    return expectFp8BlockMatmul(description, sizes, operands, seed);
  }
  if (description.op() == "grouped_fp8_block_matmul") {
    return expectGroupedFp8BlockMatmul(description, sizes, operands, seed);
  }
  if (description.op() == "flash_attention") {
    return expectFlashAttention(description, sizes, operands, seed);
  }
  if (description.op() == "gated_delta_rule") {
    return expectGatedDeltaRule(description, sizes, operands, seed);
  }
  if (!cachesOf(description).empty()) {
    return expectPagedDecode(description, sizes, operands, seed, scalars.front());
  }
  return unsupported("there is no reference for the op: got " + description.op());
}

} // namespace jitk::reference
