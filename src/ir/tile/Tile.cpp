// The dialect, its types and attributes.

#include "src/ir/tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

#include "src/ir/tile/TileDialect.cpp.inc"
#include "src/ir/tile/TileEnums.cpp.inc"

namespace jitk::ir::tile {
using namespace mlir;

static ParseResult parseSpace(AsmParser &parser, MemorySpace &space) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword)) {
    return failure();
  }
  auto found = symbolizeMemorySpace(keyword);
  if (!found) {
    return parser.emitError(loc) << "unknown memory space: " << keyword;
  }
  space = *found;
  return success();
}

static void printSpace(AsmPrinter &printer, MemorySpace space) { printer << stringifyMemorySpace(space); }

static LogicalResult verifyShape(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape) {
  for (int64_t size : shape) {
    if (size < 1) {
      return emitError() << "dimensions must be positive: got " << size;
    }
  }
  return success();
}

LogicalResult BufType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type,
                              MemorySpace) {
  return verifyShape(emitError, shape);
}

LogicalResult TensorType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type,
                                 MemorySpace) {
  return verifyShape(emitError, shape);
}

Attribute NZLayoutAttr::parse(AsmParser &parser, Type) {
  int64_t height, width;
  if (parser.parseLess() || parser.parseInteger(height) || parser.parseKeyword("x") || parser.parseInteger(width) ||
      parser.parseGreater()) {
    return {};
  }
  return get(parser.getContext(), height, width);
}

void NZLayoutAttr::print(AsmPrinter &printer) const { printer << '<' << getHeight() << " x " << getWidth() << '>'; }

} // namespace jitk::ir::tile

#define GET_TYPEDEF_CLASSES
#include "src/ir/tile/TileTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "src/ir/tile/TileAttrs.cpp.inc"

namespace jitk::ir::tile {

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "src/ir/tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "src/ir/tile/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "src/ir/tile/TileOps.cpp.inc"
      >();
}

} // namespace jitk::ir::tile
