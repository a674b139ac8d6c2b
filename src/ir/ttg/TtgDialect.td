// The `ttg` dialect: layouts of tensors over registers and shared memory, textually compatible with Triton 3.6.

#ifndef JITK_IR_TTG_TTGDIALECT_TD
#define JITK_IR_TTG_TTGDIALECT_TD

include "src/ir/tt/TtDialect.td"

def Ttg_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::jitk::ir::ttg";
  let summary = "Layouts of tensors over the threads and shared memory of a CTA";
  let description = [{
    Encodings that say which thread holds which element of a tensor, memory descriptors that name buffers in shared
    memory, and the ops that move data between them. A module carries the attributes `ttg.num-warps`, `ttg.num-ctas`,
    `ttg.threads-per-warp` and `ttg.target`.
  }];
  let dependentDialects = ["::jitk::ir::tt::TtDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Ttg_Op<string mnemonic, list<Trait> traits = []> : Op<Ttg_Dialect, mnemonic, !listconcat(traits, [TensorRules])>;

#endif
