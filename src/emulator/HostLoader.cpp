#include "src/emulator/HostLoader.h"

#include "src/emulator/Execute.h"
#include "src/emulator/HostSymbols.h"

#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace jitk::emulator {

namespace {

Status toStatus(Error error, StatusCode code) { return Status(code, toString(std::move(error))); }

/// One execution session an object: modules are few, and unloading one is ending its session.
class OrcModule final : public HostModule {
public:
  explicit OrcModule(std::unique_ptr<orc::ExecutionSession> session)
      : session_(std::move(session)), layer_(*session_), dylib_(session_->createBareJITDylib("kernel")) {
    session_->setErrorReporter([](Error error) { consumeError(std::move(error)); });
  }

  ~OrcModule() override { consumeError(session_->endSession()); }

  Status link(std::span<const uint8_t> code) {
    orc::SymbolMap symbols;
    const auto define = [&](StringRef name, void *address) {
      symbols[session_->intern(name)] = {orc::ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
    };
    define("jitk_emulator_execute", reinterpret_cast<void *>(&jitk_emulator_execute));
    define("jitk_emulator_loop", reinterpret_cast<void *>(&jitk_emulator_loop));
    define("jitk_emulator_trap", reinterpret_cast<void *>(&jitk_emulator_trap));
    define("__assertfail", reinterpret_cast<void *>(&jitk_emulator_assert));
    define("vprintf", reinterpret_cast<void *>(&jitk_emulator_print));
    for (const HostSymbol &symbol : hostSymbols()) {
      define(symbol.name, symbol.address);
    }
    if (Error error = dylib_.define(orc::absoluteSymbols(std::move(symbols)))) {
      return toStatus(std::move(error), StatusCode::Internal);
    }
    StringRef bytes(reinterpret_cast<const char *>(code.data()), code.size());
    if (Error error = layer_.add(dylib_, MemoryBuffer::getMemBufferCopy(bytes, "kernel"))) {
      return toStatus(std::move(error), StatusCode::DataLoss);
    }
    JITK_ASSIGN(const void *hash, lookup(tableHashSymbol));
    if (*static_cast<const uint64_t *>(hash) != instructionTableHash()) {
      return Status(StatusCode::DataLoss, "the object was compiled by another build");
    }
    return okStatus();
  }

  Result<const KernelRecord *> kernel(const std::string &name) override {
    JITK_ASSIGN(const void *record, lookup(name + kernelRecordSuffix));
    return static_cast<const KernelRecord *>(record);
  }

private:
  Result<const void *> lookup(const std::string &name) {
    Expected<orc::ExecutorSymbolDef> symbol = session_->lookup({&dylib_}, session_->intern(name));
    if (!symbol) {
      return toStatus(symbol.takeError(), StatusCode::InvalidArgument);
    }
    return static_cast<const void *>(symbol->getAddress().toPtr<void *>());
  }

  std::unique_ptr<orc::ExecutionSession> session_;
  orc::ObjectLinkingLayer layer_;
  orc::JITDylib &dylib_;
};

} // namespace

Result<std::unique_ptr<HostModule>> loadHostObject(std::span<const uint8_t> code) {
  Expected<std::unique_ptr<orc::SelfExecutorProcessControl>> control = orc::SelfExecutorProcessControl::Create();
  if (!control) {
    return toStatus(control.takeError(), StatusCode::Internal);
  }
  auto session = std::make_unique<orc::ExecutionSession>(std::move(*control));
  auto module = std::make_unique<OrcModule>(std::move(session));
  JITK_TRY(module->link(code), "while loading an emulator object");
  return std::unique_ptr<HostModule>(std::move(module));
}

} // namespace jitk::emulator
