#include "src/ir/ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "src/ir/ptx/PtxDialect.cpp.inc"

#define GET_OP_CLASSES
#include "src/ir/ptx/PtxOps.cpp.inc"

using namespace mlir;

namespace jitk::ir::ptx {

void PtxDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "src/ir/ptx/PtxOps.cpp.inc"
      >();
}

Type registerType(MLIRContext *context, char letter) {
  switch (letter) {
  case 'b':
    return IntegerType::get(context, 1);
  case 'h':
    return IntegerType::get(context, 16);
  case 'r':
    return IntegerType::get(context, 32);
  case 'l':
    return IntegerType::get(context, 64);
  case 'f':
    return Float32Type::get(context);
  case 'd':
    return Float64Type::get(context);
  default:
    return {};
  }
}

/// A 64-bit operand may be a generic or a global pointer; all else must be the register's own type.
static bool fitsClass(Type type, char letter) {
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type)) {
    return letter == 'l' && pointer.getAddressSpace() <= 1;
  }
  return type == registerType(type.getContext(), letter);
}

void InstOp::build(OpBuilder &builder, OperationState &state, StringRef form, ValueRange args, ArrayRef<int64_t> imms) {
  state.addAttribute(getFormAttrName(state.name), builder.getStringAttr(form));
  state.addOperands(args);
  if (!imms.empty()) {
    state.addAttribute(getImmsAttrName(state.name), builder.getDenseI64ArrayAttr(imms));
  }
  const Instruction *row = lookupInstruction(form);
  assert(row && "the form must name a row of the table");
  for (char letter : row ? StringRef(row->results) : StringRef()) {
    state.addTypes(registerType(builder.getContext(), letter));
  }
}

static LogicalResult verifyRegisters(InstOp op, StringRef kind, TypeRange types, StringRef classes) {
  if (types.size() != classes.size()) {
    return op.emitOpError() << "'" << op.getForm() << "' takes " << classes.size() << " " << kind << "s: got "
                            << types.size();
  }
  for (auto [index, type, letter] : llvm::enumerate(types, classes)) {
    if (kind == "operand" ? !fitsClass(type, letter) : type != registerType(op.getContext(), letter)) {
      return op.emitOpError() << kind << " " << index << " of '" << op.getForm() << "' must be "
                              << registerType(op.getContext(), letter) << ": got " << type;
    }
  }
  return success();
}

LogicalResult InstOp::verify() {
  const Instruction *row = instruction();
  if (!row) {
    return emitOpError() << "names no instruction of the table: '" << getForm() << "'";
  }
  if (failed(verifyRegisters(*this, "operand", getArgs().getTypes(), row->operands)) ||
      failed(verifyRegisters(*this, "result", getValues().getTypes(), row->results))) {
    return failure();
  }
  if (getImms().size() != row->numImmediates) {
    return emitOpError() << "'" << getForm() << "' takes " << row->numImmediates << " immediates: got "
                         << getImms().size();
  }
  return success();
}

void InstOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  const Instruction *row = instruction();
  Effects kind = row ? row->effects : Effects::Memory;
  if (kind == Effects::ReadMemory || kind == Effects::Memory) {
    effects.emplace_back(MemoryEffects::Read::get());
  }
  if (kind == Effects::Memory) {
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

Speculation::Speculatability InstOp::getSpeculatability() {
  const Instruction *row = instruction();
  return row && row->effects == Effects::Pure ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

} // namespace jitk::ir::ptx
