#include "src/runtime/Dispatch.h"

#include <algorithm>
#include <bit>

namespace jitk {

static bool has(uint32_t keys, size_t key) { return (keys >> key & 1) != 0; }

/// Whether two descriptions differ in nothing but the dimensions `keys`.
static bool matches(const Description &pattern, const Description &other, const std::vector<std::string> &keys) {
  if (pattern.op() != other.op()) {
    return false;
  }
  return std::equal(pattern.attributes().begin(), pattern.attributes().end(), other.attributes().begin(),
                    other.attributes().end(), [&](const auto &a, const auto &b) {
                      bool isKey = std::find(keys.begin(), keys.end(), a.first) != keys.end();
                      return a.first == b.first && (isKey || a.second == b.second);
                    });
}

Result<Dispatch> Dispatch::create(const Description &pattern, const std::vector<std::string> &keys,
                                  std::vector<std::shared_ptr<const Kernel>> kernels) {
  if (keys.empty() || keys.size() > kMaximalKeys) {
    return invalidArgument("number of a dispatch's dimensions must be between 1 and " + std::to_string(kMaximalKeys) +
                           ": got " + std::to_string(keys.size()));
  }
  for (const std::string &key : keys) {
    auto found = pattern.attributes().find(key);
    if (found == pattern.attributes().end() || !std::holds_alternative<Dimension>(found->second)) {
      return invalidArgument("dimension of a dispatch must be one of " + pattern.op() + ": got '" + key + "'");
    }
  }
  Dispatch dispatch;
  dispatch.numKeys_ = keys.size();
  for (std::shared_ptr<const Kernel> &kernel : kernels) {
    if (matches(pattern, kernel->problem().description, keys)) {
      dispatch.add(static_cast<uint32_t>(dispatch.kernels_.size()), kernel->problem().description, keys);
      dispatch.kernels_.push_back(std::move(kernel));
    }
  }
  dispatch.index();
  return dispatch;
}

Dispatch::Group &Dispatch::groupOf(uint32_t staticKeys) {
  for (Group &group : groups_) {
    if (group.staticKeys == staticKeys) {
      return group;
    }
  }
  return groups_.emplace_back(Group{staticKeys, {}, {}});
}

void Dispatch::add(uint32_t kernel, const Description &description, const std::vector<std::string> &keys) {
  uint32_t staticKeys = 0;
  Values sizes = {};
  Taker taker{kernel, {}, {}};
  for (size_t key = 0; key < keys.size(); ++key) {
    const Dimension &dimension = description.dimension(keys[key]);
    if (dimension.isStatic()) {
      staticKeys |= uint32_t{1} << key;
      sizes[key] = dimension.value;
    }
    taker.divisors[key] = dimension.divisor;
    taker.bounds[key] = dimension.bound > 0 ? dimension.bound : INT64_MAX;
  }
  Group &group = groupOf(staticKeys);
  auto bucket = std::find_if(group.buckets.begin(), group.buckets.end(),
                             [&](const Bucket &other) { return other.sizes == sizes; });
  if (bucket == group.buckets.end()) {
    bucket = group.buckets.insert(bucket, Bucket{sizes, {}});
  }
  bucket->takers.push_back(taker);
}

void Dispatch::index() {
  std::sort(groups_.begin(), groups_.end(), [](const Group &a, const Group &b) {
    int more = std::popcount(a.staticKeys) - std::popcount(b.staticKeys);
    return more != 0 ? more > 0 : a.staticKeys < b.staticKeys;
  });
  for (Group &group : groups_) {
    group.slots.assign(std::bit_ceil(2 * group.buckets.size()), 0);
    for (size_t i = 0; i < group.buckets.size(); ++i) {
      Bucket &bucket = group.buckets[i];
      std::sort(bucket.takers.begin(), bucket.takers.end(), [](const Taker &a, const Taker &b) {
        return a.bounds != b.bounds ? a.bounds < b.bounds : a.divisors > b.divisors;
      });
      size_t slot = hash(group, bucket.sizes);
      while (group.slots[slot & (group.slots.size() - 1)] != 0) {
        ++slot;
      }
      group.slots[slot & (group.slots.size() - 1)] = static_cast<uint32_t>(i + 1);
    }
  }
}

uint64_t Dispatch::hash(const Group &group, std::span<const int64_t> sizes) const {
  uint64_t value = group.staticKeys;
  for (size_t key = 0; key < numKeys_; ++key) {
    if (has(group.staticKeys, key)) {
      value = (value ^ static_cast<uint64_t>(sizes[key])) * 0x9e3779b97f4a7c15;
      value ^= value >> 29;
    }
  }
  return value;
}

const Dispatch::Bucket *Dispatch::findBucket(const Group &group, std::span<const int64_t> sizes) const {
  size_t mask = group.slots.size() - 1;
  for (size_t slot = hash(group, sizes);; ++slot) {
    uint32_t index = group.slots[slot & mask];
    if (index == 0) {
      return nullptr;
    }
    const Bucket &bucket = group.buckets[index - 1];
    bool same = true;
    for (size_t key = 0; key < numKeys_ && same; ++key) {
      same = !has(group.staticKeys, key) || bucket.sizes[key] == sizes[key];
    }
    if (same) {
      return &bucket;
    }
  }
}

std::optional<size_t> Dispatch::find(std::span<const int64_t> sizes) const {
  if (sizes.size() != numKeys_) {
    return std::nullopt;
  }
  for (const Group &group : groups_) {
    const Bucket *bucket = findBucket(group, sizes);
    if (!bucket) {
      continue;
    }
    for (const Taker &taker : bucket->takers) {
      bool fits = true;
      for (size_t key = 0; key < numKeys_ && fits; ++key) {
        fits = has(group.staticKeys, key) || (sizes[key] >= 0 && sizes[key] <= taker.bounds[key] &&
                                              (taker.divisors[key] == 1 || sizes[key] % taker.divisors[key] == 0));
      }
      if (fits) {
        return taker.kernel;
      }
    }
  }
  return std::nullopt;
}

} // namespace jitk
