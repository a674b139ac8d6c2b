// The plan of a ttg.convert_layout for the module's target.

#pragma once

#include "src/ir/layout/ConversionPlan.h"
#include "src/ir/ttg/Ttg.h"

namespace jitk::passes {

/// The same plan for whoever asks: the one who places its memory, the one who orders it, the one who lowers it.
ir::ConversionPlan planConversion(ir::ttg::ConvertLayoutOp op);

} // namespace jitk::passes
