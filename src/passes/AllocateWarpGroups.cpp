// --jitk-allocate-warp-groups: see Passes.td.

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"
#include "src/passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::passes {

#define GEN_PASS_DEF_ALLOCATEWARPGROUPS
#include "src/passes/Passes.h.inc"

namespace {

constexpr int kGroupWarps = 4, kGroupThreads = 128;
/// Registers of an SM; what one thread may have, and the unit of setmaxnreg.
constexpr int kRegisters = 65536, kFewestRegisters = 24, kMostRegisters = 256, kRegisterUnit = 8;
/// Named barriers that are left for partitions, each replica of which has one.
constexpr size_t kMostPartitions = 14;

int roundRegisters(int registers) {
  return std::clamp(registers / kRegisterUnit * kRegisterUnit, kFewestRegisters, kMostRegisters);
}

/// The warps of each partition.
SmallVector<int32_t> sizesOf(ttg::WarpSpecializeOp op) {
  auto partitions = llvm::seq<unsigned>(0, op.getPartitionNumWarps().size());
  return llvm::map_to_vector(partitions, [&](unsigned partition) { return int32_t(op.getPartitionWarps(partition)); });
}

/// The first warp of each partition: large partitions first, so that each begins at a multiple of its size.
SmallVector<int32_t> placePartitions(ttg::WarpSpecializeOp op, int firstWarp) {
  SmallVector<int32_t> sizes = sizesOf(op);
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, sizes.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::pair(-sizes[a], a) < std::pair(-sizes[b], b); });
  SmallVector<int32_t> starts(sizes.size());
  for (unsigned partition : order) {
    starts[partition] = firstWarp;
    firstWarp += sizes[partition];
  }
  return starts;
}

/// The registers of the default region and of each partition.
FailureOr<SmallVector<int32_t>> shareRegisters(ttg::WarpSpecializeOp op, int numWarps, int totalWarps, int start) {
  ArrayRef<int32_t> requests = *op.getRequestedRegisters(), starts = *op.getWarpGroupStartIds();
  int firstWarp = op.isJoined() ? 0 : numWarps;
  SmallVector<int32_t> groups((totalWarps - firstWarp) / kGroupWarps, 0);
  auto groupsOf = [&](unsigned partition) {
    unsigned first = (starts[partition] - firstWarp) / kGroupWarps;
    unsigned count = llvm::divideCeil(op.getPartitionWarps(partition), kGroupWarps);
    return MutableArrayRef(groups).slice(first, count);
  };
  for (auto [partition, request] : llvm::enumerate(requests)) {
    for (int32_t &group : groupsOf(partition)) {
      group = std::max(group, roundRegisters(request));
    }
  }
  int left = start * totalWarps / kGroupWarps;
  for (int32_t group : groups) {
    left -= group;
  }
  if (left < 0) {
    return op.emitOpError("requests more registers than there are, by ") << -left * kGroupThreads;
  }
  // A default region that is empty changes nothing.
  SmallVector<int32_t> shares = {op.isJoined() ? start : roundRegisters(left * kGroupWarps / numWarps)};
  for (unsigned partition = 0; partition < requests.size(); ++partition) {
    shares.push_back(groupsOf(partition).front());
  }
  return shares;
}

class AllocateWarpGroups : public impl::AllocateWarpGroupsBase<AllocateWarpGroups> {
public:
  void runOnOperation() override {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      if (failed(allocate(function))) {
        return signalPassFailure();
      }
    }
  }

private:
  static LogicalResult allocate(tt::FuncOp function) {
    Builder b(function);
    SmallVector<ttg::WarpSpecializeOp> ops;
    function.walk([&](ttg::WarpSpecializeOp op) { ops.push_back(op); });
    if (ops.empty()) {
      return success();
    }
    Operation *holder = ttg::holderOfKernelNumbers(function);
    int numWarps = ttg::lookupKernelNumber(function, ttg::kNumWarps).value_or(4), totalWarps = numWarps;
    for (ttg::WarpSpecializeOp op : ops) {
      size_t count = 0;
      for (unsigned partition = 0; partition < op.getPartitionNumWarps().size(); ++partition) {
        count += op.getReplicas(partition);
      }
      if (count > kMostPartitions) {
        return op.emitOpError("has more than 14 partitions: got ") << count;
      }
      if (!op.getWarpGroupStartIds()) {
        op.setWarpGroupStartIds(placePartitions(op, numWarps));
      }
      for (auto [start, size] : llvm::zip(*op.getWarpGroupStartIds(), sizesOf(op))) {
        totalWarps = std::max(totalWarps, start + size);
      }
    }
    totalWarps = llvm::alignTo(totalWarps, kGroupWarps);
    holder->setAttr("ttg.total-num-warps", b.getI32IntegerAttr(totalWarps));

    bool requested = llvm::any_of(ops, [](ttg::WarpSpecializeOp op) { return bool(op.getRequestedRegisters()); });
    if (!requested || numWarps % kGroupWarps != 0) {
      return success();
    }
    int start = std::min(roundRegisters(kRegisters / (totalWarps / kGroupWarps * kGroupThreads)), kMostRegisters);
    holder->setAttr("ttg.maxnreg", b.getI32IntegerAttr(start));
    for (ttg::WarpSpecializeOp op : ops) {
      if (op.getRequestedRegisters() && !op.getActualRegisters()) {
        FailureOr<SmallVector<int32_t>> shares = shareRegisters(op, numWarps, totalWarps, start);
        if (failed(shares)) {
          return failure();
        }
        op.setActualRegisters(*shares);
      }
    }
    return success();
  }
};

} // namespace
} // namespace jitk::passes
