// The instruction table: each row is well formed, and ptxas takes each row on each target and at the least PTX version
// that the row claims.

#include "src/ir/ptx/Instructions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <map>
#include <set>
#include <string>

using namespace llvm;
using namespace jitk::ir;
using ptx::Handler;

namespace {
struct Target {
  unsigned capability;
  bool archSpecific;
  unsigned minPtx; ///< the least PTX version that knows the target

  std::string name() const { return "sm_" + utostr(capability) + (archSpecific ? "a" : ""); }
};

/// Replaces `$N` and `%N%` of a row's text.
class Expansion {
public:
  explicit Expansion(const ptx::Instruction &row) : row(row) {}

  /// A kernel that executes the row once on registers without a value.
  std::string kernel(unsigned index) const {
    std::string text = formatv(".visible .entry row{0}() {{ // {1}\n", index, row.form);
    for (unsigned i = 0; i < row.results.size(); ++i) {
      text += declaration(i, row.results[i]);
    }
    for (unsigned i = 0; i < row.operands.size(); ++i) {
      if (!isTied(i)) {
        text += declaration(row.results.size() + i, row.operands[i]);
      }
    }
    return text + body() + "\nret;\n}\n";
  }

private:
  static std::string declaration(unsigned index, char letter) {
    const std::map<char, const char *> types = {{'b', "pred"}, {'h', "b16"}, {'r', "b32"},
                                                {'l', "b64"},  {'f', "f32"}, {'d', "f64"}};
    return formatv(".reg .{0} r{1};\n", types.at(letter), index);
  }
  bool isTied(unsigned operand) const {
    return row.tiedOperands >= 0 && operand >= unsigned(row.tiedOperands) &&
           operand - row.tiedOperands < row.results.size();
  }
  std::string body() const {
    std::string text = row.assembly;
    for (unsigned i = row.results.size() + row.operands.size(); i-- > 0;) {
      unsigned operand = i - row.results.size();
      unsigned reg = i >= row.results.size() && isTied(operand) ? operand - row.tiedOperands : i;
      replaceAll(text, "$" + utostr(i), "r" + utostr(reg));
    }
    for (unsigned i = 0; i < row.numImmediates; ++i) {
      replaceAll(text, "%" + utostr(i) + "%", utostr(immediate(i)));
    }
    return text;
  }
  /// A value that every target accepts.
  unsigned immediate(unsigned index) const {
    switch (row.handler) {
    case Handler::SetMaxRegister:
      return 64;
    case Handler::BarrierCta:
    case Handler::BarrierArrive:
      return index == 0 && row.params[0] == 0 ? 1 : 64; // the barrier's number, where no operand is; threads
    case Handler::TensormapReplace:
      return 1;
    case Handler::Wgmma:
      return index < 2 ? 1 : 0;
    default:
      return 0;
    }
  }
  static void replaceAll(std::string &text, const std::string &from, const std::string &to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }

  const ptx::Instruction &row;
};

std::string findPtxas() {
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas")) {
    return *found;
  }
  ErrorOr<std::string> found = sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  return found ? *found : "";
}

/// Runs ptxas over a text; returns what it printed, empty on success.
std::string assemble(const std::string &ptxas, const std::string &architecture, const std::string &text) {
  SmallString<64> source, log;
  sys::fs::createTemporaryFile("rows", "ptx", source);
  sys::fs::createTemporaryFile("rows", "log", log);
  {
    std::error_code error;
    raw_fd_ostream(source, error) << text;
  }
  std::string gpu = "--gpu-name=" + architecture;
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log), StringRef(log)};
  int code = sys::ExecuteAndWait(ptxas, {ptxas, gpu, "-O0", "-o", "/dev/null", source}, std::nullopt, redirects);
  std::string output = (*MemoryBuffer::getFile(log))->getBuffer().str();
  sys::fs::remove(source);
  sys::fs::remove(log);
  return code == 0 ? "" : "exit code " + itostr(code) + "\n" + output;
}
} // namespace

