// BackgroundKernels: kernels that are made on the workers while generic ones serve.

#pragma once

#include "src/runtime/KernelShelf.h"
#include "src/runtime/Runtime.h"
#include "src/runtime/StandIn.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace jitk {

/// Thread-safe. The runtime must outlive its workers' jobs, which is what a runtime does.
class BackgroundKernels : public std::enable_shared_from_this<BackgroundKernels> {
public:
  BackgroundKernels(Runtime &runtime, std::shared_ptr<KernelShelf> shelf)
      : runtime_(runtime), shelf_(std::move(shelf)) {}

  /// Has the problem's kernel made and put on the shelf, once however often it is asked for. Returns what stands in for
  /// it; null if `generic` is. A kernel that cannot be made costs one log line and is not tried again.
  std::shared_ptr<StandIn> request(const std::shared_ptr<Device> &device, const std::shared_ptr<const Problem> &problem,
                                   std::shared_ptr<const Kernel> generic);

  /// What is not begun is not begun; waits for what is.
  void close();

private:
  using Place = std::pair<const Device *, std::string>;

  void make(const std::shared_ptr<Device> &device, const std::shared_ptr<const Problem> &problem);
  bool begin();
  void end();

  Runtime &runtime_;
  const std::shared_ptr<KernelShelf> shelf_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Place, std::shared_ptr<StandIn>> requested_; ///< null where nothing stands in; guarded by mutex_
  size_t numRunning_ = 0;                               ///< guarded by mutex_
  bool closed_ = false;                                 ///< guarded by mutex_
};

} // namespace jitk
