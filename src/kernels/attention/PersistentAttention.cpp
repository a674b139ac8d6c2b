#include "src/kernels/attention/PersistentAttention.h"

#include "src/kernels/attention/AttentionSequences.h"
#include "src/kernels/attention/AttentionWindow.h"
#include "src/kernels/attention/ScoreScale.h"
#include "src/kernels/vocabulary/DimensionParts.h"
#include "src/kernels/vocabulary/ItemQueue.h"
#include "src/kernels/vocabulary/KernelProgram.h"
#include "src/kernels/vocabulary/OverlappedAttention.h"
#include "src/kernels/vocabulary/Raster.h"
#include "src/kernels/vocabulary/Roles.h"
#include "src/kernels/vocabulary/TileRows.h"
#include "src/kernels/vocabulary/TileStore.h"

#include <limits>

using namespace mlir;

namespace jitk::kernels {

static constexpr int64_t kConsumerRows = OverlappedAttention::kRows;
static constexpr unsigned kWarpsOfConsumer = 4;
/// Of a thread; 0: as launched. A consumer holds the scores, weights and outputs of its rows, the producer next to
/// nothing.
struct RoleRegisters {
  unsigned consumer = 0, producer = 0;
};

static RoleRegisters registersOf(int64_t numConsumers) {
  switch (numConsumers) {
  case 1:
    return {};
  case 2:
    return {240, 24};
  default:
    return {160, 32};
  }
}

/// Counts the items that CTAs have taken; in the workspace, an i32.
static constexpr const char *kItemCounter = "taken_items";

/// Tiles of sequences that end within them are cut, which takes whole panels.
static bool canCutValues(const Description &description) {
  constexpr int64_t kPanel = 64;
  return description.integer("value_dim") % kPanel == 0;
}

bool servesPersistentAttention(const Description &description, const Target &target) {
  constexpr int64_t kMostParts = 2, kMostDim = 256, kRowBytes = 16;
  if (AttentionSequences(description).differ() && !canCutValues(description)) {
    return false;
  }
  int64_t headDim = description.integer("head_dim"), valueDim = description.integer("value_dim");
  const Dimension &keys = description.dimension("seq_k");
  return target.capability == 90 && target.archSpecific && std::max(headDim, valueDim) <= kMostDim &&
         splitDimension(headDim, kLeastPart).size() <= kMostParts &&
         splitDimension(valueDim, kLeastPart).size() <= kMostParts && (!keys.isStatic() || keys.value > 0) &&
         haveStridesOf(description, {"q", "k", "v"}, kRowBytes / 2) &&
         haveStridesOf(description, {"o"}, description.word("out_dtype") == "fp32" ? kRowBytes / 4 : kRowBytes / 2);
}

namespace {

/// What is moved and computed with one tile.
struct Shapes {
  Shapes(const Description &description, const AttentionTile &tile, MLIRContext &context);

  SharedTile queryTile(const DimensionPart &part) const { return {kConsumerRows, part.size, type}; }
  SharedTile keyTile(int64_t keys, const DimensionPart &part) const { return {keys, part.size, type}; }
  SharedTile resultTile(const DimensionPart &part) const { return {kConsumerRows, part.size, outputType}; }
  OverlappedAttention::Shape attention() const {
    return {keyParts, headParts.size(), valueParts, type, scale.factor(), votesOnSums};
  }

  AttentionTile tile;
  AttentionSequences sequences;
  AttentionWindow window;
  llvm::SmallVector<int64_t> keyParts;
  int64_t headDim, valueDim;
  llvm::SmallVector<DimensionPart> headParts, valueParts;
  Type type, outputType;
  bool isRagged;      ///< the last block of keys may be cut
  bool startsLater;   ///< a consumer may see nothing of an item's first blocks
  bool endsEarlier;   ///< or of its last ones
  bool isMaskedLater; ///< blocks after the first that a consumer sees may be masked, up to those that the window's left
                      ///< end cuts
  bool votesOnSums; ///< weights are added up beside the products of the block before, not where the assembler has room
  bool isVarlen;    ///< each sequence has its own lengths
  ScoreScale scale;
};

/// A tile of queries of one head.
struct WorkItem {
  Value number, row, column;              ///< row: of all heads; column: of tiles, the last queries first; i32
  Value firstQuery, head, keyHead, batch; ///< i32
  SequenceRows queries, keys;             ///< of the sequence
  Value numQueries, numKeys;              ///< the same: how many; i32
  Value endBlock;                         ///< of keys: the one behind the last that some row sees; i32
  Value numBlocks;                        ///< that some row sees, at least one; i32
};

/// Writes the kernel.
class PersistentAttention {
public:
  PersistentAttention(KernelBuilder &builder, const Shapes &shapes);

