// All ops of the `ttng` dialect, by family.

#ifndef JITK_IR_TTNG_TTNGOPS_TD
#define JITK_IR_TTNG_TTNGOPS_TD

include "src/ir/ttng/TtngAttrs.td"
include "src/ir/ttng/TtngBarrierOps.td"
include "src/ir/ttng/TtngClusterOps.td"
include "src/ir/ttng/TtngDotOps.td"
include "src/ir/ttng/TtngTensorMemoryOps.td"
include "src/ir/ttng/TtngTmaOps.td"
include "src/ir/ttng/TtngWarpOps.td"

#endif
