// --test-print-axis-info: the analysis as remarks, for tests.

#include "src/ir/tt/Tt.h"
#include "src/passes/AxisInfo.h"
#include "src/passes/Passes.h"

using namespace mlir;

namespace jitk::passes {

#define GEN_PASS_DEF_TESTPRINTAXISINFO
#include "src/passes/Passes.h.inc"

namespace {

struct TestPrintAxisInfoPass : impl::TestPrintAxisInfoBase<TestPrintAxisInfoPass> {
  void runOnOperation() override {
    AxisInfoAnalysis analysis(getOperation());
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        Type element = getElementTypeOrSelf(result.getType());
        if (element.isIntOrIndex() || isa<ir::tt::PointerType>(element)) {
          std::string text;
          llvm::raw_string_ostream stream(text);
          analysis.of(result).print(stream);
          emitRemark(op->getLoc()) << text;
        }
      }
    });
  }
};

} // namespace
} // namespace jitk::passes
