// What the inputs of problems are made of.

#pragma once

#include "src/reference/References.h"

#include <cmath>
#include <numbers>
#include <random>

namespace jitk::reference {

/// Numbers that depend on the seed alone, on every platform.
class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// In [0, 1).
  double uniform() { return double(engine_() >> 11) * 0x1p-53; }
  double normal() {
    double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  int64_t below(int64_t end) { return int64_t(engine_() % uint64_t(end)); }

private:
  std::mt19937_64 engine_;
};

/// NaN in every dtype that outputs and guards have.
inline constexpr uint8_t kPoison = 0xFF;

/// Queries and keys of norm about 1, gates -0.1 U and beta sigmoid(U). In small problems, which are there for the
/// edges, every other head has gates of 0, -1000 and between. Offsets leave the second sequence empty and some tokens
/// at the end to none; what must not be read there is NaN. The slots of a pool are drawn without repeats, and the
/// second sequence has none.
void fillGatedDeltaRule(const Description &description, const Sizes &sizes, Random &random,
                        std::vector<HostTensor> &tensors);

/// Lengths at the edges of pages, where none are given; pages in no order, table entries past a sequence's last page
/// that name none, NaN in rows past its length and in pages of no sequence. Fails with InvalidArgument if there are too
/// few pages for the lengths.
Status fillMlaDecode(const Description &description, const Sizes &sizes, bool lengthsAreGiven, Random &random,
                     std::vector<HostTensor> &tensors);

} // namespace jitk::reference
