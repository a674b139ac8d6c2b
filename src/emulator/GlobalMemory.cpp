#include "src/emulator/GlobalMemory.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sys/mman.h>
#include <utility>

namespace jitk::emulator {

namespace {

// The device's allocator promises 256 bytes. Addresses here are never aligned to more, so that a kernel that counts on
// more is found.
constexpr uint64_t allocationOffset = 256;

void *reserve(uint64_t bytes, int protection) {
  void *memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

} // namespace

void UnmapPages::operator()(void *memory) const { munmap(memory, bytes); }

GlobalMemory::GlobalMemory(bool trackInitialisation, uint64_t reservedBytes)
    : trackInitialisation_(trackInitialisation), reservedBytes_(reservedBytes),
      blocks_(new std::atomic<Allocation *>[numBlocks]()) {
  base_ = reinterpret_cast<uint64_t>(reserve(reservedBytes, PROT_NONE));
  pages_ = static_cast<std::atomic<uint32_t> *>(
      reserve((reservedBytes >> pageBits) * sizeof(std::atomic<uint32_t>), PROT_READ | PROT_WRITE));
}

GlobalMemory::~GlobalMemory() {
  if (base_) {
    munmap(reinterpret_cast<void *>(base_), reservedBytes_);
  }
  if (pages_) {
    munmap(static_cast<void *>(pages_), (reservedBytes_ >> pageBits) * sizeof(std::atomic<uint32_t>));
  }
  for (size_t block = 0; block < numBlocks; ++block) {
    delete[] blocks_[block].load();
  }
}

Result<uint64_t> GlobalMemory::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (!base_ || !pages_) {
    return Status(StatusCode::OutOfMemory, "no address range for the emulator's global memory");
  }
  if (bytes > reservedBytes_) {
    return Status(StatusCode::OutOfMemory, llvm::formatv("emulator memory exhausted: wanted {0} bytes", bytes));
  }
  // One page stays unmapped behind each allocation.
  const uint64_t numPages = ((bytes + allocationOffset) >> pageBits) + 2;
  const uint64_t firstPage = takePages(numPages);
  if (firstPage == 0) {
    return Status(StatusCode::OutOfMemory, llvm::formatv("emulator memory exhausted: wanted {0} bytes", bytes));
  }
  const std::optional<uint32_t> taken = takeNumber();
  auto *memory = reinterpret_cast<uint8_t *>(base_ + (firstPage << pageBits));
  const uint64_t mappedBytes = (numPages - 1) << pageBits;
  if (!taken || mprotect(memory, mappedBytes, PROT_READ | PROT_WRITE) != 0) {
    givePages(firstPage, numPages);
    if (taken) {
      freedNumbers_.push_back(*taken);
    }
    return Status(StatusCode::OutOfMemory, taken ? llvm::formatv("cannot map {0} bytes", bytes).str()
                                                 : "too many allocations for one emulator device");
  }
  const uint32_t number = *taken;
  if (!blocks_[number / blockSize].load(std::memory_order_relaxed)) {
    blocks_[number / blockSize].store(new Allocation[blockSize], std::memory_order_release);
  }
  Allocation &allocation = blocks_[number / blockSize].load(std::memory_order_relaxed)[number % blockSize];
  allocation.begin = reinterpret_cast<uint64_t>(memory) + allocationOffset;
  allocation.end = allocation.begin + bytes;
  if (trackInitialisation_) {
    allocation.written = std::make_unique<uint8_t[]>(bytes);
  }
  const UnmapPages writerPages = {(bytes / 4 + 1) * sizeof(uint64_t)};
  allocation.writers = {static_cast<std::atomic<uint64_t> *>(reserve(writerPages.bytes, PROT_READ | PROT_WRITE)),
                        writerPages};
  std::memset(reinterpret_cast<void *>(allocation.begin), 0xff, bytes);
  allocation.live.store(true, std::memory_order_release);
  for (uint64_t page = 0; page < numPages; ++page) {
    pages_[firstPage + page].store(number + 1, std::memory_order_release);
  }
  return allocation.begin;
}

Status GlobalMemory::free(uint64_t address) {
  std::lock_guard lock(mutex_);
  auto *allocation = const_cast<Allocation *>(find(address));
  if (!allocation || allocation->begin != address || !allocation->live.load()) {
    return invalidArgument(llvm::formatv("not the address of a live allocation: got {0:x}", address));
  }
  allocation->live.store(false);
  allocation->written.reset();
  allocation->writers.reset();
  const uint64_t firstPage = (address - base_) >> pageBits;
  const uint64_t numPages = ((allocation->end - allocation->begin + allocationOffset) >> pageBits) + 2;
  auto *memory = reinterpret_cast<void *>(base_ + (firstPage << pageBits));
  madvise(memory, (numPages - 1) << pageBits, MADV_DONTNEED);
  mprotect(memory, (numPages - 1) << pageBits, PROT_NONE);
  freedNumbers_.push_back(pages_[firstPage].load(std::memory_order_relaxed) - 1);
  givePages(firstPage, numPages);
  return okStatus();
}

uint64_t GlobalMemory::takePages(uint64_t numPages) {
  const uint64_t endPage = reservedBytes_ >> pageBits;
  // A hole of the size. Then, in the first part of the range, addresses that nobody had: uses of freed memory are found
  // there. Then any hole.
  auto hole = std::ranges::find_if(freeRanges_, [&](const auto &range) { return range.second == numPages; });
  if (hole == freeRanges_.end() && nextPage_ + numPages > endPage / 16) {
    hole = std::ranges::find_if(freeRanges_, [&](const auto &range) { return range.second > numPages; });
  }
  if (hole == freeRanges_.end() && nextPage_ + numPages > endPage && !freeRanges_.empty()) {
    // The last hole, with what nobody had behind it.
    const auto last = std::prev(freeRanges_.end());
    if (last->first + last->second == nextPage_ && last->first + numPages <= endPage) {
      nextPage_ = last->first;
      freeRanges_.erase(last);
    }
  }
  if (hole == freeRanges_.end()) {
    return nextPage_ + numPages <= endPage ? std::exchange(nextPage_, nextPage_ + numPages) : 0;
  }
  const auto [firstPage, size] = *hole;
  freeRanges_.erase(hole);
  if (size > numPages) {
    freeRanges_.emplace(firstPage + numPages, size - numPages);
  }
  return firstPage;
}

void GlobalMemory::givePages(uint64_t firstPage, uint64_t numPages) {
  auto next = freeRanges_.lower_bound(firstPage);
  if (next != freeRanges_.end() && next->first == firstPage + numPages) {
    numPages += next->second;
    next = freeRanges_.erase(next);
  }
  if (next != freeRanges_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == firstPage) {
      before->second += numPages;
      return;
    }
  }
  freeRanges_.emplace(firstPage, numPages);
}

