#include "src/runtime/Plan.h"

#include <algorithm>
#include <functional>

namespace jitk {

Plan::~Plan() {
  if (std::shared_ptr<Preparation> running = preparation()) {
    running->cancel();
    (void)running->wait(std::nullopt);
  }
}

std::shared_ptr<Preparation> Plan::preparation() const {
  std::lock_guard lock(mutex_);
  return preparation_;
}

bool Plan::running() const { return preparation_ && !preparation_->finished(); }

static Status isSealed() { return invalidArgument("plan must not be sealed").atStage("plan"); }
static Status isRunning() { return invalidArgument("plan must not be in preparation").atStage("plan"); }

Status Plan::add(std::vector<Item> items) {
  std::lock_guard lock(mutex_);
  if (sealed_) {
    return isSealed();
  }
  if (running()) {
    return isRunning();
  }
  for (Item &item : items) {
    auto [place, isNew] = places_.try_emplace(item.problem->text, items_.size());
    if (isNew) {
      items_.push_back(std::move(item));
    } else {
      int32_t &priority = items_[place->second].priority;
      priority = std::max(priority, item.priority);
    }
  }
  return okStatus();
}

std::vector<Plan::Item> Plan::items() const {
  std::lock_guard lock(mutex_);
  return items_;
}

Status Plan::prepare(PrepareOptions options) {
  std::lock_guard lock(mutex_);
  if (sealed_) {
    return isSealed();
  }
  if (running()) {
    return isRunning();
  }
  // Highest priority first; equal ones in the order in which they were added.
  std::multimap<int32_t, std::shared_ptr<const Problem>, std::greater<>> ordered;
  for (const Item &item : items_) {
    ordered.emplace(item.priority, item.problem);
  }
  std::vector<std::shared_ptr<const Problem>> problems;
  for (auto &[priority, problem] : ordered) {
    problems.push_back(std::move(problem));
  }
  if (options.device) {
    options.target = options.device->target();
  }
  options.keep = [this](std::shared_ptr<const Kernel> kernel) { keep(std::move(kernel)); };
  preparation_ = std::make_shared<Preparation>(*runtime_, std::move(options), std::move(problems));
  preparation_->start();
  return okStatus();
}

Status Plan::wait(std::optional<std::chrono::milliseconds> timeout) {
  std::shared_ptr<Preparation> running = preparation();
  return running ? running->wait(timeout) : okStatus();
}

void Plan::cancel() {
  if (std::shared_ptr<Preparation> running = preparation()) {
    running->cancel();
  }
}

Status Plan::seal() {
  // What failed to be prepared is reported by `wait`; in a sealed plan it is NotPrepared.
  (void)wait(std::nullopt);
  std::lock_guard lock(mutex_);
  if (running()) {
    return isRunning();
  }
  sealed_.store(true, std::memory_order_release);
  return okStatus();
}

std::shared_ptr<const Kernel> Plan::find(const Place &place) const {
  auto found = kernels_.find(place);
  return found == kernels_.end() ? nullptr : found->second;
}

void Plan::keep(std::shared_ptr<const Kernel> kernel) {
  std::lock_guard lock(mutex_);
  if (!sealed_) {
    Place place{kernel->device().get(), &kernel->problem()};
    kernels_.emplace(place, std::move(kernel));
  }
}

Result<std::shared_ptr<const Kernel>> Plan::kernel(const std::shared_ptr<Device> &device,
                                                   const std::shared_ptr<const Problem> &problem) {
  Place place{device.get(), problem.get()};
  if (sealed_.load(std::memory_order_acquire)) {
    if (std::shared_ptr<const Kernel> kernel = find(place)) {
      return kernel;
    }
    return Status(StatusCode::NotPrepared,
                  "plan is sealed and has no kernel for " + problem->text + " on " + device->target().toString())
        .atStage("plan");
  }
  {
    std::lock_guard lock(mutex_);
    if (std::shared_ptr<const Kernel> kernel = find(place)) {
      return kernel;
    }
  }
  JITK_ASSIGN(std::shared_ptr<const Kernel> kernel, runtime_->kernel(device, problem));
  keep(kernel);
  return kernel;
}

} // namespace jitk
