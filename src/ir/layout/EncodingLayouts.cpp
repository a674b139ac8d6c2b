#include "src/ir/layout/EncodingLayouts.h"

#include "src/ir/layout/DistributedLayouts.h"
#include "src/ir/layout/SharedLayouts.h"
#include "src/ir/layout/TensorMemoryLayouts.h"
#include "src/ir/ttng/Ttng.h"

#include "llvm/ADT/TypeSwitch.h"

namespace jitk::ir {
using namespace mlir;
using namespace ttg;

static LinearLayout clusterOf(Attribute encoding) {
  CGAEncodingAttr cluster = getCGALayout(encoding);
  return clusterLayout(cluster.getRank(), cluster.getFlatBases());
}

static BlockedParameters parametersOf(BlockedEncodingAttr encoding) {
  return {encoding.getSizePerThread(), encoding.getThreadsPerWarp(), encoding.getWarpsPerCTA(), encoding.getOrder()};
}

static MmaParameters parametersOf(NvidiaMmaEncodingAttr encoding) {
  // [.., m, n], and for wgmma [m, n, k].
  ArrayRef<unsigned> instr = encoding.getInstrShape();
  ArrayRef<unsigned> tile = encoding.isHopper() ? instr.take_front(2) : instr.take_back(2);
  return {encoding.getVersionMajor(), encoding.getWarpsPerCTA(), tile[0], tile[1]};
}

static LinearLayout dotOperandLayout(ArrayRef<int64_t> shape, DotOperandEncodingAttr encoding) {
  Attribute parent = encoding.getParent();
  if (auto mma = dyn_cast<NvidiaMmaEncodingAttr>(parent)) {
    return mmaOperandLayout(shape, parametersOf(mma), encoding.getOpIdx(), encoding.getKWidth(), clusterOf(parent));
  }
  return fmaOperandLayout(shape, parametersOf(cast<BlockedEncodingAttr>(parent)), encoding.getOpIdx(),
                          clusterOf(parent));
}

LinearLayout layoutOfBases(unsigned rank, ArrayRef<std::pair<StringRef, ArrayRef<int32_t>>> inputs) {
  std::vector<LinearLayout::InDim> ins;
  LinearLayout::Basis sizes(rank, 1);
  for (auto [name, flat] : inputs) {
    ins.push_back({name.str(), {}});
    for (; !flat.empty(); flat = flat.drop_front(rank)) {
      ins.back().bases.emplace_back(flat.take_front(rank));
      for (auto [size, coordinate] : llvm::zip_equal(sizes, ins.back().bases.back())) {
        size = std::max<int32_t>(size, llvm::NextPowerOf2(coordinate));
      }
    }
  }
  std::vector<LinearLayout::OutDim> outs;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    outs.push_back({dimName(dim).str(), size});
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

/// The dimensions that the bases of `inDim` move, the lowest bit first; the others follow in row-major order.
static SmallVector<unsigned> orderOf(const LinearLayout &layout, StringRef inDim) {
  llvm::SetVector<unsigned> order;
  for (const LinearLayout::Basis &basis : layout.getBases(inDim)) {
    for (auto [dim, coordinate] : llvm::enumerate(basis)) {
      if (coordinate != 0) {
        order.insert(dim);
      }
    }
  }
  order.insert_range(rowMajorOrder(layout.getNumOutDims()));
  return SmallVector<unsigned>(order.getArrayRef());
}

/// Without the registers whose elements lie outside the shape: they would hold copies.
static LinearLayout withoutRegistersOutside(ArrayRef<int64_t> shape, const LinearLayout &layout) {
  std::vector<LinearLayout::InDim> ins = layout.getInDims().vec();
  llvm::erase_if(ins.front().bases, [&](const LinearLayout::Basis &basis) {
    return llvm::any_of(llvm::zip_equal(basis, shape),
                        [](auto pair) { return std::get<0>(pair) >= std::get<1>(pair); });
  });
  return LinearLayout(std::move(ins), layout.getOutDims().vec());
}

static LinearLayout linearLayout(ArrayRef<int64_t> shape, LinearEncodingAttr encoding) {
  LinearLayout layout = layoutOfBases(encoding.getRank(), {{kRegister, encoding.getRegisterBases()},
                                                           {kLane, encoding.getLaneBases()},
                                                           {kWarp, encoding.getWarpBases()},
                                                           {kBlock, encoding.getBlockBases()}});
  LinearLayout::Names order(llvm::map_range(orderOf(layout, kRegister), dimName));
  return fitToShape(withoutRegistersOutside(shape, layout).transposeOuts(order), shape, kRegister);
}

template <typename Encoding> static LinearLayout sharedLinearLayout(ArrayRef<int64_t> shape, Encoding encoding) {
  LinearLayout layout =
      layoutOfBases(encoding.getRank(), {{kOffset, encoding.getOffsetBases()}, {kBlock, encoding.getBlockBases()}});
  LinearLayout::Names order(llvm::map_range(orderOf(layout, kOffset), dimName));
  return fitToShape(layout.transposeOuts(order), shape, kOffset);
}

LinearLayout toLinearLayout(ArrayRef<int64_t> shape, Attribute encoding) {
  return TypeSwitch<Attribute, LinearLayout>(encoding)
      .Case([&](BlockedEncodingAttr attr) { return blockedLayout(shape, parametersOf(attr), clusterOf(attr)); })
      .Case([&](LinearEncodingAttr attr) { return linearLayout(shape, attr); })
      .Case([&](SliceEncodingAttr attr) {
        return sliceLayout(toLinearLayout(attr.paddedShape(shape), attr.getParent()), attr.getDim());
      })
      .Case([&](NvidiaMmaEncodingAttr attr) { return mmaLayout(shape, parametersOf(attr), clusterOf(attr)); })
      .Case([&](DotOperandEncodingAttr attr) { return dotOperandLayout(shape, attr); })
      .Case([&](SwizzledSharedEncodingAttr attr) {
        return swizzledSharedLayout(shape, {attr.getVec(), attr.getPerPhase(), attr.getMaxPhase(), attr.getOrder()},
                                    clusterOf(attr));
      })
      .Case([&](NVMMASharedEncodingAttr attr) {
        return nvmmaSharedLayout(
            shape, {attr.getSwizzlingByteWidth(), attr.getTransposed(), attr.getElementBitWidth(), attr.getFp4Padded()},
            clusterOf(attr));
      })
      .Case<PaddedSharedEncodingAttr, SharedLinearEncodingAttr>(
          [&](auto attr) { return sharedLinearLayout(shape, attr); })
      .Case([&](ttng::TensorMemoryEncodingAttr attr) {
        return tensorMemoryLayout(shape, {attr.getBlockM(), attr.getBlockN(), attr.getColStride(), attr.getCTASplitM(),
                                          attr.getCTASplitN(), attr.getTwoCTAs()});
      })
      .Case([&](ttng::TensorMemoryScalesEncodingAttr attr) {
        return tensorMemoryScalesLayout(shape, attr.getCTASplitM(), attr.getCTASplitN());
      });
}

LinearLayout toLinearLayout(RankedTensorType type) { return toLinearLayout(type.getShape(), type.getEncoding()); }

LinearLayout toLinearLayout(MemDescType type) {
  unsigned rank = cast<LayoutEncodingTrait>(type.getEncoding()).getRank();
  return toLinearLayout(type.getAllocShape().take_back(rank), type.getEncoding());
}

bool areLayoutsEquivalent(ArrayRef<int64_t> shape, Attribute a, Attribute b) {
  return a == b || toLinearLayout(shape, a) == toLinearLayout(shape, b);
}

static SmallVector<int32_t> flatBasesOf(const LinearLayout &layout, StringRef inDim) {
  SmallVector<int32_t> flat;
  for (const LinearLayout::Basis &basis : layout.getBases(inDim)) {
    flat.append(basis.begin(), basis.end());
  }
  return flat;
}

LinearEncodingAttr getLinearEncoding(MLIRContext *context, const LinearLayout &layout) {
  return LinearEncodingAttr::get(context, layout.getNumOutDims(), flatBasesOf(layout, kRegister),
                                 flatBasesOf(layout, kLane), flatBasesOf(layout, kWarp), flatBasesOf(layout, kBlock));
}

SharedLinearEncodingAttr getSharedLinearEncoding(MLIRContext *context, const LinearLayout &layout, unsigned alignment) {
  return SharedLinearEncodingAttr::get(context, layout.getNumOutDims(), flatBasesOf(layout, kOffset),
                                       flatBasesOf(layout, kBlock), alignment);
}

unsigned getTotalElemsPerThread(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? toLinearLayout(tensor).getInDimSize(kRegister) : 1;
}

SmallVector<unsigned> getContigPerThread(RankedTensorType type) {
  LinearLayout layout = toLinearLayout(type);
  SmallVector<unsigned> contiguous;
  for (unsigned dim : llvm::seq(layout.getNumOutDims())) {
    unsigned run = 1;
    LinearLayout::Basis unit(layout.getNumOutDims(), 0);
    for (unit[dim] = 1; llvm::is_contained(layout.getBases(kRegister), unit); unit[dim] *= 2) {
      run *= 2;
    }
    contiguous.push_back(run);
  }
  return contiguous;
}

SmallVector<unsigned> getRegisterOrder(RankedTensorType type) { return orderOf(toLinearLayout(type), kRegister); }

unsigned getNumLanes(RankedTensorType type) { return toLinearLayout(type).getInDimSize(kLane); }

unsigned getNumWarps(RankedTensorType type) { return toLinearLayout(type).getInDimSize(kWarp); }

CopyMasks getCopyMasks(const LinearLayout &layout) {
  llvm::StringMap<int32_t> masks = layout.getFreeVariableMasks();
  auto of = [&](StringRef inDim) { return uint32_t(masks.lookup(inDim)); };
  return {of(kRegister), of(kLane), of(kWarp), of(kBlock)};
}

} // namespace jitk::ir
