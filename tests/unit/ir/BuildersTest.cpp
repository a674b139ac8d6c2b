// The builders that infer types and encodings: what a kernel builder in C++ gets without saying it.

#include "mlir/IR/Builders.h"

#include "src/ir/Register.h"
#include "src/ir/ttng/Ttng.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

#include <doctest/doctest.h>
#include <string>

using namespace jitk::ir;
using mlir::Type;
using mlir::Value;

namespace {

const std::string kBlocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], "
                             "order = [1, 0]}>";
const std::string kPanels = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>";

/// A function under construction whose arguments have the types that a test asks for.
struct Builders {
  Builders() : builder(&context) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = mlir::ModuleOp::create(loc());
    builder.setInsertionPointToStart(module->getBody());
    function = tt::FuncOp::create(builder, loc(), "f", builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
  }

  mlir::Location loc() { return builder.getUnknownLoc(); }
  Type type(const std::string &text) {
    Type parsed = mlir::parseType(text, &context);
    REQUIRE_MESSAGE(parsed, text);
    return parsed;
  }
  Value value(const std::string &text) {
    Type parsed = type(text);
    REQUIRE(succeeded(function.insertArgument(function.getNumArguments(), parsed, {}, loc())));
    return function.getArguments().back();
  }
  bool verify() {
    tt::ReturnOp::create(builder, loc());
    return succeeded(mlir::verify(*module));
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tt::FuncOp function;
};

std::string tensor(const std::string &shape, const std::string &encoding) {
  return "tensor<" + shape + (encoding.empty() ? ">" : ", " + encoding + ">");
}

} // namespace

