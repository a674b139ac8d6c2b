#include "src/tools/timing/DynamicLibrary.h"

#include <dlfcn.h>
#include <stdexcept>
#include <utility>

namespace jitk::timing {

DynamicLibrary::DynamicLibrary(std::string what, std::initializer_list<const char *> names) : what_(std::move(what)) {
  for (const char *name : names) {
    if ((handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL))) {
      return;
    }
  }
  throw std::runtime_error(what_ + " cannot be opened: " + dlerror());
}

void *DynamicLibrary::find(const char *name) const {
  void *symbol = dlsym(handle_, name);
  if (!symbol) {
    throw std::runtime_error(what_ + " lacks " + name);
  }
  return symbol;
}

DynamicLibrary openDriver() { return {"the CUDA driver", {"libcuda.so.1"}}; }

} // namespace jitk::timing
