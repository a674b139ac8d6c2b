// Plan: the closed set of problems that an engine will need, and the kernels made of them.
//
//   add ... add -> prepare (on the workers) -> wait -> seal -> kernel, kernel, kernel ...

#pragma once

#include "src/runtime/BackgroundKernels.h"
#include "src/runtime/Dispatch.h"
#include "src/runtime/KernelShelf.h"
#include "src/runtime/Preparation.h"
#include "src/runtime/Runtime.h"
#include "src/runtime/StandIn.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace jitk {

/// What happens when a kernel is asked for that was not prepared. The values are those of `jitk_miss_t`.
enum class MissPolicy : uint8_t {
  Compile = 0,    ///< the caller waits until it is made
  Background = 1, ///< a generic kernel of the op serves until the workers have made it
  Fail = 2,       ///< NotPrepared
};

struct PlanOptions {
  MissPolicy onMiss = MissPolicy::Compile;
  size_t maximalMisses = 0; ///< see `KernelShelf`
};

/// What serves a problem: its own kernel or what stands in for it; the other is null.
struct Served {
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<StandIn> standIn;
};

/// Thread-safe. Destruction cancels what runs on the workers and waits for what is begun.
class Plan {
public:
  explicit Plan(std::shared_ptr<Runtime> runtime, PlanOptions options = {})
      : runtime_(std::move(runtime)), options_(options), shelf_(std::make_shared<KernelShelf>(options.maximalMisses)),
        background_(std::make_shared<BackgroundKernels>(*runtime_, shelf_)) {}
  ~Plan();

  /// A problem and how early it is prepared.
  struct Item {
    std::shared_ptr<const Problem> problem;
    int32_t priority;
  };

  /// Adds all of them, or none. Equal ones are added once, with the highest priority asked for.
  Status add(std::vector<Item> items);
  /// In the order in which they were added.
  std::vector<Item> items() const;

  /// Starts; `options.keep` is set here. With the policy Background a generic kernel of each op is prepared too, before
  /// all others; one that cannot be made is a line in the log.
  Status prepare(PrepareOptions options);
  /// `key` as of `Preparation::wait`.
  Status wait(std::optional<std::chrono::milliseconds> timeout, std::string *key = nullptr);
  /// Waits for one problem of the preparation, and returns its outcome.
  Status wait(const Problem &problem, std::optional<std::chrono::milliseconds> timeout, std::string *key = nullptr);
  void cancel();
  /// See `Preparation::trace`; of the last preparation. InvalidArgument if there was none.
  Result<std::string> trace() const;
  Status seal();

  /// A table of the kernels of a sealed plan; InvalidArgument if it is not sealed, and as `Dispatch::create`.
  Result<Dispatch> dispatch(const Device &device, const Problem &pattern, const std::vector<std::string> &keys) const;

  /// What serves a problem on a device; where it was not prepared, by the policy. In a sealed plan nothing is made:
  /// there a generic kernel stands in for good, or it is NotPrepared.
  Result<Served> kernel(const std::shared_ptr<Device> &device, const std::shared_ptr<const Problem> &problem);

private:
  std::shared_ptr<Preparation> preparation() const;
  bool running() const;
  std::vector<Preparation::Item> orderedItems() const;
  Status notPrepared(const Device &device, const Problem &problem) const;
  Result<Served> standIn(const std::shared_ptr<Device> &device, const std::shared_ptr<const Problem> &problem);

  const std::shared_ptr<Runtime> runtime_;
  const PlanOptions options_;
  const std::shared_ptr<KernelShelf> shelf_;
  const std::shared_ptr<BackgroundKernels> background_;
  mutable std::mutex mutex_;
  std::vector<Item> items_;                  ///< guarded by mutex_
  std::map<std::string, size_t> places_;     ///< of texts in items_; guarded by mutex_
  std::shared_ptr<Preparation> preparation_; ///< guarded by mutex_
};

} // namespace jitk
