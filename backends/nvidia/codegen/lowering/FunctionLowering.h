// The lowering of TTGIR functions to the LLVM and ptx dialects.
//
// One walk in dominance order emits the LLVM function beside the TTGIR function, which is erased afterwards. Every
// TTGIR value is represented by a list of LLVM values, its *registers*, each held by one thread:
//
//   scalar            one value
//   tensor            one value an element that a thread holds, in the order of the layout's register bits
//   !tt.ptr           !llvm.ptr<1>
//   !ttg.memdesc      shared memory: i32 base byte address, i32 XOR offset in elements; tensor memory: i32 address
//   !tt.tensordesc    !llvm.ptr to the 128-byte tensor map
//   !ttg.async.token  none
//
// Lists of values instead of structs, and one walk instead of a dialect conversion: a matmul tile has hundreds of
// registers a value, and packing and unpacking them is most of what a pattern rewriter and LLVM's optimizer would do.
//
// Element types: integers and f16, bf16, f32, f64 as they are, fp8 as i8. i1 is i1 in registers and i8 in memory.

#pragma once

#include "backends/nvidia/codegen/lowering/LoweringBuilder.h"
#include "backends/nvidia/codegen/lowering/LoweringTable.h"
#include "backends/nvidia/codegen/lowering/TensorLayout.h"
#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/Allocator.h"

namespace jitk::passes {
class AxisInfoAnalysis;
}

namespace jitk::nvidia {

/// What a function is compiled for.
struct KernelTarget {
  unsigned capability = 80; ///< 80, 86, 89, 90, 100, 120: of `ttg.target = "cuda:N"`
  unsigned numWarps = 4;    ///< `ttg.num-warps`
  unsigned totalWarps = 4;  ///< with those of warp-specialized partitions: `ttg.total-num-warps`
  unsigned numCtas = 1;     ///< CTAs of a program, which are a cluster
  unsigned clusterSize = 1; ///< CTAs of a cluster: those of a program, or `ttg.cluster-dim-x` programs of one CTA

  /// What is said by a function and the module around it, or by a module alone.
  static llvm::FailureOr<KernelTarget> of(mlir::Operation *functionOrModule);
};

/// The warps that execute a region together: those of the kernel, or those of a partition of ttg.warp_specialize.
/// Values that depend on the thread alone are emitted once, at the end of `prologue`, a block that dominates the
/// region.
struct WarpGroup {
  unsigned firstWarp = 0;
  unsigned numWarps = 0;
  unsigned barrier = 0;  ///< named barrier that synchronizes the group
  unsigned replicas = 1; ///< groups that run the region, each of `numWarps` warps; their barriers follow each other
  mlir::Block *prologue = nullptr;
  mlir::Value thread, lane, warp, replica;
  llvm::DenseMap<mlir::Type, llvm::SmallVector<mlir::Value, 4>> threadCoordinates;
  llvm::DenseMap<mlir::Type, mlir::Value> owners; ///< in a CTA
};

class FunctionLowering {
public:
  /// Lowers `source` next to itself. On failure a diagnostic has been given and the LLVM function is incomplete.
  static llvm::LogicalResult run(ir::tt::FuncOp source, const KernelTarget &target, passes::AxisInfoAnalysis &axes);

  LoweringBuilder &builder() { return *builder_; }
  const KernelTarget &target() const { return target_; }
  /// What is known of the contiguity of the function's TTGIR values.
  passes::AxisInfoAnalysis &axes() const { return axes_; }

  // Registers of TTGIR values.
  llvm::ArrayRef<mlir::Value> registers(mlir::Value value) const;
  mlir::Value scalar(mlir::Value value) const;
  void set(mlir::Value value, llvm::ArrayRef<mlir::Value> registers);
  /// Gives every register of `value` the same contents.
  void setAll(mlir::Value value, mlir::Value contents);

  // Types and layouts.
  /// The LLVM type of an element of the tensor, or of the scalar.
  mlir::Type elementType(mlir::Type type) const;
  llvm::SmallVector<mlir::Type> registerTypes(mlir::Type type);
  /// The types of what carries a value from block to block: its registers, but elements of 8 and 16 bits in words, as
  /// those who read fragments of them have them.
  llvm::SmallVector<mlir::Type> carriedTypes(mlir::Type type);
  llvm::SmallVector<mlir::Value> carried(mlir::Value value);
  unsigned numRegisters(mlir::Type type);
  /// The layout of a tensor type. The reference stays valid until the function is lowered.
  const TensorLayout &layout(mlir::RankedTensorType type);

  // The executing thread, relative to the warp group at work. `warp` is known to be uniform over the warp.
  mlir::Value thread();
  mlir::Value lane();
  mlir::Value warp();
  mlir::Value replica(); ///< of the groups that run the region, the number of the thread's
  mlir::Value block();   ///< rank of the CTA in its cluster
  unsigned numWarps() const { return group_->numWarps; }
  const WarpGroup &group() const { return *group_; }
  /// Whether the warp group at work is that of a partition.
  bool inPartition() const { return group_ != &root_; }
  /// Makes `group` the warp group at work until the function returns; then restores the former.
  void withGroup(WarpGroup &group, llvm::function_ref<void()> body);

  /// A barrier of the warp group at work, which also orders its shared memory accesses.
  void barrier();

