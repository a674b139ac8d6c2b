#include "src/ir/layout/SharedConversion.h"

#include "src/ir/layout/F2Span.h"
#include "src/ir/layout/ShapeFit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace jitk::ir {

namespace {

using Vectors = SmallVector<uint64_t>;

constexpr unsigned kMaxVectorBits = 128, kBankBits = 32, kPassBits = 1024;

/// One layout of the conversion, flattened, and the form of its accesses.
struct Side {
  LocalAccessForm form;
  Vectors registers, lanes, warps;

  /// What the access covers at bit `position` of the offset; none if any register will do, or if it covers no more.
  std::optional<uint64_t> vectorBit(unsigned position, unsigned elementBits) const;
  /// The bases of lanes (and, in a transposed matrix, a register) whose accesses share a pass over the banks.
  Vectors lanesOfPass(unsigned vectorBits) const;

  bool hasRegister(uint64_t vector) const { return vector != 0 && llvm::is_contained(registers, vector); }
};

std::optional<uint64_t> Side::vectorBit(unsigned position, unsigned elementBits) const {
  unsigned wordBits = llvm::Log2_32(std::max(kBankBits / elementBits, 1u));
  if (form == LocalAccessForm::MatrixTransposed && position < 3) {
    return lanes[2 + position];
  }
  if (form == LocalAccessForm::Matrix && position >= wordBits && position < wordBits + 2) {
    return lanes[position - wordBits];
  }
  return std::nullopt;
}

Vectors Side::lanesOfPass(unsigned vectorBits) const {
  auto nonzero = [](ArrayRef<uint64_t> vectors) {
    return Vectors(llvm::make_filter_range(vectors, [](uint64_t vector) { return vector != 0; }));
  };
  switch (form) {
  case LocalAccessForm::Vector: {
    size_t numLaneBits = llvm::Log2_32(kPassBits / std::max(vectorBits, kBankBits));
    return nonzero(ArrayRef(lanes).take_front(numLaneBits));
  }
  case LocalAccessForm::Matrix:
    return nonzero(ArrayRef(lanes).drop_front(2));
  case LocalAccessForm::MatrixTransposed: {
    Vectors rows = nonzero(registers);
    rows.truncate(std::min<size_t>(rows.size(), 1));
    rows.append(nonzero(ArrayRef(lanes).take_front(2)));
    return rows;
  }
  }
  return {};
}

/// The bits of the buffer's offset, chosen for two sides.
class BufferBits {
public:
  /// `taken` are the bases of the CTA's number, which the offset leaves out.
  BufferBits(const Side &source, const Side &target, Vectors taken, unsigned numBits, unsigned elementBits)
      : source_(source), target_(target), taken_(std::move(taken)), numBits_(numBits), elementBits_(elementBits) {}

  /// False if the two forms do not fit.
  bool choose();

  /// All bits but the repeatable ones, lowest first.
  Vectors fixed;
  /// The highest bits: registers of both sides.
  Vectors repeatable;

private:
  bool chooseVector();
  void fillWord();
  void chooseSegment();
  void chooseBank();

  /// Adds bits of `candidates` to the segment that add no conflict, as long as the segment wants more.
  void extendSegment(ArrayRef<uint64_t> candidates);
  bool causesConflict(uint64_t vector) const;
  bool isLane(uint64_t vector) const {
    return llvm::is_contained(sourceLanes_, vector) || llvm::is_contained(targetLanes_, vector);
  }
  /// Unit bits that are not yet among the sums of the chosen ones.
  Vectors candidates() const;
  F2Span spanned() const;
  unsigned vectorBits() const { return elementBits_ << vector_.size(); }