std::optional<uint32_t> GlobalMemory::takeNumber() {
  // The record of an allocation says that it was freed, so that the latest ones are kept.
  constexpr size_t keptFreed = 65536;
  const bool exhausted = numAllocations_ == blockSize * numBlocks;
  if (freedNumbers_.size() > keptFreed || (exhausted && !freedNumbers_.empty())) {
    const uint32_t number = freedNumbers_.front();
    freedNumbers_.pop_front();
    return number;
  }
  return exhausted ? std::nullopt : std::optional(numAllocations_++);
}

const GlobalMemory::Allocation *GlobalMemory::find(uint64_t address) const {
  if (!owns(address)) {
    return nullptr;
  }
  const uint32_t number = pages_[(address - base_) >> pageBits].load(std::memory_order_acquire);
  if (number == 0) {
    return nullptr;
  }
  return &blocks_[(number - 1) / blockSize].load(std::memory_order_acquire)[(number - 1) % blockSize];
}

GlobalMemory::Fault GlobalMemory::check(uint64_t address, uint64_t bytes) const {
  const Allocation *allocation = find(address);
  if (!allocation) {
    return Fault::OutOfBounds;
  }
  if (!allocation->live.load(std::memory_order_relaxed)) {
    return Fault::Freed;
  }
  const bool inside = address >= allocation->begin && address <= allocation->end && bytes <= allocation->end - address;
  return inside ? Fault::None : Fault::OutOfBounds;
}

