// ttg.local_alloc, local_load, local_store: tensors between registers and buffers in shared memory.

#include "backends/nvidia/codegen/lowering/BufferAddress.h"
#include "backends/nvidia/codegen/lowering/Exchange.h"
#include "backends/nvidia/codegen/lowering/Packing.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

namespace {
constexpr unsigned kWordBits = 32;

/// The accesses that move one tensor between its registers and a buffer.
class TensorTransfer {
public:
  /// `matrixCapability`: the least capability that has the matrix instruction.
  TensorTransfer(FunctionLowering &f, Value buffer, RankedTensorType type, unsigned matrixCapability)
      : f_(f), element_(f.elementType(type)), tensor_(f.layout(type)),
        buffer_(cast<ttg::MemDescType>(buffer.getType())), bases_(offsetBases(tensor_, buffer_)) {
    bool matrices = f.target().capability >= matrixCapability && buffer_.paddings().empty();
    plan_ = SharedAccessPlan::of(bases_, storedBits(element_), matrices);
    bool vector = plan_.kind == SharedAccessPlan::Kind::Vector;
    ArrayRef<int32_t> lanes = vector ? ArrayRef<int32_t>(bases_.lanes) : ArrayRef<int32_t>(plan_.rowBases);
    address_.emplace(f, buffer, buffer_, lanes, bases_.warps);
  }

  SmallVector<Value> load() {
    SmallVector<Value> loaded(tensor_.numRegisters());
    forEachAccess([&](unsigned first) {
      SmallVector<Value> elements =
          plan_.kind == SharedAccessPlan::Kind::Vector ? loadVector(first) : loadMatrices(first);
      for (auto [i, value] : llvm::enumerate(elements)) {
        loaded[memberOf(first, i)] = value;
      }
    });
    for (unsigned reg = 0; reg < loaded.size(); ++reg) {
      loaded[reg] = loaded[tensor_.canonicalRegister(reg)];
    }
    return loaded;
  }

  void store(ArrayRef<Value> values) {
    forEachAccess([&](unsigned first) {
      SmallVector<Value> elements;
      for (unsigned i = 0; i < plan_.numMatrices() * plan_.numElements(); ++i) {
        elements.push_back(values[memberOf(first, i)]);
      }
      Value address = address_->at(bases_.ofRegister(first));
      if (plan_.kind == SharedAccessPlan::Kind::Vector) {
        storeShared(f_.builder(), address, elements);
      } else {
        SmallVector<Value> operands = {address};
        llvm::append_range(operands, packWords(f_.builder(), elements, kWordBits));
        f_.builder().inst(matrixForm("stmatrix"), operands);
      }
    });
  }

private:
  /// The elements of an access are those of its first matrix, of its second, ...
  unsigned memberOf(unsigned first, unsigned i) const {
    return plan_.member(first, i / plan_.numElements(), i % plan_.numElements());
  }

  void forEachAccess(llvm::function_ref<void(unsigned first)> body) {
    uint32_t skipped = plan_.coveredBits() | TensorLayout::freeBits(tensor_.registers);
    for (unsigned reg = 0; reg < tensor_.numRegisters(); ++reg) {
      if (!(reg & skipped)) {
        body(reg);
      }
    }
  }

  SmallVector<Value> loadVector(unsigned first) {
    return loadShared(f_.builder(), address_->at(bases_.ofRegister(first)), element_, plan_.numElements());
  }

  SmallVector<Value> loadMatrices(unsigned first) {
    LoweringBuilder &b = f_.builder();
    SmallVector<Value> words(b.inst(matrixForm("ldmatrix"), {address_->at(bases_.ofRegister(first))}));
    return unpackWords(b, words, element_, plan_.numMatrices() * plan_.numElements());
  }

  std::string matrixForm(StringRef name) const {
    return (name + ".x" + Twine(plan_.numMatrices()) +
            (plan_.kind == SharedAccessPlan::Kind::MatrixTransposed ? ".trans" : ""))
        .str();
  }

  FunctionLowering &f_;
  Type element_;
  const TensorLayout &tensor_;
  BufferLayout buffer_;
  OffsetBases bases_;
  SharedAccessPlan plan_;
  std::optional<BufferAddress> address_;
};
} // namespace

static void storeTensor(FunctionLowering &f, Value tensor, Value buffer) {
  constexpr unsigned kStmatrixCapability = 90;
  TensorTransfer(f, buffer, cast<RankedTensorType>(tensor.getType()), kStmatrixCapability).store(f.registers(tensor));
}

static LogicalResult lowerLocalAlloc(ttg::LocalAllocOp op, FunctionLowering &f) {
  f.set(op.getResult(), {f.sharedAddress(op), f.builder().i32(0)});
  if (op.getSrc()) {
    storeTensor(f, op.getSrc(), op.getResult());
  }
  return success();
}

static LogicalResult lowerLocalDealloc(ttg::LocalDeallocOp op, FunctionLowering &f) { return success(); }

static LogicalResult lowerLocalLoad(ttg::LocalLoadOp op, FunctionLowering &f) {
  constexpr unsigned kLdmatrixCapability = 75;
  f.set(op.getResult(), TensorTransfer(f, op.getSrc(), op.getType(), kLdmatrixCapability).load());
  return success();
}

static LogicalResult lowerLocalStore(ttg::LocalStoreOp op, FunctionLowering &f) {
  storeTensor(f, op.getSrc(), op.getDst());
  return success();
}

void populateSharedMemoryLowerings(LoweringTable &table) {
  table.add(lowerLocalAlloc);
  table.add(lowerLocalDealloc);
  table.add(lowerLocalLoad);
  table.add(lowerLocalStore);
}

} // namespace jitk::nvidia
