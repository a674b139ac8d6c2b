// The dialect, its attributes and aliases.

#include "src/ir/ttng/Ttng.h"

#include "src/ir/ttng/TokenSyntax.h"

#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

#include "src/ir/ttng/TtngDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "src/ir/ttng/TtngAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "src/ir/ttng/TtngOps.cpp.inc"

namespace jitk::ir::ttng {
using namespace mlir;

namespace {

struct TtngAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    if (isa<TensorMemoryEncodingAttr>(attr)) {
      os << "tmem";
    } else if (isa<TensorMemoryScalesEncodingAttr>(attr)) {
      os << "tmem_scales";
    } else {
      return AliasResult::NoAlias;
    }
    return AliasResult::FinalAlias;
  }
};

} // namespace

void TtngDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "src/ir/ttng/TtngAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "src/ir/ttng/TtngOps.cpp.inc"
      >();
  addInterfaces<TtngAliases>();
}

LogicalResult TensorMemoryEncodingAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned blockM,
                                               unsigned blockN, unsigned colStride, unsigned splitM, unsigned splitN,
                                               bool) {
  if (blockM != 64 && blockM != 128) {
    return emitError() << "blockM must be 64 or 128: got " << blockM;
  }
  if (!llvm::isPowerOf2_32(blockN) || blockN > 512) {
    return emitError() << "blockN must be a power of two of at most 512: got " << blockN;
  }
  if (colStride != 1 && colStride != 2 && colStride != 4) {
    return emitError() << "colStride must be 1, 2 or 4: got " << colStride;
  }
  if (!llvm::isPowerOf2_32(splitM) || !llvm::isPowerOf2_32(splitN)) {
    return emitError() << "CTASplitM and CTASplitN must be powers of two: got " << splitM << " and " << splitN;
  }
  return success();
}

} // namespace jitk::ir::ttng
