// Types and attributes of the `tile` dialect.

#ifndef JITK_IR_TILE_TILETYPES_TD
#define JITK_IR_TILE_TILETYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "src/ir/tile/TileDialect.td"
include "src/ir/tile/TileEnums.td"

class Tile_TypeDef<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "MemorySpace":$space);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                        "MemorySpace":$space), [{
      return $_get(elementType.getContext(), shape, elementType, space);
    }]>
  ];
  let assemblyFormat = "`<` `[` $shape `]` `,` $elementType `,` custom<Space>($space) `>`";
  let skipDefaultBuilders = 1;
  let genVerifyDecl = 1;
}

def Tile_Buf : Tile_TypeDef<"Buf", "buf"> {
  let summary = "mutable buffer";
  let description = [{
    ```mlir
    !tile.buf<[2, 16], f32, shared>
    ```
  }];
}

def Tile_Tensor : Tile_TypeDef<"Tensor", "tensor"> {
  let summary = "immutable view of a buffer; not used on GPUs";
}

def Tile_NZLayout : AttrDef<Tile_Dialect, "NZLayout"> {
  let mnemonic = "nz";
  let summary = "fractal storage order of H x W tiles";
  let description = "`#tile.nz<16 x 16>`";
  let parameters = (ins "int64_t":$height, "int64_t":$width);
  let hasCustomAssemblyFormat = 1;
}

#endif
