// ByteWriter and ByteReader: the byte forms of keys, recipes and store entries.
//
// Integers are little-endian and of fixed width; strings and byte runs have a 32-bit length before them. The reader
// is made for bytes that nobody vouches for: it never reads past their end, and a failure sticks, so that a caller
// reads all fields and asks once.

#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

static_assert(std::endian::native == std::endian::little, "the byte forms are written as the host stores them");

class ByteWriter {
public:
  template <std::integral T> void integer(T value) { append(&value, sizeof value); }
  void real(double value) { integer(std::bit_cast<uint64_t>(value)); }
  void string(std::string_view text) {
    integer(static_cast<uint32_t>(text.size()));
    append(text.data(), text.size());
  }
  void bytes(std::span<const uint8_t> run) {
    integer(static_cast<uint32_t>(run.size()));
    append(run.data(), run.size());
  }
  /// Without a length.
  void raw(std::span<const uint8_t> run) { append(run.data(), run.size()); }

  std::vector<uint8_t> take() { return std::move(bytes_); }
  std::span<const uint8_t> written() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

private:
  void append(const void *source, size_t size) {
    const auto *first = static_cast<const uint8_t *>(source);
    bytes_.insert(bytes_.end(), first, first + size);
  }

  std::vector<uint8_t> bytes_;
};

/// Looks at bytes that it does not own.
class ByteReader {
public:
  explicit ByteReader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  template <std::integral T> T integer() {
    T value = 0;
    if (std::span<const uint8_t> run = raw(sizeof value); !run.empty()) {
      std::memcpy(&value, run.data(), sizeof value);
    }
    return value;
  }
  double real() { return std::bit_cast<double>(integer<uint64_t>()); }
  std::string string() {
    std::span<const uint8_t> run = bytes();
    return std::string(run.begin(), run.end());
  }
  std::span<const uint8_t> bytes() { return raw(integer<uint32_t>()); }
  /// `size` bytes; none after a failure.
  std::span<const uint8_t> raw(size_t size) {
    if (failed_ || size > rest_.size()) {
      failed_ = true;
      return {};
    }
    std::span<const uint8_t> run = rest_.first(size);
    rest_ = rest_.subspan(size);
    return run;
  }
  /// Reads the number of elements that follow, each of at least `elementBytes`: more than can be there is a failure, so
  /// that a damaged count reserves no memory.
  uint32_t count(size_t elementBytes) {
    auto n = integer<uint32_t>();
    if (n > rest_.size() / elementBytes) {
      failed_ = true;
      return 0;
    }
    return n;
  }

  void fail() { failed_ = true; }
  bool failed() const { return failed_; }
  /// All was read and nothing failed.
  bool finished() const { return !failed_ && rest_.empty(); }
  size_t remaining() const { return rest_.size(); }

private:
  std::span<const uint8_t> rest_;
  bool failed_ = false;
};

} // namespace jitk
