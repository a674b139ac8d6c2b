#include "backends/nvidia/codegen/lowering/DeviceRuntime.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace jitk::nvidia {

LLVM::LLVMFuncOp deviceFunction(ModuleOp module, StringRef name, LLVM::LLVMFunctionType type) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
    return known;
  }
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(top, module.getLoc(), name, type);
}

Value stringConstant(ModuleOp module, LoweringBuilder &b, StringRef text) {
  constexpr unsigned kGlobalSpace = 1;
  std::string bytes = text.str() + '\0', name = "string_" + llvm::utohexstr(llvm::xxh3_64bits(text));
  auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
  for (unsigned next = 0; global && cast<StringAttr>(global.getValueAttr()).getValue() != bytes; ++next) {
    name += "_" + std::to_string(next);
    global = module.lookupSymbol<LLVM::GlobalOp>(name);
  }
  if (!global) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    global = LLVM::GlobalOp::create(top, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                                    /*isConstant=*/true, LLVM::Linkage::Internal, name, top.getStringAttr(bytes),
                                    /*alignment=*/1, kGlobalSpace);
  }
  auto generic = LLVM::LLVMPointerType::get(module.getContext());
  return LLVM::AddrSpaceCastOp::create(b, b.loc(), generic, LLVM::AddressOfOp::create(b, b.loc(), global));
}

} // namespace jitk::nvidia
