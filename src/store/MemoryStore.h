// MemoryStore: the entries that this process has seen, up to a bound on their bytes.

#pragma once

#include "src/store/Entry.h"

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace jitk {

/// Thread-safe. Entries are shared: one that is pushed out lives on where it is in use.
class MemoryStore {
public:
  explicit MemoryStore(uint64_t maximalBytes) : maximalBytes_(maximalBytes) {}

  /// The entry of an equal key, or null. Makes it the most recently used one.
  std::shared_ptr<const Entry> find(const Key &key);
  /// Adds an entry in place of one of an equal key, and drops least recently used ones until the bound holds. One that
  /// alone is above the bound is not kept.
  void add(std::shared_ptr<const Entry> entry);

  uint64_t bytes() const;

private:
  using Order = std::list<std::shared_ptr<const Entry>>;
  struct KeyHash {
    size_t operator()(const Key *key) const { return key->hash(); }
  };
  struct KeyEqual {
    bool operator()(const Key *lhs, const Key *rhs) const { return *lhs == *rhs; }
  };
  void remove(Order::iterator place);

  const uint64_t maximalBytes_;
  mutable std::mutex mutex_;
  Order order_; ///< most recently used first; guarded by mutex_
  std::unordered_map<const Key *, Order::iterator, KeyHash, KeyEqual> places_; ///< keys of `order_`; guarded by mutex_
  uint64_t bytes_ = 0;                                                         ///< guarded by mutex_
};

} // namespace jitk
