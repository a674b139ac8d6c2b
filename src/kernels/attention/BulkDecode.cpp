// A CTA computes a tile of 64 rows of one key head over its part of the schedule. Its warps have roles:
//
//    producer, 1 warp               rings in shared memory           consumer, 1 warpgroup
//                                +------------------------+
//      the table's entries       |                        |          Q of a sequence, to shared memory
//      K of block j, by pages -> | keys      several      | -------> S = Q K^T
//      V of block j, by pages -> | values    slots        | -------> O += P V, P from registers
//                                +------------------------+
//
// The keys of a block lie in pieces that are whole in one page. A piece past the end is read from outside of the cache,
// as zeros; values of the piece that the end cuts come row by row, since what lies past it may be NaN.
//
// Where pieces would be small the producer is a warpgroup whose threads copy rows, each from its own page; rows past
// the end are zeros.

#include "src/kernels/attention/BulkDecode.h"

#include "src/kernels/vocabulary/OverlappedAttention.h"
#include "src/kernels/vocabulary/Roles.h"
#include "src/kernels/vocabulary/TileRows.h"

#include <numeric>

using namespace mlir;

namespace jitk::kernels {

static constexpr int64_t kRows = OverlappedAttention::kRows;
static constexpr unsigned kConsumerWarps = 4, kGathererWarps = 4;
/// Results go to memory in slices: each is handed around in shared memory first.
static constexpr int64_t kSliceColumns = 32;

/// Keys that lie in one page together: parts begin at multiples of kScheduleBlock.
static int64_t pieceRows(const PagedDecodeProblem &problem) { return std::gcd(problem.pageSize, kScheduleBlock); }

static llvm::SmallVector<DimensionPart> partsOf(int64_t dim) { return splitDimension(dim, kLeastPart); }

std::optional<BulkTile> chooseBulkTile(const PagedDecodeProblem &problem, const Target &target) {
  constexpr int64_t kPanel = 64, kMostParts = 2, kMostDim = 256, kElementBytes = 2;
  bool isServed = target.capability == 90 && target.archSpecific && problem.rowsAreAligned;
  for (int64_t dim : {problem.keyDim, problem.valueDim}) {
    isServed = isServed && dim % kPanel == 0 && dim <= kMostDim && int64_t(partsOf(dim).size()) <= kMostParts;
  }
  if (!isServed || problem.valuesAreKeys()) {
    return std::nullopt;
  }
  BulkTile tile;
  // Of smaller pieces TMA would have too many to start.
  constexpr int64_t kLeastPiece = 16;
  tile.gathers = pieceRows(problem) < kLeastPiece;
  // With narrow heads the consumer falls behind in blocks of 64 keys; gatherers, too, take 128 at a time.
  constexpr int64_t kNarrow = 64, kNarrowGathered = 128;
  bool isNarrow = std::max(problem.keyDim, problem.valueDim) <= (tile.gathers ? kNarrowGathered : kNarrow);
  tile.keys = isNarrow ? 128 : 64;
  // With 128 KB in flight on each multiprocessor the memory is slower than with 96.
  constexpr int64_t kBytesReady = 96 << 10, kFewestStages = 2;
  int64_t block = tile.keys * (problem.keyDim + problem.valueDim) * kElementBytes;
  tile.stages = std::max(kBytesReady / block, kFewestStages);
  return tile;
}

llvm::SmallVector<SharedTile> bulkPieces(const PagedDecodeProblem &problem, const BulkTile &tile, int64_t dim) {
  llvm::SmallVector<SharedTile> pieces;
  if (tile.gathers) {
    return pieces;
  }
  for (const DimensionPart &part : partsOf(dim)) {
    SharedTile block = {kScheduleBlock, part.size, problem.type};
    pieces.push_back(TileRows::pieceOf(block, pieceRows(problem)));
    llvm::append_range(pieces, Ring::piecesOf(block));
  }
  return pieces;
}

namespace {

/// Writes the step; its members are what the roles share.
class BulkDecodeWriter {
public:
  BulkDecodeWriter(KernelBuilder &builder, const PagedDecodeProblem &problem, const BulkTile &tile);

