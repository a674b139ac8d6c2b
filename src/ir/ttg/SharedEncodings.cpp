// Encodings of shared memory: parse, print, verify, build.

#include "src/ir/layout/EncodingLayouts.h"
#include "src/ir/ttg/EncodingFields.h"

namespace jitk::ir::ttg {
using namespace mlir;

using EmitError = function_ref<InFlightDiagnostic()>;

/// Vectors of 16 bytes are the widest access.
static constexpr int32_t kVectorAlignment = 16;

/// What a dimension of a layout, an int32, may be.
static constexpr uint32_t kMaxExtent = 1u << 30;

// --- swizzled_shared

unsigned SwizzledSharedEncodingAttr::getRank() const { return getOrder().size(); }
int32_t SwizzledSharedEncodingAttr::getAlignment() const { return kVectorAlignment; }

SwizzledSharedEncodingAttr SwizzledSharedEncodingAttr::get(MLIRContext *context, unsigned vec, unsigned perPhase,
                                                           unsigned maxPhase, ArrayRef<unsigned> order) {
  return get(context, vec, perPhase, maxPhase, order, CGAEncodingAttr::getTrivial(context, order.size()));
}

LogicalResult SwizzledSharedEncodingAttr::verify(EmitError emitError, unsigned vec, unsigned perPhase,
                                                 unsigned maxPhase, ArrayRef<unsigned> order, CGAEncodingAttr layout) {
  for (unsigned value : {vec, perPhase, maxPhase}) {
    if (!llvm::isPowerOf2_32(value)) {
      return emitError() << "vec, perPhase and maxPhase must be powers of two: got " << value;
    }
  }
  SmallVector<unsigned> sorted(order);
  llvm::sort(sorted);
  if (order.empty() || !llvm::equal(sorted, llvm::seq<unsigned>(0, order.size()))) {
    return emitError() << "order must be a permutation of the dimensions: got " << order;
  }
  if (layout.getRank() != order.size()) {
    return emitError() << "order and CGALayout must have one rank";
  }
  return success();
}

Attribute SwizzledSharedEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned vec, perPhase, maxPhase;
  SmallVector<unsigned> order;
  CGAEncodingAttr layout;
  if (parser.parseLess()) {
    return {};
  }
  auto fields = EncodingFields::parse(parser);
  if (failed(fields) || fields->get("vec", vec) || fields->get("perPhase", perPhase) ||
      fields->get("maxPhase", maxPhase) || fields->get("order", order) || fields->getCGALayout(order.size(), layout) ||
      fields->rejectOthers() || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<SwizzledSharedEncodingAttr>(loc, parser.getContext(), vec, perPhase, maxPhase,
                                                       ArrayRef(order), layout);
}

void SwizzledSharedEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{vec = " << getVec() << ", perPhase = " << getPerPhase() << ", maxPhase = " << getMaxPhase()
          << ", order = ";
  printNumbers(printer, getOrder());
  printCGALayout(printer, getCGALayout());
  printer << "}>";
}

// --- nvmma_shared

unsigned NVMMASharedEncodingAttr::getRank() const { return getCGALayout().getRank(); }

unsigned NVMMASharedEncodingAttr::getPerPhase() const {
  return getSwizzlingByteWidth() ? 128 / getSwizzlingByteWidth() : 1;
}

unsigned NVMMASharedEncodingAttr::getMaxPhase() const {
  return getSwizzlingByteWidth() ? getSwizzlingByteWidth() / 16 : 1;
}

int32_t NVMMASharedEncodingAttr::getAlignment() const { return 128 * getMaxPhase(); }

NVMMASharedEncodingAttr NVMMASharedEncodingAttr::get(MLIRContext *context, ArrayRef<int64_t> shape,
                                                     ArrayRef<unsigned> order, CGAEncodingAttr layout, Type elementType,
                                                     bool fp4Padded) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  SmallVector<unsigned> split = layout.getSplitNum();
  unsigned fastest = order.front();
  int64_t rowBytes = shape[fastest] / split[fastest] * (fp4Padded ? 2 : 1) * bits / 8;
  unsigned swizzle = 0;
  for (unsigned width : {128u, 64u, 32u}) {
    if (rowBytes % width == 0) {
      swizzle = width;
      break;
    }
  }
  // A swizzle pattern is eight rows: fewer of them cannot be swizzled.
  int64_t rows = 1;
  for (unsigned dim : order.drop_front()) {
    rows *= shape[dim] / split[dim];
  }
  if (rows < 8) {
    swizzle = 0;
  }
  bool transposed = order.size() >= 2 && order[0] + 1 == order[1];
  return get(context, swizzle, transposed, bits, fp4Padded, layout);
}

NVMMASharedEncodingAttr NVMMASharedEncodingAttr::get(MLIRContext *context, unsigned swizzlingByteWidth, bool transposed,
                                                     unsigned elementBitWidth) {
  return get(context, swizzlingByteWidth, transposed, elementBitWidth, /*fp4Padded=*/false,
             CGAEncodingAttr::getTrivial(context, 2));
}

