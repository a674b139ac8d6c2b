#include "src/kernels/user/IrKernel.h"

#include "src/ir/Register.h"
#include "src/ir/TextCheck.h"
#include "src/ir/tt/Tt.h"
#include "src/kernels/user/UserRecipe.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
namespace tt = jitk::ir::tt;

namespace jitk::kernels {

/// Warps of a module that does not say.
static constexpr int32_t kDefaultWarps = 4;

static Status disagree(const UserArgument &argument, const std::string &wanted, Type found) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << found;
  return invalidArgument("argument " + argument.name + " must be " + wanted + " as the source has it: got " + text);
}

/// Whether a type of IR is one of those that the word for a dtype means.
static bool isElement(llvm::StringRef dtype, Type type) {
  if (dtype == "e4m3") {
    return type.isInteger(8) || isa<Float8E4M3FNType>(type);
  }
  return (dtype == "fp16" && type.isF16()) || (dtype == "bf16" && type.isBF16()) || (dtype == "fp32" && type.isF32()) ||
         (dtype == "fp64" && type.isF64()) || ((dtype == "int32" || dtype == "uint32") && type.isInteger(32)) ||
         ((dtype == "int64" || dtype == "uint64") && type.isInteger(64)) ||
         ((dtype == "int8" || dtype == "uint8") && type.isInteger(8));
}

static Status checkType(const UserArgument &argument, Type type) {
  using Kind = UserArgument::Kind;
  auto pointer = dyn_cast<tt::PointerType>(type);
  switch (argument.kind) {
  case Kind::Tensor:
    return pointer && isElement(argument.dtype, pointer.getPointeeType())
               ? okStatus()
               : disagree(argument, "a tensor of " + argument.dtype, type);
  case Kind::Workspace:
    return pointer ? okStatus() : disagree(argument, "the workspace", type);
  case Kind::Integer32:
    return type.isInteger(32) ? okStatus() : disagree(argument, "int32", type);
  case Kind::Integer64:
    return type.isInteger(64) ? okStatus() : disagree(argument, "int64", type);
  case Kind::Scalar:
    return isElement(scalarTypeName(argument.scalar), type)
               ? okStatus()
               : disagree(argument, std::string(scalarTypeName(argument.scalar)), type);
  }
  return internalError("argument kind is unknown");
}

/// The largest number that the expression is a multiple of, whatever the sizes of a launch; 0 for zero itself.
static int64_t divisorOf(const Expression &value, const UserKernel &kernel, const Description &description) {
  const std::vector<Expression::Term> &terms = value.terms();
  if (value.isConstant()) {
    return terms.front().value;
  }
  if (terms.size() == 1 && terms.front().op == Expression::Op::Dimension) {
    return description.dimension(kernel.dimensions[size_t(terms.front().value)]).divisor;
  }
  return 1;
}

/// Holds what the source says of a parameter's divisibility against what the description promises of it.
static Status checkDivisibility(const UserKernel &kernel, const Description &description, size_t index,
                                tt::FuncOp function, Recipe &recipe) {
  const UserArgument &argument = kernel.arguments[index];
  Attribute given = function.getArgAttr(unsigned(index), "tt.divisibility");
  auto wanted = dyn_cast_if_present<IntegerAttr>(given);
  if (given && !wanted) {
    return invalidArgument("tt.divisibility of argument " + argument.name + " must be an integer");
  }
  if (!wanted || wanted.getInt() <= 1) {
    return okStatus();
  }
  if (argument.kind == UserArgument::Kind::Tensor) {
    uint32_t &alignment = recipe.alignments[recipe.steps.front().arguments[index].index];
    alignment = std::max(alignment, uint32_t(wanted.getInt()));
    return okStatus();
  }
  bool isInteger = argument.kind == UserArgument::Kind::Integer32 || argument.kind == UserArgument::Kind::Integer64;
  if (isInteger && divisorOf(argument.value, kernel, description) % wanted.getInt() != 0) {
    return invalidArgument("argument " + argument.name + " must be a multiple of " + std::to_string(wanted.getInt()) +
                           ", as tt.divisibility has it: declare its dimension as *%" +
                           std::to_string(wanted.getInt()));
  }
  return okStatus();
}

