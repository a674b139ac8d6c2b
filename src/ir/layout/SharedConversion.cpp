#include "src/ir/layout/SharedConversion.h"

#include "src/ir/layout/ConversionBuffer.h"
#include "src/ir/layout/ShapeFit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace jitk::ir {

namespace {

FlatVectors flatBases(const LinearLayout &layout, StringRef inDim) {
  return layout.sublayout({inDim}, layout.getOutDimNames()).getFlatBases();
}

ConversionSide sideOf(const LinearLayout &layout, LocalAccessForm form) {
  return {form, flatBases(layout, kRegister), flatBases(layout, kLane)};
}

class SharedConversionPlanner {
public:
  SharedConversionPlanner(const LinearLayout &source, const LinearLayout &target,
                          const SharedConversionOptions &options)
      : source_(source), target_(target.transposeOuts(source.getOutDimNames())), options_(options) {
    llvm::copy_if(flatBases(source_, kBlock), std::back_inserter(blocks_), [](uint64_t basis) { return basis != 0; });
  }

  std::optional<SharedConversion> plan(LocalAccessForm storeForm, LocalAccessForm loadForm) const;

private:
  LinearLayout bufferOf(ArrayRef<uint64_t> offsetBits) const;
  /// The bits of the whole buffer, lowest first, and of how many of the highest the conversion can repeat over.
  std::pair<FlatVectors, size_t> orderBits(const ConversionBuffer &bits) const;
  int64_t bytesOf(size_t numBits) const { return (int64_t(options_.elementBits) / 8) << numBits; }
  /// How many bits to repeat over so that the buffer is small enough, as far as there are any.
  size_t chooseRepetitions(size_t numBits, size_t numRepeatable) const;
  /// Plans both sides for the buffer of all repetitions, the registers of the later ones left out.
  bool planAccesses(SharedConversion &conversion, LocalAccessForm storeForm, LocalAccessForm loadForm,
                    const LinearLayout &wholeBuffer) const;