TEST_SUITE("ir/PtxInstructions") {
  TEST_CASE("forms are unique and found") {
    StringSet<> forms;
    for (const ptx::Instruction &row : ptx::allInstructions()) {
      CAPTURE(row.form);
      CHECK(forms.insert(row.form).second);
      CHECK(ptx::lookupInstruction(row.form) == &row);
    }
    CHECK(ptx::lookupInstruction("no.such.form") == nullptr);
  }

  TEST_CASE("rows are well formed") {
    for (const ptx::Instruction &row : ptx::allInstructions()) {
      CAPTURE(row.form);
      CHECK(StringRef(row.results + row.operands).find_first_not_of("hrlfdb") == StringRef::npos);
      CHECK((row.assembly.empty() != row.intrinsic.empty() || row.handler == Handler::SharedBase));
      if (row.predicated) {
        CHECK(row.operands.front() == 'b');
      }
      if (row.tiedOperands >= 0) {
        REQUIRE(row.tiedOperands + row.results.size() <= row.operands.size());
        CHECK(row.operands.substr(row.tiedOperands, row.results.size()) == row.results);
      }
    }
  }

  TEST_CASE("a row runs on the targets of its family") {
    const ptx::Instruction *wgmma = ptx::lookupInstruction("wgmma.m64n64k16.f32.f16.ss");
    REQUIRE(wgmma);
    CHECK(wgmma->runsOn(90, true));
    CHECK_FALSE(wgmma->runsOn(90, false));
    CHECK_FALSE(wgmma->runsOn(100, true));
    CHECK(wgmma->requirement() == "sm_90a");
    const ptx::Instruction *fp8 = ptx::lookupInstruction("mma.m16n8k32.f32.e4m3");
    REQUIRE(fp8);
    CHECK_FALSE(fp8->runsOn(80, false));
    CHECK(fp8->runsOn(89, false));
    CHECK(fp8->runsOn(120, true));
    CHECK(fp8->requirement() == "sm_89 or later");
    const ptx::Instruction *registers = ptx::lookupInstruction("setmaxnreg.inc");
    REQUIRE(registers);
    CHECK_FALSE(registers->runsOn(90, false));
    CHECK(registers->runsOn(100, true));
  }

  TEST_CASE("ptxas takes each row wherever the row claims to run") {
    std::string ptxas = findPtxas();
    if (ptxas.empty()) {
      MESSAGE("SKIPPED: no ptxas in PATH or /usr/local/cuda/bin; the rows were not assembled");
      return;
    }
    const Target targets[] = {{80, false, 70}, {86, false, 71},  {87, false, 74},  {89, false, 78},
                              {90, false, 78}, {90, true, 80},   {100, false, 86}, {100, true, 86},
                              {103, true, 88}, {120, false, 87}, {120, true, 87},  {121, true, 88}};
    std::set<std::string> seen;
    // The harness itself must be able to fail.
    ptx::Instruction wrong = *ptx::lookupInstruction("mma.m16n8k32.f32.e4m3");
    std::string early = ".version 8.0\n.target sm_89\n.address_size 64\n" + Expansion(wrong).kernel(0);
    REQUIRE(assemble(ptxas, "sm_89", early) != "");

    unsigned assembled = 0;
    for (const Target &target : targets) {
      std::map<unsigned, std::string> textOfVersion;
      for (auto [index, row] : enumerate(ptx::allInstructions())) {
        if (row.assembly.empty() || !row.runsOn(target.capability, target.archSpecific)) {
          continue;
        }
        textOfVersion[std::max(row.minPtx, target.minPtx)] += Expansion(row).kernel(index);
        ++assembled;
        seen.insert(row.form);
      }
      for (const auto &[version, kernels] : textOfVersion) {
        CAPTURE(target.name());
        CAPTURE(version);
        std::string header =
            formatv(".version {0}.{1}\n.target {2}\n.address_size 64\n", version / 10, version % 10, target.name());
        CHECK(assemble(ptxas, target.name(), header + kernels) == "");
      }
    }
    MESSAGE("assembled " << assembled << " kernels");
    // Rows without a text are LLVM's to spell.
    CHECK(seen.size() == size_t(llvm::count_if(ptx::allInstructions(),
                                               [](const ptx::Instruction &row) { return !row.assembly.empty(); })));
  }

  TEST_CASE("no row asks for a later PTX version than ptxas does") {
    std::string ptxas = findPtxas();
    if (ptxas.empty()) {
      MESSAGE("SKIPPED: no ptxas in PATH or /usr/local/cuda/bin; the rows were not assembled");
      return;
    }
    // The versions between the least that knows the target and the one that the row claims: each must be refused.
    const std::pair<Target, std::vector<unsigned>> targets[] = {
        {{80, false, 70}, {70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88}},
        {{89, false, 78}, {78, 80, 81, 82, 83, 84, 85, 86, 87, 88}},
        {{90, true, 80}, {80, 81, 82, 83, 84, 85, 86, 87, 88}},
        {{100, true, 86}, {86, 87, 88}}};
    std::set<std::string> seen;
    for (const auto &[target, versions] : targets) {
      for (auto [index, row] : enumerate(ptx::allInstructions())) {
        if (row.assembly.empty() || !row.runsOn(target.capability, target.archSpecific) ||
            !seen.insert(row.form).second || row.minPtx <= target.minPtx) {
          continue;
        }
        unsigned before = *std::prev(llvm::lower_bound(versions, row.minPtx));
        std::string text =
            formatv(".version {0}.{1}\n.target {2}\n.address_size 64\n", before / 10, before % 10, target.name())
                .str() +
            Expansion(row).kernel(index);
        std::string answer = assemble(ptxas, target.name(), text);
        CAPTURE(row.form);
        CAPTURE(before);
        CHECK(answer != "");
      }
    }
  }
}
