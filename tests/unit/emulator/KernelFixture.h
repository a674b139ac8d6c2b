// Compiles a kernel given as MLIR text and runs it on an emulator device.

#pragma once

#include "src/emulator/EmulatorBackend.h"
#include "src/emulator/EmulatorDevice.h"
#include "src/emulator/HostLoader.h"
#include "src/ir/ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <cstring>
#include <doctest/doctest.h>
#include <map>
#include <string>
#include <vector>

namespace jitk::emulator::test {

/// One device with its buffers. Failures of the set-up fail the test.
class Machine {
public:
  explicit Machine(DeviceOptions options = {}) : device(options) {}

  EmulatorDevice device;

  /// A buffer with the given values; its address.
  template <typename T> uint64_t upload(const std::vector<T> &values) {
    const uint64_t address = allocate(values.size() * sizeof(T));
    REQUIRE(device.copyToDevice(address, values.data(), values.size() * sizeof(T)).ok());
    return address;
  }

  uint64_t allocate(size_t bytes) {
    Result<uint64_t> address = device.allocate(bytes);
    REQUIRE(address.ok());
    return *address;
  }

  template <typename T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    REQUIRE(device.copyToHost(values.data(), address, count * sizeof(T)).ok());
    return values;
  }

  /// Compiles `text`, a module, and runs its kernel `k`. `arguments` are 8-byte values.
  LaunchReport run(const std::string &text, uint32_t threads, std::vector<uint64_t> arguments,
                   LaunchParameters parameters = {}) {
    std::vector<void *> pointers;
    for (uint64_t &argument : arguments) {
      pointers.push_back(&argument);
    }
    return runWithPointers(text, threads, std::move(pointers), parameters);
  }

  /// As `run`, with the addresses of the parameters.
  LaunchReport runWithPointers(const std::string &text, uint32_t threads, std::vector<void *> pointers,
                               LaunchParameters parameters = {}) {
    const std::vector<uint8_t> &code = compileOnce(text);
    Result<std::unique_ptr<HostModule>> module = loadHostObject(code);
    INFO((module.ok() ? std::string() : module.status().toString()));
    REQUIRE(module.ok());
    Result<const KernelRecord *> kernel = (*module)->kernel("k");
    REQUIRE(kernel.ok());
    REQUIRE((*kernel)->numParameters == pointers.size());
    parameters.threads = threads;
    parameters.arguments = pointers.data();
    Result<LaunchReport> report = device.run(**kernel, parameters);
    INFO((report.ok() ? std::string() : report.status().toString()));
    REQUIRE(report.ok());
    return *std::move(report);
  }

  /// The code of a text that may have been compiled before: most run in several modes.
  static const std::vector<uint8_t> &compileOnce(const std::string &text) {
    static std::map<std::string, std::vector<uint8_t>> codes;
    auto [entry, isNew] = codes.try_emplace(text);
    if (isNew) {
      entry->second = compile(text);
    }
    return entry->second;
  }

  static std::vector<uint8_t> compile(const std::string &text) {
    mlir::MLIRContext context;
    context.loadDialect<ir::ptx::PtxDialect, mlir::LLVM::LLVMDialect>();
    context.allowUnregisteredDialects();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
    Result<HostObject> object = compileForHost(*module);
    INFO((object.ok() ? std::string() : object.status().toString()));
    REQUIRE(object.ok());
    return std::move(object->code);
  }
};

/// A kernel `k` with the given parameters and body. In the body, `%tid` is the thread, `%true` an i1, `%smem` the base
/// of shared memory, `%cN` small i32 constants.
inline std::string kernel(const std::string &parameters, const std::string &body) {
  std::string text = "llvm.func @k(" + parameters + R"() attributes {nvvm.kernel} {
    %true = llvm.mlir.constant(true) : i1
    %tid = ptx.inst "sreg.tid.x"() : () -> i32
    %tid64 = llvm.zext %tid : i32 to i64
    %smem = ptx.inst "shared.base"() : () -> i32
)";
  for (int value : {0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 64, 128, 256, 512, 1024, 4096}) {
    const std::string digits = std::to_string(value);
    text += "    %c" + digits + " = llvm.mlir.constant(" + digits + " : i32) : i32\n";
  }
  return text + body + "\n    llvm.return\n}\n";
}

/// `%name = base + tid * bytes` as a global pointer.
inline std::string globalOf(const std::string &name, const std::string &base, int bytes) {
  return "    %" + name + " = llvm.getelementptr %" + base + "[%tid64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, " +
         (bytes == 1 ? "i8" : "!llvm.array<" + std::to_string(bytes) + " x i8>") + "\n";
}

/// `%name = smem + tid * bytes` as a shared address.
inline std::string sharedOf(const std::string &name, int bytes) {
  const std::string size = "%" + name + "_size";
  return "    " + size + " = llvm.mlir.constant(" + std::to_string(bytes) + " : i32) : i32\n    %" + name +
         "_offset = llvm.mul %tid, " + size + " : i32\n    %" + name + " = llvm.add %smem, %" + name +
         "_offset : i32\n";
}

/// Whether there is a finding of the kind, and none of another.
inline bool foundOnly(const LaunchReport &report, FindingKind kind) {
  for (const Finding &finding : report.findings) {
    if (finding.kind != kind) {
      return false;
    }
  }
  return !report.clean();
}

/// Deferred and immediate, several seeds.
inline std::vector<DeviceOptions> allModes() {
  std::vector<DeviceOptions> modes;
  for (AsyncMode mode : {AsyncMode::Deferred, AsyncMode::Immediate}) {
    for (uint64_t seed : {0, 1, 8812}) {
      DeviceOptions options;
      options.mode = mode;
      options.seed = seed;
      options.workers = 1;
      modes.push_back(options);
    }
  }
  return modes;
}

} // namespace jitk::emulator::test
