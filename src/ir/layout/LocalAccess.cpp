#include "src/ir/layout/LocalAccess.h"

#include "src/ir/layout/ShapeFit.h"
#include "src/ir/layout/Wavefronts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace jitk::ir {

int32_t LocalAccess::combine(ArrayRef<int32_t> bases, uint32_t index) {
  int32_t sum = 0;
  for (auto [bit, basis] : llvm::enumerate(bases)) {
    sum ^= index >> bit & 1 ? basis : 0;
  }
  return sum;
}

bool LocalAccess::sharesRows() const {
  if (form == LocalAccessForm::Vector) {
    return false;
  }
  unsigned rowBits = llvm::Log2_32(8 * numMatrices());
  return llvm::is_contained(llvm::ArrayRef(laneBases).take_front(rowBits), 0);
}

unsigned LocalAccess::countWavefronts() const {
  // Constants and the warp permute the banks: one instruction stands for all.
  constexpr unsigned bytesPerRow = 16, lanesPerMatrix = 8;
  bool isVector = form == LocalAccessForm::Vector;
  SmallVector<int64_t> addresses;
  for (unsigned lane = 0, end = isVector ? 1u << laneBases.size() : lanesPerMatrix * numMatrices(); lane < end;
       ++lane) {
    addresses.push_back(int64_t(lanePart(lane)) * elementBits / 8);
  }
  return steps.size() * jitk::ir::countWavefronts(addresses, isVector ? bitsPerStep() / 8 : bytesPerRow);
}

unsigned LocalAccess::countNeededWavefronts() const {
  llvm::SmallSet<int32_t, 32> distinct;
  for (unsigned lane = 0; lane < 1u << laneBases.size(); ++lane) {
    distinct.insert(lanePart(lane));
  }
  unsigned bits = form == LocalAccessForm::Vector ? bitsPerStep() * distinct.size() : 1024 * numMatrices();
  return steps.size() * std::max(bits / 1024, 1u);
}

namespace {

/// The map of one CTA's threads to offsets, taken apart.
struct OffsetBases {
  SmallVector<int32_t> registers, lanes, warps, blocks;

  static std::optional<OffsetBases> get(const LinearLayout &toOffset);

  int32_t ofRegister(unsigned reg) const;

  /// Whether no basis has one of `lowBits`, but for those of the registers and lanes that an instruction covers.
  bool areAligned(int32_t lowBits, uint32_t coveredRegisters, uint32_t coveredLanes) const;
};

std::optional<OffsetBases> OffsetBases::get(const LinearLayout &toOffset) {
  OffsetBases bases;
  unsigned offset = toOffset.getOutDimIndex(kOffset);
  auto read = [&](StringRef name, SmallVector<int32_t> &list) {
    bool isLocal = true;
    for (const LinearLayout::Basis &basis : toOffset.getBases(name)) {
      list.push_back(basis[offset]);
      isLocal &= !toOffset.hasOutDim(kBlock) || basis[toOffset.getOutDimIndex(kBlock)] == 0;
    }
    return isLocal;
  };
  if (!read(kRegister, bases.registers) || !read(kLane, bases.lanes) || !read(kWarp, bases.warps)) {
    return std::nullopt;
  }
  // A CTA's own part may lie at an offset that depends on the CTA.
  read(kBlock, bases.blocks);
  return bases;
}

int32_t OffsetBases::ofRegister(unsigned reg) const {
  int32_t offset = 0;
  for (auto [bit, basis] : llvm::enumerate(registers)) {
    offset ^= reg >> bit & 1 ? basis : 0;
  }
  return offset;
}

bool OffsetBases::areAligned(int32_t lowBits, uint32_t coveredRegisters, uint32_t coveredLanes) const {
  auto check = [&](ArrayRef<int32_t> list, uint32_t covered) {
    return llvm::all_of(llvm::enumerate(list),
                        [&](auto basis) { return covered >> basis.index() & 1 || (basis.value() & lowBits) == 0; });
  };
  return check(registers, coveredRegisters) && check(lanes, coveredLanes) && check(warps, 0) && check(blocks, 0);
}

/// Puts an access together from the registers that one instruction moves.
class AccessBuilder {
public:
  AccessBuilder(const OffsetBases &bases, const LocalAccessOptions &options, int32_t viewBits, uint32_t fixedRegisters)
      : bases_(bases), options_(options), viewBits_(viewBits), fixedRegisters_(fixedRegisters) {}

