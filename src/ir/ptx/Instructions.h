// The table of target instructions.
//
// An instruction of the GPU that plain LLVM IR cannot say is one row of this table. The row serves three readers: the
// verifier of `ptx.inst` (operand and result classes, number of immediates), the NVPTX lowering (text or intrinsic,
// capability gates), and the emulator (handler and its parameters). Adding an instruction means adding a row, and a
// handler if none of the existing ones fits.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <string>

namespace jitk::ir::ptx {

/// What the emulator runs for a row. One handler serves a family of rows that differ in `Instruction::params`.
/// The comment gives `{params}`, then what the operands mean after the predicate of a predicated row. "i32 shared" is a
/// byte address in the CTA's shared memory, or one that MapShared made; "global" is a 64-bit address.
// clang-format off
enum class Handler : uint16_t {
  Sreg,              // {Sreg}: none
  SharedBase,        // none; i32 address of the dynamic shared memory, a multiple of 1024
  LoadGlobal,        // {bytes per register, registers}: address, [fallback per register]. A register wider than its
                     // bytes is zero extended. With a false predicate the results are the fallbacks, or undefined
  StoreGlobal,       // {bytes per register, registers}: address, values (their low bytes are stored)
  LoadShared,        // {bytes per register, registers}: i32 shared, [fallback per register]
  StoreShared,       // {bytes per register, registers}: i32 shared, values
  AtomicGlobal,      // {AtomicOp, bytes, AtomicType}: address, value; the old value, undefined where the predicate is false
  AtomicShared,      // as AtomicGlobal on i32 shared
  CompareAndSwap,    // {bytes}: address, compare, value; the old value
  CpAsync,           // {bytes}: i32 shared, global, i32 source bytes (the rest is zero filled)
  CpAsyncCommit,     // commits the thread's group
  CpAsyncWait,       // imm 0 = groups of the thread that may stay pending
  CpAsyncArrive,     // {1 = noinc}: i32 shared mbarrier: the thread arrives there when its earlier cp.async are complete; 0 = the
                     // phase's pending count grows by one first
  Ldmatrix,          // {matrices, transposed}: i32 shared row address
  Stmatrix,          // {matrices, transposed}: i32 shared row address, registers
  Mma,               // {m, n, k, Element of A, Element of C and D, Element of B}: A, B, C registers; D
  WgmmaFence,        // operands are tied to results (registers that products read next)
  WgmmaCommit,
  WgmmaWait,         // imm 0 = groups that may stay pending; operands are tied to results (the registers it releases)
  Wgmma,             // {n, k, Element of A, of B, of C and D, 1 = A in registers}: A (descriptor or 4 registers), B
                     // descriptor, scale-d predicate (false: D = A*B), C registers tied to D.
                     // imms: scale-a, scale-b (1 or -1); 16-bit types: also trans-a, trans-b (0 or 1; 1 = MN-major);
                     // s8 has none
  MbarrierInit,      // i32 shared, i32 count
  MbarrierInval,     // i32 shared
  MbarrierArrive,    // i32 shared, i32 count
  MbarrierExpectTx,  // {1 = arrives, 0 = expects only}: i32 shared, i32 bytes
  MbarrierWait,      // i32 shared, i32 parity: returns when the phase of that parity is complete
  FenceProxyAsync,   // {0 = shared memory of the CTA, 1 = of the cluster, 2 = global memory}
  FenceMbarrierInit,
  Fence,             // {Scope}: orders the thread's memory accesses for that scope
  TmaLoad,           // {rank, 1 = multicast, 1 = cache hint}: i32 shared destination, map address, rank i32 coordinates
                     // (innermost first), i32 shared mbarrier, [i16 mask of CTAs], [i64 cache policy]
  TmaStore,          // {rank}: map address, coordinates, i32 shared source
  TmaReduce,         // {rank, AtomicOp}: as TmaStore
  TmaCommit,         // commits the thread's bulk group
  TmaWait,           // {1 = until the sources are read, 0 = until the writes are done}: imm 0 = groups that may stay pending
  BulkLoad,          // i32 shared destination, global, i32 bytes, i32 shared mbarrier
  BulkStore,         // global, i32 shared source, i32 bytes
  TensormapReplace,  // {TensormapField, ordinal}: i32 shared address of the map, value (or imm 0)
  TensormapPublish,  // global map, i32 shared map: the warp copies 128 bytes and releases them to the device
  TensormapFence,    // map address: acquires a map published by another thread
  Prefetch,          // address; no effect on values
  CachePolicy,       // i64: an L2 policy, without effect on values
  BarrierCta,        // imm 0 = id, imm 1 = number of threads; one immediate: all threads of the CTA. param 0: the id is
                     // an operand, imm 0 the number of threads
  BarrierArrive,     // imm 0 = id, imm 1 = number of threads
  WarpSync,          // all lanes
  Shuffle,           // {ShuffleMode}: i32 value, i32 lane, mask or delta; all lanes. Up and Down keep the own value at the edge
  Elect,             // i1: true in exactly one lane of the warp
  Vote,              // {VoteMode}: i1; i32 ballot, or i1
  Redux,             // {AtomicOp}: i32; the reduction over all lanes
  SetMaxRegister,    // {1 = increase}: imm 0 = registers
  ClusterArrive,     // {1 = relaxed}
  ClusterWait,
  MapShared,         // i32 shared, i32 rank: the address as the CTA of that rank in the cluster sees it
  GridDependency,    // {1 = wait, 0 = launch dependents}
  Convert,           // {Conversion}: values, element 0 first
  Math,              // {MathFunction}: values
  Permute,           // i32, i32, i32 selector: prmt.b32
  Nanosleep,         // i32
  Trap,              // ends the kernel with an error
};
// clang-format on

/// Element types as instructions name them; values of `params`.
enum class Element : int64_t { F16, BF16, TF32, F32, E4M3, E5M2, S8, U8, S32 };

/// Special registers; the value of `params[0]` of a Sreg row.
enum class Sreg : int64_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  ClusterCtaRank,
  ClusterIdX,
  NclusterIdX,
  ClusterNctaRank,
  Clock,
  GlobalTimer,
};
enum class AtomicOp : int64_t { Add, Min, Max, And, Or, Xor, Exch, Inc, Dec, UMin, UMax };
/// How an atomic or a reduction reads its bits. F16x2 and BF16x2 act on each half.
enum class AtomicType : int64_t { Integer, Float, F16x2, BF16x2, BF16 };
enum class ShuffleMode : int64_t { Idx, Bfly, Up, Down };
enum class VoteMode : int64_t { Ballot, Any, All };
enum class Scope : int64_t { Cta, Cluster, Gpu, Sys };
enum class TensormapField : int64_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElemType,
  InterleaveLayout,
  SwizzleMode,
  FillMode,
};
/// Source to target; two elements a register, the lower element in the lower bits. All round to nearest even except
/// the ones to TF32 (to nearest, ties away). Those to fp8 saturate to the largest finite value.
enum class Conversion : int64_t {
  E4M3x2ToF16x2,
  E5M2x2ToF16x2,
  F16x2ToE4M3x2,
  F16x2ToE5M2x2,
  F32PairToE4M3x2,
  F32PairToE5M2x2,
  F32PairToF16x2,
  F32PairToBF16x2,
  F32ToTF32,
};
/// `Ftz` flushes subnormal operands and results to zero. Approximate functions have the error that the PTX ISA states.
enum class MathFunction : int64_t {
  Ex2,
  Ex2Ftz,
  Lg2,
  Lg2Ftz,
  Rcp,
  RcpFtz,
  Rsqrt,
  RsqrtFtz,
  Sqrt,
  SqrtFtz,
  Tanh,
  Sin,
  Cos,
  DivFull,
  DivFullFtz,
  Ex2F16x2,
  Ex2BF16x2,
  TanhF16x2,
  TanhBF16x2,
};

