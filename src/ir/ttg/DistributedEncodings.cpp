// Encodings over registers: parse, print, verify, build.

#include "src/ir/ttg/EncodingFields.h"

#include "llvm/ADT/TypeSwitch.h"

namespace jitk::ir::ttg {
using namespace mlir;

using EmitError = function_ref<InFlightDiagnostic()>;

static bool arePowersOfTwo(ArrayRef<unsigned> values) { return llvm::all_of(values, llvm::isPowerOf2_32); }

/// What a dimension of a layout, an int32, may be.
static constexpr uint64_t kMaxExtent = 1u << 30;
/// Words of one fragment's place are at most a vector of 16 bytes.
static constexpr unsigned kMaxKWidth = 16;
static constexpr unsigned kMaxWarps = 64;

static bool isPermutation(ArrayRef<unsigned> order) {
  SmallVector<unsigned> sorted(order);
  llvm::sort(sorted);
  return llvm::equal(sorted, llvm::seq<unsigned>(0, order.size()));
}

static LogicalResult verifyParent(EmitError emitError, Attribute parent) {
  if (!isa_and_nonnull<DistributedEncodingTrait>(parent)) {
    return emitError() << "parent must be a distributed encoding: got " << parent;
  }
  return success();
}

// --- CGA

LogicalResult CGAEncodingAttr::verify(EmitError emitError, unsigned rank, ArrayRef<int32_t> flatBases) {
  if (failed(verifyRank(emitError, rank))) {
    return failure();
  }
  if (flatBases.size() % rank != 0) {
    return emitError() << "bases must have " << rank << " numbers each: got " << flatBases.size() << " numbers";
  }
  // Counting through the pieces of a dimension takes the steps 1, 2, 4, ..., in any order.
  SmallVector<uint32_t> steps(rank, 0);
  for (ArrayRef<int32_t> basis : unflattenBases(flatBases, rank)) {
    for (auto [seen, step] : llvm::zip(steps, basis)) {
      if (step != 0 && (!llvm::isPowerOf2_32(step) || (seen & step) != 0)) {
        return emitError() << "a basis of CGALayout must be a power of two of its own: got " << step;
      }
      seen |= step;
    }
    if (llvm::count_if(basis, [](int32_t step) { return step != 0; }) > 1) {
      return emitError() << "a basis of CGALayout may move along one dimension only: got [" << basis << "]";
    }
  }
  if (!llvm::all_of(steps, [](uint32_t seen) { return llvm::isPowerOf2_64(uint64_t(seen) + 1); })) {
    return emitError() << "bases of CGALayout must reach every piece of a dimension";
  }
  return success();
}

CGAEncodingAttr CGAEncodingAttr::getTrivial(MLIRContext *context, unsigned rank) { return get(context, rank, {}); }

SmallVector<unsigned> CGAEncodingAttr::getSplitNum() const {
  SmallVector<unsigned> split(getRank(), 1);
  for (unsigned bit : llvm::seq(getNumBases())) {
    for (auto [dim, step] : llvm::enumerate(getBasis(bit))) {
      split[dim] *= step ? 2 : 1;
    }
  }
  return split;
}

/// Applies `edit` to each basis.
static CGAEncodingAttr mapBases(CGAEncodingAttr layout, unsigned rank,
                                function_ref<void(SmallVector<int32_t> &)> edit) {
  SmallVector<int32_t> flat;
  for (unsigned bit : llvm::seq(layout.getNumBases())) {
    SmallVector<int32_t> basis(layout.getBasis(bit));
    edit(basis);
    llvm::append_range(flat, basis);
  }
  return CGAEncodingAttr::get(layout.getContext(), rank, flat);
}

CGAEncodingAttr CGAEncodingAttr::dropDim(unsigned dim) const {
  return mapBases(*this, getRank() - 1, [&](auto &basis) { basis.erase(basis.begin() + dim); });
}

CGAEncodingAttr CGAEncodingAttr::insertDim(unsigned dim) const {
  return mapBases(*this, getRank() + 1, [&](auto &basis) { basis.insert(basis.begin() + dim, 0); });
}

CGAEncodingAttr CGAEncodingAttr::permute(ArrayRef<int32_t> order) const {
  return mapBases(*this, getRank(), [&](auto &basis) {
    SmallVector<int32_t> old(basis);
    for (auto [dim, source] : llvm::enumerate(order)) {
      basis[dim] = old[source];
    }
  });
}

CGAEncodingAttr getCGALayout(Attribute encoding) {
  return TypeSwitch<Attribute, CGAEncodingAttr>(encoding)
      .Case<BlockedEncodingAttr, NvidiaMmaEncodingAttr, SwizzledSharedEncodingAttr, NVMMASharedEncodingAttr>(
          [](auto attr) { return attr.getCGALayout(); })
      .Case<SliceEncodingAttr>([](auto attr) { return getCGALayout(attr.getParent()).dropDim(attr.getDim()); })
      .Case<DotOperandEncodingAttr>([](auto attr) {
        // An operand is whole along K: no CTA splits it there.
        CGAEncodingAttr parent = getCGALayout(attr.getParent());
        unsigned k = attr.getOpIdx() == 0 ? parent.getRank() - 1 : parent.getRank() - 2;
        return mapBases(parent, parent.getRank(), [&](auto &basis) { basis[k] = 0; });
      })
      .Case<LinearEncodingAttr, PaddedSharedEncodingAttr, SharedLinearEncodingAttr>([](auto attr) {
        // A block basis counts elements; in units of one CTA's part each nonzero one is the next power of two.
        SmallVector<int32_t> flat(attr.getBlockBases());
        SmallVector<int32_t> next(attr.getRank(), 1);
        for (auto [index, step] : llvm::enumerate(flat)) {
          if (step) {
            step = std::exchange(next[index % attr.getRank()], next[index % attr.getRank()] * 2);
          }
        }
        return CGAEncodingAttr::get(attr.getContext(), attr.getRank(), flat);
      })
      .Default([&](Attribute attr) {
        return CGAEncodingAttr::getTrivial(attr.getContext(), cast<LayoutEncodingTrait>(attr).getRank());
      });
}

// --- blocked

unsigned BlockedEncodingAttr::getRank() const { return getOrder().size(); }

BlockedEncodingAttr BlockedEncodingAttr::get(MLIRContext *context, ArrayRef<int64_t> shape,
                                             ArrayRef<unsigned> sizePerThread, ArrayRef<unsigned> order,
                                             unsigned numWarps, unsigned numThreadsPerWarp, CGAEncodingAttr layout) {
  unsigned rank = sizePerThread.size();
  SmallVector<unsigned> threads(rank, 1);
  SmallVector<unsigned> warps(rank, 1);
  SmallVector<unsigned> split = layout.getSplitNum();
  unsigned lanesLeft = numThreadsPerWarp;
  unsigned warpsLeft = numWarps;
  // The slowest dimension takes what is left, needed or not.
  for (unsigned dim : order) {
    bool isLast = dim == order.back();
    unsigned tiles = std::max<int64_t>(1, shape[dim] / split[dim] / sizePerThread[dim]);
    threads[dim] = isLast ? lanesLeft : std::min<unsigned>(lanesLeft, llvm::bit_floor(tiles));
    warps[dim] =
        isLast ? warpsLeft : std::min<unsigned>(warpsLeft, std::max(1u, llvm::bit_floor(tiles / threads[dim])));
    lanesLeft /= threads[dim];
    warpsLeft /= warps[dim];
  }
  return get(context, sizePerThread, threads, warps, order, layout);
}

LogicalResult BlockedEncodingAttr::verify(EmitError emitError, ArrayRef<unsigned> sizePerThread,
                                          ArrayRef<unsigned> threadsPerWarp, ArrayRef<unsigned> warpsPerCTA,
                                          ArrayRef<unsigned> order, CGAEncodingAttr layout) {
  size_t rank = order.size();
  if (rank == 0 || sizePerThread.size() != rank || threadsPerWarp.size() != rank || warpsPerCTA.size() != rank ||
      layout.getRank() != rank) {
    return emitError() << "sizePerThread, threadsPerWarp, warpsPerCTA, order and CGALayout must have one rank";
  }
  if (!arePowersOfTwo(sizePerThread) || !arePowersOfTwo(threadsPerWarp) || !arePowersOfTwo(warpsPerCTA)) {
    return emitError() << "sizePerThread, threadsPerWarp and warpsPerCTA must be powers of two";
  }
  if (!isPermutation(order)) {
    return emitError() << "order must be a permutation of the dimensions: got " << order;
  }
  for (auto [size, threads, warps] : llvm::zip_equal(sizePerThread, threadsPerWarp, warpsPerCTA)) {
    // Each fits 32 bits, and so do the last two of any warp there is.
    if (threads > kMaxExtent || warps > kMaxExtent / threads || size > kMaxExtent / (threads * warps)) {
      return emitError() << "sizePerThread, threadsPerWarp and warpsPerCTA must cover at most " << kMaxExtent
                         << " elements of a dimension";
    }
  }
  return success();
}

Attribute BlockedEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<unsigned> size, threads, warps, order;
  CGAEncodingAttr layout;
  if (parser.parseLess()) {
    return {};
  }
  auto fields = EncodingFields::parse(parser);
  if (failed(fields) || fields->get("sizePerThread", size) || fields->get("threadsPerWarp", threads) ||
      fields->get("warpsPerCTA", warps) || fields->get("order", order) || fields->getCGALayout(order.size(), layout) ||
      fields->rejectOthers() || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<BlockedEncodingAttr>(loc, parser.getContext(), ArrayRef(size), ArrayRef(threads),
                                                ArrayRef(warps), ArrayRef(order), layout);
}

void BlockedEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{sizePerThread = ";
  printNumbers(printer, getSizePerThread());
  printer << ", threadsPerWarp = ";
  printNumbers(printer, getThreadsPerWarp());
  printer << ", warpsPerCTA = ";
  printNumbers(printer, getWarpsPerCTA());
  printer << ", order = ";
  printNumbers(printer, getOrder());
  printCGALayout(printer, getCGALayout());
  printer << "}>";
}

// --- linear

SmallVector<ArrayRef<int32_t>> LinearEncodingAttr::getBases(StringRef input) const {
  ArrayRef<int32_t> flat = input == "register" ? getRegisterBases()
                           : input == "lane"   ? getLaneBases()
                           : input == "warp"   ? getWarpBases()
                                               : getBlockBases();
  return unflattenBases(flat, getRank());
}

LogicalResult LinearEncodingAttr::verify(EmitError emitError, unsigned rank, ArrayRef<int32_t> registerBases,
                                         ArrayRef<int32_t> laneBases, ArrayRef<int32_t> warpBases,
                                         ArrayRef<int32_t> blockBases) {
  if (failed(verifyRank(emitError, rank))) {
    return failure();
  }
  for (ArrayRef<int32_t> flat : {registerBases, laneBases, warpBases, blockBases}) {
    for (ArrayRef<int32_t> basis : unflattenBases(flat, rank)) {
      if (llvm::count_if(basis, [](int32_t step) { return step != 0; }) > 1) {
        return emitError() << "a basis may move along one dimension only: got [" << basis << "]";
      }
      if (!llvm::all_of(basis, [](int32_t step) { return step == 0 || llvm::isPowerOf2_32(step); })) {
        return emitError() << "a basis must be a power of two: got [" << basis << "]";
      }
    }
  }
  return success();
}

Attribute LinearEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned rank = 0;
  SmallVector<int32_t> registers, lanes, warps, blocks;
  if (parser.parseLess()) {
    return {};
  }
  auto fields = EncodingFields::parse(parser);
  if (failed(fields) || fields->getBases("register", rank, registers) || fields->getBases("lane", rank, lanes) ||
      fields->getBases("warp", rank, warps) || fields->getBases("block", rank, blocks) || fields->rejectOthers() ||
      parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<LinearEncodingAttr>(loc, parser.getContext(), rank, ArrayRef(registers), ArrayRef(lanes),
                                               ArrayRef(warps), ArrayRef(blocks));
}

void LinearEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{register = ";
  printBases(printer, getRegisterBases(), getRank());
  printer << ", lane = ";
  printBases(printer, getLaneBases(), getRank());
  printer << ", warp = ";
  printBases(printer, getWarpBases(), getRank());
  printer << ", block = ";
  printBases(printer, getBlockBases(), getRank());
  printer << "}>";
}

// --- slice

unsigned SliceEncodingAttr::getRank() const { return cast<LayoutEncodingTrait>(getParent()).getRank() - 1; }

LogicalResult SliceEncodingAttr::verify(EmitError emitError, unsigned dim, Attribute parent) {
  if (failed(verifyParent(emitError, parent))) {
    return failure();
  }
  unsigned rank = cast<LayoutEncodingTrait>(parent).getRank();
  if (rank < 2) {
    return emitError() << "parent must have at least two dimensions: got " << rank;
  }
  if (dim >= rank) {
    return emitError() << "dim must be less than the parent's rank " << rank << ": got " << dim;
  }
  return success();
}

Attribute SliceEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned dim;
  Attribute parent;
  if (parser.parseLess()) {
    return {};
  }
  auto fields = EncodingFields::parse(parser);
  if (failed(fields) || fields->get("dim", dim) || fields->get("parent", parent) || fields->rejectOthers() ||
      parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<SliceEncodingAttr>(loc, parser.getContext(), dim, parent);
}

void SliceEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{dim = " << getDim() << ", parent = " << getParent() << "}>";
}