  std::optional<LocalAccess> build(LocalAccessForm form) const;

private:
  std::optional<LocalAccess> buildVector() const;
  std::optional<LocalAccess> buildMatrix() const;
  std::optional<LocalAccess> buildTransposed() const;

  /// The register bit with exactly that basis.
  std::optional<unsigned> findRegister(int32_t basis) const;
  /// Up to two register bits, not in `taken`, that choose the matrix of one instruction.
  SmallVector<unsigned> pickMatrixBits(uint32_t taken) const;
  /// Fills in steps and copies. `stepBits` are the register bits within one instruction, in the order of its operand.
  LocalAccess finish(LocalAccessForm form, ArrayRef<unsigned> stepBits, ArrayRef<int32_t> laneBases) const;

  const OffsetBases &bases_;
  const LocalAccessOptions &options_;
  int32_t viewBits_;
  uint32_t fixedRegisters_;
};

std::optional<unsigned> AccessBuilder::findRegister(int32_t basis) const {
  for (auto [bit, candidate] : llvm::enumerate(bases_.registers)) {
    if (candidate == basis && !(fixedRegisters_ >> bit & 1)) {
      return bit;
    }
  }
  return std::nullopt;
}

uint32_t maskOf(ArrayRef<unsigned> bits) {
  uint32_t mask = 0;
  for (unsigned bit : bits) {
    mask |= 1u << bit;
  }
  return mask;
}

int32_t orOf(ArrayRef<int32_t> bases) {
  int32_t bits = 0;
  for (int32_t basis : bases) {
    bits |= basis;
  }
  return bits;
}

/// The registers from `first` on that the bits of a step number.
SmallVector<unsigned, 8> registersOfStep(unsigned first, ArrayRef<unsigned> stepBits) {
  SmallVector<unsigned, 8> registers;
  for (unsigned element = 0; element < 1u << stepBits.size(); ++element) {
    unsigned reg = first;
    for (auto [position, bit] : llvm::enumerate(stepBits)) {
      reg |= (element >> position & 1) << bit;
    }
    registers.push_back(reg);
  }
  return registers;
}

LocalAccess AccessBuilder::finish(LocalAccessForm form, ArrayRef<unsigned> stepBits,
                                  ArrayRef<int32_t> laneBases) const {
  LocalAccess access;
  access.form = form;
  access.elementBits = options_.elementBits;
  access.laneBases.assign(laneBases.begin(), laneBases.end());
  access.warpBases = bases_.warps;
  access.blockBases = bases_.blocks;
  int32_t varying = orOf(laneBases) | orOf(bases_.warps) | orOf(bases_.blocks) | viewBits_;
  uint32_t skipped = maskOf(stepBits) | fixedRegisters_;
  std::map<int32_t, size_t> stepAt;
  for (unsigned first = 0; first < 1u << bases_.registers.size(); ++first) {
    if (first & skipped) {
      continue;
    }
    int32_t offset = bases_.ofRegister(first);
    LocalAccessStep step{registersOfStep(first, stepBits), offset & varying, offset & ~varying};
    auto [known, isNew] = stepAt.try_emplace(offset, access.steps.size());
    if (isNew) {
      access.steps.push_back(std::move(step));
      continue;
    }
    for (auto [copy, original] : llvm::zip_equal(step.registers, access.steps[known->second].registers)) {
      access.copies.push_back({copy, original});
    }
  }
  return access;
}

std::optional<LocalAccess> AccessBuilder::buildVector() const {
  SmallVector<unsigned> bits;
  unsigned maxBits = llvm::Log2_32(std::max(options_.maxVectorBits / options_.elementBits, 1u));
  while (bits.size() < maxBits) {
    auto next = findRegister(1 << bits.size());
    if (!next) {
      break;
    }
    bits.push_back(*next);
  }
  while (!bits.empty() &&
         (!bases_.areAligned((1 << bits.size()) - 1, maskOf(bits), 0) || (viewBits_ & ((1 << bits.size()) - 1)))) {
    bits.pop_back();
  }
  return finish(LocalAccessForm::Vector, bits, bases_.lanes);
}

SmallVector<unsigned> AccessBuilder::pickMatrixBits(uint32_t taken) const {
  SmallVector<unsigned> bits;
  for (unsigned bit = 0; bit < bases_.registers.size() && bits.size() < 2; ++bit) {
    if (!((taken | fixedRegisters_) >> bit & 1) && bases_.registers[bit] != 0) {
      bits.push_back(bit);
    }
  }
  return bits;
}

std::optional<LocalAccess> AccessBuilder::buildMatrix() const {
  if (options_.elementBits > 32 || bases_.lanes.size() != 5) {
    return std::nullopt;
  }
  // A row is four words of neighbouring lanes; lanes 4, 8, 16 choose the row.
  int32_t perWord = 32 / options_.elementBits, perRow = 4 * perWord;
  SmallVector<unsigned> bits;
  for (int32_t basis = 1; basis < perWord; basis *= 2) {
    auto next = findRegister(basis);
    if (!next) {
      return std::nullopt;
    }
    bits.push_back(*next);
  }
  if (bases_.lanes[0] != perWord || bases_.lanes[1] != 2 * perWord ||
      !bases_.areAligned(perRow - 1, maskOf(bits), 0b00011) || (viewBits_ & (perRow - 1))) {
    return std::nullopt;
  }
  SmallVector<int32_t> rowBases{bases_.lanes[2], bases_.lanes[3], bases_.lanes[4], 0, 0};
  for (auto [index, bit] : llvm::enumerate(pickMatrixBits(maskOf(bits)))) {
    bits.push_back(bit);
    rowBases[3 + index] = bases_.registers[bit];
  }
  return finish(LocalAccessForm::Matrix, bits, rowBases);
}

std::optional<LocalAccess> AccessBuilder::buildTransposed() const {
  if (options_.elementBits != 16 || bases_.lanes.size() != 5) {
    return std::nullopt;
  }
  // Lanes 4, 8, 16 are the columns of a row; the two elements of a word and lanes 1, 2 choose the row.
  ArrayRef<int32_t> lanes = bases_.lanes;
  if (lanes[2] != 1 || lanes[3] != 2 || lanes[4] != 4 || !bases_.areAligned(7, 0, 0b11100) || (viewBits_ & 7)) {
    return std::nullopt;
  }
  SmallVector<unsigned> bits = pickMatrixBits(0);
  if (bits.empty()) {
    return std::nullopt;
  }
  bits.resize(1);
  SmallVector<int32_t> rowBases{bases_.registers[bits[0]], lanes[0], lanes[1], 0, 0};
  for (auto [index, bit] : llvm::enumerate(pickMatrixBits(maskOf(bits)))) {
    bits.push_back(bit);
    rowBases[3 + index] = bases_.registers[bit];
  }
  return finish(LocalAccessForm::MatrixTransposed, bits, rowBases);
}

std::optional<LocalAccess> AccessBuilder::build(LocalAccessForm form) const {
  switch (form) {
  case LocalAccessForm::Vector:
    return buildVector();
  case LocalAccessForm::Matrix:
    return options_.hasMatrix ? buildMatrix() : std::nullopt;
  case LocalAccessForm::MatrixTransposed:
    return options_.hasMatrix ? buildTransposed() : std::nullopt;
  }
  return std::nullopt;
}

} // namespace

std::optional<LocalAccess> planLocalAccess(LocalAccessForm form, const LinearLayout &toOffset,
                                           const LocalAccessOptions &options, int32_t viewBits,
                                           uint32_t fixedRegisters) {
  std::optional<OffsetBases> bases = OffsetBases::get(toOffset);
  if (!bases) {
    return std::nullopt;
  }
  return AccessBuilder(*bases, options, viewBits, fixedRegisters).build(form);
}

std::optional<LocalAccess> planLocalAccess(const LinearLayout &toOffset, const LocalAccessOptions &options,
                                           int32_t viewBits, uint32_t fixedRegisters) {
  std::optional<LocalAccess> best;
  auto cost = [](const LocalAccess &access) {
    return std::pair(access.countWavefronts(), access.steps.size() * std::max(access.numMatrices() / 4, 1u));
  };
  for (LocalAccessForm form : {LocalAccessForm::Vector, LocalAccessForm::Matrix, LocalAccessForm::MatrixTransposed}) {
    auto access = planLocalAccess(form, toOffset, options, viewBits, fixedRegisters);
    if (access && (!best || cost(*access) < cost(*best))) {
      best = std::move(access);
    }
  }
  return best;
}

} // namespace jitk::ir
