#include "src/ir/ptx/Instructions.h"

#include "src/ir/ptx/InstructionTable.h"

#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace jitk::ir::ptx {

std::string placeholders(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    text += (i ? ", $" : "$") + utostr(first + i);
  }
  return text;
}

std::string vectorOf(unsigned first, unsigned count) {
  return count == 1 ? placeholders(first, 1) : "{" + placeholders(first, count) + "}";
}

StringRef elementName(Element element) {
  switch (element) {
  case Element::F16:
    return "f16";
  case Element::BF16:
    return "bf16";
  case Element::TF32:
    return "tf32";
  case Element::F32:
    return "f32";
  case Element::E4M3:
    return "e4m3";
  case Element::E5M2:
    return "e5m2";
  case Element::S8:
    return "s8";
  case Element::U8:
    return "u8";
  case Element::S32:
    return "s32";
  }
  return "";
}

bool Instruction::runsOn(unsigned capability, bool archSpecific) const {
  switch (family) {
  case Family::Onward:
    return capability >= minCapability;
  case Family::Exact:
    return archSpecific && capability == minCapability;
  case Family::SpecificOnward:
    return archSpecific && capability >= minCapability;
  }
  return false;
}

std::string Instruction::requirement() const {
  std::string target = "sm_" + utostr(minCapability);
  switch (family) {
  case Family::Onward:
    return target + " or later";
  case Family::Exact:
    return target + "a";
  case Family::SpecificOnward:
    return target + "a or a later `a` target";
  }
  return target;
}

namespace {
struct IndexedTable {
  Table rows;
  StringMap<unsigned> indexOfForm;

  IndexedTable() {
    addSpecialRegisters(rows);
    addLoadsAndStores(rows);
    addAtomics(rows);
    addAsyncCopies(rows);
    addMatrixLoads(rows);
    addMma(rows);
    addWgmma(rows);
    addMbarriers(rows);
    addFencesAndBarriers(rows);
    addTma(rows);
    addTensormaps(rows);
    addWarpExchange(rows);
    addCluster(rows);
    addConversions(rows);
    addMath(rows);
    for (auto [index, row] : enumerate(rows)) {
      indexOfForm[row.form] = index;
    }
  }
};
} // namespace

static const IndexedTable &table() {
  static const IndexedTable instance;
  return instance;
}

const Instruction *lookupInstruction(StringRef form) {
  auto found = table().indexOfForm.find(form);
  return found == table().indexOfForm.end() ? nullptr : &table().rows[found->second];
}

ArrayRef<Instruction> allInstructions() { return table().rows; }

} // namespace jitk::ir::ptx
