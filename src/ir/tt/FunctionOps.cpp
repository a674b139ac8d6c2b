// Functions, calls and returns.

#include "src/ir/tt/Tt.h"

#include "mlir/Interfaces/FunctionImplementation.h"

namespace jitk::ir::tt {
using namespace mlir;

// --- func

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                   ArrayRef<NamedAttribute> attrs, ArrayRef<DictionaryAttr> argAttrs) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
  if (!argAttrs.empty()) {
    call_interface_impl::addArgAndResultAttrs(builder, state, argAttrs, /*resultAttrs=*/{},
                                              getArgAttrsAttrName(state.name), getResAttrsAttrName(state.name));
  }
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto functionType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                         function_interface_impl::VariadicFlag,
                         std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), functionType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

// --- call, return

void CallOp::build(OpBuilder &, OperationState &state, FuncOp callee, ValueRange operands) {
  state.addOperands(operands);
  state.addAttribute("callee", SymbolRefAttr::get(callee));
  state.addTypes(callee.getFunctionType().getResults());
}

FunctionType CallOp::getCalleeType() { return FunctionType::get(getContext(), getOperandTypes(), getResultTypes()); }

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee) {
    return emitOpError("callee is not a function of the module: ") << getCallee();
  }
  if (callee.getFunctionType() != getCalleeType()) {
    return emitOpError("operand and result types must be those of the callee: wanted ")
           << callee.getFunctionType() << ", got " << getCalleeType();
  }
  return success();
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  if (TypeRange(getOperandTypes()) != TypeRange(function.getFunctionType().getResults())) {
    return emitOpError("operand types must be the result types of @") << function.getName();
  }
  return success();
}

} // namespace jitk::ir::tt
