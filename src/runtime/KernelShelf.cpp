#include "src/runtime/KernelShelf.h"

#include <algorithm>

namespace jitk {

std::shared_ptr<const Kernel> KernelShelf::find(const Device &device, const Problem &problem) {
  Place place{&device, &problem};
  if (sealed()) {
    auto found = kernels_.find(place);
    return found == kernels_.end() ? nullptr : found->second.kernel;
  }
  std::lock_guard lock(mutex_);
  auto found = kernels_.find(place);
  if (found == kernels_.end()) {
    return nullptr;
  }
  if (found->second.use != misses_.end()) {
    misses_.splice(misses_.begin(), misses_, found->second.use);
  }
  return found->second.kernel;
}

void KernelShelf::keep(std::shared_ptr<const Kernel> kernel, bool prepared) {
  std::shared_ptr<const Kernel> dropped; // dies after the lock is given back: it unloads code
  std::lock_guard lock(mutex_);
  if (sealed()) {
    return;
  }
  Place place{kernel->device().get(), &kernel->problem()};
  auto [found, isNew] = kernels_.try_emplace(place, Kept{std::move(kernel), misses_.end()});
  Kept &kept = found->second;
  if (prepared) {
    if (kept.use != misses_.end()) {
      misses_.erase(kept.use);
      kept.use = misses_.end();
    }
    return;
  }
  if (!isNew) {
    return;
  }
  kept.use = misses_.insert(misses_.begin(), place);
  if (maximalMisses_ != 0 && misses_.size() > maximalMisses_) {
    auto oldest = kernels_.find(misses_.back());
    dropped = std::move(oldest->second.kernel);
    kernels_.erase(oldest);
    misses_.pop_back();
  }
}

std::vector<std::shared_ptr<const Kernel>> KernelShelf::onDevice(const Device &device) {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const auto &[place, kept] : kernels_) {
    if (place.device == &device) {
      kernels.push_back(kept.kernel);
    }
  }
  // In an order that does not depend on addresses.
  std::sort(kernels.begin(), kernels.end(),
            [](const auto &a, const auto &b) { return a->problem().text < b->problem().text; });
  return kernels;
}

void KernelShelf::seal() {
  std::lock_guard lock(mutex_);
  sealed_.store(true, std::memory_order_release);
}

} // namespace jitk