LogicalResult NVMMASharedEncodingAttr::verify(EmitError emitError, unsigned swizzlingByteWidth, bool, unsigned bits,
                                              bool fp4Padded, CGAEncodingAttr layout) {
  if (!llvm::is_contained({0u, 32u, 64u, 128u}, swizzlingByteWidth)) {
    return emitError() << "swizzlingByteWidth must be 0, 32, 64 or 128: got " << swizzlingByteWidth;
  }
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, bits)) {
    return emitError() << "elementBitWidth must be 8, 16, 32 or 64: got " << bits;
  }
  if (fp4Padded && bits != 8) {
    return emitError() << "fp4Padded needs elements of 8 bits: got " << bits;
  }
  return success();
}

Attribute NVMMASharedEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned swizzle, bits;
  bool transposed;
  bool fp4Padded = false;
  unsigned rank = 2;
  CGAEncodingAttr layout;
  if (parser.parseLess()) {
    return {};
  }
  auto fields = EncodingFields::parse(parser);
  if (failed(fields) || fields->get("swizzlingByteWidth", swizzle) || fields->get("transposed", transposed) ||
      fields->get("elementBitWidth", bits) || (fields->has("fp4Padded") && fields->get("fp4Padded", fp4Padded))) {
    return {};
  }
  // Bases tell the rank themselves.
  bool hasRank = fields->has("rank");
  if (hasRank && fields->get("rank", rank)) {
    return {};
  }
  if (fields->getCGALayout(hasRank || !fields->has("CGALayout") ? rank : 0, layout)) {
    return {};
  }
  if (fields->rejectOthers() || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<NVMMASharedEncodingAttr>(loc, parser.getContext(), swizzle, transposed, bits, fp4Padded,
                                                    layout);
}

void NVMMASharedEncodingAttr::print(AsmPrinter &printer) const {
  auto spell = [](bool value) { return value ? "true" : "false"; };
  printer << "<{swizzlingByteWidth = " << getSwizzlingByteWidth() << ", transposed = " << spell(getTransposed())
          << ", elementBitWidth = " << getElementBitWidth();
  if (getFp4Padded()) {
    printer << ", fp4Padded = true";
  }
  if (getCGALayout().isTrivial() && getRank() != 2) {
    printer << ", rank = " << getRank();
  }
  printCGALayout(printer, getCGALayout());
  printer << "}>";
}

// --- padded_shared

SmallVector<ArrayRef<int32_t>> PaddedSharedEncodingAttr::getBases(StringRef input) const {
  return unflattenBases(input == "offset" ? getOffsetBases() : getBlockBases(), getRank());
}

int32_t PaddedSharedEncodingAttr::getAlignment() const { return kVectorAlignment; }

/// The bases that place `shape` densely, fastest dimension first.
static SmallVector<int32_t> denseBases(ArrayRef<unsigned> order, ArrayRef<unsigned> shape) {
  SmallVector<int32_t> flat;
  for (unsigned dim : order) {
    for (unsigned step = 1; step < shape[dim]; step *= 2) {
      SmallVector<int32_t> basis(shape.size(), 0);
      basis[dim] = step;
      llvm::append_range(flat, basis);
    }
  }
  return flat;
}

/// Finds an order and a shape whose dense bases are `flat`. Dimensions of size 1 come last.
static bool findDenseOrder(ArrayRef<int32_t> flat, unsigned rank, SmallVector<unsigned> &order,
                           SmallVector<unsigned> &shape) {
  shape.assign(rank, 1);
  for (ArrayRef<int32_t> basis : unflattenBases(flat, rank)) {
    for (auto [dim, step] : llvm::enumerate(basis)) {
      if (step != 0) {
        shape[dim] = std::max(shape[dim], unsigned(step) * 2);
        if (!llvm::is_contained(order, dim)) {
          order.push_back(dim);
        }
      }
    }
  }
  for (unsigned dim = rank; dim-- > 0;) {
    if (!llvm::is_contained(order, dim)) {
      order.push_back(dim);
    }
  }
  return ArrayRef(denseBases(order, shape)) == flat;
}

LogicalResult PaddedSharedEncodingAttr::verify(EmitError emitError, ArrayRef<unsigned> intervals,
                                               ArrayRef<unsigned> paddings, unsigned rank,
                                               ArrayRef<int32_t> offsetBases, ArrayRef<int32_t> blockBases) {
  if (intervals.empty() || intervals.size() != paddings.size()) {
    return emitError() << "needs as many paddings as intervals, and one at least";
  }
  for (unsigned value : llvm::concat<const unsigned>(intervals, paddings)) {
    if (!llvm::isPowerOf2_32(value)) {
      return emitError() << "intervals and paddings must be powers of two: got " << value;
    }
  }
  if (failed(verifyRank(emitError, rank))) {
    return failure();
  }
  if (!layoutOfBases(rank, {{kOffset, offsetBases}, {kBlock, blockBases}}).isInvertible()) {
    return emitError() << "bases must reach every element once";
  }
  return success();
}