  const LinearLayout &source_;
  LinearLayout target_;
  const SharedConversionOptions &options_;
  FlatVectors blocks_;
};

LinearLayout SharedConversionPlanner::bufferOf(ArrayRef<uint64_t> offsetBits) const {
  LinearLayout::InDim offset{kOffset.str(), {}};
  for (uint64_t word : offsetBits) {
    LinearLayout::Basis basis;
    for (const LinearLayout::OutDim &out : source_.getOutDims()) {
      basis.push_back(word & (uint64_t(out.size) - 1));
      word >>= llvm::Log2_32(out.size);
    }
    offset.bases.push_back(std::move(basis));
  }
  return LinearLayout({std::move(offset), {kBlock.str(), source_.getBases(kBlock).vec()}}, source_.getOutDims().vec());
}

/// Whether bit `bit` of the offset is set by one register alone.
bool isSetByOneRegister(const LinearLayout &toOffset, unsigned bit) {
  unsigned offset = toOffset.getOutDimIndex(kOffset);
  unsigned numSetters = 0;
  for (const LinearLayout::InDim &in : toOffset.getInDims()) {
    numSetters += llvm::count_if(in.bases, [&](const auto &basis) { return basis[offset] >> bit & 1; });
  }
  return numSetters == 1 && llvm::any_of(toOffset.getBases(kRegister),
                                         [&](const auto &basis) { return basis[offset] == int32_t(1) << bit; });
}

std::pair<FlatVectors, size_t> SharedConversionPlanner::orderBits(const ConversionBuffer &bits) const {
  FlatVectors ordered = bits.fixed(), repeatable;
  FlatVectors all = ordered;
  all.append(bits.repeatable());
  LinearLayout buffer = bufferOf(all);
  LinearLayout storeOffset = source_.invertAndCompose(buffer), loadOffset = target_.invertAndCompose(buffer);
  for (size_t bit = ordered.size(); bit < all.size(); ++bit) {
    bool isAlone = isSetByOneRegister(storeOffset, bit) && isSetByOneRegister(loadOffset, bit);
    (isAlone ? repeatable : ordered).push_back(all[bit]);
  }
  ordered.append(repeatable);
  return {ordered, repeatable.size()};
}

size_t SharedConversionPlanner::chooseRepetitions(size_t numBits, size_t numRepeatable) const {
  size_t numRepeated = 0;
  while (numRepeated < numRepeatable && bytesOf(numBits - numRepeated) > options_.maxBytes) {
    ++numRepeated;
  }
  return numRepeated;
}

/// The repetitions over registers of both sides that have the bases `repeated`.
llvm::SmallVector<SharedConversion::Repetition, 1>
repetitionsOver(ArrayRef<uint64_t> repeated, const ConversionSide &store, const ConversionSide &load) {
  auto registerBit = [](const ConversionSide &side, uint64_t basis) {
    return 1u << (llvm::find(side.registers, basis) - side.registers.begin());
  };
  llvm::SmallVector<SharedConversion::Repetition, 1> repetitions = {{0, 0}};
  for (uint64_t basis : repeated) {
    for (size_t i = 0, numBefore = repetitions.size(); i < numBefore; ++i) {
      auto [storeXor, loadXor] = repetitions[i];
      repetitions.push_back({storeXor | registerBit(store, basis), loadXor | registerBit(load, basis)});
    }
  }
  return repetitions;
}

/// Extends the copies of the first repetition to all registers.
void repeatCopies(SharedConversion &conversion) {
  auto &copies = conversion.load.copies;
  size_t numOfFirst = copies.size();
  for (const SharedConversion::Repetition &repetition : ArrayRef(conversion.repetitions).drop_front()) {
    for (size_t i = 0; i < numOfFirst; ++i) {
      auto [copy, original] = copies[i];
      copies.push_back({copy ^ repetition.loadXor, original ^ repetition.loadXor});
    }
  }
}

bool SharedConversionPlanner::planAccesses(SharedConversion &conversion, LocalAccessForm storeForm,
                                           LocalAccessForm loadForm, const LinearLayout &wholeBuffer) const {
  LocalAccessOptions storeOptions, loadOptions;
  storeOptions.elementBits = loadOptions.elementBits = options_.elementBits;
  storeOptions.hasMatrix = options_.hasStmatrix;
  loadOptions.hasMatrix = options_.hasLdmatrix;
  SharedConversion::Repetition last = conversion.repetitions.back();
  auto store = planLocalAccess(storeForm, source_.invertAndCompose(wholeBuffer), storeOptions, 0, last.storeXor);
  auto load = planLocalAccess(loadForm, target_.invertAndCompose(wholeBuffer), loadOptions, 0, last.loadXor);
  if (!store || !load) {
    return false;
  }
  conversion.store = std::move(*store);
  conversion.load = std::move(*load);
  repeatCopies(conversion);
  return true;
}

std::optional<SharedConversion> SharedConversionPlanner::plan(LocalAccessForm storeForm,
                                                              LocalAccessForm loadForm) const {
  ConversionSide storing = sideOf(source_, storeForm), loading = sideOf(target_, loadForm);
  auto bits =
      ConversionBuffer::choose(storing, loading, blocks_, source_.getTotalOutDimSizeLog2(), options_.elementBits);
  if (!bits) {
    return std::nullopt;
  }
  auto [all, numRepeatable] = orderBits(*bits);
  size_t numRepeated = chooseRepetitions(all.size(), numRepeatable);
  ArrayRef<uint64_t> kept = ArrayRef(all).drop_back(numRepeated), repeated = ArrayRef(all).take_back(numRepeated);

  SharedConversion conversion;
  conversion.repetitions = repetitionsOver(repeated, storing, loading);
  conversion.bytes = bytesOf(kept.size());
  conversion.buffer = bufferOf(kept);
  if (!planAccesses(conversion, storeForm, loadForm, bufferOf(all))) {
    return std::nullopt;
  }
  return conversion;
}

/// Wavefronts, then instructions.
std::pair<size_t, size_t> costOf(const SharedConversion &conversion) {
  size_t repetitions = conversion.repetitions.size();
  return {repetitions * (conversion.store.countWavefronts() + conversion.load.countWavefronts()),
          repetitions * (conversion.store.steps.size() + conversion.load.steps.size())};
}

} // namespace

std::optional<SharedConversion> planSharedConversion(const LinearLayout &source, const LinearLayout &target,
                                                     const SharedConversionOptions &options) {
  constexpr LocalAccessForm forms[] = {LocalAccessForm::Vector, LocalAccessForm::Matrix,
                                       LocalAccessForm::MatrixTransposed};
  SharedConversionPlanner planner(source, target, options);
  bool isWarpOf32 = source.getInDimSize(kLane) == 32 && target.getInDimSize(kLane) == 32;
  std::optional<SharedConversion> best;
  for (LocalAccessForm storeForm : ArrayRef(forms).take_front(options.hasStmatrix && isWarpOf32 ? 3 : 1)) {
    for (LocalAccessForm loadForm : ArrayRef(forms).take_front(options.hasLdmatrix && isWarpOf32 ? 3 : 1)) {
      auto conversion = planner.plan(storeForm, loadForm);
      if (conversion && (!best || costOf(*conversion) < costOf(*best))) {
        best = std::move(conversion);
      }
    }
  }
  return best;
}

} // namespace jitk::ir
