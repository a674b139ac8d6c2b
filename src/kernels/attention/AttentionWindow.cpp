#include "src/kernels/attention/AttentionWindow.h"

namespace jitk::kernels {

static std::optional<int64_t> boundOf(const Description &description, const char *name) {
  int64_t keys = description.integer(name);
  return keys < 0 ? std::nullopt : std::optional(keys);
}

AttentionWindow::AttentionWindow(const Description &description)
    : left(boundOf(description, "window_left")),
      right(description.flag("causal") ? 0 : boundOf(description, "window_right")) {}

} // namespace jitk::kernels