  void write();

private:
  using Carried = llvm::SmallVector<Value>;
  using ItemBody = llvm::function_ref<Carried(const WorkItem &item, ValueRange carried)>;
  /// How many items the CTAs share; i32.
  Value numItems();
  /// Runs `body` for the items of a CTA, in the producer or in a consumer.
  enum class Side { Producer, Consumer };
  void forEachItem(Side side, ValueRange carried, ItemBody body);
  /// What `body` gives if the item has queries and keys, else `otherwise`.
  Carried ifThereAreKeys(const WorkItem &item, llvm::function_ref<Carried()> body, ValueRange otherwise);
  /// Runs `body` if the item has queries: one past the end of its sequence has none.
  void ifThereAreQueries(const WorkItem &item, KernelBuilder::Body body);
  WorkItem locate(Value number);
  void skipEmptyItems(const WorkItem &item);
  Value firstKeyOf(const WorkItem &item, Value index);
  /// Where TMA finds a row of a sequence and a column.
  Carried originOf(const WorkItem &item, const SequenceRows &rows, Value row, Value column);

  void produce();
  Carried produce(const WorkItem &item, ValueRange carried);
  void loadQueries(const RingPosition &position, const WorkItem &item);
  void loadBlock(const Ring &ring, const RingPosition &position, llvm::StringRef tensor, const WorkItem &item,
                 Value index);

  void consume();

  KernelBuilder &b;
  const Shapes &shapes_;
  const AttentionTile &tile_;
  std::optional<ItemQueue> items_; ///< where they differ in length
  std::optional<Ring> queries_, keys_, values_;
  llvm::SmallVector<TileStore> stores_; ///< of each part
  friend class AttentionConsumer;
};

/// What one consumer does with an item.
class AttentionConsumer {
public:
  explicit AttentionConsumer(PersistentAttention &kernel)
      : k_(kernel), b(kernel.b), shapes_(kernel.shapes_),
        number_(shapes_.tile.numConsumers() > 1 ? replicaId(b) : b.i32(0)),
        attention_(b, *kernel.keys_, *kernel.values_, shapes_.attention()) {}

  using State = OverlappedAttention::State;
  const OverlappedAttention &attention() const { return attention_; }
  /// All blocks of an item. The positions move on.
  State attend(const WorkItem &item, const RingPosition &queries, const State &start);
  void store(const WorkItem &item, const State &state);

private:
  Value numUnseenBlocks(const WorkItem &item);
  Value numMaskedBlocks(const WorkItem &item);
  Value firstCutBlock(const WorkItem &item);
  Value isMaskedOf(Value index, Value numMasked, Value firstCut);
  Value endOfSeenBlocks(const WorkItem &item, Value first);
  llvm::SmallVector<Value> capped(ValueRange scores);
  llvm::SmallVector<Value> mask(ValueRange scores, const WorkItem &item, Value index);
  Value firstRow(const WorkItem &item) { return b.add(item.firstQuery, b.mul(number_, b.i32(kConsumerRows))); }

