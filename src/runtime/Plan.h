// Plan: the closed set of problems that an engine will need, and the kernels made of them.
//
//   add ... add -> prepare (on the workers) -> wait -> seal -> kernel, kernel, kernel ...
//
// Invariant: once `sealed_` is seen true, `kernels_` never changes, so a look-up takes no lock.

#pragma once

#include "src/runtime/Preparation.h"
#include "src/runtime/Runtime.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace jitk {

/// Thread-safe. Destruction cancels a preparation and waits for its end.
class Plan {
public:
  explicit Plan(std::shared_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}
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

  /// Starts; `options.keep` is set here.
  Status prepare(PrepareOptions options);
  Status wait(std::optional<std::chrono::milliseconds> timeout);
  void cancel();
  Status seal();

  Result<std::shared_ptr<const Kernel>> kernel(const std::shared_ptr<Device> &device,
                                               const std::shared_ptr<const Problem> &problem);

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

  std::shared_ptr<Preparation> preparation() const;
  bool running() const;
  std::shared_ptr<const Kernel> find(const Place &place) const;
  void keep(std::shared_ptr<const Kernel> kernel);

  const std::shared_ptr<Runtime> runtime_;
  std::atomic<bool> sealed_ = false;
  mutable std::mutex mutex_;
  std::vector<Item> items_;                  ///< guarded by mutex_
  std::map<std::string, size_t> places_;     ///< of texts in items_; guarded by mutex_
  std::shared_ptr<Preparation> preparation_; ///< guarded by mutex_
  std::unordered_map<Place, std::shared_ptr<const Kernel>, PlaceHash> kernels_; ///< guarded by mutex_ until sealed
};

} // namespace jitk
