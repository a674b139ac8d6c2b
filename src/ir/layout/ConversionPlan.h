// How ttg.convert_layout gets every element of a tensor from the layout it has to the one it shall have.

#pragma once

#include "src/ir/layout/SharedConversion.h"
#include "src/ir/layout/ShufflePlan.h"

namespace jitk::ir {

enum class ConversionKind {
  Registers, ///< each element stays in its thread: registers are renamed
  Shuffles,  ///< each element stays in its warp, and shuffles are the cheaper way
  Shared,    ///< through shared memory
  Cluster    ///< elements move between the CTAs of a cluster: no plan
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::Cluster;
  /// Registers: for each target register, the source register.
  llvm::SmallVector<unsigned, 0> sourceRegisters;
  /// Shuffles.
  ShufflePlan shuffles;
  /// Shared.
  SharedConversion shared;
  /// Shared: no warp reads what another one wrote, so that the barriers may be those of a warp.
  bool isWithinWarp = false;

  /// The scratch in shared memory that it needs.
  int64_t sharedBytes() const { return kind == ConversionKind::Shared ? shared.bytes : 0; }
};

/// The layouts have the same outputs, and threads in the same numbers.
ConversionPlan planConversion(const LinearLayout &source, const LinearLayout &target,
                              const SharedConversionOptions &options);

} // namespace jitk::ir
