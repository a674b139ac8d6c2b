// Which keys a query of flash_attention sees.
//
//                       i + keys - queries            of query i: its diagonal
//                  left     |     right
//         .......[==========#==========]......        keys
//
// Causal attention is a window without a left end whose right end is the diagonal.

#pragma once

#include "src/ops/Description.h"

#include <cstdint>
#include <optional>

namespace jitk::kernels {

struct AttentionWindow {
  explicit AttentionWindow(const Description &description);

  bool isBounded() const { return left || right; }

  std::optional<int64_t> left;  ///< keys before the diagonal that are seen; none: all
  std::optional<int64_t> right; ///< and after it
};

} // namespace jitk::kernels