TEST_SUITE("ir/Builders") {

  TEST_CASE("a reduction gives the slice of its operand and takes its region from the caller") {
    Builders b;
    Value x = b.value(tensor("16x32xf32", kBlocked));
    auto reduce = tt::ReduceOp::create(b.builder, b.loc(), mlir::ValueRange{x}, /*axis=*/1);
    {
      mlir::OpBuilder::InsertionGuard guard(b.builder);
      Type f32 = b.builder.getF32Type();
      mlir::Block *block = b.builder.createBlock(&reduce.getCombineOp(), {}, {f32, f32}, {b.loc(), b.loc()});
      Value sum = mlir::arith::AddFOp::create(b.builder, b.loc(), block->getArgument(0), block->getArgument(1));
      tt::ReduceReturnOp::create(b.builder, b.loc(), mlir::ValueRange{sum});
    }
    CHECK(reduce->getResult(0).getType() ==
          b.type(tensor("16xf32", "#ttg.slice<{dim = 1, parent = " + kBlocked + "}>")));
    CHECK(b.verify());
  }

  TEST_CASE("a reduction of one dimension gives a scalar") {
    Builders b;
    auto reduce = tt::ReduceOp::create(b.builder, b.loc(), mlir::ValueRange{b.value("tensor<128xf32>")}, /*axis=*/0);
    CHECK(reduce->getResult(0).getType() == b.builder.getF32Type());
  }

  TEST_CASE("changes of shape derive the encoding") {
    for (const std::string &encoding : {std::string(), kBlocked}) {
      CAPTURE(encoding);
      Builders b;
      Value row = b.value(tensor("32xf16", encoding.empty() ? "" : "#ttg.slice<{dim = 0, parent = " + encoding + "}>"));
      Value expanded = tt::ExpandDimsOp::create(b.builder, b.loc(), row, /*axis=*/0u);
      CHECK(expanded.getType() == b.type(tensor("1x32xf16", encoding)));
      Value broadcast = tt::BroadcastOp::create(b.builder, b.loc(), expanded, llvm::ArrayRef<int64_t>{16, 32});
      CHECK(broadcast.getType() == b.type(tensor("16x32xf16", encoding)));
      Value transposed = tt::TransOp::create(b.builder, b.loc(), broadcast, llvm::ArrayRef<int32_t>{1, 0});
      tt::TransOp::create(b.builder, b.loc(), transposed, llvm::ArrayRef<int32_t>{1, 0});
      tt::ReshapeOp::create(b.builder, b.loc(), broadcast, llvm::ArrayRef<int64_t>{4, 4, 32});
      Value joined = tt::JoinOp::create(b.builder, b.loc(), broadcast, broadcast);
      auto split = tt::SplitOp::create(b.builder, b.loc(), joined);
      CHECK(split.getOutLHS().getType() == broadcast.getType());
      CHECK(b.verify());
    }
  }

  TEST_CASE("a load gives the pointees in the encoding of the pointers") {
    Builders b;
    Value pointers = b.value(tensor("16x32x!tt.ptr<f16>", kBlocked));
    Value loaded = tt::LoadOp::create(b.builder, b.loc(), pointers);
    CHECK(loaded.getType() == b.type(tensor("16x32xf16", kBlocked)));
    tt::StoreOp::create(b.builder, b.loc(), pointers, loaded);
    CHECK(b.verify());
  }

  TEST_CASE("views of a buffer keep the shape of its allocation") {
    Builders b;
    Value ring = b.value("!ttg.memdesc<3x64x64xf16, " + kPanels + ", #ttg.shared_memory, mutable>");
    Value slot = ttg::MemDescIndexOp::create(b.builder, b.loc(), ring, b.value("i32"));
    CHECK(slot.getType() == b.type("!ttg.memdesc<64x64xf16, " + kPanels + ", #ttg.shared_memory, mutable>"));
    Value rows = ttg::MemDescSubsliceOp::create(b.builder, b.loc(), slot, llvm::ArrayRef<int32_t>{32, 0},
                                                llvm::ArrayRef<int64_t>{32, 64});
    CHECK(rows.getType() == b.type("!ttg.memdesc<32x64xf16, " + kPanels + ", #ttg.shared_memory, mutable, 64x64>"));
    Value transposed = ttg::MemDescTransOp::create(b.builder, b.loc(), slot, llvm::ArrayRef<int32_t>{1, 0});
    auto encoding =
        llvm::cast<ttg::NVMMASharedEncodingAttr>(llvm::cast<ttg::MemDescType>(transposed.getType()).getEncoding());
    CHECK(encoding.getTransposed());
    Value reshaped = ttg::MemDescReshapeOp::create(b.builder, b.loc(), slot, llvm::ArrayRef<int64_t>{4, 16, 64});
    CHECK(llvm::isa<ttg::NVMMASharedEncodingAttr>(llvm::cast<ttg::MemDescType>(reshaped.getType()).getEncoding()));
    CHECK(b.verify());
  }

  TEST_CASE("warp specialization makes a block with the captures for each partition") {
    Builders b;
    Value capture = b.value("i32");
    const int32_t numWarps[] = {4, 1};
    auto op = ttg::WarpSpecializeOp::create(b.builder, b.loc(), mlir::TypeRange{}, mlir::ValueRange{capture}, numWarps);
    {
      mlir::OpBuilder::InsertionGuard guard(b.builder);
      b.builder.createBlock(&op.getDefaultRegion());
      ttg::WarpYieldOp::create(b.builder, b.loc());
      for (mlir::Region &partition : op.getPartitionRegions()) {
        CHECK(partition.getArgumentTypes()[0] == capture.getType());
        b.builder.setInsertionPointToEnd(&partition.front());
        ttg::WarpReturnOp::create(b.builder, b.loc());
      }
    }
    CHECK(op.getTotalPartitionWarps() == 5);
    CHECK(b.verify());
  }

  TEST_CASE("a blocked encoding deals lanes and warps out along its order") {
    Builders b;
    auto blocked = [&](llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> sizePerThread,
                       llvm::ArrayRef<unsigned> order) -> mlir::Attribute {
      return ttg::BlockedEncodingAttr::get(&b.context, shape, sizePerThread, order, /*numWarps=*/4,
                                           /*numThreadsPerWarp=*/32,
                                           ttg::CGAEncodingAttr::getTrivial(&b.context, shape.size()));
    };
    auto parsed = [&](const char *text) { return mlir::parseAttribute(text, &b.context); };
    CHECK(blocked({64, 128}, {1, 8}, {1, 0}) ==
          parsed("#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], "
                 "order = [1, 0]}>"));
    CHECK(blocked({128, 64}, {8, 1}, {0, 1}) ==
          parsed("#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], "
                 "order = [0, 1]}>"));
    // A tensor smaller than the CTA still has all its lanes and warps.
    CHECK(blocked({8}, {1}, {0}) ==
          parsed("#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"));
  }

  TEST_CASE("panels have the widest swizzle that a row fills") {
    Builders b;
    auto panels = [&](llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order, Type element) {
      return ttg::NVMMASharedEncodingAttr::get(
          &b.context, shape, order, ttg::CGAEncodingAttr::getTrivial(&b.context, shape.size()), element, false);
    };
    Type f16 = b.builder.getF16Type();
    CHECK(panels({128, 64}, {1, 0}, f16).getSwizzlingByteWidth() == 128);
    CHECK(panels({128, 32}, {1, 0}, f16).getSwizzlingByteWidth() == 64);
    CHECK(panels({128, 16}, {1, 0}, f16).getSwizzlingByteWidth() == 32);
    CHECK(panels({128, 8}, {1, 0}, f16).getSwizzlingByteWidth() == 0);
    CHECK(panels({128, 16}, {0, 1}, f16).getSwizzlingByteWidth() == 128);
    CHECK(panels({128, 16}, {0, 1}, f16).getTransposed());
    CHECK(panels({4, 64}, {1, 0}, f16).getSwizzlingByteWidth() == 0);
    CHECK(panels({128, 64}, {1, 0}, b.builder.getI8Type()).getAlignment() == 512);
  }

} // TEST_SUITE