  void write();

private:
  using Carried = SmallVector<Value>;
  /// Runs `body` for the sequences of the CTA's part.
  using SequenceBody = llvm::function_ref<Carried(const ScheduledPart &part, const DecodedKeys &keys, ValueRange now)>;
  void forEachSequence(ValueRange carried, SequenceBody body);
  Value numBlocks(const DecodedKeys &keys);
  Value firstKey(const DecodedKeys &keys, Value block) { return b.add(keys.begin, b.mul(block, b.i32(tile_.keys))); }

  void produce();
  Carried produce(const DecodedKeys &keys, ValueRange positions);
  Carried pagesOf(const DecodedKeys &keys, Value table, Value block);
  void loadBlock(const Ring &ring, const RingPosition &position, StringRef tensor, int64_t dim, const DecodedKeys &keys,
                 Value block, ValueRange pages);
  Carried gather(const DecodedKeys &keys, ValueRange positions);
  void gatherBlock(const Ring &ring, const RingPosition &position, int64_t dim, const PagedBlock &block);

  using State = OverlappedAttention::State;
  void consume();
  void loadQueries(const DecodedRows &rows, Value sequence);
  /// Of a part's rows: the first key that each does not see, i32 [64], and the first that some row does not.
  struct Seen {
    Value ends, byAll;
  };
  State attend(const DecodedKeys &keys, const Seen &seen, const State &start);
  Value scaled(Value scores, Value firstKey, const Seen &seen);

