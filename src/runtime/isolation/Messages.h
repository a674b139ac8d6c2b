// What a runtime and its compiler processes say to each other, as bytes.
//
// Both ends are of one build, which the process is told to check before all else. Even so nothing is trusted: what the
// process sends may be cut off by its death.

#pragma once

#include "src/runtime/Compiler.h"
#include "src/support/Status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace jitk {

/// One question to the compiler.
struct CompilerRequest {
  enum class Kind : uint8_t { Identity, Compile, Reproduce, Configurations, Digest }; ///< the functions of `Compiler`
  Kind kind = Kind::Identity;
  std::optional<Description> description; ///< absent for Identity
  Target target;
  CompileOptions options;
};

std::vector<uint8_t> writeRequest(const CompilerRequest &request);
Result<CompilerRequest> readRequest(std::span<const uint8_t> bytes);

/// The answers: what the compiler returned. A failure keeps its code, whole message, stage and tool output.
std::vector<uint8_t> writeReply(const Result<std::string> &text);
std::vector<uint8_t> writeReply(const Result<CompiledKernel> &kernel);
std::vector<uint8_t> writeReply(const Result<std::vector<Configuration>> &configurations);
Result<std::string> readText(std::span<const uint8_t> bytes);
Result<CompiledKernel> readKernel(std::span<const uint8_t> bytes);
Result<std::vector<Configuration>> readConfigurations(std::span<const uint8_t> bytes);

/// Sends and receives whole messages over a socket; false if the other end is gone. `receive` also gives up at a length
/// that no message has.
bool sendMessage(int socket, std::span<const uint8_t> message);
bool receiveMessage(int socket, std::vector<uint8_t> &message);

} // namespace jitk
