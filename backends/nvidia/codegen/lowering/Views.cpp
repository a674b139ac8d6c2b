// Operations that rename registers: each element of the result is an element of an operand, held by the same thread.

#include "backends/nvidia/codegen/lowering/FunctionLowering.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

using Coordinate = TensorLayout::Coordinate;

/// Maps a coordinate of the result to the coordinate of the operand that holds the element.
using CoordinateMap = llvm::function_ref<Coordinate(const Coordinate &)>;

/// Row-major number of a coordinate.
static int64_t linearize(const Coordinate &coordinate, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [index, size] : llvm::zip(coordinate, shape)) {
    number = number * size + index;
  }
  return number;
}

static Coordinate delinearize(int64_t number, ArrayRef<int64_t> shape) {
  Coordinate coordinate(shape.size());
  for (int dim = int(shape.size()) - 1; dim >= 0; --dim) {
    coordinate[dim] = number % shape[dim];
    number /= shape[dim];
  }
  return coordinate;
}

/// For each register of `target`, the register of `source` that holds the element `map` names. The maps in use are
/// linear over the bits of coordinates, so thread 0 speaks for all threads once the thread bases agree.
static FailureOr<SmallVector<unsigned>> mapRegisters(Operation *op, FunctionLowering &f, RankedTensorType source,
                                                     RankedTensorType target, CoordinateMap map) {
  const TensorLayout &from = f.layout(source), &to = f.layout(target);
  auto agree = [&](const TensorLayout::Bases &a, const TensorLayout::Bases &b) {
    return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto pair) {
             auto [x, y] = pair;
             return x == map(y);
           });
  };
  if (!agree(from.lanes, to.lanes) || !agree(from.warps, to.warps) || !agree(from.blocks, to.blocks)) {
    return op->emitOpError("moves elements between threads: convert the layout of the operand first");
  }
  DenseMap<int64_t, unsigned> holder;
  for (unsigned reg = 0; reg < from.numRegisters(); ++reg) {
    holder.try_emplace(linearize(from.registerCoordinate(reg), source.getShape()), reg);
  }
  SmallVector<unsigned> registers;
  for (unsigned reg = 0; reg < to.numRegisters(); ++reg) {
    auto it = holder.find(linearize(map(to.registerCoordinate(reg)), source.getShape()));
    if (it == holder.end()) {
      return op->emitOpError("moves elements between threads: convert the layout of the operand first");
    }
    registers.push_back(it->second);
  }
  return registers;
}

/// Lowers a view with one operand.
static LogicalResult lowerView(Operation *op, FunctionLowering &f, CoordinateMap map) {
  Value source = op->getOperand(0), result = op->getResult(0);
  auto registers =
      mapRegisters(op, f, cast<RankedTensorType>(source.getType()), cast<RankedTensorType>(result.getType()), map);
  if (failed(registers)) {
    return failure();
  }
  ArrayRef<Value> held = f.registers(source);
  f.set(result, llvm::map_to_vector(*registers, [&](unsigned reg) { return held[reg]; }));
  return success();
}

static LogicalResult lowerMakeRange(tt::MakeRangeOp op, FunctionLowering &f) {
  SmallVector<Value> registers;
  for (ArrayRef<Value> index : f.indices(cast<RankedTensorType>(op.getType()))) {
    registers.push_back(f.builder().add(index.front(), int64_t(op.getStart())));
  }
  f.set(op, registers);
  return success();
}

static LogicalResult lowerSplat(tt::SplatOp op, FunctionLowering &f) {
  f.setAll(op, f.scalar(op.getSrc()));
  return success();
}

static LogicalResult lowerUnsplat(tt::UnsplatOp op, FunctionLowering &f) {
  f.set(op, f.registers(op.getSrc()).front());
  return success();
}

static LogicalResult lowerBroadcast(tt::BroadcastOp op, FunctionLowering &f) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getSrc().getType()).getShape();
  return lowerView(op, f, [&](const Coordinate &target) {
    Coordinate source = target;
    for (auto [index, size] : llvm::zip(source, shape)) {
      index = size == 1 ? 0 : index;
    }
    return source;
  });
}

