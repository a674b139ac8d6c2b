#include "src/capi/Backends.h"

// One line a backend: JITK_BACKEND(namespace, "prefix of device names").
#define JITK_BACKEND(name, prefix)                                                                                     \
  namespace jitk::name {                                                                                               \
  Result<std::shared_ptr<Device>> openDevice(std::string_view deviceName, void *engineContext);                        \
  std::string describeDriver();                                                                                        \
  }
#include "src/capi/Backends.def"
#undef JITK_BACKEND

namespace jitk::capi {

std::span<const Backend> backends() {
  static const Backend all[] = {
#define JITK_BACKEND(name, prefix) {prefix, name::openDevice, name::describeDriver},
#include "src/capi/Backends.def"
#undef JITK_BACKEND
  };
  return all;
}

} // namespace jitk::capi
