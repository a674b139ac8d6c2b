// The `ttng` dialect: Hopper's and Blackwell's asynchronous units, textually compatible with Triton 3.6.

#ifndef JITK_IR_TTNG_TTNGDIALECT_TD
#define JITK_IR_TTNG_TTNGDIALECT_TD

include "src/ir/ttg/TtgDialect.td"

def Ttng_Dialect : Dialect {
  let name = "ttng";
  let cppNamespace = "::jitk::ir::ttng";
  let summary = "Asynchronous units of NVIDIA GPUs";
  let description = [{
    Memory barriers, bulk tensor copies (TMA), warpgroup and tensor-memory matrix products, and the proxy fences between
    them.
  }];
  let dependentDialects = ["::jitk::ir::ttg::TtgDialect"];
  let useDefaultAttributePrinterParser = 1;
}

class Ttng_Op<string mnemonic, list<Trait> traits = []> : Op<Ttng_Dialect, mnemonic, !listconcat(traits, [TensorRules])>;

#endif
