// Every row of the instruction table that computes in a way of its own is named by a case.

#include "tests/unit/emulator/InstructionProgram.h"

#include "llvm/ADT/STLExtras.h"

using namespace jitk::emulator::test;
using jitk::ir::ptx::Handler;
using jitk::ir::ptx::Instruction;

namespace {

/// The ways of computing that a row stands for: a handler with those of its parameters that make a difference. Where
/// two parameters have nothing to do with each other, each is a way of its own.
std::vector<std::string> waysOf(const Instruction &row) {
  const auto way = [&](std::initializer_list<int64_t> distinctions, const char *name = "") {
    std::string text = std::to_string(int(row.handler)) + name;
    for (int64_t value : distinctions) {
      text += " " + std::to_string(value);
    }
    return text;
  };
  const auto &p = row.params;
  switch (row.handler) {
  case Handler::LoadGlobal:
  case Handler::LoadShared:
    return {way({p[0], p[1], row.tiedOperands >= 0})};
  case Handler::Wgmma:
    return {way({p[1], p[2], p[3], p[4], p[5]})}; // the width n is a number of columns
  case Handler::WgmmaWait:
    return {way({row.results.empty()})}; // the number of registers is one of repetitions
  case Handler::TmaReduce:
    return {way({p[0]}, " rank"), way({p[1]}, " op")};
  case Handler::BarrierCta:
  case Handler::BarrierArrive:
    // `bar` is aligned, `barrier` is not.
    return {way({row.numImmediates, llvm::StringRef(row.form).starts_with("bar.")})};
  case Handler::MbarrierArrive:
    return {way({llvm::StringRef(row.form).ends_with(".cluster")})};
  case Handler::TensormapReplace:
    return {way({p[0], p[1]})};
  default:
    return {way({p[0], p[1], p[2], p[3], p[4], p[5]})};
  }
}

} // namespace

TEST_SUITE("emulator/Coverage") {
  TEST_CASE("a case names every handler, and every combination of its parameters that computes differently") {
    std::set<std::string> covered;
    for (const std::string &form : namedForms()) {
      const Instruction *row = jitk::ir::ptx::lookupInstruction(form);
      REQUIRE_MESSAGE(row, form);
      for (std::string &way : waysOf(*row)) {
        covered.insert(std::move(way));
      }
    }
    std::string missing;
    for (const Instruction &row : jitk::ir::ptx::allInstructions()) {
      for (std::string &way : waysOf(row)) {
        if (covered.insert(std::move(way)).second) {
          missing += row.form + "\n";
        }
      }
    }
    CHECK_MESSAGE(missing.empty(), "no case names what these do:\n" << missing);
  }
}