// --- nvidia_mma

unsigned NvidiaMmaEncodingAttr::getRank() const { return getWarpsPerCTA().size(); }

static LogicalResult verifyMmaShape(EmitError emitError, ArrayRef<unsigned> instrShape, size_t rank) {
  SmallVector<unsigned> wanted(rank - 2, 1);
  wanted.append({16, 8});
  if (instrShape != ArrayRef(wanted)) {
    return emitError() << "instrShape must be [" << wanted << "]: got [" << instrShape << "]";
  }
  return success();
}

static LogicalResult verifyWgmmaShape(EmitError emitError, ArrayRef<unsigned> instrShape) {
  if (instrShape.size() != 3 || instrShape[0] != 16) {
    return emitError() << "instrShape must be [16, n, k]: got [" << instrShape << "]";
  }
  unsigned n = instrShape[1];
  if (!llvm::isPowerOf2_32(n) || n < 8 || n > 256 || !llvm::isPowerOf2_32(instrShape[2])) {
    return emitError() << "n must be a power of two from 8 to 256 and k a power of two: got [" << instrShape << "]";
  }
  return success();
}

LogicalResult NvidiaMmaEncodingAttr::verify(EmitError emitError, unsigned versionMajor, unsigned,
                                            ArrayRef<unsigned> warpsPerCTA, CGAEncodingAttr layout,
                                            ArrayRef<unsigned> instrShape) {
  if (versionMajor != 2 && versionMajor != 3) {
    return emitError() << "versionMajor must be 2 or 3: got " << versionMajor;
  }
  if (warpsPerCTA.size() < 2 || layout.getRank() != warpsPerCTA.size()) {
    return emitError() << "warpsPerCTA and CGALayout must have one rank of at least 2";
  }
  if (!arePowersOfTwo(warpsPerCTA)) {
    return emitError() << "warpsPerCTA must be powers of two: got " << warpsPerCTA;
  }
  if (llvm::any_of(warpsPerCTA, [](unsigned warps) { return warps > kMaxWarps; })) {
    return emitError() << "warpsPerCTA must be at most " << kMaxWarps << ": got " << warpsPerCTA;
  }
  return versionMajor == 2 ? verifyMmaShape(emitError, instrShape, warpsPerCTA.size())
                           : verifyWgmmaShape(emitError, instrShape);
}

