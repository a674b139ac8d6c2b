// Whether the slots of a buffer have a layout of their own.

#pragma once

#include "src/ir/ttg/Ttg.h"

namespace jitk::passes {

/// Whether `source`, in its encoding, is its slots one after the other, each in the encoding of `slot`: then the
/// address of a slot is all that an index adds.
bool isSequenceOfSlots(ir::ttg::MemDescType source, ir::ttg::MemDescType slot);

} // namespace jitk::passes