  const Side &source_, &target_;
  Vectors taken_;
  unsigned numBits_, elementBits_;
  Vectors vector_, word_, bank_, segment_;
  Vectors sourceLanes_, targetLanes_;
  unsigned segmentSize_ = 0;
};

F2Span BufferBits::spanned() const {
  F2Span span(taken_);
  for (const Vectors *part : {&vector_, &word_, &segment_, &bank_}) {
    for (uint64_t bit : *part) {
      span.insert(bit);
    }
  }
  return span;
}

Vectors BufferBits::candidates() const {
  F2Span span = spanned();
  Vectors result;
  for (unsigned bit = 0; bit < numBits_; ++bit) {
    if (!span.contains(uint64_t(1) << bit)) {
      result.push_back(uint64_t(1) << bit);
    }
  }
  return result;
}

bool BufferBits::chooseVector() {
  unsigned maxBits = llvm::Log2_32(kMaxVectorBits / elementBits_);
  bool needsAll = source_.form != LocalAccessForm::Vector || target_.form != LocalAccessForm::Vector;
  SmallVector<std::optional<uint64_t>> bits(maxBits);
  // First what a matrix prescribes; the other side must prescribe the same or hold it in a register.
  for (unsigned position = 0; position < maxBits; ++position) {
    auto fromSource = source_.vectorBit(position, elementBits_), fromTarget = target_.vectorBit(position, elementBits_);
    bits[position] = fromSource ? fromSource : fromTarget;
    bool fits = !bits[position] || ((fromSource || source_.hasRegister(*bits[position])) &&
                                    (fromTarget || target_.hasRegister(*bits[position])) &&
                                    (!fromSource || !fromTarget || *fromSource == *fromTarget));
    if (!fits) {
      return false;
    }
  }
  // Then common registers.
  for (std::optional<uint64_t> &bit : bits) {
    auto isFree = [&](uint64_t vector) { return target_.hasRegister(vector) && !llvm::is_contained(bits, vector); };
    if (!bit) {
      auto next = llvm::find_if(source_.registers, isFree);
      if (next == source_.registers.end()) {
        break;
      }
      bit = *next;
    }
  }
  for (std::optional<uint64_t> bit : bits) {
    if (!bit) {
      return !needsAll;
    }
    if (F2Span(vector_).contains(*bit)) {
      return false;
    }
    vector_.push_back(*bit);
  }
  return true;
}

void BufferBits::fillWord() {
  while (vectorBits() << word_.size() < kBankBits) {
    Vectors left = candidates();
    if (left.empty()) {
      return;
    }
    // A lane here would have the word to share with a neighbour: that is no conflict, but a waste of the bank.
    auto best = llvm::find_if(left, [&](uint64_t vector) { return !isLane(vector); });
    word_.push_back(best == left.end() ? left.front() : *best);
  }
}

bool BufferBits::causesConflict(uint64_t vector) const {
  // Two lanes conflict if their difference lies in word and segment together, and not in the word alone.
  Vectors word = taken_;
  word.append(vector_);
  word.append(word_);
  Vectors all = word;
  all.append(segment_);
  all.push_back(vector);
  auto common = [](const Vectors &space, const Vectors &lanes) {
    Vectors both = space;
    both.append(lanes);
    return F2Span(space).dimension() + F2Span(lanes).dimension() - F2Span(both).dimension();
  };
  return common(all, sourceLanes_) > common(word, sourceLanes_) ||
         common(all, targetLanes_) > common(word, targetLanes_);
}

void BufferBits::extendSegment(ArrayRef<uint64_t> candidates) {
  for (uint64_t vector : candidates) {
    if (segment_.size() < segmentSize_ && !spanned().contains(vector) && !causesConflict(vector)) {
      segment_.push_back(vector);
    }
  }
}

void BufferBits::chooseSegment() {
  unsigned wordBits = std::max(vectorBits() << word_.size(), elementBits_);
  unsigned numLeft = numBits_ - spanned().dimension(), numBank = llvm::Log2_32(kPassBits / wordBits);
  segmentSize_ = numLeft > numBank ? numLeft - numBank : 0;

  // Registers of both sides first: the conversion can repeat over what lies in the segment.
  extendSegment(llvm::filter_to_vector(
      candidates(), [&](uint64_t vector) { return source_.hasRegister(vector) && target_.hasRegister(vector); }));
  extendSegment(llvm::filter_to_vector(candidates(), [&](uint64_t vector) { return !isLane(vector); }));
  for (uint64_t a : sourceLanes_) {
    for (uint64_t b : targetLanes_) {
      extendSegment({a ^ b});
    }
  }
  // What is left costs conflicts, whatever it is.
  while (segment_.size() < segmentSize_) {
    segment_.push_back(candidates().front());
  }
}

void BufferBits::chooseBank() {
  for (Vectors left = candidates(); !left.empty(); left = candidates()) {
    bank_.push_back(left.front());
  }
}

bool BufferBits::choose() {
  if (!chooseVector()) {
    return false;
  }
  sourceLanes_ = source_.lanesOfPass(vectorBits());
  targetLanes_ = target_.lanesOfPass(vectorBits());
  fillWord();
  chooseSegment();
  chooseBank();
  fixed = vector_;
  fixed.append(word_);
  fixed.append(bank_);
  for (uint64_t bit : segment_) {
    bool isRepeatable = source_.hasRegister(bit) && target_.hasRegister(bit);
    (isRepeatable ? repeatable : fixed).push_back(bit);
  }
  return true;
}

/// Both layouts over one flat space, and the plans that follow from bits of a buffer.
class SharedConversionPlanner {
public:
  SharedConversionPlanner(const LinearLayout &source, const LinearLayout &target,
                          const SharedConversionOptions &options)
      : source_(source), target_(target.transposeOuts(source.getOutDimNames())), options_(options) {}