Attribute NvidiaMmaEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned major, minor;
  SmallVector<unsigned> warps, instrShape;
  CGAEncodingAttr layout;
  if (parser.parseLess()) {
    return {};
  }
  // Unlike the other encodings this one has always let unknown fields pass.
  auto fields = EncodingFields::parse(parser);
  if (failed(fields) || fields->get("versionMajor", major) || fields->get("versionMinor", minor) ||
      fields->get("warpsPerCTA", warps) || fields->get("instrShape", instrShape) ||
      fields->getCGALayout(warps.size(), layout) || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<NvidiaMmaEncodingAttr>(loc, parser.getContext(), major, minor, ArrayRef(warps), layout,
                                                  ArrayRef(instrShape));
}

void NvidiaMmaEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{versionMajor = " << getVersionMajor() << ", versionMinor = " << getVersionMinor() << ", warpsPerCTA = ";
  printNumbers(printer, getWarpsPerCTA());
  printCGALayout(printer, getCGALayout());
  printer << ", instrShape = ";
  printNumbers(printer, getInstrShape());
  printer << "}>";
}

// --- dot_op

unsigned DotOperandEncodingAttr::getRank() const { return cast<LayoutEncodingTrait>(getParent()).getRank(); }

DotOperandEncodingAttr DotOperandEncodingAttr::get(MLIRContext *context, unsigned opIdx, Attribute parent, Type type) {
  unsigned kWidth = isa<NvidiaMmaEncodingAttr>(parent) ? std::max(1u, 32 / type.getIntOrFloatBitWidth()) : 0;
  return get(context, opIdx, parent, kWidth);
}

