// Tensor maps made on the device: ttng.tensormap_create, tensormap_fenceproxy_acquire, reinterpret_tensor_descriptor.
//
// The first warp builds the map in shared memory field by field, then copies it to global memory and releases it to the
// tensor-map proxy; a reader acquires it there.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"
#include "src/ir/ttng/Ttng.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

namespace {
/// Writes the fields of the map at a shared address, in one thread.
class TensormapWriter {
public:
  TensormapWriter(FunctionLowering &f, Value predicate, Value address)
      : f_(f), predicate_(predicate), address_(address) {}

  void set(const Twine &field, Value value) {
    f_.builder().inst(("tensormap.replace.tile." + field).str(), {predicate_, address_, value});
  }
  void set(const Twine &field, int64_t value) {
    f_.builder().inst(("tensormap.replace.tile." + field).str(), {predicate_, address_}, {value});
  }
  void setEach(StringRef field, OperandRange values) {
    for (auto [dim, value] : llvm::enumerate(values)) {
      set(field + "." + Twine(dim), f_.scalar(value));
    }
  }

private:
  FunctionLowering &f_;
  Value predicate_, address_;
};
} // namespace

static void writeFields(ttng::TensormapCreateOp op, FunctionLowering &f, TensormapWriter map) {
  LoweringBuilder &b = f.builder();
  Value global = LLVM::PtrToIntOp::create(b, b.loc(), b.getI64Type(), f.scalar(op.getGlobalAddress()));
  map.set("global_address", global);
  map.set("rank", int64_t(op.getGlobalDim().size()) - 1);
  map.setEach("box_dim", op.getBoxDim());
  map.setEach("global_dim", op.getGlobalDim());
  map.setEach("global_stride", op.getGlobalStride());
  map.setEach("element_stride", op.getElementStride());
  map.set("elemtype", op.getElemType());
  map.set("interleave_layout", op.getInterleaveLayout());
  map.set("swizzle_mode", op.getSwizzleMode());
  map.set("fill_mode", op.getFillMode());
}

static LogicalResult lowerCreate(ttng::TensormapCreateOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  Value address = f.sharedAddress(op), target = f.scalar(op.getDescPtr());
  Value lane = f.lane(), isFirst = b.equal(lane, 0);
  f.ifThen(b.equal(f.warp(), 0), [&] {
    // A lane clears four of the 128 bytes: fields that nothing replaces must be zero.
    b.inst("st.shared.b32", {b.boolean(true), b.add(address, b.mul(lane, 4)), b.i32(0)});
    b.inst("bar.warp.sync", {});
    writeFields(op, f, TensormapWriter(f, isFirst, address));
    b.inst("bar.warp.sync", {});
    b.inst("tensormap.cp_fenceproxy", {target, address});
    // What threads wrote here must not reach memory after what a bulk copy writes there next.
    b.inst("fence.proxy.async.shared::cta", {});
  });
  return success();
}

static LogicalResult lowerAcquire(ttng::TensormapFenceproxyAcquireOp op, FunctionLowering &f) {
  f.builder().inst("fence.proxy.tensormap.acquire", {f.scalar(op.getDescPtr())});
  return success();
}

static LogicalResult lowerReinterpret(ttng::ReinterpretTensorDescOp op, FunctionLowering &f) {
  LoweringBuilder &b = f.builder();
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  f.set(op.getResult(), {LLVM::AddrSpaceCastOp::create(b, b.loc(), generic, f.scalar(op.getRawDesc()))});
  return success();
}

void populateTensormapLowerings(LoweringTable &table) {
  table.add(lowerCreate);
  table.add(lowerAcquire);
  table.add(lowerReinterpret);
}

} // namespace jitk::nvidia
