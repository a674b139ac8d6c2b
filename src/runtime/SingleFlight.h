// SingleFlight: of several threads that want the same thing at the same time, one makes it.

#pragma once

#include "src/support/Status.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace jitk {

/// Thread-safe. `T` is cheap to copy. Keeps nothing once a flight has landed: what is made is kept elsewhere, and what
/// failed is tried again by the next who asks.
template <typename T> class SingleFlight {
public:
  /// Calls `make` and returns what it gave; or, if another thread is in `make` for the same name, waits and returns
  /// that thread's result. `joined` says which.
  template <typename Make> Result<T> run(const std::string &name, bool &joined, Make &&make) {
    std::shared_ptr<Flight> flight = board(name, joined);
    if (joined) {
      std::unique_lock lock(mutex_);
      landed_.wait(lock, [&] { return flight->result.has_value(); });
      return copy(*flight->result);
    }
    Result<T> result = make();
    {
      std::lock_guard lock(mutex_);
      flight->result.emplace(copy(result));
      flights_.erase(name);
    }
    landed_.notify_all();
    return result;
  }

private:
  struct Flight {
    std::optional<Result<T>> result;
  };

  std::shared_ptr<Flight> board(const std::string &name, bool &joined) {
    std::lock_guard lock(mutex_);
    auto [place, isNew] = flights_.try_emplace(name);
    if (isNew) {
      place->second = std::make_shared<Flight>();
    }
    joined = !isNew;
    return place->second;
  }

  static Result<T> copy(const Result<T> &result) {
    return result.ok() ? Result<T>(*result) : Result<T>(result.status().clone());
  }

  std::mutex mutex_;
  std::condition_variable landed_;
  std::map<std::string, std::shared_ptr<Flight>> flights_; ///< guarded by mutex_, the results too
};

} // namespace jitk
