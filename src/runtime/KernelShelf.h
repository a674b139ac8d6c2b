// KernelShelf: the loaded kernels that a plan keeps.
//
// Prepared kernels stay. Those that were got on a miss stay too, or, with a bound, as long as they are among the most
// recently used. Once sealed, nothing changes any more, so a look-up takes no lock.

#pragma once

#include "src/runtime/Kernel.h"

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace jitk {

/// Thread-safe.
class KernelShelf {
public:
  /// At most `maximalMisses` kernels that were not prepared are kept; 0 = all.
  explicit KernelShelf(size_t maximalMisses) : maximalMisses_(maximalMisses) {}

  std::shared_ptr<const Kernel> find(const Device &device, const Problem &problem);
  /// Keeps a kernel; does nothing once sealed.
  void keep(std::shared_ptr<const Kernel> kernel, bool prepared);

  /// All kernels on a device.
  std::vector<std::shared_ptr<const Kernel>> onDevice(const Device &device);

  void seal();
  bool sealed() const { return sealed_.load(std::memory_order_acquire); }

private:
  struct Place {
    const Device *device;
    const Problem *problem; ///< of the look-up, or of the kernel that is kept
    bool operator==(const Place &other) const {
      return device == other.device && problem->hash == other.problem->hash && problem->text == other.problem->text;
    }
  };
  struct PlaceHash {
    size_t operator()(const Place &place) const {
      return place.problem->hash.low ^ (reinterpret_cast<uintptr_t>(place.device) >> 4);
    }
  };
  struct Kept {
    std::shared_ptr<const Kernel> kernel;
    std::list<Place>::iterator use; ///< in `misses_`; its end for a prepared one
  };

  const size_t maximalMisses_;
  std::atomic<bool> sealed_ = false;
  std::mutex mutex_;
  std::unordered_map<Place, Kept, PlaceHash> kernels_; ///< guarded by mutex_ until sealed
  std::list<Place> misses_;                            ///< most recently used first; guarded by mutex_
};

} // namespace jitk