LogicalResult DotOperandEncodingAttr::verify(EmitError emitError, unsigned opIdx, Attribute parent, unsigned kWidth) {
  if (opIdx > 1) {
    return emitError() << "opIdx must be 0 or 1: got " << opIdx;
  }
  if (!isa_and_nonnull<NvidiaMmaEncodingAttr, BlockedEncodingAttr>(parent)) {
    return emitError() << "parent must be an nvidia_mma or a blocked encoding: got " << parent;
  }
  if (cast<LayoutEncodingTrait>(parent).getRank() < 2) {
    return emitError() << "parent must have at least two dimensions: got 1";
  }
  auto mma = dyn_cast<NvidiaMmaEncodingAttr>(parent);
  if (mma && !llvm::isPowerOf2_32(kWidth)) {
    return emitError() << "needs a kWidth, a power of two, under an nvidia_mma parent: got " << kWidth;
  }
  if (kWidth > kMaxKWidth) {
    return emitError() << "kWidth must be at most " << kMaxKWidth << ": got " << kWidth;
  }
  if (mma && mma.isHopper() && opIdx != 0) {
    return emitError() << "only operand 0 may be in registers under an nvidia_mma parent of version 3";
  }
  if (isa<BlockedEncodingAttr>(parent) && kWidth != 0) {
    return emitError() << "takes no kWidth under a blocked parent: got " << kWidth;
  }
  return success();
}

Attribute DotOperandEncodingAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  unsigned opIdx;
  unsigned kWidth = 0;
  Attribute parent;
  if (parser.parseLess()) {
    return {};
  }
  auto fields = EncodingFields::parse(parser);
  if (failed(fields) || fields->get("opIdx", opIdx) || fields->get("parent", parent) ||
      (fields->has("kWidth") && fields->get("kWidth", kWidth)) || fields->rejectOthers() || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<DotOperandEncodingAttr>(loc, parser.getContext(), opIdx, parent, kWidth);
}

void DotOperandEncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{opIdx = " << getOpIdx() << ", parent = " << getParent();
  if (getKWidth() != 0) {
    printer << ", kWidth = " << getKWidth();
  }
  printer << "}>";
}

} // namespace jitk::ir::ttg
