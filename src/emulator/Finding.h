// What the emulator finds wrong with a kernel.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace jitk::emulator {

enum class FindingKind : uint8_t {
  OutOfBounds,       ///< an access outside every allocation, or outside the CTA's shared memory
  Misaligned,        ///< an address that the instruction's width does not divide
  Uninitialised,     ///< a read of bytes that nobody wrote
  Pending,           ///< a read or write of bytes that an asynchronous copy has yet to write
  Poison,            ///< a use of registers that an asynchronous instruction has yet to write
  Race,              ///< two accesses, one of them a write, that no synchronization orders
  GridRace,          ///< two clusters of a grid use the same bytes of global memory, one to write, unordered
  InFlightOverwrite, ///< a write over bytes that an asynchronous instruction still reads
  MissingProxyFence, ///< generic-proxy accesses that the async proxy's conflict with, without fence.proxy.async between
  Barrier,           ///< a barrier whose participants disagree
  Deadlock,          ///< no thread can run
  Divergence,        ///< lanes of a warp at different .sync.aligned instructions
  Descriptor,        ///< fields of a matrix descriptor that no hardware accepts
  TensorMap,         ///< a tensor map, coordinate or destination that no hardware accepts
  Mbarrier,          ///< mbarrier misuse
  Registers,         ///< a setmaxnreg that no hardware carries out
  AsyncAtExit,       ///< a thread ends while its asynchronous work is in flight
  Trap,              ///< the kernel trapped
  Limit,             ///< a thread ran longer than the device's options allow
  Unsupported,       ///< the emulator, or the target it stands for, does not run the instruction
};

std::string_view findingKindName(FindingKind kind);

/// One finding. A value; compares by content.
struct Finding {
  FindingKind kind = FindingKind::Unsupported;
  std::string form;     ///< the instruction's row; empty if none is to blame
  std::string location; ///< where the instruction stands in the source IR; may be empty
  std::array<uint32_t, 3> cta = {};
  uint32_t warp = 0;
  uint32_t lane = 0;
  uint64_t address = 0; ///< shared (below 2^32) or global address; 0 if none is involved
  std::string detail;

  /// One line: kind, instruction, thread, address, detail.
  std::string toString() const;
  bool operator==(const Finding &) const = default;
};

} // namespace jitk::emulator