  PersistentAttention &k_;
  KernelBuilder &b;
  const Shapes &shapes_;
  Value number_; ///< of the consumer, i32
  OverlappedAttention attention_;
};

} // namespace

Shapes::Shapes(const Description &description, const AttentionTile &chosen, MLIRContext &context)
    : tile(chosen), sequences(description), window(description), keyParts(chosen.keyParts()),
      headDim(description.integer("head_dim")), valueDim(description.integer("value_dim")),
      headParts(splitDimension(headDim, kLeastPart)), valueParts(splitDimension(valueDim, kLeastPart)),
      type(elementTypeOf(description.word("dtype"), context)),
      outputType(elementTypeOf(description.word("out_dtype"), context)), isVarlen(sequences.differ()),
      scale(description) {
  const Dimension &keys = description.dimension("seq_k");
  isRagged = isVarlen || (keys.isStatic() ? keys.value : keys.divisor) % tile.keys != 0;
  const Dimension &queries = description.dimension("seq_q");
  bool isStatic = queries.isStatic() && keys.isStatic() && !isVarlen;
  auto isMultipleOf = [&](int64_t divisor) {
    return isStatic && (keys.value - queries.value + window.right.value_or(0)) % divisor == 0;
  };
  // A consumer's diagonal lies in one block: all of its queries see the blocks before.
  isMaskedLater = window.right && !(tile.keys % kConsumerRows == 0 && isMultipleOf(kConsumerRows));
  // So does a tile's, which is the same block for all of its consumers.
  startsLater = window.right && tile.numConsumers() > 1 && !(tile.keys % tile.rows == 0 && isMultipleOf(tile.keys));
  endsEarlier = window.left && tile.numConsumers() > 1;
  // Measured: one consumer has nothing to hide its sums behind, and three have registers for it where nothing is
  // masked; beside the tanh of capped scores it costs 9 %.
  votesOnSums = !scale.isCapped() && (tile.numConsumers() == 2 || (tile.numConsumers() == 3 && !window.right));
}

PersistentAttention::PersistentAttention(KernelBuilder &builder, const Shapes &shapes)
    : b(builder), shapes_(shapes), tile_(shapes.tile) {
  llvm::SmallVector<SharedTile> queries, keys, values;
  for (const DimensionPart &part : shapes.headParts) {
    queries.push_back(shapes.queryTile(part));
  }
  for (int64_t numKeys : shapes.keyParts) {
    for (const DimensionPart &part : shapes.headParts) {
      keys.push_back(shapes.keyTile(numKeys, part));
    }
    for (const DimensionPart &part : shapes.valueParts) {
      values.push_back(shapes.keyTile(numKeys, part));
    }
  }
  unsigned consumerWarps = kWarpsOfConsumer * unsigned(tile_.numConsumers());
  if (tile_.isQueued) {
    items_.emplace(b, b.tensorParameter(kItemCounter), numItems(), consumerWarps);
  }
  queries_.emplace(b, tile_.queryStages, queries, consumerWarps, RingOptions{.replicas = tile_.numConsumers()});
  keys_.emplace(b, tile_.stages, keys, consumerWarps);
  values_.emplace(b, tile_.stages, values, consumerWarps);
  for (const DimensionPart &part : shapes.valueParts) {
    stores_.emplace_back(b, shapes.resultTile(part), tile_.storeSlots, TileStore::Kind::Store, tile_.numConsumers());
  }
}

void PersistentAttention::write() {
  auto produceAll = [&] { produce(); };
  auto consumeAll = [&] { consume(); };
  RoleRegisters registers = registersOf(tile_.numConsumers());
  specialize(b, {Role{.numWarps = kWarpsOfConsumer,
                      .replicas = unsigned(tile_.numConsumers()),
                      .registers = registers.consumer,
                      .body = consumeAll},
                 Role{.numWarps = 1, .registers = registers.producer, .body = produceAll}});
}

// --- items

WorkItem PersistentAttention::locate(Value number) {
  // The longest items first: those of the last queries, of a group of heads.
  Value heads = b.size("heads"), numTiles = b.ceilDiv(b.size("seq_q"), tile_.rows);
  TilePosition position = rasterize(b, number, {b.mul(heads, b.size("batch")), numTiles}, tile_.groupHeads);
  Value tile = b.sub(b.sub(numTiles, b.i32(1)), position.column);
  WorkItem item;
  item.number = number;
  item.row = position.row;
  item.column = position.column;
  item.firstQuery = b.mul(tile, b.i32(tile_.rows));
  item.head = b.rem(position.row, heads);
  item.batch = b.div(position.row, heads);
  item.keyHead = b.div(item.head, b.div(heads, b.size("kv_heads")));
  item.queries = shapes_.sequences.queries(b, item.batch);
  item.keys = shapes_.sequences.keys(b, item.batch);
  item.numQueries = item.queries.count;
  item.numKeys = item.keys.count;
  Value seen = item.numKeys;
  const AttentionWindow &window = shapes_.window;
  if (window.right) {
    Value diagonal = b.sub(item.numKeys, item.numQueries);
    Value lastRowEnd = b.add(b.add(item.firstQuery, diagonal), b.i32(tile_.rows + *window.right));
    seen = b.maximum(b.minimum(seen, lastRowEnd), b.i32(1));
  }
  item.endBlock = item.numBlocks = b.ceilDiv(seen, tile_.keys);
  if (window.left) {
    Value diagonal = b.sub(item.numKeys, item.numQueries);
    Value firstSeen = b.add(b.add(item.firstQuery, diagonal), b.i32(-*window.left));
    item.numBlocks = b.sub(item.endBlock, b.div(b.maximum(firstSeen, b.i32(0)), b.i32(tile_.keys)));
  }
  return item;
}

PersistentAttention::Carried
PersistentAttention::ifThereAreKeys(const WorkItem &item, llvm::function_ref<Carried()> body, ValueRange otherwise) {
  Value condition = b.lessThan(b.i32(0), item.numKeys);
  if (shapes_.isVarlen) {
    condition = b.both(condition, b.lessThan(item.firstQuery, item.numQueries));
  }
  return b.ifThen(condition, body, otherwise);
}

void PersistentAttention::ifThereAreQueries(const WorkItem &item, KernelBuilder::Body body) {
  if (shapes_.isVarlen) {
    b.ifElse(b.lessThan(item.firstQuery, item.numQueries), body);
  } else {
    body();
  }
}

Value PersistentAttention::numItems() {
  Value tiles = b.ceilDiv(b.size("seq_q"), tile_.rows);
  return b.mul(tiles, b.mul(b.size("heads"), b.size("batch")));
}

void PersistentAttention::forEachItem(Side side, ValueRange carried, ItemBody body) {
  auto bodyOfNumber = [&](Value number, ValueRange now) { return body(locate(number), now); };
  if (!items_) {
    b.loop(b.programId(0), numItems(), b.numPrograms(0), carried, bodyOfNumber);
  } else if (side == Side::Producer) {
    items_->forEachTaken(carried, bodyOfNumber);
  } else {
    items_->forEachRead(carried, bodyOfNumber);
  }
}

/// A sequence that is far shorter than the longest has many items without queries, which come before its others.
void PersistentAttention::skipEmptyItems(const WorkItem &item) {
  if (!shapes_.isVarlen || !items_) {
    return;
  }
  auto skip = [&] {
    Value heads = b.size("heads"), group = b.i32(tile_.groupHeads);
    Value firstRow = b.mul(b.div(item.row, group), group);
    Value inGroup = b.sub(item.row, firstRow);
    Value rowsOfGroup = b.minimum(b.sub(b.mul(heads, b.size("batch")), firstRow), group);
    // The sequence's other heads have none in this column either. Where it has all of the group, nor have the columns
    // up to that of its last queries.
    Value headsLeft = b.sub(heads, item.head), rowsLeft = b.sub(rowsOfGroup, inGroup);
    Value next = b.add(item.number, b.minimum(headsLeft, rowsLeft));
    Value hasGroup = b.both(b.lessEqual(inGroup, item.head), b.lessEqual(rowsLeft, headsLeft));
    Value column = b.sub(b.ceilDiv(b.size("seq_q"), tile_.rows), b.ceilDiv(item.numQueries, tile_.rows));
    Value columnsLeft = b.sub(column, item.column);
    Value ofGroup = b.add(b.sub(item.number, inGroup), b.mul(columnsLeft, rowsOfGroup));
    items_->skipTo(b.select(hasGroup, ofGroup, next));
  };
  b.ifElse(b.lessEqual(item.numQueries, item.firstQuery), skip);
}

/// Blocks are taken from the last one down: those that need a mask come first.
Value PersistentAttention::firstKeyOf(const WorkItem &item, Value index) {
  return b.mul(b.sub(b.sub(item.endBlock, b.i32(1)), index), b.i32(tile_.keys));
}

PersistentAttention::Carried PersistentAttention::originOf(const WorkItem &item, const SequenceRows &rows, Value row,
                                                           Value column) {
  return rows.first ? Carried{b.add(rows.first, row), column} : Carried{item.batch, row, column};
}

// --- the producer

void PersistentAttention::loadQueries(const RingPosition &position, const WorkItem &item) {
  queries_->acquire(position);
  for (int64_t consumer = 0; consumer < tile_.numConsumers(); ++consumer) {
    for (auto [tile, part] : llvm::enumerate(shapes_.headParts)) {
      Value row = b.add(item.firstQuery, b.i32(consumer * kConsumerRows));
      Value column = b.add(b.mul(item.head, b.i32(shapes_.headDim)), b.i32(part.offset));
      queries_->load(position, unsigned(tile), b.descriptorParameter("q", shapes_.queryTile(part)),
                     originOf(item, item.queries, row, column), b.i32(consumer));
    }
  }
}

void PersistentAttention::loadBlock(const Ring &ring, const RingPosition &position, llvm::StringRef tensor,
                                    const WorkItem &item, Value index) {
  bool isKeys = tensor == "k";
  ring.acquire(position);
  Value firstRow = firstKeyOf(item, index);
  auto forEachTile = [&](llvm::function_ref<void(unsigned, const SharedTile &, ValueRange)> load) {
    Value row = firstRow;
    unsigned tile = 0;
    for (int64_t numKeys : shapes_.keyParts) {
      for (const DimensionPart &part : isKeys ? shapes_.headParts : shapes_.valueParts) {
        Value first = b.mul(item.keyHead, b.i32(isKeys ? shapes_.headDim : shapes_.valueDim));
        load(tile++, shapes_.keyTile(numKeys, part), originOf(item, item.keys, row, b.add(first, b.i32(part.offset))));
      }
      row = b.add(row, b.i32(numKeys));
    }
  };
  auto loadWhole = [&] {
    forEachTile([&](unsigned tile, const SharedTile &shape, ValueRange origin) {
      ring.load(position, tile, b.descriptorParameter(tensor, shape), origin);
    });
  };
  if (isKeys || !shapes_.isVarlen) {
    loadWhole();
    return;
  }
  // Values past the end may be NaN, which a weight of zero does not remove.
  auto loadCut = [&] {
    Value end = item.keys.first ? b.add(item.keys.first, item.numKeys) : item.numKeys;
    Value outside = b.size(item.keys.first ? "total_k" : "seq_k");
    forEachTile([&](unsigned tile, const SharedTile &shape, ValueRange origin) {
      auto pieces = [&](int64_t rows) { return b.descriptorParameter(tensor, TileRows::pieceOf(shape, rows)); };
      ring.loadUntil(position, tile, b.i32(0), shape.rows, pieces, origin, end, outside);
    });
  };
  b.ifElse(b.lessThan(item.numKeys, b.add(firstRow, b.i32(tile_.keys))), loadCut, loadWhole);
}

void PersistentAttention::produce() {
  RingPosition queries = queries_->start(), keys = keys_->start(), values = values_->start();
  Carried start = {queries.slot, queries.phase, keys.slot, keys.phase, values.slot, values.phase};
  forEachItem(Side::Producer, start, [&](const WorkItem &item, ValueRange carried) {
    skipEmptyItems(item);
    return ifThereAreKeys(item, [&] { return produce(item, carried); }, carried);
  });
}

PersistentAttention::Carried PersistentAttention::produce(const WorkItem &item, ValueRange carried) {
  RingPosition query = {carried[0], carried[1]}, key = {carried[2], carried[3]};
  loadQueries(query, item);
  loadBlock(*keys_, key, "k", item, b.i32(0));
  // Values come a block later than their keys.
  key = keys_->next(key);
  Carried after = b.loop(b.i32(1), item.numBlocks, 1, {key.slot, key.phase, carried[4], carried[5]},
                         [&](Value index, ValueRange now) -> Carried {
                           RingPosition nextKey = {now[0], now[1]}, value = {now[2], now[3]};
                           loadBlock(*keys_, nextKey, "k", item, index);
                           loadBlock(*values_, value, "v", item, b.sub(index, b.i32(1)));
                           nextKey = keys_->next(nextKey);
                           value = values_->next(value);
                           return {nextKey.slot, nextKey.phase, value.slot, value.phase};
                         });
  RingPosition value = {after[2], after[3]};
  loadBlock(*values_, value, "v", item, b.sub(item.numBlocks, b.i32(1)));
  query = queries_->next(query);
  value = values_->next(value);
  return {query.slot, query.phase, after[0], after[1], value.slot, value.phase};
}

// --- a consumer

llvm::SmallVector<Value> AttentionConsumer::capped(ValueRange scores) {
  return llvm::map_to_vector(scores, [&](Value part) { return shapes_.scale.capped(b, part); });
}

llvm::SmallVector<Value> AttentionConsumer::mask(ValueRange scores, const WorkItem &item, Value index) {
  // The first key that a row does not see, counted from the block's first, and the first that it does.
  const AttentionWindow &window = shapes_.window;
  Value begin, end = b.splat(item.numKeys, {kConsumerRows});
  auto ofDiagonal = [&](int64_t distance) {
    Value first = b.add(firstRow(item), b.sub(item.numKeys, item.numQueries));
    return b.add(b.splat(b.add(first, b.i32(distance)), {kConsumerRows}), b.range(kConsumerRows));
  };
  if (window.right) {
    end = b.minimum(end, ofDiagonal(*window.right + 1));
  }
  end = b.sub(end, b.splat(k_.firstKeyOf(item, index), {kConsumerRows}));
  if (window.left) {
    begin = b.sub(ofDiagonal(-*window.left), b.splat(k_.firstKeyOf(item, index), {kConsumerRows}));
  }
  llvm::SmallVector<Value> masked;
  int64_t offset = 0;
  for (auto [part, columns] : llvm::zip_equal(scores, shapes_.keyParts)) {
    Value key = b.add(b.range(columns), b.splat(b.i32(offset), {columns}));
    Value isSeen = b.lessThan(b.asRow(key, kConsumerRows), b.asColumn(end, columns));
    if (begin) {
      isSeen = b.both(isSeen, b.lessEqual(b.asColumn(begin, columns), b.asRow(key, kConsumerRows)));
    }
    masked.push_back(maskedScores(b, isSeen, part));
    offset += columns;
  }
  return masked;
}

/// How many blocks of an item, the first ones, have keys that some row of this consumer does not see; null if no more
/// than the first.
Value AttentionConsumer::numMaskedBlocks(const WorkItem &item) {
  if (!shapes_.isMaskedLater) {
    return {};
  }
  Value seenByAll =
      b.add(b.add(firstRow(item), b.sub(item.numKeys, item.numQueries)), b.i32(*shapes_.window.right + 1));
  seenByAll = b.maximum(b.minimum(seenByAll, item.numKeys), b.i32(0));
  return b.sub(item.endBlock, b.div(seenByAll, b.i32(shapes_.tile.keys)));
}

/// The first block of an item, from which on all have keys before the window of some row of this consumer; null if none
/// has.
Value AttentionConsumer::firstCutBlock(const WorkItem &item) {
  const AttentionWindow &window = shapes_.window;
  if (!window.left) {
    return {};
  }
  Value ofLastRow =
      b.add(b.add(firstRow(item), b.sub(item.numKeys, item.numQueries)), b.i32(kConsumerRows - 1 - *window.left));
  return b.sub(item.endBlock, b.ceilDiv(b.maximum(ofLastRow, b.i32(0)), shapes_.tile.keys));
}

/// Whether a block after a consumer's first is to be masked; null if none is.
Value AttentionConsumer::isMaskedOf(Value index, Value numMasked, Value firstCut) {
  Value isBefore = numMasked ? b.lessThan(index, numMasked) : Value();
  if (!firstCut) {
    return isBefore;
  }
  Value isAfter = b.lessEqual(firstCut, index);
  return isBefore ? b.select(isBefore, b.boolean(true), isAfter) : isAfter;
}

/// The first block of an item, from which on no row of this consumer sees any, after `first`, which it takes.
Value AttentionConsumer::endOfSeenBlocks(const WorkItem &item, Value first) {
  if (!shapes_.endsEarlier) {
    return item.numBlocks;
  }
  Value firstSeen = b.add(b.add(firstRow(item), b.sub(item.numKeys, item.numQueries)), b.i32(-*shapes_.window.left));
  Value end = b.sub(item.endBlock, b.div(b.maximum(firstSeen, b.i32(0)), b.i32(shapes_.tile.keys)));
  return b.maximum(end, b.add(first, b.i32(1)));
}

/// How many blocks of an item, the first ones, no row of this consumer sees; it takes one at least.
Value AttentionConsumer::numUnseenBlocks(const WorkItem &item) {
  if (!shapes_.startsLater) {
    return b.i32(0);
  }
  Value row = firstRow(item), diagonal = b.sub(item.numKeys, item.numQueries);
  Value end = b.minimum(item.numKeys, b.add(b.add(row, diagonal), b.i32(kConsumerRows + *shapes_.window.right)));
  end = b.select(b.lessThan(row, item.numQueries), end, b.i32(0));
  Value first = b.sub(item.endBlock, b.ceilDiv(b.maximum(end, b.i32(1)), shapes_.tile.keys));
  // Rows that are not there would begin with the first keys, which are not an item's of a window.
  return shapes_.window.left ? b.minimum(first, b.sub(item.numBlocks, b.i32(1))) : first;
}

AttentionConsumer::State AttentionConsumer::attend(const WorkItem &item, const RingPosition &queries,
                                                   const State &start) {
  k_.queries_->await(queries);
  auto query = [&](unsigned part) { return k_.queries_->tile(queries, part, number_); };
  Value first = numUnseenBlocks(item);
  State state = attention_.firstBlock(attention_.skip(first, start), query, [&](ValueRange products) {
    llvm::SmallVector<Value> scores = capped(products);
    return shapes_.window.isBounded() || shapes_.isRagged ? mask(scores, item, first) : scores;
  });
  Value numMasked = numMaskedBlocks(item), firstCut = firstCutBlock(item), end = endOfSeenBlocks(item, first);
  state = attention_.forEachBlock(b.add(first, b.i32(1)), end, state, [&](Value index, const State &now) {
    Value isMasked = isMaskedOf(index, numMasked, firstCut);
    return attention_.nextBlock(now, query, [&](ValueRange products) {
      llvm::SmallVector<Value> scores = capped(products);
      return isMasked ? b.ifThen(isMasked, [&] { return mask(scores, item, index); }, scores) : scores;
    });
  });
  k_.queries_->release(queries.slot);
  state = attention_.lastProduct(state);
  return shapes_.endsEarlier ? attention_.skip(b.sub(item.numBlocks, end), state) : state;
}

void AttentionConsumer::store(const WorkItem &item, const State &state) {
  Value row = firstRow(item);
  SoftmaxState softmax = totalled(b, state.softmax);
  Value normalizer = softmaxNormalizer(b, softmax);
  for (auto [store, part, accumulator] : llvm::zip_equal(k_.stores_, shapes_.valueParts, state.outputs)) {
    SharedTile slice = TileStore::sliceOf(shapes_.resultTile(part));
    Value column = b.add(b.mul(item.head, b.i32(shapes_.valueDim)), b.i32(part.offset));
    TileStore::Rows stored;
    if (shapes_.isVarlen) {
      stored = {b.sub(item.numQueries, row), b.descriptorParameter("o", TileRows::pieceOf(slice, 1))};
    }
    store.store(
        accumulator, b.descriptorParameter("o", slice), k_.originOf(item, item.queries, row, column),
        [&](Value sums) { return b.convert(scaledRows(b, sums, normalizer), shapes_.outputType); }, stored);
  }
  Value rows = b.add(b.splat(row, {kConsumerRows}), b.range(kConsumerRows));
  Value base = shapes_.sequences.logSums(b, item.batch, item.head, item.queries);
  b.store(b.pointers(base, rows), logSumExp(b, softmax, -std::numeric_limits<double>::infinity()),
          b.lessThan(rows, b.splat(item.numQueries, {kConsumerRows})));
}

void PersistentAttention::consume() {
  AttentionConsumer consumer(*this);
  RingPosition queries = queries_->start(), keys = keys_->start(), values = values_->start();
  Carried start = {queries.slot, queries.phase, keys.slot, keys.phase, values.slot, values.phase};
  forEachItem(Side::Consumer, start, [&](const WorkItem &item, ValueRange carried) -> Carried {
    RingPosition query = {carried[0], carried[1]};
    const OverlappedAttention &attention = consumer.attention();
    AttentionConsumer::State start = attention.start({carried[2], carried[3]}, {carried[4], carried[5]});
    auto attend = [&] {
      Carried result = attention.pack(consumer.attend(item, query, start));
      RingPosition next = queries_->next(query);
      result.append({next.slot, next.phase});
      return result;
    };
    Carried otherwise = attention.pack(start);
    otherwise.append({query.slot, query.phase});
    Carried result = ifThereAreKeys(item, attend, otherwise);
    AttentionConsumer::State state = attention.unpack(ValueRange(result).drop_back(2));
    ifThereAreQueries(item, [&] { consumer.store(item, state); });
    return {result[result.size() - 2], result.back(),     state.keys.slot,
            state.keys.phase,          state.values.slot, state.values.phase};
  });
  TileStore::drain(b);
}

// --- the program

static KernelSignature declare(const Description &description, const Shapes &shapes) {
  using Op = Expression::Op;
  KernelSignature signature(description);
  shapes.sequences.declareDimensions(signature, description);
  llvm::SmallVector<SharedTile> queries, keys, values, results;
  for (const DimensionPart &part : shapes.headParts) {
    queries.push_back(shapes.queryTile(part));
    for (int64_t numKeys : shapes.keyParts) {
      keys.push_back(shapes.keyTile(numKeys, part));
    }
  }
  for (const DimensionPart &part : shapes.valueParts) {
    results.push_back(TileStore::sliceOf(shapes.resultTile(part)));
    for (int64_t numKeys : shapes.keyParts) {
      values.push_back(shapes.keyTile(numKeys, part));
    }
    if (shapes.isVarlen) {
      results.push_back(TileRows::pieceOf(results.back(), 1));
      llvm::append_range(values, Ring::piecesOf(values.back()));
    }
  }
  bool isPacked = shapes.sequences.arePacked();
  auto tensor = [&](const char *name, llvm::StringRef side, const char *heads, int64_t dim,
                    llvm::ArrayRef<SharedTile> tiles) {
    llvm::SmallVector<Expression> sizes;
    if (!isPacked) {
      sizes.push_back(signature.expression("batch"));
    }
    sizes.push_back(signature.expression(((isPacked ? "total_" : "seq_") + side).str()));
    sizes.push_back(Expression::binary(Op::Mul, signature.expression(heads), Expression::constant(dim)));
    signature.tiledTensor(name, tiles.front().elementType, sizes, tiles);
  };
  tensor("q", "q", "heads", shapes.headDim, queries);
  tensor("k", "k", "kv_heads", shapes.headDim, keys);
  tensor("v", "k", "kv_heads", shapes.valueDim, values);
  shapes.sequences.declareTensors(signature, *shapes.type.getContext());
  if (shapes.tile.isQueued) {
    signature.workspace(kItemCounter, elementTypeOf("int32", *shapes.type.getContext()), Expression::constant(1));
  }
  tensor("o", "q", "heads", shapes.valueDim, results);
  signature.tensor("lse", elementTypeOf("fp32", *shapes.type.getContext()), 4);
  return signature;
}

Result<BuiltKernel> buildPersistentAttention(const Description &description, const AttentionTile &tile,
                                             const Target &target, MLIRContext &context) {
  using Op = Expression::Op;
  Shapes shapes(description, tile, context);
  KernelSignature signature = declare(description, shapes);
  KernelProgram program(context, signature, target);
  if (tile.isQueued) {
    program.step({.symbol = "flash_attention_counter", .numWarps = 1, .arguments = {kItemCounter}},
                 [&](KernelBuilder &b) { writeCounter(b, b.tensorParameter(kItemCounter)); });
  }
  Expression heads = Expression::binary(Op::Mul, signature.expression("heads"), signature.expression("batch"));
  program.step({.symbol = "flash_attention",
                .numWarps = kWarpsOfConsumer,
                .grid = persistentGrid(signature.expression("seq_q"), tile.rows, heads, 1),
                // Lengths are more of what would stay in registers around the loop.
                .keepsInvariants = shapes.isVarlen},
               [&](KernelBuilder &b) { PersistentAttention(b, shapes).write(); });
  return std::move(program).finish();
}

} // namespace jitk::kernels
