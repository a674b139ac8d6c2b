// Encodings and memory spaces of the `ttg` dialect.

#ifndef JITK_IR_TTG_TTGATTRS_TD
#define JITK_IR_TTG_TTGATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "src/ir/ttg/TtgDialect.td"
include "src/ir/ttg/TtgInterfaces.td"

class Ttg_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Ttg_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class Ttg_Encoding<string name, string attrMnemonic, list<Trait> traits = []> : Ttg_Attr<name, attrMnemonic, traits> {
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

class Ttg_Distributed<string name, string attrMnemonic>
  : Ttg_Encoding<name, attrMnemonic, [DeclareAttrInterfaceMethods<Ttg_LayoutEncodingTrait>,
                                      Ttg_DistributedEncodingTrait]>;

class Ttg_Shared<string name, string attrMnemonic>
  : Ttg_Encoding<name, attrMnemonic, [DeclareAttrInterfaceMethods<Ttg_LayoutEncodingTrait>,
                                      DeclareAttrInterfaceMethods<Ttg_SharedEncodingTrait>]>;

def Ttg_CGAEncoding : Ttg_Attr<"CGAEncoding", "cga"> {
  let summary = "how the CTAs of a cluster share a tensor";
  let description = [{
    F2 bases from the bit of the CTA's rank in the cluster to the tensor's dimensions: `[[0, 1]]` splits dimension 1 over two
    CTAs, `[[0, 0]]` gives both the same. Without bases there is one CTA. Not printed on its own: encodings print the
    bases as `CGALayout`.
  }];
  let parameters = (ins "unsigned":$rank, OptionalArrayRefParameter<"int32_t", "rank numbers a basis">:$flatBases);
  let assemblyFormat = "`<` $rank (`,` `[` $flatBases^ `]`)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// One CTA, `rank` dimensions.
    static CGAEncodingAttr getTrivial(::mlir::MLIRContext *context, unsigned rank);
    bool isTrivial() const { return getFlatBases().empty(); }
    unsigned getNumBases() const { return getRank() ? getFlatBases().size() / getRank() : 0; }
    unsigned getNumCTAs() const { return 1u << getNumBases(); }
    ::llvm::ArrayRef<int32_t> getBasis(unsigned bit) const {
      return getFlatBases().slice(size_t(bit) * getRank(), getRank());
    }
    /// The number of pieces that each dimension is cut into.
    ::llvm::SmallVector<unsigned> getSplitNum() const;
    /// Without dimension `dim`.
    CGAEncodingAttr dropDim(unsigned dim) const;
    /// With a new dimension at `dim` that no CTA splits.
    CGAEncodingAttr insertDim(unsigned dim) const;
    /// Dimension `i` is `order[i]` of this one.
    CGAEncodingAttr permute(::llvm::ArrayRef<int32_t> order) const;
  }];
}