/// What an instruction touches besides its registers; decides side effects and what may move across it.
enum class Effects : uint8_t {
  Pure,       // depends on its operands (and the thread's identity) alone: may be merged, moved, dropped
  Convergent, // exchanges values within a warp: keeps its place in control flow
  ReadMemory, // reads global or shared memory
  Memory,     // writes memory or synchronizes: nothing moves across
};

/// Which targets have an instruction, beyond the least capability.
enum class Family : uint8_t {
  Onward,         // minCapability and every later one
  Exact,          // the `a` target of exactly minCapability
  SpecificOnward, // the `a` target of minCapability and of every later one
};

/// One row. Register classes are written one letter a register: `h` 16 bits, `r` 32, `l` 64, `f` f32, `d` f64,
/// `b` predicate (i1); pointers are `l` (global) and `r` (shared).
struct Instruction {
  std::string form = {};     ///< the key, as `ptx.inst` names it: "ld.global.v4.b32"
  std::string results = {};  ///< classes of the results
  std::string operands = {}; ///< classes of the operands
  unsigned numImmediates = 0;
  /// PTX. `$0`.. are the results, then the operands, in order; `%0%`.. the immediates as decimal text. A row whose
  /// results are tied to operands says so in `tiedOperands`. Empty if `intrinsic` is set, and for SharedBase.
  std::string assembly = {};
  std::string intrinsic = {}; ///< LLVM intrinsic to call in place of the text
  int tiedOperands = -1;      ///< index of the first operand tied to result 0, 1, ...; -1 if none is tied
  bool predicated = false; ///< operand 0 is an i1: where it is false, nothing happens and results are undefined or tied
  Effects effects = Effects::Memory;
  unsigned minCapability = 80; ///< 80, 89, 90, 100, 120
  Family family = Family::Onward;
  unsigned minPtx = 70; ///< 70 is PTX 7.0
  Handler handler = Handler::Trap;
  std::array<int64_t, 6> params = {};

  /// Whether the target `sm_<capability>`, with `a` if archSpecific, executes the row.
  bool runsOn(unsigned capability, bool archSpecific) const;
  /// The targets that execute the row, for messages: "sm_90 or later", "sm_90a", "sm_90a or a later `a` target".
  std::string requirement() const;
};

/// Looks a form up; null if the table has none of that name. Thread-safe; the table is built once and never changes.
const Instruction *lookupInstruction(llvm::StringRef form);

/// All rows. The index of a row is what the emulator is called with; it is the same in every process of a build.
llvm::ArrayRef<Instruction> allInstructions();

} // namespace jitk::ir::ptx
