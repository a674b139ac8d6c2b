// --jitk-form-tile-stores: results of a loop over tiles are stored by TMA, beside the products of the next tile.
//
//   before:   tile 0: products  store   tile 1: products  store   ...
//   after:    tile 0: products  pack    tile 1: product 0   product 1   ...   pack    ...   store
//                                               half of 0   the other half
//
// The results wait as words in registers. As many slices of them as have slots are stored behind one product, so that
// no slot is waited for. Where they do not fit beside the accumulators, they are stored where the store stands, and
// only their way from shared to global memory is beside the next products.

#include "src/ir/tt/TensorParts.h"
#include "src/ir/ttng/Ttng.h"
#include "src/passes/Passes.h"
#include "src/passes/SharedBuffers.h"
#include "src/passes/layouts/TargetCapability.h"
#include "src/passes/pipelining/CopyGroups.h"
#include "src/passes/pipelining/GlobalWrites.h"
#include "src/passes/pipelining/ProductLoops.h"
#include "src/passes/pipelining/TileSource.h"
#include "src/runtime/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace jitk::passes {

#define GEN_PASS_DEF_FORMTILESTORES
#include "src/passes/Passes.h.inc"

using namespace jitk::ir;

/// A slice of columns is a row of the swizzle pattern.
static constexpr int64_t kSliceBytes = 128, kMostSlots = 2, kMostRows = 256;
/// Of a product, that a warp has: warps that lie side by side would exchange a tile to split it into slices.
static constexpr int64_t kRowsOfWarp = 16;

namespace {

/// A loop over tiles, and the loop in its body that adds up the products of one.
struct TileLoop {
  scf::ForOp tiles, products;
};

/// The store of a tile.
struct TileStoring {
  tt::StoreOp store;
  TileSource tile;
  ttg::MemDescType sliceType; ///< of a buffer for a slice of columns

  RankedTensorType type() { return cast<RankedTensorType>(store.getValue().getType()); }
  int64_t sliceColumns() { return sliceType.getDimSize(1); }
  int64_t numSlots() { return std::min(type().getDimSize(1) / sliceColumns(), kMostSlots); }
  /// Of slices that have a slot each.
  int64_t numGroups() { return type().getDimSize(1) / sliceColumns() / numSlots(); }
  ArrayRef<Value> ofGroup(ArrayRef<Value> slices, int64_t group) {
    return slices.slice(size_t(group * numSlots()), size_t(numSlots()));
  }
  ttg::MemDescType slotsType();
};

/// The slots of a loop's stores, which those of one type share.
using Slots = llvm::DenseMap<Type, Value>;

/// Results on their way: their slices, and of what the coordinates of their tile are computed.
struct Results {
  SmallVector<Value> slices;
  SmallVector<Value> place;
};

/// An element of the matrix.
struct Element {
  Value row, column;
};

/// Writes one store.
class StoreWriter {
public:
  StoreWriter(TileLoop loop, TileStoring storing, Slots &slots)
      : loop_(loop), storing_(std::move(storing)), rewriter_(storing_.store.getContext()),
        loc_(storing_.store.getLoc()), slots_(slots[storing_.slotsType()]) {}

  /// Leaves the results to the next tile. Returns the loops that stand for those given.
  TileLoop writeDeferred();
  void write();

private:
  void makeSlots();
  /// Finds what the coordinates are computed of: the tile's number, or what they are sums of if there is no other way.
  void findPlace();
  SmallVector<Value> placeNow();
  /// Where the store stands.
  Results takeResults();
  Results pack(const Results &results);
  /// What comes of `write` where the condition is true, which it leaves the insertion point in.
  void writeIf(Value condition, llvm::function_ref<void()> write);
  /// The element of the matrix where results begin.
  Element elementOf(const Results &results);
  /// A group of slices to global memory.
  void copyOut(ArrayRef<Value> slices, const Element &first, int64_t group);
  /// The same of words.
  void copyOutPacked(const Results &results, const Element &first, int64_t group);
  void copyOutPacked(const Results &results);
  Results carry(const Results &packed);
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(rewriter_, loc_, predicate, lhs, rhs);
  }
  Value both(Value lhs, Value rhs) { return arith::AndIOp::create(rewriter_, loc_, lhs, rhs); }
  /// The induction variable in iteration `number` of a loop.
  Value iterationOf(scf::ForOp loop, int64_t number);
  static arith::CmpIPredicate lessIn(scf::ForOp loop) {
    return loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  }
  /// Whether a loop has an iteration of that number.
  Value hasIteration(scf::ForOp loop, int64_t number) {
    return compare(lessIn(loop), iterationOf(loop, number), loop.getUpperBound());
  }
  Value i32(int64_t value) { return arith::ConstantIntOp::create(rewriter_, loc_, value, 32); }

