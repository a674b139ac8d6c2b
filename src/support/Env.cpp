#include "src/support/Env.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace jitk {

static std::optional<std::string> variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

static std::optional<std::string> nonEmpty(const char *name) {
  std::optional<std::string> value = variable(name);
  return value && !value->empty() ? value : std::nullopt;
}

/// The parts of a list divided by colons; empty ones are left out.
static std::vector<std::string> list(const char *name) {
  std::vector<std::string> parts;
  std::string text = variable(name).value_or("");
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) {
      parts.push_back(text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return parts;
}

Environment readEnvironment() {
  Environment found;
  found.store = variable("JITK_STORE");
  found.bundles = list("JITK_BUNDLES");
  found.sharedStore = nonEmpty("JITK_SHARED_STORE");
  found.compilerLibrary = nonEmpty("JITK_COMPILER_LIBRARY");
  found.driverLibrary = nonEmpty("JITK_DRIVER_LIBRARY");
  found.assembler = nonEmpty("JITK_ASSEMBLER");
  found.ptxas = nonEmpty("JITK_PTXAS");
  found.log = nonEmpty("JITK_LOG");
  found.reproducers = nonEmpty("JITK_REPRODUCERS");
  found.jobs = nonEmpty("JITK_JOBS");
  found.cacheHome = nonEmpty("XDG_CACHE_HOME");
  found.home = nonEmpty("HOME");
  found.runtimeFolder = nonEmpty("XDG_RUNTIME_DIR");
  found.path = nonEmpty("PATH");
  found.cudaHome = nonEmpty("CUDA_HOME");
  if (!found.cudaHome) {
    found.cudaHome = nonEmpty("CUDA_PATH");
  }
  return found;
}

const Environment &environment() {
  static const Environment atFirstUse = readEnvironment();
  return atFirstUse;
}

std::optional<std::string> Environment::storeFolder() const {
  if (store) {
    return store;
  }
  // The base directory rules ask for relative values to be ignored.
  if (cacheHome && cacheHome->front() == '/') {
    return *cacheHome + "/jitk";
  }
  if (home && home->front() == '/') {
    return *home + "/.cache/jitk";
  }
  return std::nullopt;
}

} // namespace jitk
