#include "src/ir/layout/ShufflePlan.h"

#include "src/ir/layout/F2Span.h"
#include "src/ir/layout/ShapeFit.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace jitk::ir {

LinearLayout placesInSource(const LinearLayout &source, const LinearLayout &target) {
  LinearLayout inverse = source.pseudoinvert();
  LinearLayout::Names dims = source.getOutDimNames();
  // The place of the element at `basis`: as the thread `own` at first, and the rest of the way from there. A bit that
  // the source does not need so stays what it is.
  auto placeOf = [&](const LinearLayout::Basis &basis, ArrayRef<LinearLayout::Index> own) {
    LinearLayout::Basis start = source.apply(own);
    SmallVector<LinearLayout::Index> rest;
    for (auto [dim, name] : llvm::enumerate(dims)) {
      rest.push_back({name, start[dim] ^ basis[target.getOutDimIndex(name)]});
    }
    return inverse.apply(rest);
  };
  std::vector<LinearLayout::InDim> ins = target.getInDims().vec();
  for (LinearLayout::InDim &in : ins) {
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      bool isThread = in.name != kRegister && bit < source.getBases(in.name).size();
      basis = isThread ? placeOf(basis, {{in.name, 1 << bit}}) : placeOf(basis, {});
      if (isThread) {
        basis[inverse.getOutDimIndex(in.name)] ^= 1 << bit;
      }
    }
  }
  return LinearLayout(std::move(ins), inverse.getOutDims().vec());
}

namespace {

/// The blocks of the matrix of `places`: [from][to], each an array of columns.
struct PlaceMatrix {
  SmallVector<uint64_t> registerOfRegister, laneOfRegister, registerOfLane, laneOfLane, registerOfWarp, laneOfWarp;

  explicit PlaceMatrix(const LinearLayout &places) {
    read(places, kRegister, registerOfRegister, laneOfRegister);
    read(places, kLane, registerOfLane, laneOfLane);
    read(places, kWarp, registerOfWarp, laneOfWarp);
  }

private:
  static void read(const LinearLayout &places, StringRef from, SmallVector<uint64_t> &registers,
                   SmallVector<uint64_t> &lanes) {
    for (const LinearLayout::Basis &basis : places.getBases(from)) {
      registers.push_back(basis[places.getOutDimIndex(kRegister)]);
      lanes.push_back(basis[places.getOutDimIndex(kLane)]);
    }
  }
};

/// Whether warp and block of origin are those of the receiver.
bool staysInWarp(const LinearLayout &places) {
  for (const LinearLayout::InDim &in : places.getInDims()) {
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      for (StringRef dim : {kWarp, kBlock}) {
        int32_t own = in.name == dim ? 1 << bit : 0;
        int32_t found = places.hasOutDim(dim) ? basis[places.getOutDimIndex(dim)] : 0;
        if (found != own) {
          return false;
        }
      }
    }
  }
  return true;
}

/// The linear map from lane and warp to a register XOR, as exchanges with independent registerXor.
SmallVector<RegisterExchange, 2> exchangesOf(ArrayRef<uint64_t> ofLane, ArrayRef<uint64_t> ofWarp) {
  SmallVector<RegisterExchange, 2> exchanges;
  F2Span span;
  auto add = [&](ArrayRef<uint64_t> columns, uint32_t RegisterExchange::*mask) {
    for (auto [bit, column] : llvm::enumerate(columns)) {
      if (!span.contains(column)) {
        span.insert(column);
        exchanges.push_back({uint32_t(column), 0, 0});
      }
      uint64_t sources = *span.solve(column);
      for (size_t i = 0; i < exchanges.size(); ++i) {
        exchanges[i].*mask |= (sources >> i & 1) << bit;
      }
    }
  };
  add(ofLane, &RegisterExchange::laneMask);
  add(ofWarp, &RegisterExchange::warpMask);
  return exchanges;
}

SmallVector<uint64_t> sum(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  SmallVector<uint64_t> result;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    result.push_back(x ^ y);
  }
  return result;
}

SmallVector<uint64_t> multiply(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  return llvm::map_to_vector(b, [&](uint64_t column) { return multiplyF2(a, column); });
}

class ShufflePlanner {
public:
  explicit ShufflePlanner(const LinearLayout &places) : matrix_(places) {}

  std::optional<ShufflePlan> plan() {
    if (!chooseReceivers()) {
      return std::nullopt;
    }
    ShufflePlan plan;
    SmallVector<uint64_t> sent = multiply(sentByReceiver_, laneOfSender());
    plan.before = exchangesOf(sent, sum(multiply(sent, matrix_.laneOfWarp), matrix_.registerOfWarp));
    plan.after = exchangesOf(registerOfReceiver_, {});
    plan.laneBases.assign(origin_.begin(), origin_.end());
    plan.warpBases.assign(matrix_.laneOfWarp.begin(), matrix_.laneOfWarp.end());
    addRounds(plan, sent);
    return plan;
  }

private:
  /// In one round lane l receives for register `round ^ registerOfReceiver_(l)`. Chooses that map such that no two
  /// lanes ask one lane for different registers.
  bool chooseReceivers();

