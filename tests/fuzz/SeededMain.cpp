// Drives a fuzz target without libFuzzer: each seed as it is, then mutations of seeds, from a seed of its own.
//
//   fuzz_entry [number of inputs] [seed]
//
// <program>.<seed>.input holds the input that is being looked at, 8 bytes of length before it. It is removed at the
// end: after a crash it is there.

#include "tests/fuzz/Fuzz.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using Bytes = std::vector<uint8_t>;

static constexpr size_t kMaximalBytes = 4096;

/// A few small changes: what a reader meets in damaged or hostile bytes.
static Bytes mutate(Bytes bytes, const Bytes &other, std::mt19937 &random) {
  auto place = [&] { return bytes.empty() ? 0 : random() % bytes.size(); };
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
    switch (random() % 8) {
    case 0:
      bytes.resize(place());
      break;
    case 1:
      bytes.insert(bytes.begin() + static_cast<long>(place()), static_cast<uint8_t>(random()));
      break;
    case 2: { // lengths and counts
      static constexpr uint32_t kNumbers[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x10000, 255};
      uint32_t number = kNumbers[random() % std::size(kNumbers)];
      for (size_t at = place(), i = 0; i < 4 && at + i < bytes.size(); ++i) {
        bytes[at + i] = static_cast<uint8_t>(number >> (8 * i));
      }
      break;
    }
    case 3: // a part of another one
      if (!other.empty()) {
        size_t from = random() % other.size(), count = random() % std::min<size_t>(other.size() - from + 1, 64);
        bytes.insert(bytes.begin() + static_cast<long>(place()), other.begin() + static_cast<long>(from),
                     other.begin() + static_cast<long>(from + count));
      }
      break;
    default:
      if (!bytes.empty()) {
        bytes[place()] ^= static_cast<uint8_t>(1u << random() % 8);
      }
    }
  }
  return bytes;
}

/// A file of that name, mapped: what is written there outlives the process. Null if it cannot be made.
static uint8_t *mapFile(const std::string &name, size_t size) {
  int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(size)) != 0) {
    return nullptr;
  }
  void *mapping = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return mapping == MAP_FAILED ? nullptr : static_cast<uint8_t *>(mapping);
}

int main(int argc, char **argv) {
  unsigned long count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000;
  unsigned seed = argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : std::random_device()();
  std::printf("%s: %lu inputs, seed %u\n", argv[0], count, seed);
  std::fflush(stdout);
  std::string kept = std::string(argv[0]) + "." + std::to_string(seed) + ".input";
  std::mt19937 random(seed);
  std::vector<Bytes> seeds = jitk::test::fuzzSeeds();
  uint8_t *current = mapFile(kept, sizeof(uint64_t) + kMaximalBytes);
  if (seeds.empty() || !current) {
    return 1;
  }
  for (unsigned long i = 0; i < count; ++i) {
    Bytes input = seeds[i % seeds.size()];
    if (i >= seeds.size()) {
      input = mutate(std::move(input), seeds[random() % seeds.size()], random);
    }
    input.resize(std::min(input.size(), kMaximalBytes));
    uint64_t length = input.size();
    std::memcpy(current, &length, sizeof length);
    std::copy(input.begin(), input.end(), current + sizeof length);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::remove(kept.c_str());
  return 0;
}
