// Warp specialization: syntax, control flow and rules.

#include "src/ir/ttg/Ttg.h"

namespace jitk::ir::ttg {
using namespace mlir;

// --- warp_specialize

void WarpSpecializeOp::build(OpBuilder &builder, OperationState &state, TypeRange resultTypes,
                             ValueRange explicitCaptures, ArrayRef<int32_t> partitionNumWarps) {
  build(builder, state, resultTypes, explicitCaptures, partitionNumWarps, /*warpGroupStartIds=*/{},
        /*requestedRegisters=*/{}, /*actualRegisters=*/{}, /*partitionReplicas=*/{});
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(state.regions.back().get());
  OperationState holder(state.location, WarpSpecializePartitionsOp::getOperationName());
  SmallVector<Location> locs(explicitCaptures.size(), state.location);
  for (size_t partition = 0; partition < partitionNumWarps.size(); ++partition) {
    Block &block = holder.addRegion()->emplaceBlock();
    block.addArguments(explicitCaptures.getTypes(), locs);
  }
  builder.create(holder);
}

WarpSpecializePartitionsOp WarpSpecializeOp::getPartitionOp() {
  return cast<WarpSpecializePartitionsOp>(getPartitionOpHolder().front().front());
}

MutableArrayRef<Region> WarpSpecializeOp::getPartitionRegions() { return getPartitionOp().getPartitionRegions(); }

unsigned WarpSpecializeOp::getReplicas(unsigned partition) {
  std::optional<ArrayRef<int32_t>> replicas = getPartitionReplicas();
  return replicas ? unsigned((*replicas)[partition]) : 1;
}

unsigned WarpSpecializeOp::getPartitionWarps(unsigned partition) {
  return getReplicas(partition) * unsigned(getPartitionNumWarps()[partition]);
}

unsigned WarpSpecializeOp::getTotalPartitionWarps() {
  unsigned total = 0;
  for (unsigned partition = 0; partition < getPartitionNumWarps().size(); ++partition) {
    total += getPartitionWarps(partition);
  }
  return total;
}

bool WarpSpecializeOp::isJoined() {
  std::optional<ArrayRef<int32_t>> starts = getWarpGroupStartIds();
  return starts && llvm::is_contained(*starts, 0);
}

void WarpSpecializeOp::getSuccessorRegions(RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  if (!point.isParent()) {
    successors.push_back(RegionSuccessor(getOperation(), getResults()));
    return;
  }
  // All regions start together. The holder never comes back: its partitions end on warps of their own.
  successors.push_back(RegionSuccessor(&getDefaultRegion()));
  successors.push_back(RegionSuccessor(&getPartitionOpHolder()));
}

ParseResult WarpSpecializeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> captures;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(captures, AsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseKeyword("default") ||
      parser.parseRegion(*result.addRegion())) {
    return failure();
  }
  OperationState holder(result.location, WarpSpecializePartitionsOp::getOperationName());
  SmallVector<int32_t> numWarps;
  while (succeeded(parser.parseOptionalKeyword(("partition" + Twine(numWarps.size())).str()))) {
    SmallVector<OpAsmParser::Argument> arguments;
    if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren, /*allowType=*/true) ||
        parser.parseKeyword("num_warps") || parser.parseLParen() || parser.parseInteger(numWarps.emplace_back()) ||
        parser.parseRParen() || parser.parseRegion(*holder.addRegion(), arguments, /*enableNameShadowing=*/true)) {
      return failure();
    }
  }
  FunctionType types;
  if (parser.parseColonType(types) || parser.resolveOperands(captures, types.getInputs(), loc, result.operands)) {
    return failure();
  }
  result.addTypes(types.getResults());
  result.addAttribute(getPartitionNumWarpsAttrName(result.name), parser.getBuilder().getDenseI32ArrayAttr(numWarps));
  Block &block = result.addRegion()->emplaceBlock();
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToStart(&block);
  builder.create(holder);
  return success();
}