static Result<tt::FuncOp> findEntry(ModuleOp module, const std::string &entry) {
  auto function = module.lookupSymbol<tt::FuncOp>(entry);
  auto isKernel = [](tt::FuncOp each) { return each.isPublic() && !each.isExternal(); };
  if (function && isKernel(function)) {
    return function;
  }
  std::string names;
  for (auto other : llvm::make_filter_range(module.getOps<tt::FuncOp>(), isKernel)) {
    names += (names.empty() ? "" : ", ") + other.getName().str();
  }
  if (names.empty()) {
    return invalidArgument("source must have a kernel, a public tt.func with a body: got none");
  }
  return invalidArgument("entry must be one of the source's kernels, " + names + ": got '" + entry + "'");
}

/// Says of the module what it does not say itself. Returns the CTAs of a cluster.
static Result<uint32_t> completeModule(Operation *module, const Target &target) {
  Builder b(module->getContext());
  auto setDefault = [&](llvm::StringRef name, Attribute value) {
    if (!module->hasAttr(name)) {
      module->setAttr(name, value);
    }
  };
  setDefault("ttg.num-warps", b.getI32IntegerAttr(kDefaultWarps));
  setDefault("ttg.num-ctas", b.getI32IntegerAttr(1));
  setDefault("ttg.threads-per-warp", b.getI32IntegerAttr(32));
  setDefault("ttg.target", b.getStringAttr("cuda:" + std::to_string(target.capability)));
  unsigned capability = 0;
  auto name = module->getAttrOfType<StringAttr>("ttg.target");
  if (!name || !name.getValue().starts_with("cuda:") || name.getValue().substr(5).getAsInteger(10, capability) ||
      capability > target.capability) {
    return invalidArgument("ttg.target of the source must be cuda:" + std::to_string(target.capability) +
                           " or older: got " + (name ? name.getValue().str() : "another attribute"));
  }
  auto ctas = module->getAttrOfType<IntegerAttr>("ttg.num-ctas");
  if (!ctas || ctas.getInt() < 1 || ctas.getInt() > 16) {
    return invalidArgument("ttg.num-ctas of the source must be an integer between 1 and 16: got " +
                           (ctas ? std::to_string(ctas.getInt()) : "another attribute"));
  }
  return uint32_t(ctas.getInt());
}

Result<BuiltKernel> parseIrKernel(const UserKernel &kernel, const Description &description, const Target &target,
                                  MLIRContext &context) {
  JITK_TRY(ir::checkText(kernel.source), "in the source");
  DialectRegistry registry;
  ir::registerDialects(registry);
  context.appendDialectRegistry(registry);
  BuiltKernel built;
  built.module = parseSourceString<ModuleOp>(kernel.source, ParserConfig(&context), "source");
  if (!built.module) {
    return invalidArgument("source must be a module that parses and verifies");
  }
  JITK_ASSIGN(uint32_t numCtas, completeModule(*built.module, target));
  JITK_ASSIGN(tt::FuncOp function, findEntry(*built.module, kernel.entry));
  if (function.getNumArguments() != kernel.arguments.size()) {
    return invalidArgument("number of arguments must be " + std::to_string(function.getNumArguments()) +
                           ", as the source has them: got " + std::to_string(kernel.arguments.size()));
  }
  built.recipe = userRecipe(kernel, kernel.entry);
  LaunchStep &step = built.recipe.steps.front();
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    JITK_TRY(checkType(kernel.arguments[i], function.getArgument(unsigned(i)).getType()));
    JITK_TRY(checkDivisibility(kernel, description, i, function, built.recipe));
  }
  step.arguments.push_back({Argument::Kind::Null, 0, {}}); // global scratch
  step.arguments.push_back({Argument::Kind::Null, 0, {}}); // profile scratch
  step.cluster[0] = numCtas;
  step.grid[0] = Expression::binary(Expression::Op::Mul, step.grid[0], Expression::constant(numCtas));
  return built;
}

} // namespace jitk::kernels