std::string GlobalMemory::neighbourOf(uint64_t address) const {
  const Allocation *allocation = find(address);
  if (!allocation || !allocation->live.load(std::memory_order_relaxed)) {
    return "";
  }
  const auto offset = int64_t(address - allocation->begin);
  return llvm::formatv(", from byte {0} of the {1} at {2:x}", offset, allocation->end - allocation->begin,
                       allocation->begin);
}

bool GlobalMemory::initialised(uint64_t address, uint64_t bytes) const {
  if (!trackInitialisation_) {
    return true;
  }
  const Allocation *allocation = find(address);
  return !std::memchr(allocation->written.get() + (address - allocation->begin), 0, bytes);
}

void GlobalMemory::markInitialised(uint64_t address, uint64_t bytes) {
  if (trackInitialisation_) {
    const Allocation *allocation = find(address);
    std::memset(allocation->written.get() + (address - allocation->begin), 1, bytes);
  }
}

namespace {

constexpr unsigned maskBits = 4;

uint64_t tagOf(const GlobalMemory::Accessor &accessor) {
  return uint64_t(accessor.launch) << (32 + maskBits) | uint64_t(accessor.cluster) << maskBits;
}

/// Visits the words of [begin, end), which are offsets into an allocation, with the bytes of each that it covers. Stops
/// where `visit` gives something, and gives that.
template <typename Visit> std::optional<uint32_t> visitWords(uint64_t begin, uint64_t end, Visit visit) {
  for (uint64_t word = begin / 4; word * 4 < end; ++word) {
    const uint64_t low = std::max(begin, word * 4) - word * 4;
    const uint64_t high = std::min(end, word * 4 + 4) - word * 4;
    if (std::optional<uint32_t> found = visit(word, (uint64_t(1) << high) - (uint64_t(1) << low))) {
      return found;
    }
  }
  return std::nullopt;
}

/// The cluster that the word's entry names, if that is another one of the accessor's launch and wrote one of the bytes.
std::optional<uint32_t> otherCluster(uint64_t entry, uint64_t mask, uint64_t tag) {
  const uint64_t difference = (entry ^ tag) >> maskBits;
  const bool other = difference != 0 && difference >> 32 == 0 && (entry & mask);
  return other ? std::optional(uint32_t(entry >> maskBits)) : std::nullopt;
}

} // namespace

std::optional<uint32_t> GlobalMemory::otherWriter(uint64_t address, uint64_t bytes, const Accessor &reader) const {
  const Allocation &allocation = *find(address);
  const std::atomic<uint64_t> *writers = allocation.writers.get();
  const uint64_t tag = tagOf(reader), begin = address - allocation.begin;
  return visitWords(begin, writers ? begin + bytes : 0, [&](uint64_t word, uint64_t mask) {
    return otherCluster(writers[word].load(std::memory_order_relaxed), mask, tag);
  });
}

std::optional<uint32_t> GlobalMemory::noteWrite(uint64_t address, uint64_t bytes, const Accessor &writer) {
  const Allocation &allocation = *find(address);
  std::atomic<uint64_t> *writers = allocation.writers.get();
  const uint64_t tag = tagOf(writer), begin = address - allocation.begin;
  std::optional<uint32_t> other;
  visitWords(begin, writers ? begin + bytes : 0, [&](uint64_t word, uint64_t mask) {
    const uint64_t entry = writers[word].load(std::memory_order_relaxed);
    if (!other) {
      other = otherCluster(entry, mask, tag);
    }
    const bool own = (entry ^ tag) >> maskBits == 0;
    writers[word].store(own ? entry | mask : tag | mask, std::memory_order_relaxed);
    return std::optional<uint32_t>();
  });
  return other;
}

} // namespace jitk::emulator