  TileLoop loop_;
  TileStoring storing_;
  IRRewriter rewriter_;
  Location loc_;
  Value &slots_; ///< null until they are there
  Value map_;
  std::optional<IterationSlice> ofNumber_; ///< from the tile's number to the coordinates
};

} // namespace

ttg::MemDescType TileStoring::slotsType() {
  SmallVector<int64_t> shape = {numSlots()};
  llvm::append_range(shape, sliceType.getShape());
  return ttg::MemDescType::get(shape, sliceType.getElementType(), sliceType.getEncoding(), sliceType.getMemorySpace(),
                               /*mutableMemory=*/true);
}

void StoreWriter::makeSlots() {
  rewriter_.setInsertionPoint(loop_.tiles);
  if (!slots_) {
    slots_ = ttg::LocalAllocOp::create(rewriter_, loc_, storing_.slotsType());
  }
  map_ = tileMapOf(storing_.tile, storing_.sliceType);
}

Results StoreWriter::takeResults() {
  rewriter_.setInsertionPoint(storing_.store);
  return {tt::splitColumns(rewriter_, loc_, storing_.store.getValue(), storing_.sliceColumns()), placeNow()};
}

void StoreWriter::findPlace() {
  ofNumber_ = sliceOfSources(loop_.tiles, placeNow());
  if (ofNumber_ && !ofNumber_->carried.empty()) {
    ofNumber_.reset();
  }
}

SmallVector<Value> StoreWriter::placeNow() {
  if (ofNumber_) {
    return {loop_.tiles.getInductionVar()};
  }
  SmallVector<Value> terms = storing_.tile.row.terms;
  llvm::append_range(terms, storing_.tile.column.terms);
  return terms;
}

Results StoreWriter::pack(const Results &results) {
  Results packed = results;
  for (Value &slice : packed.slices) {
    slice = tt::packPairs(rewriter_, loc_, slice);
  }
  return packed;
}

Value StoreWriter::iterationOf(scf::ForOp loop, int64_t number) {
  Type type = loop.getStep().getType();
  Value count = arith::ConstantOp::create(rewriter_, loc_, rewriter_.getIntegerAttr(type, number));
  Value distance = rewriter_.createOrFold<arith::MulIOp>(loc_, loop.getStep(), count);
  return rewriter_.createOrFold<arith::AddIOp>(loc_, loop.getLowerBound(), distance);
}