static LogicalResult lowerExpandDims(tt::ExpandDimsOp op, FunctionLowering &f) {
  return lowerView(op, f, [&](const Coordinate &target) {
    Coordinate source = target;
    source.erase(source.begin() + op.getAxis());
    return source;
  });
}

static LogicalResult lowerTranspose(tt::TransOp op, FunctionLowering &f) {
  return lowerView(op, f, [&](const Coordinate &target) {
    Coordinate source(target.size());
    for (auto [dim, from] : llvm::enumerate(op.getOrder())) {
      source[from] = target[dim];
    }
    return source;
  });
}

static LogicalResult lowerReshape(tt::ReshapeOp op, FunctionLowering &f) {
  ArrayRef<Value> held = f.registers(op.getSrc());
  if (op.getAllowReorder() && held.size() == f.numRegisters(op.getType())) {
    f.set(op, held);
    return success();
  }
  ArrayRef<int64_t> sourceShape = cast<RankedTensorType>(op.getSrc().getType()).getShape();
  ArrayRef<int64_t> targetShape = cast<RankedTensorType>(op.getType()).getShape();
  return lowerView(op, f,
                   [&](const Coordinate &target) { return delinearize(linearize(target, targetShape), sourceShape); });
}

static LogicalResult lowerJoin(tt::JoinOp op, FunctionLowering &f) {
  auto type = cast<RankedTensorType>(op.getType());
  auto registers = mapRegisters(op, f, cast<RankedTensorType>(op.getLhs().getType()), type,
                                [](const Coordinate &c) { return Coordinate(llvm::drop_end(c)); });
  if (failed(registers)) {
    return failure();
  }
  ArrayRef<Value> lhs = f.registers(op.getLhs()), rhs = f.registers(op.getRhs());
  const TensorLayout &layout = f.layout(type);
  SmallVector<Value> joined;
  for (auto [reg, source] : llvm::enumerate(*registers)) {
    joined.push_back(layout.registerCoordinate(reg).back() == 0 ? lhs[source] : rhs[source]);
  }
  f.set(op, joined);
  return success();
}

static LogicalResult lowerSplit(tt::SplitOp op, FunctionLowering &f) {
  ArrayRef<Value> held = f.registers(op.getSrc());
  for (auto [half, result] : llvm::enumerate(op->getResults())) {
    auto registers = mapRegisters(op, f, cast<RankedTensorType>(op.getSrc().getType()),
                                  cast<RankedTensorType>(result.getType()), [](const Coordinate &c) {
                                    Coordinate source = c;
                                    source.push_back(0);
                                    return source;
                                  });
    if (failed(registers)) {
      return failure();
    }
    // The two halves of an element differ in the register bit that moves the last dimension.
    const TensorLayout &layout = f.layout(cast<RankedTensorType>(op.getSrc().getType()));
    uint32_t other = TensorLayout::movingBits(layout.registers, layout.rank - 1);
    f.set(result, llvm::map_to_vector(*registers, [&](unsigned reg) { return held[half == 0 ? reg : reg | other]; }));
  }
  return success();
}

static LogicalResult lowerCat(tt::CatOp op, FunctionLowering &f) {
  // The order of elements is free, so the registers of the operands follow each other.
  SmallVector<Value> registers(f.registers(op.getLhs()));
  llvm::append_range(registers, f.registers(op.getRhs()));
  if (registers.size() != f.numRegisters(op.getType())) {
    return op.emitOpError("needs as many registers in the result as in the operands: got ")
           << f.numRegisters(op.getType()) << " and " << registers.size();
  }
  f.set(op, registers);
  return success();
}

void populateViewLowerings(LoweringTable &table) {
  table.add(lowerMakeRange);
  table.add(lowerSplat);
  table.add(lowerUnsplat);
  table.add(lowerBroadcast);
  table.add(lowerExpandDims);
  table.add(lowerTranspose);
  table.add(lowerReshape);
  table.add(lowerJoin);
  table.add(lowerSplit);
  table.add(lowerCat);
}

} // namespace jitk::nvidia
