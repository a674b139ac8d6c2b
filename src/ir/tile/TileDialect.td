// The `tile` dialect: CommonIR's buffers and the copies between them and global memory.

#ifndef JITK_IR_TILE_TILEDIALECT_TD
#define JITK_IR_TILE_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::jitk::ir::tile";
  let summary = "Buffers and copies of CommonIR";
  let description = [{
    Explicit buffers, in shared memory on GPUs, between which programs of `tt`, `arith`, `math` and `scf` compute. The layout
    of a buffer is the discardable attribute `tle.gpu_layout` of the op that makes it. Ops that exist for other targets
    parse, and are refused by the conversion to TTGIR.
  }];
  let dependentDialects = ["::jitk::ir::tt::TtDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif
