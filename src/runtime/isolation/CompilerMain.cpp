// jitk-compiler: the process in which a runtime has its kernels compiled.
//
//   jitk-compiler LIBRARY BUILD-ID MEMORY-BYTES
//
// Answers questions on descriptor 3 until the other end closes, and ends then even if a compilation hangs. Not for
// people: `jitk prepare` is.

#include "src/runtime/CompilerLibrary.h"
#include "src/runtime/isolation/CompilerProcess.h"
#include "src/runtime/isolation/Messages.h"

#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace jitk;

namespace {

/// Says it, needing no memory for that; returns `exitCode`.
int say(std::string_view text, int exitCode) {
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  return exitCode;
}

void outOfMemory() { ::_exit(say("jitk-compiler: out of memory\n", kExitOutOfMemory)); }

std::vector<uint8_t> answer(const Result<OpenCompiler> &library, std::span<const uint8_t> bytes) {
  Result<CompilerRequest> request = readRequest(bytes);
  if (!request.ok() || !library.ok()) {
    return writeReply(Result<std::string>(request.ok() ? library.status().clone() : request.status().clone()));
  }
  Compiler &compiler = *library->compiler;
  switch (request->kind) {
  case CompilerRequest::Kind::Identity:
    break;
  case CompilerRequest::Kind::Compile:
    return writeReply(compiler.compile(*request->description, request->target, request->options));
  case CompilerRequest::Kind::Reproduce:
    return writeReply(compiler.reproduce(*request->description, request->target));
  case CompilerRequest::Kind::Digest:
    return writeReply(compiler.programDigest(*request->description, request->target));
  case CompilerRequest::Kind::Configurations:
    return writeReply(compiler.configurations(*request->description, request->target));
  }
  return writeReply(compiler.assemblerIdentity(request->target, request->options));
}

} // namespace

/// Ends this process once the engine is gone, whatever it is at.
static void endWithEngine() {
  pollfd socket = {kCompilerSocket, POLLRDHUP, 0};
  while (::poll(&socket, 1, -1) < 0) {
  }
  ::_exit(0);
}

int main(int argc, char **argv) {
  if (argc != 4 || ::fcntl(kCompilerSocket, F_GETFD) < 0) {
    return say("jitk-compiler: started by a runtime that isolates its compiler, not by people\n", 2);
  }
  (void)::fcntl(kCompilerSocket, F_SETFD, FD_CLOEXEC); // not for the assemblers
  if (uint64_t bytes = std::strtoull(argv[3], nullptr, 10); bytes != 0) {
    const rlimit limit = {bytes, bytes};
    (void)::setrlimit(RLIMIT_AS, &limit);
  }
  std::set_new_handler(outOfMemory);
  std::thread(endWithEngine).detach();
  Result<OpenCompiler> library = openCompilerLibrary(argv[1], argv[2]);
  std::vector<uint8_t> message;
  while (receiveMessage(kCompilerSocket, message)) {
    if (!sendMessage(kCompilerSocket, answer(library, message))) {
      return 1;
    }
  }
  return 0;
}
