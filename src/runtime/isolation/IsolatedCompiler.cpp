#include "src/runtime/isolation/IsolatedCompiler.h"

#include "src/runtime/CompilerLibrary.h"
#include "src/runtime/isolation/Messages.h"

#include <unistd.h>

namespace jitk {

static constexpr char kProgramName[] = "jitk-compiler";

/// The first of the places that has the file; the first one if none has.
static std::string firstThere(const std::vector<std::string> &places, int mode) {
  for (const std::string &place : places) {
    if (::access(place.c_str(), mode) == 0) {
      return place;
    }
  }
  return places.front();
}

IsolatedCompiler::IsolatedCompiler(CompilerProcessOptions options) : options_(std::move(options)) {
  std::string folder = ownFolder();
  if (options_.program.empty()) {
    options_.program = firstThere({folder + kProgramName, folder + "../bin/" + kProgramName}, X_OK);
  }
  if (options_.library.empty() && ::access((folder + kCompilerLibraryName).c_str(), R_OK) == 0) {
    options_.library = folder + kCompilerLibraryName;
  }
}

std::unique_ptr<CompilerProcess> IsolatedCompiler::takeIdle() {
  while (true) {
    std::unique_ptr<CompilerProcess> process; // dies without the lock
    std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      return nullptr;
    }
    process = std::move(idle_.back());
    idle_.pop_back();
    if (process->alive()) {
      return process;
    }
  }
}

Result<std::vector<uint8_t>> IsolatedCompiler::ask(const std::vector<uint8_t> &request) {
  std::unique_ptr<CompilerProcess> process = takeIdle();
  if (!process) {
    JITK_ASSIGN(process, CompilerProcess::start(options_));
  }
  Result<std::vector<uint8_t>> reply = process->ask(request);
  if (reply.ok()) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(process));
  }
  return reply;
}

Result<std::string> IsolatedCompiler::assemblerIdentity(const Target &target, const CompileOptions &options) {
  JITK_ASSIGN(std::vector<uint8_t> reply,
              ask(writeRequest({CompilerRequest::Kind::Identity, std::nullopt, target, options})));
  return readText(reply);
}

Result<CompiledKernel> IsolatedCompiler::compile(const Description &description, const Target &target,
                                                 const CompileOptions &options) {
  Result<std::vector<uint8_t>> reply =
      ask(writeRequest({CompilerRequest::Kind::Compile, description, target, options}));
  if (!reply.ok()) {
    return std::move(reply).takeStatus().withNote("while compiling " + description.label());
  }
  return readKernel(*reply);
}

Result<std::string> IsolatedCompiler::programDigest(const Description &description, const Target &target) {
  JITK_ASSIGN(std::vector<uint8_t> reply, ask(writeRequest({CompilerRequest::Kind::Digest, description, target, {}})));
  return readText(reply);
}

Result<std::string> IsolatedCompiler::reproduce(const Description &description, const Target &target) {
  JITK_ASSIGN(std::vector<uint8_t> reply,
              ask(writeRequest({CompilerRequest::Kind::Reproduce, description, target, {}})));
  return readText(reply);
}

Result<std::vector<Configuration>> IsolatedCompiler::configurations(const Description &description,
                                                                    const Target &target) {
  JITK_ASSIGN(std::vector<uint8_t> reply,
              ask(writeRequest({CompilerRequest::Kind::Configurations, description, target, {}})));
  return readConfigurations(reply);
}

Result<std::unique_ptr<Device>> IsolatedCompiler::createEmulator(const EmulatorOptions &options) {
  JITK_ASSIGN(OpenCompiler opened, openCompilerLibrary(options_.library, options_.buildId));
  return opened.compiler->createEmulator(options);
}

} // namespace jitk
