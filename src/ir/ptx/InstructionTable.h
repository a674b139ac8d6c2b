// How the table is put together: one function a family of instructions. Private to the table.

#pragma once

#include "src/ir/ptx/Instructions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <vector>

namespace jitk::ir::ptx {

using Table = std::vector<Instruction>;

void addSpecialRegisters(Table &table);
void addLoadsAndStores(Table &table);
void addAtomics(Table &table);
void addAsyncCopies(Table &table);
void addMatrixLoads(Table &table);
void addMma(Table &table);
void addWgmma(Table &table);
void addMbarriers(Table &table);
void addFencesAndBarriers(Table &table);
void addTma(Table &table);
void addTensormaps(Table &table);
void addWarpExchange(Table &table);
void addCluster(Table &table);
void addConversions(Table &table);
void addMath(Table &table);

/// "$2, $3, $4" for first = 2, count = 3.
std::string placeholders(unsigned first, unsigned count);
/// "$2" for one register, "{$2, $3}" for more.
std::string vectorOf(unsigned first, unsigned count);
/// Name of an element type as forms and PTX spell it: "f16", "e4m3".
llvm::StringRef elementName(Element element);

template <typename Enum> constexpr int64_t param(Enum value) { return static_cast<int64_t>(value); }

} // namespace jitk::ir::ptx
