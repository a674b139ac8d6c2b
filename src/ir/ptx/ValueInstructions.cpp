// Rows that compute in registers: exchange within a warp, conversions, approximate functions.

#include "src/ir/ptx/InstructionTable.h"

using namespace llvm;

namespace jitk::ir::ptx {

static void addShuffle(Table &table, const char *name, ShuffleMode mode, const char *clamp) {
  table.push_back({.form = std::string("shfl.sync.") + name,
                   .results = "r",
                   .operands = "rr",
                   .assembly = std::string("shfl.sync.") + name + ".b32 $0, $1, $2, " + clamp + ", 0xffffffff;",
                   .effects = Effects::Convergent,
                   .handler = Handler::Shuffle,
                   .params = {param(mode)}});
}

static void addVote(Table &table, const char *name, const char *type, const char *result, VoteMode mode) {
  table.push_back({.form = std::string("vote.sync.") + name,
                   .results = result,
                   .operands = "b",
                   .assembly = std::string("vote.sync.") + name + "." + type + " $0, $1, 0xffffffff;",
                   .effects = Effects::Convergent,
                   .handler = Handler::Vote,
                   .params = {param(mode)}});
}

static void addRedux(Table &table, const char *operation, AtomicOp op) {
  std::string text = std::string("redux.sync.") + operation;
  table.push_back({.form = text,
                   .results = "r",
                   .operands = "r",
                   .assembly = text + " $0, $1, 0xffffffff;",
                   .effects = Effects::Convergent,
                   .handler = Handler::Redux,
                   .params = {param(op)}});
}

void addWarpExchange(Table &table) {
  addShuffle(table, "idx", ShuffleMode::Idx, "0x1f");
  addShuffle(table, "bfly", ShuffleMode::Bfly, "0x1f");
  addShuffle(table, "up", ShuffleMode::Up, "0");
  addShuffle(table, "down", ShuffleMode::Down, "0x1f");
  table.push_back({.form = "elect.sync",
                   .results = "b",
                   .assembly = "elect.sync _|$0, 0xffffffff;",
                   .effects = Effects::Convergent,
                   .minCapability = 90,
                   .minPtx = 80,
                   .handler = Handler::Elect});
  addVote(table, "ballot", "b32", "r", VoteMode::Ballot);
  addVote(table, "any", "pred", "b", VoteMode::Any);
  addVote(table, "all", "pred", "b", VoteMode::All);
  addRedux(table, "add.s32", AtomicOp::Add);
  addRedux(table, "min.s32", AtomicOp::Min);
  addRedux(table, "max.s32", AtomicOp::Max);
  addRedux(table, "min.u32", AtomicOp::UMin);
  addRedux(table, "max.u32", AtomicOp::UMax);
  addRedux(table, "and.b32", AtomicOp::And);
  addRedux(table, "or.b32", AtomicOp::Or);
  addRedux(table, "xor.b32", AtomicOp::Xor);
  table.push_back({.form = "prmt.b32",
                   .results = "r",
                   .operands = "rrr",
                   .assembly = "prmt.b32 $0, $1, $2, $3;",
                   .effects = Effects::Pure,
                   .handler = Handler::Permute});
}

static void addConversion(Table &table, const char *name, const char *result, const char *operands,
                          Conversion conversion, unsigned minCapability, unsigned minPtx) {
  // PTX names the upper element of a pair first; the row takes the lower one first.
  bool pair = StringRef(operands).size() == 2;
  table.push_back({.form = name,
                   .results = result,
                   .operands = operands,
                   .assembly = std::string(name) + (pair ? " $0, $2, $1;" : " $0, $1;"),
                   .effects = Effects::Pure,
                   .minCapability = minCapability,
                   .minPtx = minPtx,
                   .handler = Handler::Convert,
                   .params = {param(conversion)}});
}

void addConversions(Table &table) {
  addConversion(table, "cvt.rn.f16x2.e4m3x2", "r", "h", Conversion::E4M3x2ToF16x2, 89, 81);
  addConversion(table, "cvt.rn.f16x2.e5m2x2", "r", "h", Conversion::E5M2x2ToF16x2, 89, 81);
  addConversion(table, "cvt.rn.satfinite.e4m3x2.f16x2", "h", "r", Conversion::F16x2ToE4M3x2, 89, 81);
  addConversion(table, "cvt.rn.satfinite.e5m2x2.f16x2", "h", "r", Conversion::F16x2ToE5M2x2, 89, 81);
  addConversion(table, "cvt.rn.satfinite.e4m3x2.f32", "h", "ff", Conversion::F32PairToE4M3x2, 89, 81);
  addConversion(table, "cvt.rn.satfinite.e5m2x2.f32", "h", "ff", Conversion::F32PairToE5M2x2, 89, 81);
  addConversion(table, "cvt.rn.f16x2.f32", "r", "ff", Conversion::F32PairToF16x2, 80, 70);
  addConversion(table, "cvt.rn.bf16x2.f32", "r", "ff", Conversion::F32PairToBF16x2, 80, 70);
  addConversion(table, "cvt.rna.tf32.f32", "r", "f", Conversion::F32ToTF32, 80, 70);
}

static void addFunction(Table &table, const char *name, char letter, unsigned operands, MathFunction function,
                        unsigned minCapability = 80, unsigned minPtx = 70) {
  table.push_back({.form = name,
                   .results = std::string(1, letter),
                   .operands = std::string(operands, letter),
                   .assembly = std::string(name) + " " + placeholders(0, operands + 1) + ";",
                   .effects = Effects::Pure,
                   .minCapability = minCapability,
                   .minPtx = minPtx,
                   .handler = Handler::Math,
                   .params = {param(function)}});
}

void addMath(Table &table) {
  addFunction(table, "ex2.approx.f32", 'f', 1, MathFunction::Ex2);
  addFunction(table, "ex2.approx.ftz.f32", 'f', 1, MathFunction::Ex2Ftz);
  addFunction(table, "lg2.approx.f32", 'f', 1, MathFunction::Lg2);
  addFunction(table, "lg2.approx.ftz.f32", 'f', 1, MathFunction::Lg2Ftz);
  addFunction(table, "rcp.approx.f32", 'f', 1, MathFunction::Rcp);
  addFunction(table, "rcp.approx.ftz.f32", 'f', 1, MathFunction::RcpFtz);
  addFunction(table, "rsqrt.approx.f32", 'f', 1, MathFunction::Rsqrt);
  addFunction(table, "rsqrt.approx.ftz.f32", 'f', 1, MathFunction::RsqrtFtz);
  addFunction(table, "sqrt.approx.f32", 'f', 1, MathFunction::Sqrt);
  addFunction(table, "sqrt.approx.ftz.f32", 'f', 1, MathFunction::SqrtFtz);
  addFunction(table, "tanh.approx.f32", 'f', 1, MathFunction::Tanh);
  addFunction(table, "sin.approx.f32", 'f', 1, MathFunction::Sin);
  addFunction(table, "cos.approx.f32", 'f', 1, MathFunction::Cos);
  addFunction(table, "div.full.f32", 'f', 2, MathFunction::DivFull);
  addFunction(table, "div.full.ftz.f32", 'f', 2, MathFunction::DivFullFtz);
  addFunction(table, "ex2.approx.f16x2", 'r', 1, MathFunction::Ex2F16x2);
  addFunction(table, "ex2.approx.ftz.bf16x2", 'r', 1, MathFunction::Ex2BF16x2, 90, 78);
  addFunction(table, "tanh.approx.f16x2", 'r', 1, MathFunction::TanhF16x2);
  addFunction(table, "tanh.approx.bf16x2", 'r', 1, MathFunction::TanhBF16x2, 90, 78);
}

} // namespace jitk::ir::ptx
