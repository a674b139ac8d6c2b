#include "src/runtime/Recipe.h"

#include "src/support/Bytes.h"

namespace jitk {

// Changes with the byte form below.
static constexpr uint32_t kRecipeVersion = 4;

// Least bytes of one element, for `ByteReader::count`.
static constexpr size_t kTermBytes = 9, kStringBytes = 4, kScalarBytes = 5, kArgumentBytes = 9, kTensorMapBytes = 32,
                        kStepBytes = 44;

static void write(ByteWriter &writer, const Expression &expression) {
  writer.integer(static_cast<uint32_t>(expression.terms().size()));
  for (const Expression::Term &term : expression.terms()) {
    writer.integer(static_cast<uint8_t>(term.op));
    writer.integer(term.value);
  }
}

static void write(ByteWriter &writer, const std::vector<Expression> &expressions) {
  writer.integer(static_cast<uint32_t>(expressions.size()));
  for (const Expression &expression : expressions) {
    write(writer, expression);
  }
}

static void write(ByteWriter &writer, const std::vector<std::string> &names) {
  writer.integer(static_cast<uint32_t>(names.size()));
  for (const std::string &name : names) {
    writer.string(name);
  }
}

static void write(ByteWriter &writer, const std::vector<uint32_t> &numbers) {
  writer.integer(static_cast<uint32_t>(numbers.size()));
  for (uint32_t number : numbers) {
    writer.integer(number);
  }
}

static void write(ByteWriter &writer, const TensorMap &map) {
  writer.integer(map.tensor);
  writer.integer(map.elementType);
  writer.integer(map.swizzle);
  writer.integer(static_cast<uint32_t>(map.promotion));
  write(writer, map.sizes);
  write(writer, map.strides);
  write(writer, map.box);
  write(writer, map.offset);
}

static void write(ByteWriter &writer, const LaunchStep &step) {
  writer.string(step.symbol);
  for (const Expression &extent : step.grid) {
    write(writer, extent);
  }
  for (uint32_t extent : {step.threads, step.threadsY, step.threadsZ}) {
    writer.integer(extent);
  }
  for (uint32_t extent : step.cluster) {
    writer.integer(extent);
  }
  writer.integer(step.sharedBytes);
  writer.integer(static_cast<uint8_t>(step.programmaticLaunch));
  writer.integer(static_cast<uint32_t>(step.arguments.size()));
  for (const Argument &argument : step.arguments) {
    writer.integer(static_cast<uint8_t>(argument.kind));
    writer.integer(argument.index);
    write(writer, argument.expression);
  }
}

std::vector<uint8_t> Recipe::serialize() const {
  ByteWriter writer;
  writer.integer(kRecipeVersion);
  write(writer, dimensions);
  write(writer, tensors);
  write(writer, alignments);
  writer.integer(static_cast<uint32_t>(scalars.size()));
  for (const ScalarForm &scalar : scalars) {
    writer.string(scalar.name);
    writer.integer(static_cast<uint8_t>(scalar.type));
  }
  writer.integer(static_cast<uint32_t>(tensorMaps.size()));
  for (const TensorMap &map : tensorMaps) {
    write(writer, map);
  }
  writer.integer(static_cast<uint32_t>(steps.size()));
  for (const LaunchStep &step : steps) {
    write(writer, step);
  }
  write(writer, workspaceBytes);
  return writer.take();
}

static Expression readExpression(ByteReader &reader) {
  std::vector<Expression::Term> terms(reader.count(kTermBytes));
  for (Expression::Term &term : terms) {
    term.op = static_cast<Expression::Op>(reader.integer<uint8_t>());
    term.value = reader.integer<int64_t>();
  }
  return Expression(std::move(terms));
}

static std::vector<Expression> readExpressions(ByteReader &reader) {
  std::vector<Expression> expressions(reader.count(kStringBytes));
  for (Expression &expression : expressions) {
    expression = readExpression(reader);
  }
  return expressions;
}

static std::vector<std::string> readNames(ByteReader &reader) {
  std::vector<std::string> names(reader.count(kStringBytes));
  for (std::string &name : names) {
    name = reader.string();
  }
  return names;
}

static std::vector<uint32_t> readNumbers(ByteReader &reader) {
  std::vector<uint32_t> numbers(reader.count(sizeof(uint32_t)));
  for (uint32_t &number : numbers) {
    number = reader.integer<uint32_t>();
  }
  return numbers;
}

static TensorMap readTensorMap(ByteReader &reader) {
  TensorMap map;
  map.tensor = reader.integer<uint32_t>();
  map.elementType = reader.integer<uint32_t>();
  map.swizzle = reader.integer<uint32_t>();
  map.promotion = static_cast<L2Promotion>(reader.integer<uint32_t>());
  map.sizes = readExpressions(reader);
  map.strides = readExpressions(reader);
  map.box = readNumbers(reader);
  map.offset = readExpression(reader);
  return map;
}

static LaunchStep readStep(ByteReader &reader) {
  LaunchStep step;
  step.symbol = reader.string();
  for (Expression &extent : step.grid) {
    extent = readExpression(reader);
  }
  for (uint32_t *extent : {&step.threads, &step.threadsY, &step.threadsZ}) {
    *extent = reader.integer<uint32_t>();
  }
  for (uint32_t &extent : step.cluster) {
    extent = reader.integer<uint32_t>();
  }
  step.sharedBytes = reader.integer<uint32_t>();
  step.programmaticLaunch = reader.integer<uint8_t>() != 0;
  step.arguments.resize(reader.count(kArgumentBytes));
  for (Argument &argument : step.arguments) {
    argument.kind = static_cast<Argument::Kind>(reader.integer<uint8_t>());
    argument.index = reader.integer<uint32_t>();
    argument.expression = readExpression(reader);
  }
  return step;
}

Result<Recipe> Recipe::deserialize(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  if (auto version = reader.integer<uint32_t>(); version != kRecipeVersion) {
    return Status(StatusCode::DataLoss,
                  "recipe version must be " + std::to_string(kRecipeVersion) + ": got " + std::to_string(version));
  }
  Recipe recipe;
  recipe.dimensions = readNames(reader);
  recipe.tensors = readNames(reader);
  recipe.alignments = readNumbers(reader);
  recipe.scalars.resize(reader.count(kScalarBytes));
  for (ScalarForm &scalar : recipe.scalars) {
    scalar.name = reader.string();
    scalar.type = static_cast<ScalarType>(reader.integer<uint8_t>());
  }
  recipe.tensorMaps.resize(reader.count(kTensorMapBytes));
  for (TensorMap &map : recipe.tensorMaps) {
    map = readTensorMap(reader);
  }
  recipe.steps.resize(reader.count(kStepBytes));
  for (LaunchStep &step : recipe.steps) {
    step = readStep(reader);
  }
  recipe.workspaceBytes = readExpression(reader);
  if (!reader.finished()) {
    return Status(StatusCode::DataLoss, "recipe ends too early or too late");
  }
  if (Status valid = recipe.validate(); !valid.ok()) {
    return Status(StatusCode::DataLoss, valid.toString());
  }
  return recipe;
}

Recipe Recipe::onDevice(uint32_t count) const {
  Recipe recipe = *this;
  auto bind = [count](auto &expressions) {
    for (Expression &expression : expressions) {
      expression = expression.onDevice(count);
    }
  };
  for (TensorMap &map : recipe.tensorMaps) {
    bind(map.sizes);
    bind(map.strides);
    map.offset = map.offset.onDevice(count);
  }
  for (LaunchStep &step : recipe.steps) {
    bind(step.grid);
    for (Argument &argument : step.arguments) {
      argument.expression = argument.expression.onDevice(count);
    }
  }
  recipe.workspaceBytes = recipe.workspaceBytes.onDevice(count);
  return recipe;
}

static Status wrong(const std::string &what) { return internalError("recipe is not valid: " + what); }

static bool areValid(std::span<const Expression> expressions, size_t numDimensions) {
  for (const Expression &expression : expressions) {
    if (!expression.isValid(numDimensions)) {
      return false;
    }
  }
  return true;
}

static Status validateMap(const TensorMap &map, const Recipe &recipe) {
  size_t rank = map.sizes.size();
  if (map.tensor >= recipe.tensors.size() && map.tensor != TensorMap::kWorkspace) {
    return wrong("a tensor map of tensor " + std::to_string(map.tensor));
  }
  if (rank == 0 || rank > kMaximalTensorMapRank || map.strides.size() != rank - 1 || map.box.size() != rank) {
    return wrong("a tensor map of rank " + std::to_string(rank));
  }
  size_t numDimensions = recipe.dimensions.size();
  if (!areValid(map.sizes, numDimensions) || !areValid(map.strides, numDimensions) ||
      !map.offset.isValid(numDimensions)) {
    return wrong("a size, stride or offset of a tensor map");
  }
  return okStatus();
}

static Status validateArgument(const Argument &argument, const Recipe &recipe) {
  size_t limit = SIZE_MAX;
  switch (argument.kind) {
  case Argument::Kind::Tensor:
    limit = recipe.tensors.size();
    break;
  case Argument::Kind::Scalar:
    limit = recipe.scalars.size();
    break;
  case Argument::Kind::TensorMap:
    limit = recipe.tensorMaps.size();
    break;
  case Argument::Kind::Integer32:
  case Argument::Kind::Integer64:
  case Argument::Kind::Workspace:
  case Argument::Kind::Null:
    break;
  default:
    return wrong("argument kind " + std::to_string(static_cast<int>(argument.kind)));
  }
  if (argument.index >= limit || !argument.expression.isValid(recipe.dimensions.size())) {
    return wrong("an argument's index or expression");
  }
  return okStatus();
}

static Status validateStep(const LaunchStep &step, const Recipe &recipe) {
  if (!areValid(step.grid, recipe.dimensions.size())) {
    return wrong("a grid expression of " + step.symbol);
  }
  uint64_t threads = 1;
  for (uint32_t extent : {step.threads, step.threadsY, step.threadsZ}) {
    threads = extent <= kMaximalThreads ? threads * extent : 0;
  }
  if (threads == 0 || threads > kMaximalThreads) {
    return wrong("a block of " + std::to_string(step.threads) + "x" + std::to_string(step.threadsY) + "x" +
                 std::to_string(step.threadsZ) + " threads in " + step.symbol);
  }
  if (step.cluster[0] == 0 || step.cluster[1] == 0 || step.cluster[2] == 0) {
    return wrong("an empty cluster in " + step.symbol);
  }
  if (step.arguments.size() > kMaximalArguments) {
    return wrong(std::to_string(step.arguments.size()) + " arguments of " + step.symbol);
  }
  for (const Argument &argument : step.arguments) {
    JITK_TRY(validateArgument(argument, recipe), "in " + step.symbol);
  }
  return okStatus();
}

Status Recipe::validate() const {
  if (alignments.size() != tensors.size()) {
    return wrong(std::to_string(alignments.size()) + " alignments for " + std::to_string(tensors.size()) + " tensors");
  }
  for (uint32_t alignment : alignments) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      return wrong("alignment " + std::to_string(alignment));
    }
  }
  if (dimensions.size() > kMaximalDimensions || tensorMaps.size() > kMaximalTensorMaps) {
    return wrong("too many dimensions or tensor maps");
  }
  if (steps.empty() || steps.size() > kMaximalSteps) {
    return wrong(std::to_string(steps.size()) + " steps");
  }
  for (const ScalarForm &scalar : scalars) {
    if (scalar.type > ScalarType::UInt64) {
      return wrong("scalar type " + std::to_string(static_cast<int>(scalar.type)));
    }
  }
  for (const TensorMap &map : tensorMaps) {
    JITK_TRY(validateMap(map, *this));
  }
  for (const LaunchStep &step : steps) {
    JITK_TRY(validateStep(step, *this));
  }
  if (!workspaceBytes.isValid(dimensions.size())) {
    return wrong("the workspace expression");
  }
  return okStatus();
}

} // namespace jitk
