#include "tests/unit/kernels/ReferenceCheck.h"

#include "src/ops/OpSchema.h"
#include "src/reference/Numeric.h"

#include <algorithm>
#include <doctest/doctest.h>

namespace jitk::kernels::test {

void checkKernel(const std::string &problem, BuildOf build, const std::vector<emulator::DeviceOptions> &devices,
                 const reference::GivenValues &given) {
  CAPTURE(problem);
  Result<Description> description = parseDescription(problem);
  REQUIRE(description.ok());
  Result<std::vector<reference::HostTensor>> tensors = reference::makeTensors(*description, {}, 1, given);
  REQUIRE(tensors.ok());
  std::vector<reference::Number> numbers = reference::makeScalars(*description, given);
  std::vector<double> scalars(numbers.begin(), numbers.end());
  Result<std::vector<reference::Expected>> expected =
      reference::computeExpected(*description, {}, *tensors, 1, scalars);
  REQUIRE(expected.ok());
  std::vector<std::vector<uint8_t>> before;
  for (const reference::HostTensor &tensor : *tensors) {
    before.push_back(reference::spreadRows(tensor));
  }
  EmulatedKernel kernel(
      [&](const Target &target, mlir::MLIRContext &context) { return build(*description, target, context); });
  std::vector<std::vector<uint8_t>> first;
  for (const emulator::DeviceOptions &options : devices) {
    CAPTURE(options.seed);
    std::vector<std::vector<uint8_t>> after = kernel.run(options, before, {scalars.begin(), scalars.end()});
    for (const reference::Expected &output : *expected) {
      auto found = std::ranges::find(*tensors, output.tensor, [](const auto &tensor) { return tensor.shape.name; });
      auto index = size_t(found - tensors->begin());
      CHECK(reference::checkBetweenRows(found->shape, after[index]).ok());
      std::vector<uint8_t> rows = reference::gatherRows(found->shape, after[index]);
      const std::string &dtype = found->shape.dtype;
      reference::ErrorFigures figures =
          reference::compare(output, reference::decode(dtype, rows), reference::decode(dtype, found->bytes));
      CHECK_MESSAGE(figures.failed == 0, figures.firstFailure);
    }
    first = first.empty() ? after : first;
    CHECK(after == first);
  }
}

} // namespace jitk::kernels::test