  std::optional<SharedConversion> plan(LocalAccessForm storeForm, LocalAccessForm loadForm) const;

private:
  Vectors flatBases(const LinearLayout &layout, StringRef inDim) const {
    return layout.sublayout({inDim}, layout.getOutDimNames()).getFlatBases();
  }
  Side side(const LinearLayout &layout, LocalAccessForm form) const {
    return {form, flatBases(layout, kRegister), flatBases(layout, kLane), flatBases(layout, kWarp)};
  }
  LinearLayout bufferOf(ArrayRef<uint64_t> offsetBits) const;
  /// Takes repeatable bits away from the top until the buffer is small enough.
  unsigned chooseRepetitions(const BufferBits &bits) const;
  std::optional<LocalAccess> access(LocalAccessForm form, const LinearLayout &tensor, const LinearLayout &buffer,
                                    bool hasMatrix, uint32_t fixedRegisters) const;

  const LinearLayout &source_;
  LinearLayout target_;
  const SharedConversionOptions &options_;
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

unsigned SharedConversionPlanner::chooseRepetitions(const BufferBits &bits) const {
  unsigned repetitionBits = 0;
  int64_t bytes = (int64_t(options_.elementBits) / 8) << (bits.fixed.size() + bits.repeatable.size());
  while (bytes > options_.maxBytes && repetitionBits < bits.repeatable.size()) {
    bytes /= 2;
    ++repetitionBits;
  }
  return repetitionBits;
}

std::optional<LocalAccess> SharedConversionPlanner::access(LocalAccessForm form, const LinearLayout &tensor,
                                                           const LinearLayout &buffer, bool hasMatrix,
                                                           uint32_t fixedRegisters) const {
  LocalAccessOptions options{options_.elementBits, kMaxVectorBits, hasMatrix};
  return planLocalAccess(form, tensor.invertAndCompose(buffer), options, 0, fixedRegisters);
}

/// The bit of `registers` that has the basis.
uint32_t registerMask(ArrayRef<uint64_t> registers, uint64_t basis) {
  return 1u << (llvm::find(registers, basis) - registers.begin());
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

std::optional<SharedConversion> SharedConversionPlanner::plan(LocalAccessForm storeForm,
                                                              LocalAccessForm loadForm) const {
  Side storing = side(source_, storeForm), loading = side(target_, loadForm);
  Vectors blocks;
  llvm::copy_if(flatBases(source_, kBlock), std::back_inserter(blocks), [](uint64_t basis) { return basis != 0; });
  BufferBits bits(storing, loading, blocks, source_.getTotalOutDimSizeLog2(), options_.elementBits);
  if (!bits.choose()) {
    return std::nullopt;
  }
  ArrayRef<uint64_t> repeated = ArrayRef(bits.repeatable).take_back(chooseRepetitions(bits));
  Vectors kept = bits.fixed, all = bits.fixed;
  kept.append(bits.repeatable.begin(), bits.repeatable.end() - repeated.size());
  all.append(bits.repeatable);

  SharedConversion conversion{{}, {}, {{0, 0}}, (int64_t(options_.elementBits) / 8) << kept.size(), bufferOf(kept)};
  uint32_t storeMask = 0, loadMask = 0;
  for (uint64_t basis : repeated) {
    uint32_t storeBit = registerMask(storing.registers, basis), loadBit = registerMask(loading.registers, basis);
    storeMask |= storeBit;
    loadMask |= loadBit;
    for (size_t i = 0, numBefore = conversion.repetitions.size(); i < numBefore; ++i) {
      auto [storeXor, loadXor] = conversion.repetitions[i];
      conversion.repetitions.push_back({storeXor | storeBit, loadXor | loadBit});
    }
  }
  auto store = access(storeForm, source_, bufferOf(all), options_.hasStmatrix, storeMask);
  auto load = access(loadForm, target_, bufferOf(all), options_.hasLdmatrix, loadMask);
  if (!store || !load) {
    return std::nullopt;
  }
  conversion.store = std::move(*store);
  conversion.load = std::move(*load);
  repeatCopies(conversion);
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
