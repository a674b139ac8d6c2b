// ptx.inst: builder, textual form, verifier, effects.

#include "src/ir/ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>

using namespace mlir;
using namespace jitk::ir;

namespace {
struct Fixture {
  MLIRContext context;
  std::string diagnostics;

  Fixture() {
    context.loadDialect<ptx::PtxDialect, LLVM::LLVMDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) { diagnostics += diagnostic.str() + "\n"; });
  }
  OwningOpRef<ModuleOp> parse(StringRef body) {
    std::string text =
        ("llvm.func @f(%b: i1, %h: i16, %r: i32, %l: i64, %f: f32, %p: !llvm.ptr<1>) {\n" + body + "\nllvm.return\n}")
            .str();
    return parseSourceString<ModuleOp>(text, &context);
  }
  bool refuses(StringRef body, StringRef message) {
    diagnostics.clear();
    return !parse(body) && StringRef(diagnostics).contains(message);
  }
};
} // namespace

TEST_SUITE("ir/Ptx") {
  TEST_CASE_FIXTURE(Fixture, "the textual form round-trips") {
    OwningOpRef<ModuleOp> module =
        parse(R"(%0:2 = ptx.inst "ld.global.v2.b32"(%b, %p) : (i1, !llvm.ptr<1>) -> (i32, i32)
      ptx.inst "cp.async.wait_group"() {imms = array<i64: 1>} : () -> ())");
    REQUIRE(module);
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    CHECK(text.find(R"(ptx.inst "ld.global.v2.b32"(%arg0, %arg5) : (i1, !llvm.ptr<1>) -> (i32, i32))") !=
          std::string::npos);
    CHECK(text.find(R"(ptx.inst "cp.async.wait_group"() {imms = array<i64: 1>} : () -> ())") != std::string::npos);
    OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(again);
    std::string textAgain;
    llvm::raw_string_ostream(textAgain) << *again;
    CHECK(text == textAgain);
  }

  TEST_CASE_FIXTURE(Fixture, "the builder takes the result types from the row") {
    OwningOpRef<ModuleOp> module = parse("");
    auto function = *module->getOps<LLVM::LLVMFuncOp>().begin();
    OpBuilder builder(&function.getBody().front(), function.getBody().front().begin());
    auto args = function.getArguments();
    auto load = ptx::InstOp::create(builder, builder.getUnknownLoc(), "ld.global.v4.b16", ValueRange{args[0], args[5]});
    CHECK(load.getValues().size() == 4);
    CHECK(load.getValues()[0].getType().isInteger(16));
    auto wait = ptx::InstOp::create(builder, builder.getUnknownLoc(), "bar.sync.n", ValueRange{}, {1, 128});
    CHECK(wait.getImms().size() == 2);
    CHECK(succeeded(verify(*module)));
  }

  TEST_CASE_FIXTURE(Fixture, "the verifier holds an op against its row") {
    CHECK(refuses(R"(ptx.inst "ld.nowhere"() : () -> ())", "names no instruction of the table: 'ld.nowhere'"));
    CHECK(refuses(R"(ptx.inst "nanosleep"() : () -> ())", "'nanosleep' takes 1 operands: got 0"));
    CHECK(refuses(R"(ptx.inst "nanosleep"(%l) : (i64) -> ())", "operand 0 of 'nanosleep' must be 'i32': got 'i64'"));
    CHECK(refuses(R"(ptx.inst "mapa"(%r, %r) : (i32, i32) -> ())", "'mapa' takes 1 results: got 0"));
    CHECK(refuses(R"(%0 = ptx.inst "mapa"(%r, %r) : (i32, i32) -> f32)", "result 0 of 'mapa' must be 'i32'"));
    CHECK(refuses(R"(ptx.inst "bar.sync"() : () -> ())", "'bar.sync' takes 1 immediates: got 0"));
  }

  TEST_CASE_FIXTURE(Fixture, "effects come from the row") {
    OwningOpRef<ModuleOp> module = parse(R"(%0 = ptx.inst "ex2.approx.ftz.f32"(%f) : (f32) -> f32
      %1 = ptx.inst "shfl.sync.bfly"(%r, %r) : (i32, i32) -> i32
      %2 = ptx.inst "ld.global.b32"(%b, %p) : (i1, !llvm.ptr<1>) -> i32
      ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ())");
    REQUIRE(module);
    SmallVector<ptx::InstOp> ops;
    module->walk([&](ptx::InstOp op) { ops.push_back(op); });
    REQUIRE(ops.size() == 4);
    CHECK(isPure(ops[0]));
    CHECK(isMemoryEffectFree(ops[1]));
    CHECK_FALSE(isSpeculatable(ops[1]));
    CHECK(hasSingleEffect<MemoryEffects::Read>(ops[2]));
    CHECK(hasEffect<MemoryEffects::Write>(ops[3]));
  }
}
