#include "src/emulator/HostEntry.h"

#include "src/ir/ptx/Instructions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace jitk::emulator {

/// Bytes of each parameter; byval attributes are taken off.
static std::vector<uint32_t> takeParameterSizes(Function &kernel) {
  const DataLayout &layout = kernel.getParent()->getDataLayout();
  std::vector<uint32_t> sizes;
  for (Argument &argument : drop_begin(kernel.args())) {
    Type *type = argument.hasByValAttr() ? argument.getParamByValType() : argument.getType();
    sizes.push_back(uint32_t(layout.getTypeAllocSize(type).getFixedValue()));
  }
  return sizes;
}

static Function *createEntry(Function &kernel) {
  Module &module = *kernel.getParent();
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::getUnqual(context);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
  Function *entry = Function::Create(type, GlobalValue::InternalLinkage, kernel.getName() + ".entry", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> arguments = {entry->getArg(0)};
  for (Argument &argument : drop_begin(kernel.args())) {
    Value *slot = builder.CreateConstGEP1_32(pointer, entry->getArg(1), argument.getArgNo() - 1);
    Value *address = builder.CreateLoad(pointer, slot);
    const bool byPointer = argument.hasByValAttr();
    arguments.push_back(byPointer ? address : builder.CreateAlignedLoad(argument.getType(), address, Align(1)));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
  return entry;
}

static void createRecord(Function &kernel, Function *entry, const std::vector<uint32_t> &sizes,
                         const KernelSignature &signature) {
  Module &module = *kernel.getParent();
  LLVMContext &context = module.getContext();
  Type *word = Type::getInt32Ty(context);
  Constant *record = ConstantStruct::getAnon(
      {entry, ConstantInt::get(word, signature.maxThreads), ConstantInt::get(word, signature.maxRegisters),
       ConstantInt::get(word, sizes.size()), ConstantDataArray::get(context, sizes)});
  new GlobalVariable(module, record->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage, record,
                     kernel.getName() + kernelRecordSuffix);
}

void addHostEntries(Module &module, const std::vector<KernelSignature> &kernels) {
  for (const KernelSignature &signature : kernels) {
    Function &kernel = *module.getFunction(signature.name);
    const std::vector<uint32_t> sizes = takeParameterSizes(kernel);
    Function *entry = createEntry(kernel);
    createRecord(kernel, entry, sizes, signature);
    kernel.setLinkage(GlobalValue::InternalLinkage);
    for (Argument &argument : kernel.args()) {
      argument.removeAttr(Attribute::ByVal);
    }
  }
  Type *word = Type::getInt64Ty(module.getContext());
  new GlobalVariable(module, word, /*isConstant=*/true, GlobalValue::ExternalLinkage,
                     ConstantInt::get(word, instructionTableHash()), tableHashSymbol);
}

uint64_t instructionTableHash() {
  static const uint64_t hash = [] {
    std::string text = "record: entry, threads, registers, sizes\n";
    for (const ir::ptx::Instruction &instruction : ir::ptx::allInstructions()) {
      text += instruction.form + ";" + instruction.results + ";" + instruction.operands + "\n";
    }
    return xxh3_64bits(StringRef(text));
  }();
  return hash;
}

} // namespace jitk::emulator
