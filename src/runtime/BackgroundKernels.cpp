#include "src/runtime/BackgroundKernels.h"

#include <exception>

namespace jitk {

std::shared_ptr<StandIn> BackgroundKernels::request(const std::shared_ptr<Device> &device,
                                                    const std::shared_ptr<const Problem> &problem,
                                                    std::shared_ptr<const Kernel> generic) {
  std::shared_ptr<StandIn> standIn;
  {
    std::lock_guard lock(mutex_);
    auto [place, isNew] = requested_.try_emplace(Place(device.get(), problem->text));
    if (!place->second && generic) {
      place->second = std::make_shared<StandIn>(std::move(generic), problem);
    }
    standIn = place->second;
    if (!isNew || closed_) {
      return standIn;
    }
  }
  runtime_.workers().submit([self = shared_from_this(), device, problem] { self->make(device, problem); });
  return standIn;
}

bool BackgroundKernels::begin() {
  std::lock_guard lock(mutex_);
  numRunning_ += !closed_;
  return !closed_;
}

void BackgroundKernels::end() {
  std::lock_guard lock(mutex_);
  --numRunning_;
  changed_.notify_all();
}

void BackgroundKernels::make(const std::shared_ptr<Device> &device, const std::shared_ptr<const Problem> &problem) {
  if (!begin()) {
    return;
  }
  Status status;
  // The entry of a worker's task: std and oneTBB may throw, nothing of ours does.
  try {
    Result<std::shared_ptr<const Kernel>> kernel = runtime_.kernel(device, problem, Cause::Background);
    if (kernel.ok()) {
      shelf_->keep(*kernel, /*prepared=*/false);
      std::lock_guard lock(mutex_);
      auto place = requested_.find(Place(device.get(), problem->text));
      status = place->second ? place->second->replace(*std::move(kernel)) : okStatus();
      if (status.ok()) {
        requested_.erase(place); // from here on it is found on the shelf
      }
    } else {
      status = std::move(kernel).takeStatus();
    }
  } catch (const std::exception &exception) {
    status = internalError(std::string("exception: ") + exception.what());
  } catch (...) {
    status = internalError("exception");
  }
  if (!status.ok()) {
    runtime_.log().warning("compile",
                           "kernel is not made in the background: " + problem->label + ": " + status.toString());
  }
  end();
}

void BackgroundKernels::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_.wait(lock, [this] { return numRunning_ == 0; });
}

} // namespace jitk