def Ttg_BlockedEncoding : Ttg_Distributed<"BlockedEncoding", "blocked"> {
  let summary = "tiles over the registers, lanes and warps";
  let description = [{
    Each thread holds a tile of `sizePerThread` elements, the lanes of a warp a grid of `threadsPerWarp` such tiles, the
    warps a grid of `warpsPerCTA` of those; `order` lists the dimensions, fastest first. A smaller tensor is repeated over
    threads, a larger one over registers.

    ```mlir
    #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"unsigned">:$sizePerThread, ArrayRefParameter<"unsigned">:$threadsPerWarp,
    ArrayRefParameter<"unsigned">:$warpsPerCTA, ArrayRefParameter<"unsigned">:$order, "CGAEncodingAttr":$CGALayout);
  let builders = [
    // Gives each thread `sizePerThread` and deals lanes and warps out along `order`, as far as `shape` needs them.
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::llvm::ArrayRef<unsigned>":$sizePerThread,
                     "::llvm::ArrayRef<unsigned>":$order, "unsigned":$numWarps, "unsigned":$numThreadsPerWarp,
                     "CGAEncodingAttr":$CGALayout)>
  ];
}

def Ttg_LinearEncoding : Ttg_Distributed<"LinearEncoding", "linear"> {
  let summary = "an arbitrary F2-linear placement";
  let description = [{
    The bases of the map from (register, lane, warp, block) to the tensor's dimensions.

    ```mlir
    #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
    ```
  }];
  let parameters = (ins
    "unsigned":$rank, ArrayRefParameter<"int32_t">:$registerBases, ArrayRefParameter<"int32_t">:$laneBases,
    ArrayRefParameter<"int32_t">:$warpBases, ArrayRefParameter<"int32_t">:$blockBases);
  let extraClassDeclaration = [{
    /// The bases of `input` (register, lane, warp, block): one array of `rank` numbers a bit.
    ::llvm::SmallVector<::llvm::ArrayRef<int32_t>> getBases(::llvm::StringRef input) const;
  }];
}

def Ttg_SliceEncoding : Ttg_Distributed<"SliceEncoding", "slice"> {
  let summary = "a layout with one dimension squeezed out";
  let description = [{
    Element `i` lies where the parent has (`i` with any coordinate at `dim`): threads that differ along `dim` hold the
    same.

    ```mlir
    #ttg.slice<{dim = 1, parent = #blocked}>
    ```
  }];
  let parameters = (ins "unsigned":$dim, "::mlir::Attribute":$parent);
  let builders = [
    AttrBuilderWithInferredContext<(ins "unsigned":$dim, "::mlir::Attribute":$parent), [{
      return $_get(parent.getContext(), dim, parent);
    }]>
  ];
  let extraClassDeclaration = [{
    /// `shape` with a 1 inserted at `dim`: the parent's shape.
    template <typename T> ::llvm::SmallVector<T> paddedShape(::llvm::ArrayRef<T> shape) const {
      ::llvm::SmallVector<T> padded(shape.begin(), shape.end());
      padded.insert(padded.begin() + getDim(), 1);
      return padded;
    }
  }];
}

def Ttg_NvidiaMmaEncoding : Ttg_Distributed<"NvidiaMmaEncoding", "nvidia_mma"> {
  let summary = "accumulator fragments of the tensor cores";
  let description = [{
    `versionMajor` 2: mma.sync (sm_80 and sm_120), `instrShape = [16, 8]`. 3: wgmma (sm_90), `instrShape = [16, n, k]` for
    each warp.

    ```mlir
    #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
    ```
  }];
  let parameters = (ins
    "unsigned":$versionMajor, "unsigned":$versionMinor, ArrayRefParameter<"unsigned">:$warpsPerCTA,
    "CGAEncodingAttr":$CGALayout, ArrayRefParameter<"unsigned">:$instrShape);
  let extraClassDeclaration = [{
    bool isVolta() const { return getVersionMajor() == 1; }
    bool isAmpere() const { return getVersionMajor() == 2; }
    bool isHopper() const { return getVersionMajor() == 3; }
  }];
}

def Ttg_DotOperandEncoding : Ttg_Distributed<"DotOperandEncoding", "dot_op"> {
  let summary = "operand fragments of a dot";
  let description = [{
    Operand `opIdx` (0 is A, 1 is B) of a dot whose result has the encoding `parent`. `kWidth` is the number of
    consecutive elements along K that a thread holds in a register: 32 bits' worth, more after a conversion to a narrower
    type. A blocked parent has none.

    ```mlir
    #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
    ```
  }];
  let parameters = (ins "unsigned":$opIdx, "::mlir::Attribute":$parent, DefaultValuedParameter<"unsigned", "0">:$kWidth);
  let builders = [
    // The kWidth of element type `type` under an mma parent; 0 under others.
    AttrBuilder<(ins "unsigned":$opIdx, "::mlir::Attribute":$parent, "::mlir::Type":$type)>
  ];
}

def Ttg_SwizzledSharedEncoding : Ttg_Shared<"SwizzledSharedEncoding", "swizzled_shared"> {
  let summary = "rows with an xor swizzle";
  let description = [{
    Row `r` along `order` has its vectors of `vec` elements permuted by xor with `(r / perPhase) % maxPhase`.

    ```mlir
    #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
    ```
  }];
  let parameters = (ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase, ArrayRefParameter<"unsigned">:$order,
                        "CGAEncodingAttr":$CGALayout);
  let builders = [
    // One CTA.
    AttrBuilder<(ins "unsigned":$vec, "unsigned":$perPhase, "unsigned":$maxPhase, "::llvm::ArrayRef<unsigned>":$order)>
  ];
}

def Ttg_NVMMASharedEncoding : Ttg_Shared<"NVMMASharedEncoding", "nvmma_shared"> {
  let summary = "panels as TMA writes and wgmma reads them";
  let description = [{
    Panels of `swizzlingByteWidth` bytes a row (0: no swizzle), eight rows to a pattern. `transposed`: the first of the two
    minor dimensions is contiguous. `fp4Padded`: 8 bytes of packed fp4 in every 16.

    ```mlir
    #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
    ```
  }];
  let parameters = (ins "unsigned":$swizzlingByteWidth, "bool":$transposed, "unsigned":$elementBitWidth, "bool":$fp4Padded,
                        "CGAEncodingAttr":$CGALayout);
  let builders = [
    // The widest swizzle that a row of `shape` along `order` fills.
    AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::llvm::ArrayRef<unsigned>":$order,
                     "CGAEncodingAttr":$CGALayout, "::mlir::Type":$elementType, "bool":$fp4Padded)>,
    // Row-major (or not), one CTA, rank 2.
    AttrBuilder<(ins "unsigned":$swizzlingByteWidth, "bool":$transposed, "unsigned":$elementBitWidth)>
  ];
  let extraClassDeclaration = [{
    /// Rows of 128 bytes that share a phase of the swizzle.
    unsigned getPerPhase() const;
    /// Phases of the swizzle: 1, 2, 4 or 8.
    unsigned getMaxPhase() const;
    /// Elements of a swizzled vector (16 bytes).
    unsigned getVec() const { return 128 / getElementBitWidth(); }
  }];
}

def Ttg_PaddedSharedEncoding : Ttg_Shared<"PaddedSharedEncoding", "padded_shared"> {
  let summary = "a linear placement with padding after every so many elements";
  let description = [{
    After each `interval` elements follow `padding` unused ones. The linear part is either row-major (`order` and `shape`)
    or any invertible map (`offset` and `block` bases).

    ```mlir
    #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [128, 64]}>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"unsigned">:$intervals, ArrayRefParameter<"unsigned">:$paddings, "unsigned":$rank,
    ArrayRefParameter<"int32_t">:$offsetBases, ArrayRefParameter<"int32_t">:$blockBases);
  let extraClassDeclaration = [{
    /// The bases of `input` (offset, block): one array of `rank` numbers a bit.
    ::llvm::SmallVector<::llvm::ArrayRef<int32_t>> getBases(::llvm::StringRef input) const;
  }];
}

def Ttg_SharedLinearEncoding : Ttg_Shared<"SharedLinearEncoding", "shared_linear"> {
  let summary = "an arbitrary F2-linear placement in shared memory";
  let description = [{
    The bases of the map from (offset in elements, block) to the tensor's dimensions. What a view of another encoding has
    where no other encoding describes it.

    ```mlir
    #ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 0]]}, alignment = 16>
    ```
  }];
  let parameters = (ins
    "unsigned":$rank, ArrayRefParameter<"int32_t">:$offsetBases, ArrayRefParameter<"int32_t">:$blockBases,
    "unsigned":$layoutAlignment);
  let extraClassDeclaration = [{
    /// The bases of `input` (offset, block): one array of `rank` numbers a bit.
    ::llvm::SmallVector<::llvm::ArrayRef<int32_t>> getBases(::llvm::StringRef input) const;
  }];
}

def Ttg_SharedMemorySpace : Ttg_Attr<"SharedMemorySpace", "shared_memory"> {
  let summary = "shared memory of the CTA";
  let description = "`#ttg.shared_memory`, printed under the alias `#smem`.";
}

#endif
