// WeakMap: finds what is alive somewhere else.

#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>

namespace jitk {

/// Values that others own, by key. For one thread at a time. What has died is forgotten in time: there are never more
/// than about twice as many places as values were alive at once, and adding costs no more for it.
template <typename Key, typename T> class WeakMap {
public:
  /// Null if there is none, or no more.
  std::shared_ptr<T> find(const Key &key) const {
    auto found = places_.find(key);
    return found == places_.end() ? nullptr : found->second.lock();
  }

  /// In place of an earlier one.
  void add(const Key &key, const std::shared_ptr<T> &value) {
    if (places_.size() >= sweepAt_) {
      std::erase_if(places_, [](const auto &place) { return place.second.expired(); });
      sweepAt_ = std::max(kFewest, 2 * places_.size());
    }
    places_[key] = value;
  }

  size_t size() const { return places_.size(); }

private:
  static constexpr size_t kFewest = 64;

  std::map<Key, std::weak_ptr<T>> places_;
  size_t sweepAt_ = kFewest;
};

} // namespace jitk
