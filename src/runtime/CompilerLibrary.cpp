#include "src/runtime/CompilerLibrary.h"

#include <dlfcn.h>
#include <vector>

namespace jitk {

static constexpr char kEntryPoint[] = "jitk_compiler_open";

std::string ownFolder() {
  Dl_info info;
  static const int inThisLibrary = 0;
  if (::dladdr(&inThisLibrary, &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

static Result<OpenCompiler> openAt(const std::string &path, const std::string &buildId) {
  // Local, so that its LLVM and the engine's do not see each other.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    return unavailable(::dlerror());
  }
  void *symbol = ::dlsym(library, kEntryPoint);
  if (!symbol) {
    return unavailable(path + ": not a compiler library: it has no " + kEntryPoint);
  }
  Compiler *compiler = reinterpret_cast<decltype(&jitk_compiler_open)>(symbol)();
  if (std::string found = compiler->buildId(); found != buildId) {
    return unavailable(path + ": compiler library must be of build " + buildId + ": got " + found);
  }
  return OpenCompiler{compiler, path};
}

Result<OpenCompiler> openCompilerLibrary(const std::string &path, const std::string &buildId) {
  std::vector<std::string> places = {path};
  if (path.empty()) {
    places = {kCompilerLibraryName};
    if (std::string folder = ownFolder(); !folder.empty()) {
      places.insert(places.begin(), folder + kCompilerLibraryName);
    }
  }
  std::string problems;
  for (const std::string &place : places) {
    Result<OpenCompiler> opened = openAt(place, buildId);
    if (opened.ok()) {
      return opened;
    }
    problems += (problems.empty() ? "" : "; ") + std::string(opened.status().message());
  }
  return unavailable("compiler library cannot be opened: " + problems).atStage("compile");
}

} // namespace jitk
