#include "src/ir/layout/ConversionPlan.h"

#include "src/ir/layout/ShapeFit.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace jitk::ir {

/// Whether each place of the target finds its element where index `dim` is its own.
static bool keeps(const LinearLayout &places, StringRef dim) {
  if (!places.hasOutDim(dim)) {
    return true;
  }
  unsigned out = places.getOutDimIndex(dim);
  return llvm::all_of(places.getInDims(), [&](const LinearLayout::InDim &in) {
    return llvm::all_of(llvm::enumerate(in.bases),
                        [&](auto basis) { return basis.value()[out] == (in.name == dim ? 1 << basis.index() : 0); });
  });
}

/// Shuffles move one word a lane and instruction where shared memory moves up to four, but need no barrier: they win
/// while one exchange of registers on either side does, and for a word or two in any case.
static bool areShufflesCheap(const ShufflePlan &plan, unsigned elementBits) {
  unsigned words = llvm::divideCeil(plan.numShuffles() * elementBits, 32);
  return words <= 2 || (plan.before.size() <= 1 && plan.after.size() <= 1);
}

static llvm::SmallVector<unsigned, 0> renamingOf(const ShufflePlan &plan, unsigned numRegisters) {
  llvm::SmallVector<unsigned, 0> sources(numRegisters);
  for (const ShuffleRound &round : plan.rounds) {
    for (unsigned target : round.targets) {
      sources[target] = round.source;
    }
  }
  return sources;
}

/// Whether two warps of the source hold the same elements.
static bool hasCopiesInWarps(const LinearLayout &source) { return source.getFreeVariableMasks().lookup(kWarp) != 0; }

ConversionPlan planConversion(const LinearLayout &source, const LinearLayout &target,
                              const SharedConversionOptions &options) {
  ConversionPlan plan;
  LinearLayout places = placesInSource(source, target);
  if (!keeps(places, kBlock)) {
    return plan;
  }
  if (auto shuffles = planShuffles(places)) {
    if (shuffles->isRenaming()) {
      plan.kind = ConversionKind::Registers;
      plan.sourceRegisters = renamingOf(*shuffles, target.getInDimSize(kRegister));
      return plan;
    }
    if (areShufflesCheap(*shuffles, options.elementBits)) {
      plan.kind = ConversionKind::Shuffles;
      plan.shuffles = std::move(*shuffles);
      return plan;
    }
  }
  auto shared = planSharedConversion(source, target, options);
  if (!shared) {
    return plan;
  }
  plan.kind = ConversionKind::Shared;
  plan.shared = std::move(*shared);
  // Warps that hold copies write the same places: one could overwrite in a repetition what another still reads.
  plan.isWithinWarp = keeps(places, kWarp) && !hasCopiesInWarps(source);
  return plan;
}

} // namespace jitk::ir