  /// For each bit of the sender's lane, the receiver's.
  SmallVector<uint64_t> laneOfSender() const;

  void addRounds(ShufflePlan &plan, ArrayRef<uint64_t> sent) const;

  PlaceMatrix matrix_;
  SmallVector<uint64_t> registerOfReceiver_; ///< G: by receiving lane, the change of the target register
  SmallVector<uint64_t> origin_;             ///< T: by receiving lane, the lane of origin
  SmallVector<uint64_t> sentByReceiver_;     ///< S: by receiving lane, the register that it asks for
};

bool ShufflePlanner::chooseReceivers() {
  size_t numLaneBits = matrix_.laneOfLane.size();
  registerOfReceiver_.assign(numLaneBits, 0);
  F2Span asked(matrix_.laneOfLane), reached = asked;
  F2Span earlier;
  for (size_t bit = 0; bit < numLaneBits; ++bit) {
    uint64_t column = matrix_.laneOfLane[bit];
    auto sameOrigin = earlier.solve(column);
    earlier.insert(column);
    if (!sameOrigin) {
      continue;
    }
    // Lanes that differ by `clash` ask one lane; that is fine if it is for the same register.
    uint64_t clash = *sameOrigin | uint64_t(1) << bit;
    if (multiplyF2(matrix_.registerOfLane, clash) == 0) {
      continue;
    }
    // Otherwise let them receive for registers whose elements come from different lanes.
    auto free = llvm::find_if(matrix_.laneOfRegister, [&](uint64_t lane) { return !reached.contains(lane); });
    if (free == matrix_.laneOfRegister.end()) {
      return false;
    }
    reached.insert(*free);
    registerOfReceiver_[bit] = uint64_t(1) << (free - matrix_.laneOfRegister.begin());
  }
  origin_ = sum(matrix_.laneOfLane, multiply(matrix_.laneOfRegister, registerOfReceiver_));
  sentByReceiver_ = sum(matrix_.registerOfLane, multiply(matrix_.registerOfRegister, registerOfReceiver_));
  return true;
}

SmallVector<uint64_t> ShufflePlanner::laneOfSender() const {
  SmallVector<uint64_t> columns = origin_;
  uint64_t receivers = (uint64_t(1) << columns.size()) - 1;
  columns.append(complementF2(columns, columns.size()));
  F2Span span(columns);
  return llvm::map_to_vector(llvm::seq(origin_.size()),
                             [&](size_t bit) { return *span.solve(uint64_t(1) << bit) & receivers; });
}

void ShufflePlanner::addRounds(ShufflePlan &plan, ArrayRef<uint64_t> sent) const {
  // Rounds that send the same are one.
  std::map<std::pair<uint64_t, uint64_t>, SmallVector<unsigned, 1>> rounds;
  for (unsigned target = 0; target < 1u << matrix_.registerOfRegister.size(); ++target) {
    uint64_t laneXor = multiplyF2(matrix_.laneOfRegister, target);
    uint64_t source = multiplyF2(matrix_.registerOfRegister, target) ^ multiplyF2(sent, laneXor);
    rounds[{laneXor, source}].push_back(target);
  }
  for (auto &[key, targets] : rounds) {
    plan.rounds.push_back({unsigned(key.second), uint32_t(key.first), targets});
  }
}

} // namespace

uint32_t ShufflePlan::laneOfOrigin(const ShuffleRound &round, uint32_t lane, uint32_t warp) const {
  uint32_t origin = round.laneXor;
  for (auto [bit, basis] : llvm::enumerate(laneBases)) {
    origin ^= lane >> bit & 1 ? basis : 0;
  }
  for (auto [bit, basis] : llvm::enumerate(warpBases)) {
    origin ^= warp >> bit & 1 ? basis : 0;
  }
  return origin;
}

bool ShufflePlan::isButterfly() const {
  return llvm::all_of(llvm::enumerate(laneBases), [](auto basis) { return basis.value() == 1u << basis.index(); }) &&
         llvm::all_of(warpBases, [](uint32_t basis) { return basis == 0; });
}

bool ShufflePlan::isRenaming() const { return before.empty() && after.empty() && numShuffles() == 0; }

unsigned ShufflePlan::numShuffles() const {
  return llvm::count_if(rounds, [&](const ShuffleRound &round) { return !isMove(round); });
}

std::optional<ShufflePlan> planShuffles(const LinearLayout &places) {
  if (!staysInWarp(places)) {
    return std::nullopt;
  }
  return ShufflePlanner(places).plan();
}

} // namespace jitk::ir