void WarpSpecializeOp::print(OpAsmPrinter &printer) {
  printer << '(' << getExplicitCaptures() << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getPartitionNumWarpsAttrName().getValue()});
  printer.printNewline();
  printer << "default ";
  printer.printRegion(getDefaultRegion(), /*printEntryBlockArgs=*/false);
  for (auto [index, region, numWarps] : llvm::enumerate(getPartitionRegions(), getPartitionNumWarps())) {
    printer.printNewline();
    printer << "partition" << index << '(';
    llvm::interleaveComma(region.getArguments(), printer,
                          [&](BlockArgument argument) { printer.printRegionArgument(argument); });
    printer << ") num_warps(" << numWarps << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  printer << " : ";
  printer.printFunctionalType(*this);
}

LogicalResult WarpSpecializeOp::verify() {
  if (!isa<WarpSpecializePartitionsOp>(getPartitionOpHolder().front().front())) {
    return emitOpError("second region must hold ttg.warp_specialize.partitions");
  }
  MutableArrayRef<Region> regions = getPartitionRegions();
  if (regions.size() != getPartitionNumWarps().size()) {
    return emitOpError("needs num_warps for each of ")
           << regions.size() << " partitions: got " << getPartitionNumWarps().size();
  }
  for (auto [index, region, numWarps] : llvm::enumerate(regions, getPartitionNumWarps())) {
    if (!llvm::isPowerOf2_32(numWarps)) {
      return emitOpError("num_warps of partition ") << index << " must be a power of two: got " << numWarps;
    }
    if (TypeRange(region.getArgumentTypes()) != getExplicitCaptures().getTypes()) {
      return emitOpError("arguments of partition ") << index << " must have the types of the captures";
    }
  }
  for (auto [name, values] : {std::pair("warpGroupStartIds", getWarpGroupStartIds()),
                              std::pair("requestedRegisters", getRequestedRegisters()),
                              std::pair("partitionReplicas", getPartitionReplicas())}) {
    if (values && values->size() != regions.size()) {
      return emitOpError(name) << " must have a number for each of " << regions.size() << " partitions: got "
                               << values->size();
    }
  }
  if (auto replicas = getPartitionReplicas();
      replicas && llvm::any_of(*replicas, [](int32_t count) { return count < 1; })) {
    return emitOpError("partitionReplicas must be positive");
  }
  if (isJoined() && !isa<WarpYieldOp>(getDefaultRegion().front().front())) {
    return emitOpError("has a partition at warp 0: its default region must be empty");
  }
  // The default region's warps have a number too, the first one.
  if (auto registers = getActualRegisters(); registers && registers->size() != regions.size() + 1) {
    return emitOpError("actualRegisters must have ") << regions.size() + 1 << " numbers: got " << registers->size();
  }
  if ((*this)->getParentOfType<WarpSpecializeOp>()) {
    return emitOpError("cannot be nested in another ttg.warp_specialize");
  }
  if (auto numWarps = maybeLookupNumWarps(*this); numWarps && *numWarps % 4 != 0) {
    return emitOpError("needs a multiple of 4 warps in the module: got ") << *numWarps;
  }
  return success();
}

// --- replica_id

LogicalResult ReplicaIdOp::verify() {
  return (*this)->getParentOfType<WarpSpecializePartitionsOp>()
             ? success()
             : LogicalResult(emitOpError("stands in a partition of ttg.warp_specialize only"));
}

// --- warp_yield

LogicalResult WarpYieldOp::verify() {
  auto parent = cast<WarpSpecializeOp>((*this)->getParentOp());
  if (TypeRange(getOperandTypes()) != TypeRange(parent.getResultTypes())) {
    return emitOpError("operand types must be the result types of ttg.warp_specialize");
  }
  return success();
}

} // namespace jitk::ir::ttg
