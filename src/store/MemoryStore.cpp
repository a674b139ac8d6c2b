#include "src/store/MemoryStore.h"

namespace jitk {

std::shared_ptr<const Entry> MemoryStore::find(const Key &key) {
  std::lock_guard lock(mutex_);
  auto found = places_.find(&key);
  if (found == places_.end()) {
    return nullptr;
  }
  order_.splice(order_.begin(), order_, found->second);
  return order_.front();
}

void MemoryStore::add(std::shared_ptr<const Entry> entry) {
  std::lock_guard lock(mutex_);
  if (auto found = places_.find(&entry->key); found != places_.end()) {
    remove(found->second);
  }
  if (entry->footprint() > maximalBytes_) {
    return;
  }
  bytes_ += entry->footprint();
  order_.push_front(std::move(entry));
  places_.emplace(&order_.front()->key, order_.begin());
  while (bytes_ > maximalBytes_) {
    remove(std::prev(order_.end()));
  }
}

void MemoryStore::remove(Order::iterator place) {
  bytes_ -= (*place)->footprint();
  places_.erase(&(*place)->key);
  order_.erase(place);
}

uint64_t MemoryStore::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

} // namespace jitk
