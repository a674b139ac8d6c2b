#include "src/runtime/Reproducer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace jitk {

/// A text as lines of a comment.
static std::string comment(const std::string &name, const std::string &text) {
  std::string lines = "// " + name + ": ";
  for (char c : text) {
    lines += c;
    if (c == '\n') {
      lines += "//   ";
    }
  }
  return lines + "\n";
}

Result<std::string> writeReproducer(const std::string &folder, const Problem &problem, const Target &target,
                                    const Status &failure, Compiler &compiler) {
  std::string name = problem.description.op() + "-" + problem.hash.toHex().substr(0, 16) + "-" + target.toString();
  std::replace(name.begin(), name.end(), ':', '-');
  std::string path = folder + "/" + name + ".mlir";
  // Not a second limit's time for a compiler in a process of its own that does not come back.
  bool outran = failure.code() == StatusCode::DeadlineExceeded && failure.stage() == "compile";
  Result<std::string> beginning =
      outran ? Result<std::string>(failure.clone()) : compiler.reproduce(problem.description, target);
  std::string text = "// jitk reproducer\n" + comment("description", problem.text) +
                     comment("target", target.toString()) + comment("build", compiler.buildId()) +
                     comment("failure", std::string(statusCodeName(failure.code())) + ": " + failure.toString()) +
                     comment("again", "jitk inspect --reproducer FILE; of IR also jitk-opt --run-reproducer FILE");
  if (!failure.toolOutput().empty()) {
    text += comment("tool output", std::string(failure.toolOutput()));
  }
  text += beginning.ok() ? *beginning : comment("no IR", beginning.status().toString());
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  if (!(std::ofstream(path, std::ios::binary) << text).flush()) {
    return unavailable("reproducer cannot be written: " + path + ": " + std::strerror(errno));
  }
  return path;
}

} // namespace jitk