  // Indices.
  /// The coordinates of each register's element in the executing thread, i32: [register][dimension].
  llvm::SmallVector<llvm::SmallVector<mlir::Value, 4>> indices(mlir::RankedTensorType type);
  /// The part of the coordinates that depends on the thread: [dimension].
  llvm::ArrayRef<mlir::Value> threadCoordinate(mlir::RankedTensorType type);
  /// A linear function of an element's coordinates, of the part that depends on the thread.
  mlir::Value threadPart(const TensorLayout &layout, llvm::function_ref<int32_t(llvm::ArrayRef<int32_t>)> number);
  /// Adds the constant part of a register to the thread's part.
  mlir::Value withRegister(mlir::Value threadPart, int32_t registerPart, uint32_t threadBits);
  /// XOR of the bases that the bits of `input` select, each basis one integer. With a register's constant folded in by
  /// `withRegister`, this is how every linear map of this lowering is evaluated.
  mlir::Value applyBases(mlir::Value input, llvm::ArrayRef<int32_t> bases);
  /// True in exactly one thread for each element of the tensor (null if that is every thread): of the cluster, for
  /// what all CTAs see.
  mlir::Value ownsElements(mlir::RankedTensorType type);
  /// The same of each CTA that holds the element: for its own shared memory.
  mlir::Value ownsElementsInCta(mlir::RankedTensorType type);

  // Shared memory.
  /// Byte address of the function's shared memory: i32.
  mlir::Value sharedBase();
  /// Byte address of the memory at `allocation.offset` of `op`. Where there is none the lowering fails in the end.
  mlir::Value sharedAddress(mlir::Operation *op);

  // Control flow.
  /// Lowers the combine function of a reduction or a scan, one block, for two tuples of one value an operand each;
  /// gives the tuple that it returns.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> inlineCombine(mlir::Block &function, llvm::ArrayRef<mlir::Value> lhs,
                                                                llvm::ArrayRef<mlir::Value> rhs);
  /// Lowers a region into the LLVM function: its entry block into `entry`, whose predecessor passes nothing.
  llvm::LogicalResult lowerRegion(mlir::Region &region, mlir::Block *entry);
  /// The LLVM block of a TTGIR block; it takes the registers of the block's arguments.
  mlir::Block *blockOf(mlir::Block *block) const { return blocks_.lookup(block); }
  /// Where control goes when the regions of `op` end.
  mlir::Block *continuationOf(mlir::Operation *op) const { return continuations_.lookup(op); }
  void setContinuation(mlir::Operation *op, mlir::Block *block) { continuations_[op] = block; }
  /// Starts a new LLVM block after the current one; the insertion point does not move.
  mlir::Block *appendBlock(mlir::TypeRange arguments = {});
  /// Emits `body` under a branch that is taken where `condition` holds.
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);

  // The function.
  bool isKernel() const { return isKernel_; }
  mlir::LLVM::LLVMFuncOp function() const { return function_; }
  mlir::Value globalScratch() const { return globalScratch_; }
  mlir::Value profileScratch() const { return profileScratch_; }

  // Warp specialization.
  /// The ttg.warp_specialize operations of the kernel; their numbers are their positions.
  llvm::ArrayRef<ir::ttg::WarpSpecializeOp> specializations() const { return specializations_; }
  /// Address of the number of the operation whose partitions run.
  mlir::Value workNumberAddress() { return sharedAddress(source_); }

private:
  /// Gives a block's argument the registers of what was carried to it.
  void receive(mlir::BlockArgument argument, llvm::ArrayRef<mlir::Value> carried);
  FunctionLowering(ir::tt::FuncOp source, const KernelTarget &target, passes::AxisInfoAnalysis &axes)
      : source_(source), target_(target), axes_(axes) {}

  llvm::LogicalResult run();
  void createFunction();
  mlir::Value uniformWarp(mlir::Value thread);
  /// Emits at the end of the current group's prologue.
  mlir::Value inPrologue(llvm::function_ref<mlir::Value()> emit);
  /// Whether the masked bits of a thread's or CTA's number are zero.
  mlir::Value whereZero(mlir::Value bits, uint32_t mask);

  ir::tt::FuncOp source_;
  const KernelTarget &target_;
  passes::AxisInfoAnalysis &axes_;
  mlir::LLVM::LLVMFuncOp function_;
  bool isKernel_ = false;
  bool owesGridWait_ = false; ///< it is a kernel that has not waited for the grids before it yet
  bool incomplete_ = false;   ///< a diagnostic was given where none could be returned
  std::optional<LoweringBuilder> builder_;
  WarpGroup root_;
  WarpGroup *group_ = &root_;
  mlir::Value sharedBase_, globalScratch_, profileScratch_, block_;
  llvm::DenseMap<mlir::Value, llvm::ArrayRef<mlir::Value>> registers_;
  llvm::BumpPtrAllocator registerMemory_;
  llvm::DenseMap<mlir::Type, std::unique_ptr<TensorLayout>> layouts_;
  llvm::DenseMap<mlir::Block *, mlir::Block *> blocks_;
  llvm::DenseMap<mlir::Operation *, mlir::Block *> continuations_;
  llvm::SmallVector<ir::ttg::WarpSpecializeOp> specializations_;
};

/// The LLVM type of a TTGIR element or scalar type.
mlir::Type convertElementType(mlir::Type type);

} // namespace jitk::nvidia
