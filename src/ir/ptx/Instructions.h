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
/// The comment gives `params` and what operands mean beyond the row's classes.
enum class Handler : uint16_t {
  Sreg,             // {Sreg}: tid.x, ctaid.x, nctaid.x, laneid, warpid, cluster_ctarank, ...
  SharedBase,       // address of the dynamic shared memory: i32
  LoadGlobal,       // {bytes per register, registers}: predicate, address, [fallback value per register]
  StoreGlobal,      // {bytes per register, registers}: predicate, address, values
  LoadShared,       // {bytes per register, registers}: predicate, i32 address, [fallback value per register]
  StoreShared,      // {bytes per register, registers}: predicate, i32 address, values
  AtomicGlobal,     // {AtomicOp, bytes, is float}: predicate, address, value; the old value
  AtomicShared,     // as AtomicGlobal on an i32 address
  CompareAndSwap,   // {bytes}: predicate, address, compare, value; the old value
  CpAsync,          // {bytes}: predicate, i32 shared, global, i32 source bytes (the rest is zero filled)
  CpAsyncCommit,    // commits the thread's group
  CpAsyncWait,      // imm 0 = groups that may stay pending
  CpAsyncArrive,    // i32 mbarrier; {noinc}
  Ldmatrix,         // {matrices, transposed}: i32 row address
  Stmatrix,         // {matrices, transposed}: i32 row address, registers
  Mma,              // {m, n, k, element type of A and B, of C}: A, B, C registers; D
  WgmmaFence,       //
  WgmmaCommit,      //
  WgmmaWait,        // imm 0 = groups that may stay pending; operands are tied to results (the registers it releases)
  Wgmma,            // {n, k, type of A, type of B, type of C, A in registers}: A (descriptor or registers), B descriptor,
                    // scale-d predicate, C registers; imms: scale-a, scale-b, trans-a, trans-b; D tied to C
  MbarrierInit,     // i32 address, i32 count
  MbarrierInval,    // i32 address
  MbarrierArrive,   // i32 address, i32 count
  MbarrierExpectTx, // i32 address, i32 bytes: arrive.expect_tx; {1 = arrives, 0 = expect only}
  MbarrierWait,     // i32 address, i32 parity: returns when the phase of that parity is complete
  FenceProxyAsync,  // {cluster}
  FenceMbarrierInit,
  TmaLoad,       // {rank}: predicate, i32 destination, map address, rank coordinates (innermost first), i32 mbarrier
  TmaStore,      // {rank}: predicate, map address, coordinates, i32 source
  TmaReduce,     // {rank, AtomicOp}: as TmaStore
  TmaCommit,     // commits the thread's bulk group
  TmaWait,       // {read}: imm 0 = bulk groups that may stay pending
  TensormapFence,
  BarrierCta,    // imm 0 = id, imm 1 = number of threads (0 = all of the CTA)
  BarrierArrive, // imm 0 = id, imm 1 = number of threads
  WarpSync,      // full mask
  Shuffle,       // {ShuffleMode}: value, i32 lane or delta or mask
  Elect,         // i1: one lane of the warp
  Vote,          // {VoteMode}: i1 in; i32 ballot or i1
  SetMaxRegister, // {increase}: imm 0
  ClusterArrive,
  ClusterWait,
  MapShared,     // i32 address, i32 rank: mapa
  GridDependency, // {wait}: griddepcontrol
  Convert,       // {Conversion}
  Math,          // {MathFunction}
  Trap,          // device assert: {line}
};

/// Element types as instructions name them; values of `params`.
enum class Element : int64_t { F16, BF16, TF32, F32, E4M3, E5M2, S8, U8, S32 };

/// Special registers; the value of `params[0]` of a Sreg row.
enum class Sreg : int64_t {
  TidX, TidY, TidZ, NtidX, CtaidX, CtaidY, CtaidZ, NctaidX, NctaidY, NctaidZ, LaneId, WarpId, ClusterCtaRank,
  ClusterId, NclusterId,
};
enum class AtomicOp : int64_t { Add, Min, Max, And, Or, Xor, Exch, Inc, Dec, UMin, UMax };
enum class ShuffleMode : int64_t { Idx, Bfly, Up, Down };
enum class VoteMode : int64_t { Ballot, Any, All };

/// What an instruction touches besides its registers; decides side effects and what may move across it.
enum class Effects : uint8_t {
  Pure,       // depends on its operands (and the thread's identity) alone: may be merged, moved, dropped
  Convergent, // exchanges values within a warp: keeps its place in control flow
  ReadMemory, // reads global or shared memory
  Memory,     // writes memory or synchronizes: nothing moves across
};

/// One row. Register classes are written one letter a register: `h` 16 bits, `r` 32, `l` 64, `f` f32, `d` f64,
/// `b` predicate (i1); pointers are `l` (global) and `r` (shared).
struct Instruction {
  std::string form;     ///< the key, as `ptx.inst` names it: "ld.global.v4.b32"
  std::string results;  ///< classes of the results
  std::string operands; ///< classes of the operands
  unsigned numImmediates = 0;
  /// PTX. `$0`.. are the results, then the operands, in order; `%0%`.. the immediates as decimal text. A row whose
  /// results are tied to operands says so in `tiedOperands`. Empty if `intrinsic` is set.
  std::string assembly;
  std::string intrinsic;    ///< LLVM intrinsic to call in place of the text
  int tiedOperands = -1;    ///< index of the first operand tied to result 0, 1, ...; -1 if none is tied
  Effects effects = Effects::Memory;
  unsigned minCapability = 80; ///< 80, 89, 90, 100, 120
  bool archSpecific = false;   ///< needs the `a` target of exactly minCapability
  unsigned minPtx = 70;        ///< 70 is PTX 7.0
  Handler handler = Handler::Trap;
  std::array<int64_t, 6> params = {};
};

/// Looks a form up; null if the table has none of that name. Thread-safe; the table is built once and never changes.
const Instruction *lookupInstruction(llvm::StringRef form);

/// All rows. The index of a row is stable within a process and is what the emulator is called with.
llvm::ArrayRef<Instruction> allInstructions();

} // namespace jitk::ir::ptx
