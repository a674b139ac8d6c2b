// tt.print writes one line an element to the device's console, from the one thread that owns the element:
//
//   pid (0, 0, 0) idx (2, 17) x: -1.500000
//
// pid is the program's place in the grid, idx the element's in the tensor; a scalar has no idx and is printed once a
// program. Of several operands each line says which it is of.

#include "backends/nvidia/codegen/lowering/AccessVector.h"
#include "backends/nvidia/codegen/lowering/DeviceRuntime.h"
#include "backends/nvidia/codegen/lowering/FloatConversion.h"
#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

namespace {

/// A line to print: the format, and its arguments, each a 32-bit or a 64-bit word or a double.
class Line {
public:
  void text(StringRef text) {
    for (char c : text) {
      format_ += c == '%' ? "%%" : std::string(1, c);
    }
  }
  void value(StringRef conversion, Value value) {
    format_ += conversion;
    values_.push_back(value);
  }
  void list(ArrayRef<Value> numbers) {
    text("(");
    for (auto [index, number] : llvm::enumerate(numbers)) {
      text(index == 0 ? "" : ", ");
      value("%u", number);
    }
    text(")");
  }

  StringRef format() const { return format_; }
  ArrayRef<Value> values() const { return values_; }

private:
  std::string format_;
  SmallVector<Value> values_;
};

} // namespace

/// Memory of the thread for values of those types, each at a multiple of its size. In the entry block: the stack does
/// not grow with each execution.
static Value allocatePack(LoweringBuilder &b, LLVM::LLVMStructType pack) {
  Value one = b.i32(1);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(one);
  return LLVM::AllocaOp::create(b, b.loc(), LLVM::LLVMPointerType::get(b.getContext()), pack, one);
}

/// Prints a line by vprintf, whose second argument points to the values. Lines with values of the same types share
/// `memory`, which the first of them allocates.
static void emitPrint(FunctionLowering &f, const Line &line, Value &memory) {
  LoweringBuilder &b = f.builder();
  auto module = f.function()->getParentOfType<ModuleOp>();
  auto pack = LLVM::LLVMStructType::getLiteral(b.getContext(), llvm::to_vector(ValueRange(line.values()).getTypes()));
  memory = memory ? memory : allocatePack(b, pack);
  Type pointer = memory.getType();
  for (auto [index, value] : llvm::enumerate(line.values())) {
    Value address = LLVM::GEPOp::create(b, b.loc(), pointer, pack, memory, ArrayRef<LLVM::GEPArg>{0, int32_t(index)});
    LLVM::StoreOp::create(b, b.loc(), value, address);
  }
  auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer, pointer});
  LLVM::CallOp::create(b, b.loc(), deviceFunction(module, "vprintf", type),
                       ValueRange{stringConstant(module, b, line.format()), memory});
}

/// Adds a register that holds an element of type `element`.
static void addElement(Line &line, FunctionLowering &f, Value value, Type element, bool isHex, bool isSigned) {
  LoweringBuilder &b = f.builder();
  if (isa<tt::PointerType>(element)) {
    return line.value("%p", LLVM::PtrToIntOp::create(b, b.loc(), b.getI64Type(), value));
  }
  if (isHex) {
    Value bits = b.toBits(value);
    bool isLong = bits.getType().getIntOrFloatBitWidth() > 32;
    return line.value(isLong ? "0x%llx" : "0x%x", b.resizeUnsigned(bits, isLong ? b.getI64Type() : b.getI32Type()));
  }
  if (auto type = dyn_cast<FloatType>(element)) {
    if (type.getWidth() == 8) {
      value = decodeFloat8(b, value, element, f.target().capability).front();
    }
    return line.value("%f", convertFloat(b, value, b.getF64Type()));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  Type word = width > 32 ? b.getI64Type() : b.getI32Type();
  if (isSigned && width > 1 && width < 32) {
    value = LLVM::SExtOp::create(b, b.loc(), word, value);
  }
  line.value(width > 32 ? (isSigned ? "%lld" : "%llu") : (isSigned && width > 1 ? "%d" : "%u"),
             b.resizeUnsigned(value, word));
}

/// "pid (0, 0, 0) idx (2, 17)" and the op's prefix.
static Line beginLine(tt::PrintOp op, ArrayRef<Value> program, ArrayRef<Value> index) {
  Line line;
  line.text("pid ");
  line.list(program);
  if (!index.empty()) {
    line.text(" idx ");
    line.list(index);
  }
  line.text(op.getPrefix());
  return line;
}

/// Prints the elements of one operand that the thread holds, each once.
static void printOperand(tt::PrintOp op, unsigned number, ArrayRef<Value> program, FunctionLowering &f) {
  Value operand = op.getArgs()[number], memory;
  auto tensor = dyn_cast<RankedTensorType>(operand.getType());
  auto indices = tensor ? f.indices(tensor) : SmallVector<SmallVector<Value, 4>>(1);
  for (auto [reg, value] : llvm::enumerate(f.registers(operand))) {
    if (tensor && f.layout(tensor).canonicalRegister(reg) != reg) {
      continue;
    }
    Line line = beginLine(op, program, indices[reg]);
    if (op.getArgs().size() > 1) {
      line.text("(operand " + std::to_string(number) + ") ");
    }
    addElement(line, f, value, getElementTypeOrSelf(operand.getType()), op.getHex(), op.getIsSigned()[number] != 0);
    line.text("\n");
    emitPrint(f, line, memory);
  }
}

static LogicalResult lowerPrint(tt::PrintOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  if (op.getIsSigned().size() != op.getArgs().size()) {
    return op.emitOpError("needs isSigned for each of ")
           << op.getArgs().size() << " operands: got " << op.getIsSigned().size();
  }
  bool isCluster = f.target().numCtas > 1;
  Value program[] = {b.instValue(isCluster ? "sreg.clusterid.x" : "sreg.ctaid.x"), b.instValue("sreg.ctaid.y"),
                     b.instValue("sreg.ctaid.z")};
  if (op.getArgs().empty()) {
    // As a scalar: once a program.
    f.ifThen(ownsAccess(f, program[0]), [&] {
      Line line = beginLine(op, program, {});
      line.text("\n");
      Value memory;
      emitPrint(f, line, memory);
    });
  }
  for (unsigned number = 0; number < op.getArgs().size(); ++number) {
    Value owner = ownsAccess(f, op.getArgs()[number]);
    f.ifThen(owner ? owner : b.boolean(true), [&] { printOperand(op, number, program, f); });
  }
  return success();
}

void populatePrintLowerings(LoweringTable &table) { table.add(lowerPrint); }

} // namespace jitk::nvidia
