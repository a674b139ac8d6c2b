// The backends that this library was built with. CMake writes their list; nothing else in src names one.

#pragma once

#include "src/runtime/Device.h"
#include "src/support/Status.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace jitk::capi {

struct Backend {
  std::string_view prefix; ///< of its devices' names: "cuda:"
  /// `engineContext` is that of jitk_device_options_t, or null.
  Result<std::shared_ptr<Device>> (*open)(std::string_view nameAfterPrefix, void *engineContext);
  std::string (*describe)(); ///< driver and devices, or why there are none; for people
};

std::span<const Backend> backends();

} // namespace jitk::capi
