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
  /// that thread's result. `joined` says which. What `make` throws is thrown here, and then whoever waited makes it.
  template <typename Make> Result<T> run(const std::string &name, bool &joined, Make &&make) {
    for (std::shared_ptr<Flight> flight = board(name, joined); joined; flight = board(name, joined)) {
      std::unique_lock lock(mutex_);
      landed_.wait(lock, [&] { return flight->landed; });
      if (flight->result) {
        return copy(*flight->result);
      }
    }
    Landing landing(*this, name);
    Result<T> result = make();
    landing.give(copy(result));
    return result;
  }

private:
  struct Flight {
    std::optional<Result<T>> result; ///< none after an exception
    bool landed = false;
  };

  /// Lands a flight at the end of its life, whatever happened.
  class Landing {
  public:
    Landing(SingleFlight &flights, const std::string &name) : flights_(flights), name_(name) {}
    ~Landing() {
      {
        std::lock_guard lock(flights_.mutex_);
        auto place = flights_.flights_.find(name_);
        place->second->result = std::move(result_);
        place->second->landed = true;
        flights_.flights_.erase(place);
      }
      flights_.landed_.notify_all();
    }
    Landing(const Landing &) = delete;
    Landing &operator=(const Landing &) = delete;

    void give(Result<T> result) { result_.emplace(std::move(result)); }

  private:
    SingleFlight &flights_;
    const std::string &name_;
    std::optional<Result<T>> result_;
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