  KernelBuilder &b;
  const PagedDecodeProblem &problem_;
  const BulkTile tile_;
  SmallVector<DimensionPart> keyParts_, valueParts_;
  SmallVector<Value> queries_; ///< buffers
  std::optional<Ring> keys_, values_;
  std::optional<OverlappedAttention> attention_;
};

} // namespace

BulkDecodeWriter::BulkDecodeWriter(KernelBuilder &builder, const PagedDecodeProblem &problem, const BulkTile &tile)
    : b(builder), problem_(problem), tile_(tile), keyParts_(partsOf(problem.keyDim)),
      valueParts_(partsOf(problem.valueDim)) {
  SmallVector<SharedTile> keys, values;
  for (const DimensionPart &part : keyParts_) {
    queries_.push_back(
        ir::ttg::LocalAllocOp::create(b, SharedTile{kRows, part.size, problem.type}.bufferType()).getResult());
    keys.push_back({tile.keys, part.size, problem.type});
  }
  for (const DimensionPart &part : valueParts_) {
    values.push_back({tile.keys, part.size, problem.type});
  }
  RingOptions options = {.gathererWarps = tile.gathers ? kGathererWarps : 0};
  keys_.emplace(b, tile.stages, keys, kConsumerWarps, options);
  values_.emplace(b, tile.stages, values, kConsumerWarps, options);
  attention_.emplace(
      b, *keys_, *values_,
      OverlappedAttention::Shape{
          .keyParts = {tile.keys}, .numHeadParts = keyParts_.size(), .valueParts = valueParts_, .type = problem.type});
}

void BulkDecodeWriter::write() {
  auto consumeAll = [&] { consume(); };
  auto produceAll = [&] { produce(); };
  specialize(b, {Role{.numWarps = kConsumerWarps, .body = consumeAll},
                 Role{.numWarps = tile_.gathers ? kGathererWarps : 1, .body = produceAll}});
}

void BulkDecodeWriter::forEachSequence(ValueRange carried, SequenceBody body) {
  DecodedTile own = decodedTile(b, problem_, kRows);
  ScheduledPart part = partOf(b, problem_, own.part, own.tile, kRows);
  b.loop(part.firstSequence, b.add(part.lastSequence, b.i32(1)), 1, carried,
         [&](Value sequence, ValueRange now) { return body(part, locateKeys(b, part, sequence), now); });
}

Value BulkDecodeWriter::numBlocks(const DecodedKeys &keys) {
  return b.ceilDiv(b.maximum(b.sub(keys.end, keys.begin), b.i32(0)), tile_.keys);
}

// --- the producer

void BulkDecodeWriter::produce() {
  RingPosition keys = keys_->start(), values = values_->start();
  Carried start = {keys.slot, keys.phase, values.slot, values.phase};
  forEachSequence(start, [&](const ScheduledPart &, const DecodedKeys &keys, ValueRange now) {
    Value hasKeys = b.lessThan(keys.begin, keys.end);
    return b.ifThen(hasKeys, [&] { return tile_.gathers ? gather(keys, now) : produce(keys, now); }, now);
  });
}

/// The pages of a block's pieces; there is a key. Pieces past the last key have its page, which is not used.
BulkDecodeWriter::Carried BulkDecodeWriter::pagesOf(const DecodedKeys &keys, Value table, Value block) {
  Carried pages;
  Value last = b.sub(keys.end, b.i32(1)), lastPage = b.sub(b.size("num_pages"), b.i32(1));
  for (int64_t offset = 0; offset < tile_.keys; offset += pieceRows(problem_)) {
    Value key = b.minimum(b.add(firstKey(keys, block), b.i32(offset)), last);
    Value entry = b.load(b.advance(table, b.div(key, b.i32(problem_.pageSize))));
    // An entry that names no page is taken as the nearest one that does.
    pages.push_back(b.maximum(b.minimum(entry, lastPage), b.i32(0)));
  }
  return pages;
}

void BulkDecodeWriter::loadBlock(const Ring &ring, const RingPosition &position, StringRef tensor, int64_t dim,
                                 const DecodedKeys &keys, Value block, ValueRange pages) {
  const int64_t numRows = pieceRows(problem_);
  // What lies past the end of the keys is masked, of the values it is multiplied: it must not be NaN.
  const bool mayBeNaN = &ring == &*keys_;
  ring.acquire(position);
  Value first = firstKey(keys, block), left = b.sub(keys.end, first);
  Value pageSize = b.i32(problem_.pageSize), column = b.mul(decodedTile(b, problem_, kRows).keyHead, b.i32(dim));
  auto forEachTile = [&](llvm::function_ref<void(unsigned tile, Ring::MatricesOf pieces, Value column)> load) {
    for (auto [tile, part] : llvm::enumerate(partsOf(dim))) {
      SharedTile shape = {tile_.keys, part.size, problem_.type};
      load(
          unsigned(tile), [&](int64_t rows) { return b.descriptorParameter(tensor, TileRows::pieceOf(shape, rows)); },
          b.add(column, b.i32(part.offset)));
    }
  };
  // The number of the piece that the end cuts, or past them all.
  Value cut = b.select(b.lessThan(b.i32(0), b.rem(left, b.i32(numRows))), b.div(left, b.i32(numRows)),
                       b.i32(int64_t(pages.size())));
  Value cutPage = pages.front();
  for (auto [index, page] : llvm::enumerate(pages)) {
    Value number = b.i32(int64_t(index)), row = b.i32(int64_t(index) * numRows);
    Value exists = b.lessThan(row, left), inPage = b.rem(b.add(first, row), pageSize);
    auto loadWhole = [&] {
      forEachTile([&](unsigned tile, Ring::MatricesOf pieces, Value from) {
        ring.loadPiece(position, tile, numRows, pieces(numRows), number,
                       {page, b.select(exists, inPage, pageSize), from});
      });
    };
    if (mayBeNaN) {
      loadWhole();
    } else {
      Value isCut = b.equal(cut, number);
      cutPage = b.select(isCut, page, cutPage);
      b.ifElse(isCut, [] {}, loadWhole);
    }
  }
  if (!mayBeNaN) {
    b.ifElse(b.lessThan(cut, b.i32(int64_t(pages.size()))), [&] {
      Value row = b.mul(cut, b.i32(numRows)), inPage = b.rem(b.add(first, row), pageSize);
      forEachTile([&](unsigned tile, Ring::MatricesOf pieces, Value from) {
        ring.loadUntil(position, tile, row, numRows, pieces, {cutPage, inPage, from}, b.add(inPage, b.sub(left, row)),
                       pageSize);
      });
    });
  }
}

BulkDecodeWriter::Carried BulkDecodeWriter::produce(const DecodedKeys &keys, ValueRange positions) {
  Value table = tableOf(b, problem_, keys.sequence);
  Carried carried = llvm::to_vector(positions);
  // The entries of a block are asked for a block earlier.
  llvm::append_range(carried, pagesOf(keys, table, b.i32(0)));
  carried = b.loop(b.i32(0), numBlocks(keys), 1, carried, [&](Value block, ValueRange now) -> Carried {
    Carried next = pagesOf(keys, table, b.add(block, b.i32(1)));
    RingPosition key = {now[0], now[1]}, value = {now[2], now[3]};
    ValueRange pages = now.drop_front(4);
    loadBlock(*keys_, key, problem_.keyCache, problem_.keyDim, keys, block, pages);
    loadBlock(*values_, value, problem_.valueCache, problem_.valueDim, keys, block, pages);
    key = keys_->next(key);
    value = values_->next(value);
    Carried result = {key.slot, key.phase, value.slot, value.phase};
    llvm::append_range(result, next);
    return result;
  });
  carried.truncate(4);
  return carried;
}

// --- the producer that gathers

void BulkDecodeWriter::gatherBlock(const Ring &ring, const RingPosition &position, int64_t dim,
                                   const PagedBlock &block) {
  ring.awaitEmpty(position);
  for (auto [tile, part] : llvm::enumerate(partsOf(dim))) {
    MatrixView view = {b.advance(block.page.base, b.i64(part.offset)), block.page.rowStride};
    Value pointers = b.pointers(view, block.rows, b.range(part.size));
    ring.gather(position, unsigned(tile), pointers, b.asColumn(block.exists, part.size));
  }
  ring.signal(position.slot);
}

BulkDecodeWriter::Carried BulkDecodeWriter::gather(const DecodedKeys &keys, ValueRange positions) {
  Value table = tableOf(b, problem_, keys.sequence);
  // Which page a row lies in is the same for keys and values.
  PagedRows rows(b, {{}, b.size("num_pages"), problem_.pageSize, {}}, table, tile_.keys);
  Carried carried = llvm::to_vector(positions);
  carried.push_back(rows.entries(keys.begin, keys.end));
  carried = b.loop(b.i32(0), numBlocks(keys), 1, carried, [&](Value block, ValueRange now) -> Carried {
    // The entries of a block are asked for a block earlier.
    Value next = rows.entries(firstKey(keys, b.add(block, b.i32(1))), keys.end);
    RingPosition key = {now[0], now[1]}, value = {now[2], now[3]};
    auto locate = [&](StringRef tensor, int64_t dim) {
      PagedCache cache = cacheOf(b, problem_, tensor, dim, decodedTile(b, problem_, kRows).keyHead);
      return PagedRows(b, cache, table, tile_.keys).locate(now[4], firstKey(keys, block), keys.end);
    };
    gatherBlock(*keys_, key, problem_.keyDim, locate(problem_.keyCache, problem_.keyDim));
    gatherBlock(*values_, value, problem_.valueDim, locate(problem_.valueCache, problem_.valueDim));
    key = keys_->next(key);
    value = values_->next(value);
    return {key.slot, key.phase, value.slot, value.phase, next};
  });
  carried.truncate(4);
  return carried;
}

// --- the consumer

void BulkDecodeWriter::loadQueries(const DecodedRows &rows, Value sequence) {
  MatrixRows from = rowsOfSequence(b, "q", sequence, rows.rows, problem_.keyDim);
  for (auto [part, buffer] : llvm::zip_equal(keyParts_, queries_)) {
    MatrixView view = columnsFrom(b, from.matrix, part);
    Value pointers = b.pointers(view, from.rows, b.range(part.size));
    ir::ttg::LocalStoreOp::create(b, b.load(pointers, b.asColumn(rows.exists, part.size)), buffer);
  }
}

/// Base-2 scores of a block, -inf where a row does not see the key.
Value BulkDecodeWriter::scaled(Value scores, Value firstKey, const Seen &seen) {
  Value scaled = scaledScores(b, scores);
  Value isCut = b.lessThan(seen.byAll, b.add(firstKey, b.i32(tile_.keys)));
  auto masked = [&] { return Carried{seenScores(b, scaled, firstKey, seen.ends)}; };
  return b.ifThen(isCut, masked, {scaled}).front();
}

BulkDecodeWriter::State BulkDecodeWriter::attend(const DecodedKeys &keys, const Seen &seen, const State &start) {
  auto query = [&](unsigned part) { return queries_[part]; };
  auto scoresOf = [&](Value block) {
    return [&, block](ValueRange products) { return Carried{scaled(products.front(), firstKey(keys, block), seen)}; };
  };
  auto attendAll = [&] {
    State state = attention_->firstBlock(start, query, scoresOf(b.i32(0)));
    state = attention_->forEachBlock(b.i32(1), numBlocks(keys), state, [&](Value block, const State &now) {
      return attention_->nextBlock(now, query, scoresOf(block));
    });
    return attention_->pack(attention_->lastProduct(state));
  };
  return attention_->unpack(b.ifThen(b.lessThan(keys.begin, keys.end), attendAll, attention_->pack(start)));
}

void BulkDecodeWriter::consume() {
  RingPosition keys = keys_->start(), values = values_->start();
  Carried start = {keys.slot, keys.phase, values.slot, values.phase};
  forEachSequence(start, [&](const ScheduledPart &scheduled, const DecodedKeys &keys, ValueRange now) -> Carried {
    DecodedTile own = decodedTile(b, problem_, kRows);
    DecodedRows rows = locateRows(b, problem_, own.keyHead, own.tile, kRows);
    loadQueries(rows, keys.sequence);
    Seen seen = {b.minimum(keyEnds(b, problem_, rows, keys.length), b.splat(keys.end, {kRows})), keys.end};
    if (problem_.isCausal) {
      seen.byAll = b.minimum(seen.byAll, b.add(b.sub(keys.length, b.size("seq_q")), b.i32(1)));
    }
    State state = attend(keys, seen, attention_->start({now[0], now[1]}, {now[2], now[3]}));
    SoftmaxState softmax = totalled(b, state.softmax);
    storeDecoded(b, problem_, scheduled, keys, rows, softmax, [&] {
      Value normalizer = softmaxNormalizer(b, softmax);
      Carried normalized;
      for (Value output : state.outputs) {
        for (Value slice : b.splitColumns(output, kSliceColumns)) {
          normalized.push_back(scaledRows(b, slice, normalizer));
        }
      }
      return normalized;
    });
    return {state.keys.slot, state.keys.phase, state.values.slot, state.values.phase};
  });
}

void addBulkStep(KernelProgram &program, const KernelSignature &signature, const PagedDecodeProblem &problem,
                 const BulkTile &tile) {
  program.step({.symbol = "paged_attention", .numWarps = kConsumerWarps, .grid = decodeGrid(signature, problem, kRows)},
               [&](KernelBuilder &b) { BulkDecodeWriter(b, problem, tile).write(); });
}

} // namespace jitk::kernels
