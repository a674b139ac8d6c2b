#include "src/kernels/fp8/ScaleFeed.h"

#include "src/ir/ttg/Ttg.h"

using namespace mlir;

namespace jitk::kernels {

/// Scales of A belong to a row each, those of B to all rows of a tile.
static bool isOfRows(const ProductOperand &operand) { return llvm::StringRef(operand.tensor) == "a"; }

SharedTile ScaleFeed::tileOf(const ProductOperand &operand, int64_t rows, MLIRContext *context) {
  constexpr int64_t kAlignedRows = 8;
  return {isOfRows(operand) ? rows : kAlignedRows, PersistentTile::kBlocksOfScales, Float32Type::get(context)};
}

llvm::SmallVector<SharedTile> ScaleFeed::tilesOf(const ProductShapes &shapes) {
  MLIRContext *context = shapes.inputType.getContext();
  llvm::SmallVector<SharedTile> tiles(size_t(shapes.tile.numConsumers()),
                                      tileOf(shapes.left, PersistentProduct::kConsumerRows, context));
  for (int64_t part : shapes.parts) {
    tiles.push_back(tileOf(shapes.right, part, context));
  }
  return tiles;
}

ScaleFeed::ScaleFeed(KernelBuilder &builder, const ProductShapes &shapes)
    : b(builder), shapes_(shapes), tiles_(tilesOf(shapes)),
      ring_(builder, shapes.tile.scaleSlots, tiles_,
            PersistentProduct::kWarpsOfConsumer * unsigned(shapes.tile.numConsumers())) {}

void ScaleFeed::addTiles(const ProductShapes &shapes, llvm::SmallVectorImpl<SharedTile> &a,
                         llvm::SmallVectorImpl<SharedTile> &b) {
  for (auto [number, tile] : llvm::enumerate(tilesOf(shapes))) {
    bool isLeft = int64_t(number) < shapes.tile.numConsumers();
    (isOfRows(isLeft ? shapes.left : shapes.right) ? a : b).push_back(tile);
  }
}

RingPosition ScaleFeed::load(const RingPosition &position, ValueRange left, ValueRange right, Value block) const {
  ring_.acquire(position);
  for (auto [number, tile] : llvm::enumerate(tiles_)) {
    bool isLeft = number < left.size();
    const ProductOperand &operand = isLeft ? shapes_.left : shapes_.right;
    Value matrix = b.descriptorParameter((llvm::Twine(operand.tensor) + "_scale").str(), tile);
    ring_.load(position, unsigned(number), matrix, isLeft ? left[number] : right[number - left.size()], block);
  }
  return ring_.next(position);
}

Value ScaleFeed::readColumn(const RingPosition &position, unsigned tile, const ProductOperand &operand,
                            int64_t block) const {
  int64_t rows = isOfRows(operand) ? tiles_[tile].rows : 1;
  Value column = ir::ttg::MemDescSubsliceOp::create(
      b, ring_.tile(position, tile), llvm::ArrayRef<int32_t>{0, int32_t(block)}, llvm::ArrayRef<int64_t>{rows, 1});
  return ir::ttg::LocalLoadOp::create(b, b.tensorType({rows, 1}, b.getF32Type()), column);
}

llvm::SmallVector<Scales> ScaleFeed::read(int64_t consumer, RingPosition &position) const {
  ring_.await(position);
  llvm::SmallVector<Scales> blocks;
  for (int64_t block = 0; block < PersistentTile::kBlocksOfScales; ++block) {
    Scales &scales = blocks.emplace_back();
    scales.left = readColumn(position, unsigned(consumer), shapes_.left, block);
    for (auto tile = unsigned(shapes_.tile.numConsumers()); tile < tiles_.size(); ++tile) {
      scales.right.push_back(b.transpose(readColumn(position, tile, shapes_.right, block)));
    }
  }
  ring_.release(position.slot);
  position = ring_.next(position);
  return blocks;
}

} // namespace jitk::kernels
