// All ops of the `tt` dialect, by family.

#ifndef JITK_IR_TT_TTOPS_TD
#define JITK_IR_TT_TTOPS_TD

include "src/ir/tt/TtMemoryOps.td"
include "src/ir/tt/TtTensorOps.td"
include "src/ir/tt/TtMathOps.td"
include "src/ir/tt/TtReductionOps.td"
include "src/ir/tt/TtDescriptorOps.td"
include "src/ir/tt/TtFunctionOps.td"

#endif
