// DeepGEMM's kernels for a problem, on its tensors, and on others where DeepGEMM wants them to lie otherwise.

#pragma once

#include "jitk/jitk.hpp"
#include "src/tools/timing/Gpu.h"

#include "perf/kernels/Problems.h"
#include "perf/peers/DeepGemm.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace jitk::perf {

class DeepGemmPeer {
public:
  /// `folder` is one that perf/peers/deepgemm.py has made. Throws as DeepGemm does.
  DeepGemmPeer(const api::Device &device, const timing::Gpu &gpu, std::filesystem::path folder);

  struct Kernel {
    std::function<void(void *stream)> run;
    std::function<void(void *stream)> runIntoC; ///< the same, and the result is in the problem's C
  };
  /// Device addresses of a problem's tensors, by name.
  using Addresses = std::function<uint64_t(std::string_view)>;
  /// Those that the folder has for the problem; none for what DeepGEMM does not compute. They use buffers that the next
  /// call frees.
  std::vector<Kernel> find(const Problem &problem, const Addresses &address);

  static bool serves(const Problem &problem);
  static timing::DeepGemm::Shape shapeOf(const Problem &problem);

private:
  /// How rows of A and C lie: of each group `rows`, `apart` from the next group's.
  struct Rows {
    int64_t groups, rows, apart;
  };
  static Rows rowsOf(const Problem &problem);
  void copyScales(const Problem &problem, uint64_t scales);
  void copyRows(uint64_t to, int64_t toApart, uint64_t from, int64_t fromApart, const Rows &rows, int64_t rowBytes,
                void *stream) const;

  const api::Device &device_;
  const timing::Gpu &gpu_;
  timing::DeepGemm deepGemm_;
  api::Buffer scales_, a_, c_;
};

} // namespace jitk::perf
