#include "tests/unit/kernels/EmulatedKernel.h"

#include "src/compiler/Pipelines.h"
#include "src/emulator/EmulatorBackend.h"
#include "src/emulator/HostLoader.h"
#include "src/ir/ttg/Ttg.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <cstring>
#include <doctest/doctest.h>

namespace jitk::kernels::test {

EmulatedKernel::EmulatedKernel(Build build) {
  Target target = {Target::Kind::Emulator, 90, true};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadKernelDialects(context);
  Result<BuiltKernel> built = build(target, context);
  REQUIRE(built.ok());
  mlir::PassManager passes(&context);
  compiler::buildTtgirPipeline(passes, target);
  compiler::buildLoweringPipeline(passes);
  REQUIRE(succeeded(passes.run(*built->module)));
  recipe_ = built->recipe;
  for (LaunchStep &step : recipe_.steps) {
    auto function = built->module->lookupSymbol<mlir::LLVM::LLVMFuncOp>(step.symbol);
    step.threads = uint32_t(function->getAttrOfType<mlir::DenseI32ArrayAttr>("nvvm.reqntid")[0]);
    step.sharedBytes = uint32_t(ir::ttg::lookupKernelNumber(function, "ttg.shared").value_or(0));
  }
  Result<emulator::HostObject> object = emulator::compileForHost(*built->module);
  REQUIRE(object.ok());
  code_ = std::move(object->code);
}

namespace {

struct alignas(64) EncodedMap {
  uint8_t bytes[128];
};

std::vector<EncodedMap> encodeMaps(emulator::EmulatorDevice &device, const Recipe &recipe,
                                   const std::vector<uint64_t> &addresses) {
  std::vector<EncodedMap> maps(recipe.tensorMaps.size());
  for (size_t i = 0; i < maps.size(); ++i) {
    const TensorMap &map = recipe.tensorMaps[i];
    std::vector<uint64_t> sizes, strides;
    for (const Expression &size : map.sizes) {
      sizes.push_back(uint64_t(size.evaluate({})));
    }
    for (const Expression &stride : map.strides) {
      strides.push_back(uint64_t(stride.evaluate({})));
    }
    REQUIRE(
        device.encodeTensorMap(&maps[i], map.elementType, addresses[map.tensor], sizes, strides, map.box, map.swizzle)
            .ok());
  }
  return maps;
}

} // namespace

std::vector<uint8_t> EmulatedKernel::run(const emulator::DeviceOptions &options,
                                         const std::vector<std::vector<uint8_t>> &inputs, size_t outputBytes) const {
  std::vector<std::vector<uint8_t>> images = inputs;
  images.emplace_back(outputBytes, 0xEE);
  return run(options, std::move(images)).back();
}

std::vector<std::vector<uint8_t>> EmulatedKernel::run(const emulator::DeviceOptions &options,
                                                      std::vector<std::vector<uint8_t>> images,
                                                      const std::vector<float> &scalars) const {
  emulator::EmulatorDevice device(options);
  std::vector<uint64_t> addresses;
  for (const std::vector<uint8_t> &image : images) {
    addresses.push_back(*device.allocate(image.size()));
    REQUIRE(device.copyToDevice(addresses.back(), image.data(), image.size()).ok());
  }
  Recipe recipe = recipe_.onDevice(device.multiprocessors());
  std::vector<EncodedMap> maps = encodeMaps(device, recipe, addresses);
  auto workspaceBytes = size_t(recipe.workspaceBytes.evaluate({}));
  uint64_t workspace = workspaceBytes ? *device.allocate(workspaceBytes) : 0;
  auto module = emulator::loadHostObject(code_);
  REQUIRE(module.ok());
  for (const LaunchStep &step : recipe.steps) {
    std::vector<uint64_t> words(step.arguments.size());
    std::vector<void *> arguments;
    for (auto [argument, word] : llvm::zip_equal(step.arguments, words)) {
      arguments.push_back(&word);
      switch (argument.kind) {
      case Argument::Kind::Tensor:
        word = addresses[argument.index];
        break;
      case Argument::Kind::TensorMap:
        arguments.back() = &maps[argument.index];
        break;
      case Argument::Kind::Workspace:
        word = workspace + uint64_t(argument.expression.evaluate({}));
        break;
      case Argument::Kind::Scalar:
        word = std::bit_cast<uint32_t>(scalars.at(argument.index));
        break;
      default:
        REQUIRE(argument.kind == Argument::Kind::Null);
      }
    }
    auto record = (*module)->kernel(step.symbol);
    REQUIRE(record.ok());
    LaunchParameters parameters;
    for (size_t axis = 0; axis < 3; ++axis) {
      parameters.grid[axis] = uint32_t(step.grid[axis].evaluate({}));
    }
    parameters.cluster = step.cluster;
    parameters.threads = step.threads;
    parameters.sharedBytes = step.sharedBytes;
    parameters.arguments = arguments.data();
    auto report = device.run(**record, parameters);
    REQUIRE(report.ok());
    INFO(report->toString());
    REQUIRE(report->clean());
  }
  for (auto [image, address] : llvm::zip_equal(images, addresses)) {
    REQUIRE(device.copyToHost(image.data(), address, image.size()).ok());
  }
  return images;
}

emulator::DeviceOptions deviceOptions(emulator::AsyncMode mode, uint64_t seed, uint32_t multiprocessors) {
  emulator::DeviceOptions options;
  options.mode = mode;
  options.seed = seed;
  options.multiprocessors = multiprocessors;
  return options;
}

std::vector<emulator::DeviceOptions> inBothModes(const std::vector<uint64_t> &seeds, uint32_t multiprocessors) {
  std::vector<emulator::DeviceOptions> devices;
  for (auto mode : {emulator::AsyncMode::Deferred, emulator::AsyncMode::Immediate}) {
    for (uint64_t seed : seeds) {
      devices.push_back(deviceOptions(mode, seed, multiprocessors));
    }
  }
  return devices;
}

std::vector<uint8_t> rounded(const std::vector<int> &values, const std::string &dtype) {
  std::vector<uint8_t> bytes(values.size() * (dtype == "fp32" ? 4 : 2));
  for (size_t i = 0; i < values.size(); ++i) {
    auto value = float(values[i]);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if (dtype == "fp32") {
      std::memcpy(&bytes[4 * i], &bits, 4);
      continue;
    }
    auto upper = uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(&bytes[2 * i], &upper, 2);
  }
  return bytes;
}

} // namespace jitk::kernels::test
