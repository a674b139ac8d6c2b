// The type of buffers: parse, print, verify.

#include "src/ir/ttg/Ttg.h"
#include "src/ir/ttng/Ttng.h"

#include "mlir/IR/DialectImplementation.h"

namespace jitk::ir::ttg {
using namespace mlir;

using EmitError = function_ref<InFlightDiagnostic()>;

Type MemDescType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, allocShape;
  Type elementType;
  Attribute encoding, memorySpace;
  bool isMutable = false;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(elementType) ||
      parser.parseComma() || parser.parseAttribute(encoding) || parser.parseComma() ||
      parser.parseAttribute(memorySpace)) {
    return {};
  }
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("mutable"))) {
    isMutable = true;
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && parser.parseDimensionList(allocShape, /*allowDynamic=*/false, /*withTrailingX=*/false)) {
    return {};
  }
  if (parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<MemDescType>(loc, shape, elementType, encoding, memorySpace, isMutable,
                                        more ? ArrayRef(allocShape) : ArrayRef(shape));
}

void MemDescType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t size : getShape()) {
    printer << size << 'x';
  }
  printer << getElementType() << ", " << getEncoding() << ", " << getMemorySpace();
  if (getMutableMemory()) {
    printer << ", mutable";
  }
  if (isSlice()) {
    printer << ", ";
    llvm::interleave(getAllocShape(), printer, "x");
  }
  printer << '>';
}

MemDescType MemDescType::cloneWith(std::optional<ArrayRef<int64_t>> shape, Type elementType) const {
  return get(shape.value_or(getShape()), elementType, getEncoding(), getMemorySpace(), getMutableMemory(),
             shape.value_or(getAllocShape()));
}

static LogicalResult verifyShape(EmitError emitError, ArrayRef<int64_t> shape, ArrayRef<int64_t> allocShape) {
  if (shape.empty()) {
    return emitError() << "a buffer must have at least one dimension";
  }
  // The first dimension counts stages, and three of them are common.
  if (shape.front() < 1 || !llvm::all_of(shape.drop_front(), llvm::isPowerOf2_64)) {
    return emitError() << "dimensions of a buffer but the first must be powers of two: got " << shape;
  }
  if (allocShape.size() < shape.size()) {
    return emitError() << "alloc shape must have at least the rank " << shape.size() << ": got " << allocShape.size();
  }
  for (auto [size, allocSize] : llvm::zip(shape, allocShape.take_back(shape.size()))) {
    if (size > allocSize) {
      return emitError() << "alloc shape must be at least the shape: got " << allocSize << " for " << size;
    }
  }
  return success();
}

static LogicalResult verifyTensorMemory(EmitError emitError, ArrayRef<int64_t> shape, Type elementType,
                                        Attribute encoding, ArrayRef<int64_t> allocShape) {
  if (shape.size() != 2 && shape.size() != 3) {
    return emitError() << "a buffer in tensor memory must have 2 or 3 dimensions: got " << shape.size();
  }
  if (!elementType.isIntOrFloat()) {
    return emitError() << "tensor memory holds integers and floats: got " << elementType;
  }
  unsigned bits = elementType.getIntOrFloatBitWidth();
  if (isa<ttng::TensorMemoryScalesEncodingAttr>(encoding)) {
    if (shape.size() != 2 || !elementType.isInteger(8)) {
      return emitError() << "scales must be two-dimensional i8";
    }
    return success();
  }
  auto tiles = dyn_cast<ttng::TensorMemoryEncodingAttr>(encoding);
  if (!tiles) {
    return emitError() << "tensor memory needs a tensor memory encoding: got " << encoding;
  }
  if (bits * tiles.getColStride() > 32) {
    return emitError() << "element width times colStride must be at most 32 bits: got " << bits * tiles.getColStride();
  }
  int64_t minM = int64_t(tiles.getBlockM()) * tiles.getCTASplitM();
  int64_t minN = int64_t(tiles.getBlockN()) * tiles.getCTASplitN();
  ArrayRef<int64_t> alloc = allocShape.take_back(2);
  if (alloc[0] < minM || alloc[1] < minN) {
    return emitError() << "alloc shape must hold a block of " << minM << " by " << minN << ": got " << alloc;
  }
  int64_t lanesUsed = std::max<int64_t>(1, alloc[0] / (128 * tiles.getCTASplitM()));
  int64_t columns = lanesUsed * (alloc[1] / tiles.getCTASplitN()) * bits * tiles.getColStride() / 32;
  if (columns > 512) {
    return emitError() << "tensor memory has 512 columns: got " << columns;
  }
  return success();
}

LogicalResult MemDescType::verify(EmitError emitError, ArrayRef<int64_t> shape, Type elementType, Attribute encoding,
                                  Attribute memorySpace, bool, ArrayRef<int64_t> allocShape) {
  if (failed(verifyShape(emitError, shape, allocShape))) {
    return failure();
  }
  if (!elementType.isIntOrFloat() && !isa<tt::PointerType>(elementType)) {
    return emitError() << "element must be an integer, a float or a pointer: got " << elementType;
  }
  if (isa<ttng::TensorMemorySpaceAttr>(memorySpace)) {
    return verifyTensorMemory(emitError, shape, elementType, encoding, allocShape);
  }
  if (!isa<SharedMemorySpaceAttr>(memorySpace)) {
    return emitError() << "memory space must be shared or tensor memory: got " << memorySpace;
  }
  if (!isa<SharedEncodingTrait>(encoding)) {
    return emitError() << "shared memory needs a shared encoding: got " << encoding;
  }
  unsigned rank = cast<LayoutEncodingTrait>(encoding).getRank();
  if (rank != shape.size() && rank + 1 != shape.size()) {
    return emitError() << "encoding must have the buffer's rank " << shape.size() << ", or one less: got " << rank;
  }
  // A dimension that the encoding places has bits; the one before them counts stages.
  for (int64_t size : llvm::concat<const int64_t>(shape.take_back(rank), allocShape.take_back(rank))) {
    if (!llvm::isPowerOf2_64(size)) {
      return emitError() << "dimensions that the encoding places must be powers of two: got " << size;
    }
  }
  return success();
}

} // namespace jitk::ir::ttg
