#include "src/ir/layout/ConversionBuffer.h"

#include "src/ir/layout/F2Span.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;

namespace jitk::ir {

static constexpr unsigned kMaxVectorBits = 128, kBankBits = 32, kPassBits = 1024;

//===--- sides

bool ConversionSide::hasRegister(uint64_t vector) const { return vector != 0 && llvm::is_contained(registers, vector); }

std::optional<uint64_t> ConversionSide::vectorBit(unsigned position, unsigned elementBits) const {
  unsigned wordBits = llvm::Log2_32(std::max(kBankBits / elementBits, 1u));
  if (form == LocalAccessForm::MatrixTransposed && position < 3) {
    return lanes[2 + position];
  }
  if (form == LocalAccessForm::Matrix && position >= wordBits && position < wordBits + 2) {
    return lanes[position - wordBits];
  }
  return std::nullopt;
}

static FlatVectors withoutZeros(ArrayRef<uint64_t> vectors) {
  return FlatVectors(llvm::make_filter_range(vectors, [](uint64_t vector) { return vector != 0; }));
}

FlatVectors ConversionSide::lanesOfPass(unsigned vectorBits) const {
  ArrayRef<uint64_t> lane = lanes;
  switch (form) {
  case LocalAccessForm::Vector:
    return withoutZeros(lane.take_front(llvm::Log2_32(kPassBits / std::max(vectorBits, kBankBits))));
  case LocalAccessForm::Matrix:
    return withoutZeros(lane.drop_front(2));
  case LocalAccessForm::MatrixTransposed: {
    FlatVectors rows = withoutZeros(registers);
    rows.truncate(std::min<size_t>(rows.size(), 1));
    rows.append(withoutZeros(lane.take_front(2)));
    return rows;
  }
  }
  return {};
}

//===--- what is chosen

FlatVectors ConversionBuffer::chosen() const {
  FlatVectors all = taken_;
  for (const FlatVectors *part : {&vector_, &word_, &segment_, &bank_}) {
    all.append(*part);
  }
  return all;
}

FlatVectors ConversionBuffer::candidates() const {
  F2Span span(chosen());
  FlatVectors result;
  for (unsigned bit = 0; bit < numBits_; ++bit) {
    if (!span.contains(uint64_t(1) << bit)) {
      result.push_back(uint64_t(1) << bit);
    }
  }
  return result;
}

bool ConversionBuffer::isLane(uint64_t vector) const {
  return llvm::is_contained(sourceLanes_, vector) || llvm::is_contained(targetLanes_, vector);
}

FlatVectors ConversionBuffer::fixed() const {
  FlatVectors bits = vector_;
  bits.append(word_);
  bits.append(bank_);
  llvm::copy_if(segment_, std::back_inserter(bits), [&](uint64_t bit) { return !isRepeatable(bit); });
  return bits;
}

FlatVectors ConversionBuffer::repeatable() const {
  return llvm::filter_to_vector(segment_, [&](uint64_t bit) { return isRepeatable(bit); });
}

//===--- vector

std::optional<llvm::SmallVector<std::optional<uint64_t>>> ConversionBuffer::prescribedBits() const {
  llvm::SmallVector<std::optional<uint64_t>> bits;
  for (unsigned position = 0; position < llvm::Log2_32(kMaxVectorBits / elementBits_); ++position) {
    auto fromSource = source_.vectorBit(position, elementBits_), fromTarget = target_.vectorBit(position, elementBits_);
    bool fits = true;
    if (fromSource && fromTarget) {
      fits = *fromSource == *fromTarget;
    } else if (fromSource) {
      fits = target_.hasRegister(*fromSource);
    } else if (fromTarget) {
      fits = source_.hasRegister(*fromTarget);
    }
    if (!fits) {
      return std::nullopt;
    }
    bits.push_back(fromSource ? fromSource : fromTarget);
  }
  return bits;
}

bool ConversionBuffer::chooseVector() {
  auto bits = prescribedBits();
  if (!bits) {
    return false;
  }
  for (std::optional<uint64_t> &bit : *bits) {
    auto isFree = [&](uint64_t vector) { return isRepeatable(vector) && !llvm::is_contained(*bits, vector); };
    if (auto next = llvm::find_if(source_.registers, isFree); !bit && next != source_.registers.end()) {
      bit = *next;
    }
  }
  for (std::optional<uint64_t> bit : *bits) {
    if (!bit) {
      break;
    }
    vector_.push_back(*bit);
  }
  // Matrices come in whole rows of distinct elements.
  bool isVector = source_.form == LocalAccessForm::Vector && target_.form == LocalAccessForm::Vector;
  return F2Span(vector_).dimension() == vector_.size() && (isVector || vector_.size() == bits->size());
}

//===--- word, segment, bank

void ConversionBuffer::fillWord() {
  while (vectorBits() << word_.size() < kBankBits) {
    FlatVectors left = candidates();
    if (left.empty()) {
      return;
    }
    // A lane here would share its word with a neighbour: that is no conflict, but a waste of the bank.
    auto best = llvm::find_if(left, [&](uint64_t vector) { return !isLane(vector); });
    word_.push_back(best == left.end() ? left.front() : *best);
  }
}

/// The dimension of what two subspaces have in common.
static unsigned commonDimension(const FlatVectors &space, const FlatVectors &lanes) {
  FlatVectors both = space;
  both.append(lanes);
  return F2Span(space).dimension() + F2Span(lanes).dimension() - F2Span(both).dimension();
}

bool ConversionBuffer::causesConflict(uint64_t vector) const {
  // Two lanes conflict if their difference lies in word and segment together, and not in the word alone.
  FlatVectors word = taken_;
  word.append(vector_);
  word.append(word_);
  FlatVectors sameBank = word;
  sameBank.append(segment_);
  sameBank.push_back(vector);
  return commonDimension(sameBank, sourceLanes_) > commonDimension(word, sourceLanes_) ||
         commonDimension(sameBank, targetLanes_) > commonDimension(word, targetLanes_);
}

void ConversionBuffer::extendSegment(ArrayRef<uint64_t> candidates) {
  for (uint64_t vector : candidates) {
    if (segment_.size() < segmentSize_ && !F2Span(chosen()).contains(vector) && !causesConflict(vector)) {
      segment_.push_back(vector);
    }
  }
}

void ConversionBuffer::chooseSegment() {
  unsigned wordBits = std::max(vectorBits() << word_.size(), elementBits_);
  unsigned numLeft = numBits_ - F2Span(chosen()).dimension(), numBank = llvm::Log2_32(kPassBits / wordBits);
  segmentSize_ = numLeft > numBank ? numLeft - numBank : 0;

  extendSegment(llvm::filter_to_vector(candidates(), [&](uint64_t vector) { return isRepeatable(vector); }));
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

void ConversionBuffer::chooseBank() {
  for (FlatVectors left = candidates(); !left.empty(); left = candidates()) {
    bank_.push_back(left.front());
  }
}

std::optional<ConversionBuffer> ConversionBuffer::choose(const ConversionSide &source, const ConversionSide &target,
                                                         FlatVectors taken, unsigned numBits, unsigned elementBits) {
  ConversionBuffer buffer(source, target, std::move(taken), numBits, elementBits);
  if (!buffer.chooseVector()) {
    return std::nullopt;
  }
  buffer.sourceLanes_ = source.lanesOfPass(buffer.vectorBits());
  buffer.targetLanes_ = target.lanesOfPass(buffer.vectorBits());
  buffer.fillWord();
  buffer.chooseSegment();
  buffer.chooseBank();
  return buffer;
}

} // namespace jitk::ir
