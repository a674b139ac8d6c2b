#include "src/runtime/Plan.h"

#include <algorithm>
#include <functional>

namespace jitk {

Plan::~Plan() {
  if (std::shared_ptr<Preparation> running = preparation()) {
    running->cancel();
    (void)running->wait(std::nullopt);
  }
  background_->close();
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
  if (shelf_->sealed()) {
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

/// The widest range of sizes that a kernel is for. The wider, the longer it takes to compile: there are variants for
/// parts of a range.
static int64_t widestBound(const Description &description) {
  int64_t widest = 0;
  for (const auto &[name, value] : description.attributes()) {
    const auto *dimension = std::get_if<Dimension>(&value);
    if (dimension && !dimension->isStatic()) {
      widest = std::max(widest, dimension->bound == 0 ? Dimension::kLargest : dimension->bound);
    }
  }
  return widest;
}

std::vector<Preparation::Item> Plan::orderedItems() const {
  // Highest priority first; of equal ones what takes longest, so that no worker begins it when the others are done;
  // else in the order in which they were added.
  std::multimap<std::pair<int32_t, int64_t>, std::shared_ptr<const Problem>, std::greater<>> ordered;
  std::map<std::string, std::shared_ptr<const Problem>> generic;
  for (const Item &item : items_) {
    ordered.emplace(std::pair(item.priority, widestBound(item.problem->description)), item.problem);
    if (options_.onMiss == MissPolicy::Background) {
      auto general = std::make_shared<const Problem>(generalize(item.problem->description));
      generic.emplace(general->text, std::move(general));
    }
  }
  std::vector<Preparation::Item> all;
  for (auto &[text, problem] : generic) {
    if (!places_.contains(text)) {
      all.push_back({problem, /*generic=*/true});
    }
  }
  for (auto &[priority, problem] : ordered) {
    all.push_back({problem, /*generic=*/false});
  }
  return all;
}

Status Plan::prepare(PrepareOptions options) {
  std::lock_guard lock(mutex_);
  if (shelf_->sealed()) {
    return isSealed();
  }
  if (running()) {
    return isRunning();
  }
  if (options.device) {
    options.target = options.device->target();
  }
  options.keep = [shelf = shelf_](std::shared_ptr<const Kernel> kernel) {
    shelf->keep(std::move(kernel), /*prepared=*/true);
  };
  preparation_ = std::make_shared<Preparation>(*runtime_, std::move(options), orderedItems());
  preparation_->start();
  return okStatus();
}

Status Plan::wait(std::optional<std::chrono::milliseconds> timeout, std::string *key) {
  std::shared_ptr<Preparation> running = preparation();
  return running ? running->wait(timeout, key) : okStatus();
}

Status Plan::wait(const Problem &problem, std::optional<std::chrono::milliseconds> timeout, std::string *key) {
  std::shared_ptr<Preparation> running = preparation();
  if (!running) {
    return invalidArgument("plan must be in preparation, or prepared").atStage("plan");
  }
  return running->wait(problem, timeout, key);
}

Result<std::string> Plan::trace() const {
  std::shared_ptr<Preparation> last = preparation();
  if (!last) {
    return invalidArgument("plan must be in preparation, or prepared").atStage("plan");
  }
  return last->trace();
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
  background_->close();
  shelf_->seal();
  return okStatus();
}

Status Plan::notPrepared(const Device &device, const Problem &problem) const {
  return Status(StatusCode::NotPrepared, std::string(shelf_->sealed() ? "plan is sealed and" : "plan") +
                                             " has no kernel for " + problem.label + " on " +
                                             device.target().toString())
      .atStage("plan");
}

Result<Served> Plan::standIn(const std::shared_ptr<Device> &device, const std::shared_ptr<const Problem> &problem) {
  Problem general(generalize(problem->description));
  std::shared_ptr<const Kernel> generic = shelf_->find(*device, general);
  if (shelf_->sealed()) {
    if (!generic) {
      return notPrepared(*device, *problem);
    }
    return Served{nullptr, std::make_shared<StandIn>(std::move(generic), problem)};
  }
  std::shared_ptr<StandIn> standIn = background_->request(device, problem, std::move(generic));
  if (!standIn) {
    return notPrepared(*device, *problem)
        .withNote("it is made in the background, and there is no generic kernel " + general.label);
  }
  return Served{nullptr, std::move(standIn)};
}

Result<Dispatch> Plan::dispatch(const Device &device, const Problem &pattern,
                                const std::vector<std::string> &keys) const {
  if (!shelf_->sealed()) {
    return invalidArgument("plan must be sealed").atStage("plan");
  }
  return Dispatch::create(pattern.description, keys, shelf_->onDevice(device));
}

Result<Served> Plan::kernel(const std::shared_ptr<Device> &device, const std::shared_ptr<const Problem> &problem) {
  if (std::shared_ptr<const Kernel> kernel = shelf_->find(*device, *problem)) {
    return Served{std::move(kernel), nullptr};
  }
  if (options_.onMiss == MissPolicy::Background) {
    return standIn(device, problem);
  }
  if (options_.onMiss == MissPolicy::Fail || shelf_->sealed()) {
    return notPrepared(*device, *problem);
  }
  JITK_ASSIGN(std::shared_ptr<const Kernel> kernel, runtime_->kernel(device, problem, Cause::Missed));
  shelf_->keep(kernel, /*prepared=*/false);
  return Served{std::move(kernel), nullptr};
}

} // namespace jitk