void StoreWriter::writeIf(Value condition, llvm::function_ref<void()> write) {
  auto branch = scf::IfOp::create(rewriter_, loc_, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(rewriter_);
  rewriter_.setInsertionPointToStart(branch.thenBlock());
  write();
}

Element StoreWriter::elementOf(const Results &results) {
  IRMapping place;
  place.map(placeNow(), results.place);
  for (Operation *op : ofNumber_ ? ofNumber_->ops.getArrayRef() : ArrayRef<Operation *>()) {
    rewriter_.clone(*op, place);
  }
  return {storing_.tile.row.at(rewriter_, loc_, place), storing_.tile.column.at(rewriter_, loc_, place)};
}

void StoreWriter::copyOut(ArrayRef<Value> slices, const Element &first, int64_t group) {
  // The copies before have read their slots.
  ttng::TMAStoreWaitOp::create(rewriter_, loc_, /*pendings=*/0u);
  SmallVector<Value> slots;
  for (auto [number, slice] : llvm::enumerate(slices)) {
    slots.push_back(ttg::MemDescIndexOp::create(rewriter_, loc_, storing_.sliceType, slots_, i32(int64_t(number))));
    ttg::LocalStoreOp::create(rewriter_, loc_, slice, slots.back());
  }
  for (auto [number, slot] : llvm::enumerate(slots)) {
    int64_t offset = (group * storing_.numSlots() + int64_t(number)) * storing_.sliceColumns();
    Value column = arith::AddIOp::create(rewriter_, loc_, first.column, i32(offset));
    ttng::AsyncTMACopyLocalToGlobalOp::create(rewriter_, loc_, map_, ValueRange{first.row, column}, slot);
  }
}

void StoreWriter::copyOutPacked(const Results &results, const Element &first, int64_t group) {
  auto words = storing_.ofGroup(results.slices, group);
  SmallVector<Value> slices = llvm::map_to_vector(
      words, [&](Value slice) { return tt::unpackPairs(rewriter_, loc_, slice, storing_.type().getElementType()); });
  copyOut(slices, first, group);
}

void StoreWriter::copyOutPacked(const Results &results) {
  Element first = elementOf(results);
  for (int64_t group = 0; group < storing_.numGroups(); ++group) {
    copyOutPacked(results, first, group);
  }
}

/// Makes the loop over tiles carry a tile's results to the next one; returns those of the tile before.
Results StoreWriter::carry(const Results &packed) {
  SmallVector<Value> values = packed.slices;
  llvm::append_range(values, packed.place);
  rewriter_.setInsertionPoint(loop_.tiles);
  SmallVector<Value> none = llvm::map_to_vector(values, [&](Value value) -> Value {
    return arith::ConstantOp::create(rewriter_, loc_, rewriter_.getZeroAttr(value.getType()));
  });
  auto replaced =
      loop_.tiles.replaceWithAdditionalYields(rewriter_, none, /*replaceInitOperandUsesInLoop=*/false,
                                              [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return values; });
  loop_.tiles = cast<scf::ForOp>(*replaced);
  ValueRange before = ValueRange(loop_.tiles.getRegionIterArgs()).take_back(values.size());
  size_t numSlices = packed.slices.size();
  return {llvm::to_vector(before.take_front(numSlices)), llvm::to_vector(before.drop_front(numSlices))};
}

TileLoop StoreWriter::writeDeferred() {
  makeSlots();
  findPlace();
  Results before = carry(pack(takeResults()));

  // Behind the first products of the next tile; in front of them if there are fewer than groups.
  scf::ForOp tiles = loop_.tiles, products = loop_.products;
  rewriter_.setInsertionPoint(products);
  Value isNext = compare(arith::CmpIPredicate::ne, tiles.getInductionVar(), tiles.getLowerBound());
  Value areEnough = hasIteration(products, storing_.numGroups() - 1);
  Value areFew = arith::XOrIOp::create(rewriter_, loc_, areEnough, arith::ConstantIntOp::create(rewriter_, loc_, 1, 1));
  writeIf(both(isNext, areFew), [&] { copyOutPacked(before); });
  Value isBeside = both(isNext, areEnough);
  rewriter_.setInsertionPoint(products.getBody()->getTerminator());
  Value iteration = products.getInductionVar();
  Value isEarly = compare(lessIn(products), iteration, iterationOf(products, storing_.numGroups()));
  writeIf(both(isBeside, isEarly), [&] {
    Element first = elementOf(before);
    for (int64_t group = 0; group < storing_.numGroups(); ++group) {
      Value isTime = compare(arith::CmpIPredicate::eq, iteration, iterationOf(products, group));
      writeIf(isTime, [&] { copyOutPacked(before, first, group); });
    }
  });

  // Those of the last tile.
  rewriter_.setInsertionPointAfter(tiles);
  size_t numSlices = before.slices.size();
  ValueRange left = ValueRange(tiles.getResults()).take_back(numSlices + before.place.size());
  Results last = {llvm::to_vector(left.take_front(numSlices)), llvm::to_vector(left.drop_front(numSlices))};
  writeIf(hasIteration(tiles, 0), [&] { copyOutPacked(last); });
  ttng::TMAStoreWaitOp::create(rewriter_, loc_, /*pendings=*/0u);
  rewriter_.eraseOp(storing_.store);
  return loop_;
}

void StoreWriter::write() {
  makeSlots();
  Results results = takeResults();
  Element first = {storing_.tile.row.at(rewriter_, loc_, {}), storing_.tile.column.at(rewriter_, loc_, {})};
  for (int64_t group = 0; group < storing_.numGroups(); ++group) {
    copyOut(storing_.ofGroup(results.slices, group), first, group);
  }
  rewriter_.setInsertionPointAfter(loop_.tiles);
  ttng::TMAStoreWaitOp::create(rewriter_, loc_, /*pendings=*/0u);
  rewriter_.eraseOp(storing_.store);
}

// --- which stores ----------------------------------------------------------------------------------------------------

static SmallVector<TileLoop> findTileLoops(tt::FuncOp function, unsigned capability) {
  SmallVector<TileLoop> loops;
  function.walk([&](scf::ForOp loop) {
    auto around = dyn_cast<scf::ForOp>(loop->getParentOp());
    bool isKnown = llvm::any_of(loops, [&](const TileLoop &known) { return known.tiles == around; });
    if (around && !isKnown && keepsProductInFlight(loop, capability)) {
      loops.push_back({around, loop});
    }
  });
  return loops;
}

/// A buffer for a slice of what is stored; none where it is no tile of whole slices.
static std::optional<ttg::MemDescType> sliceTypeOf(tt::StoreOp store) {
  auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
  if (!type || type.getRank() != 2 || !isa<FloatType>(type.getElementType()) || type.getEncoding()) {
    return std::nullopt;
  }
  unsigned bits = type.getElementTypeBitWidth();
  int64_t rows = type.getDimSize(0), columns = kSliceBytes * 8 / bits;
  if ((bits != 16 && bits != 32) || rows > kMostRows || rows < kRowsOfWarp * ttg::lookupNumWarps(store) ||
      type.getDimSize(1) % columns != 0) {
    return std::nullopt;
  }
  return tileBufferType({rows, columns}, type.getElementType());
}

/// Whether each loop around the store has a part in where its tile lies. Else the loop stores it again, and nothing
/// keeps two copies to one place in order.
static bool isStoredOnce(tt::StoreOp store, const TileSource &tile) {
  llvm::SetVector<Value> origins(tile.row.terms.begin(), tile.row.terms.end());
  origins.insert_range(tile.column.terms);
  for (size_t next = 0; next < origins.size(); ++next) { // grows
    if (Operation *op = origins[next].getDefiningOp()) {
      op->walk([&](Operation *inner) { origins.insert_range(inner->getOperands()); });
    }
  }
  for (Operation *around = store->getParentOp(); !isa<tt::FuncOp>(around); around = around->getParentOp()) {
    bool isOfPlace = llvm::any_of(origins, [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getOwner()->getParentOp() == around;
    });
    if (isa<LoopLikeOpInterface>(around) && !isOfPlace) {
      return false;
    }
  }
  return store->getParentOfType<tt::FuncOp>().getBody().hasOneBlock();
}

/// Whether slots fit beside the function's buffers, each of which may become a ring.
static bool hasRoom(TileStoring storing, unsigned capability) {
  int64_t bytes = sharedBytes(storing.slotsType());
  storing.store->getParentOfType<tt::FuncOp>().walk(
      [&](ttg::LocalAllocOp alloc) { bytes += 2 * sharedBytes(alloc.getType()); });
  return bytes <= int64_t(sharedMemoryLimit(capability));
}

/// The stores behind the products whose tensors nothing else in the function uses.
static SmallVector<TileStoring> findStores(const TileLoop &loop) {
  SmallVector<TileStoring> found;
  scf::ForOp tiles = loop.tiles;
  for (auto store : tiles.getBody()->getOps<tt::StoreOp>()) {
    std::optional<ttg::MemDescType> sliceType = sliceTypeOf(store);
    std::optional<TileSource> tile =
        sliceType ? matchTile(store.getPtr(), store.getMask(), *sliceType, /*loop=*/nullptr) : std::nullopt;
    if (tile && loop.products->isBeforeInBlock(store) && isOnlyUse(store) && isStoredOnce(store, *tile)) {
      found.push_back({store, *tile, *sliceType});
    }
  }
  return found;
}

/// Whether the loop over tiles has no other products, and carries no tensors but sums that those begin with.
static bool areAlone(const TileLoop &loop) {
  scf::ForOp tiles = loop.tiles;
  int64_t numProducts = 0;
  tiles.walk([&](tt::DotOp) { ++numProducts; });
  return numProducts == 1 && llvm::all_of(tiles.getRegionIterArgs(), [&](BlockArgument carried) {
           bool isSum = carried.hasOneUse() && *carried.user_begin() == loop.products;
           return isSum || !isa<RankedTensorType>(carried.getType());
         });
}

/// Whether results fit into registers beside the accumulators of the next tile: as words, half as many as those.
static bool fitsBesideProducts(TileStoring storing, const TileLoop &loop) {
  constexpr int64_t kMostElements = 128 * 256;
  scf::ForOp products = loop.products;
  bool hasOne = storing.type().getElementTypeBitWidth() == 16 && storing.type().getNumElements() <= kMostElements;
  return hasOne && areAlone(loop) && ttg::lookupNumWarps(products) >= 8;
}

static void formStores(TileLoop loop, unsigned capability) {
  SmallVector<TileStoring> stores = findStores(loop);
  bool isDeferred = stores.size() == 1 && fitsBesideProducts(stores.front(), loop);
  Slots slots;
  for (TileStoring &storing : stores) {
    if (!slots.contains(storing.slotsType()) && !hasRoom(storing, capability)) {
      continue;
    }
    StoreWriter writer(loop, storing, slots);
    if (isDeferred) {
      writer.writeDeferred();
    } else {
      writer.write();
    }
  }
}

namespace {

struct FormTileStoresPass : impl::FormTileStoresBase<FormTileStoresPass> {
  void runOnOperation() override {
    FailureOr<unsigned> capability = targetCapability(getOperation());
    if (failed(capability)) {
      return signalPassFailure();
    }
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>()) {
      llvm::for_each(findTileLoops(function, *capability),
                     [&](const TileLoop &loop) { formStores(loop, *capability); });
    }
  }
};

} // namespace
} // namespace jitk::passes
