// All ops of the `ttg` dialect, by family.

#ifndef JITK_IR_TTG_TTGOPS_TD
#define JITK_IR_TTG_TTGOPS_TD

include "src/ir/ttg/TtgAttrs.td"
include "src/ir/ttg/TtgLayoutOps.td"
include "src/ir/ttg/TtgMemoryOps.td"
include "src/ir/ttg/TtgWarpSpecializeOps.td"

#endif
