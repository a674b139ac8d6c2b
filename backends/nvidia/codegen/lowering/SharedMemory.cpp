// ttg.local_alloc, local_load, local_store: tensors between registers and buffers in shared memory.

#include "backends/nvidia/codegen/lowering/BufferAddress.h"
#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr unsigned kWordBits = 32;

static std::string matrixForm(StringRef name, const LocalAccess &access) {
  bool transposed = access.form == LocalAccessForm::MatrixTransposed;
  return (name + ".x" + Twine(access.numMatrices()) + (transposed ? ".trans" : "")).str();
}

static SmallVector<Value> loadTensor(FunctionLowering &f, Value buffer, RankedTensorType type,
                                     const LocalAccess &access) {
  LoweringBuilder &b = f.builder();
  BufferLayout layout(cast<ttg::MemDescType>(buffer.getType()));
  BufferAddress address(f, buffer, layout, access);
  Type element = f.elementType(type);
  SmallVector<Value> loaded(f.numRegisters(type));
  for (const LocalAccessStep &step : access.steps) {
    SmallVector<Value> elements;
    if (access.form == LocalAccessForm::Vector) {
      elements = loadShared(b, address.at(step), element, step.registers.size());
    } else {
      SmallVector<Value> words(b.inst(matrixForm("ldmatrix", access), {address.at(step)}));
      elements = unpackWords(b, words, element, step.registers.size());
    }
    for (auto [reg, value] : llvm::zip_equal(step.registers, elements)) {
      loaded[reg] = value;
    }
  }
  for (auto [copy, original] : access.copies) {
    loaded[copy] = loaded[original];
  }
  return loaded;
}

static void storeTensor(FunctionLowering &f, ArrayRef<Value> values, Value buffer, const LocalAccess &access) {
  LoweringBuilder &b = f.builder();
  BufferLayout layout(cast<ttg::MemDescType>(buffer.getType()));
  BufferAddress address(f, buffer, layout, access);
  for (const LocalAccessStep &step : access.steps) {
    SmallVector<Value> elements = llvm::map_to_vector(step.registers, [&](unsigned reg) { return values[reg]; });
    if (access.form == LocalAccessForm::Vector) {
      storeShared(b, address.at(step), elements);
      continue;
    }
    SmallVector<Value> operands = {address.at(step)};
    llvm::append_range(operands, packWords(b, elements, kWordBits));
    b.inst(matrixForm("stmatrix", access), operands);
  }
}

static LogicalResult storeTensor(Operation *op, FunctionLowering &f, Value tensor, Value buffer) {
  constexpr unsigned kStmatrixCapability = 90;
  LocalAccessOptions options;
  options.hasMatrix = f.target().capability >= kStmatrixCapability;
  std::optional<LocalAccess> access =
      planAccess(cast<RankedTensorType>(tensor.getType()), cast<ttg::MemDescType>(buffer.getType()), options);
  if (!access) {
    return op->emitOpError("stores to the shared memory of other CTAs");
  }
  storeTensor(f, f.registers(tensor), buffer, *access);
  return success();
}

static LogicalResult lowerLocalAlloc(ttg::LocalAllocOp op, FunctionLowering &f) {
  f.set(op.getResult(), {f.sharedAddress(op), f.builder().i32(0)});
  return op.getSrc() ? storeTensor(op, f, op.getSrc(), op.getResult()) : success();
}

static LogicalResult lowerLocalDealloc(ttg::LocalDeallocOp op, FunctionLowering &f) { return success(); }

static LogicalResult lowerLocalLoad(ttg::LocalLoadOp op, FunctionLowering &f) {
  LocalAccessOptions options;
  options.hasMatrix = true;
  std::optional<LocalAccess> access = planAccess(op.getType(), op.getSrc().getType(), options);
  if (!access) {
    return op.emitOpError("loads from the shared memory of other CTAs");
  }
  f.set(op.getResult(), loadTensor(f, op.getSrc(), op.getType(), *access));
  return success();
}

static LogicalResult lowerLocalStore(ttg::LocalStoreOp op, FunctionLowering &f) {
  return storeTensor(op, f, op.getSrc(), op.getDst());
}

void populateSharedMemoryLowerings(LoweringTable &table) {
  table.add(lowerLocalAlloc);
  table.add(lowerLocalDealloc);
  table.add(lowerLocalLoad);
  table.add(lowerLocalStore);
}

} // namespace jitk::nvidia