Attribute PaddedSharedEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<unsigned> intervals, paddings;
  auto parsePair = [&]() -> ParseResult {
    unsigned &interval = intervals.emplace_back();
    unsigned &padding = paddings.emplace_back();
    return failure(parser.parseInteger(interval) || parser.parseColon() || parser.parsePlus() ||
                   parser.parseInteger(padding));
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair)) {
    return {};
  }
  auto fields = EncodingFields::parse(parser);
  if (failed(fields)) {
    return {};
  }
  unsigned rank = 0;
  SmallVector<int32_t> offsets, blocks;
  if (fields->has("order")) {
    SmallVector<unsigned> order, shape;
    if (fields->get("order", order) || fields->get("shape", shape)) {
      return {};
    }
    for (unsigned size : shape) {
      if (!llvm::isPowerOf2_32(size) || size > kMaxExtent) {
        fields->error() << "shape must be powers of two up to " << kMaxExtent << ": got " << size;
        return {};
      }
    }
    bool inRange = llvm::all_of(order, [&](unsigned dim) { return dim < shape.size(); });
    if (order.size() != shape.size() || !inRange) {
      fields->error() << "order must be a permutation of the dimensions of shape";
      return {};
    }
    rank = shape.size();
    offsets = denseBases(order, shape);
  } else if (fields->getBases("offset", rank, offsets) || fields->getBases("block", rank, blocks)) {
    return {};
  }
  if (fields->rejectOthers() || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<PaddedSharedEncodingAttr>(loc, parser.getContext(), ArrayRef(intervals), ArrayRef(paddings),
                                                     rank, ArrayRef(offsets), ArrayRef(blocks));
}

void PaddedSharedEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip(getIntervals(), getPaddings()), printer,
                        [&](auto pair) { printer << std::get<0>(pair) << ":+" << std::get<1>(pair); });
  printer << "] {";
  SmallVector<unsigned> order, shape;
  if (getBlockBases().empty() && findDenseOrder(getOffsetBases(), getRank(), order, shape)) {
    printer << "order = ";
    printNumbers(printer, order);
    printer << ", shape = ";
    printNumbers(printer, shape);
  } else {
    printer << "offset = ";
    printBases(printer, getOffsetBases(), getRank());
    printer << ", block = ";
    printBases(printer, getBlockBases(), getRank());
  }
  printer << "}>";
}

// --- shared_linear

SmallVector<ArrayRef<int32_t>> SharedLinearEncodingAttr::getBases(StringRef input) const {
  return unflattenBases(input == "offset" ? getOffsetBases() : getBlockBases(), getRank());
}

int32_t SharedLinearEncodingAttr::getAlignment() const { return getLayoutAlignment(); }

LogicalResult SharedLinearEncodingAttr::verify(EmitError emitError, unsigned rank, ArrayRef<int32_t> offsetBases,
                                               ArrayRef<int32_t> blockBases, unsigned alignment) {
  if (failed(verifyRank(emitError, rank))) {
    return failure();
  }
  if (!llvm::isPowerOf2_32(alignment)) {
    return emitError() << "alignment must be a power of two: got " << alignment;
  }
  LinearLayout layout = layoutOfBases(rank, {{kOffset, offsetBases}, {kBlock, blockBases}});
  if (!layout.isSurjective()) {
    return emitError() << "bases must reach every element";
  }
  if (!layout.removeZeroBasesAlongDim(kOffset).removeZeroBasesAlongDim(kBlock).isInjective()) {
    return emitError() << "bases other than zero must be independent";
  }
  return success();
}

Attribute SharedLinearEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned rank = 0;
  unsigned alignment;
  SmallVector<int32_t> offsets, blocks;
  if (parser.parseLess()) {
    return {};
  }
  auto fields = EncodingFields::parse(parser);
  if (failed(fields) || fields->getBases("offset", rank, offsets) ||
      (fields->has("block") && fields->getBases("block", rank, blocks)) || fields->rejectOthers() ||
      parser.parseComma() || parser.parseKeyword("alignment") || parser.parseEqual() ||
      parser.parseInteger(alignment) || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<SharedLinearEncodingAttr>(loc, parser.getContext(), rank, ArrayRef(offsets),
                                                     ArrayRef(blocks), alignment);
}

void SharedLinearEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{offset = ";
  printBases(printer, getOffsetBases(), getRank());
  if (!getBlockBases().empty()) {
    printer << ", block = ";
    printBases(printer, getBlockBases(), getRank());
  }
  printer << "}, alignment = " << getAlignment() << '>';
}

} // namespace jitk::ir::ttg
