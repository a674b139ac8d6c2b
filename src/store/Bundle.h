// Bundle: many entries in one file, read-only and mapped: what an image ships beside a model.
//
//   offset  bytes  what
//        0      8  magic "JITKBND" and a zero
//        8      4  version of this form
//       12      4  number of entries
//       16      8  length of all bytes
//       24     16  XXH3-128 of the index
//       40      -  index: for each entry, in the order of names, 41 bytes of name, 64 bits of offset, 64 bits of
//       length,
//                  32 bits: the number of the entry that has its code, its own or, of a reference, another one's
//        -      -  the entries, each as in a file of its own, with its own checksum
//
// Opening reads the index only; an entry is checked when it is looked for. Nothing in a bundle names a place.

#pragma once

#include "src/store/Entry.h"
#include "src/support/Status.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

/// An open bundle. Immutable; thread-safe. The file must not be changed in place while it is open; replacing it by
/// rename is fine.
class Bundle {
public:
  /// Fails with Unavailable if the file cannot be read, DataLoss, saying what is wrong, if it is no whole bundle.
  static Result<std::unique_ptr<Bundle>> open(const std::string &path);
  /// Writes entries to a new file, then renames it to `path`. Those of equal keys are written once, and so is the code
  /// of those of equal programs.
  static Status write(const std::string &path, std::span<const Entry> entries);

  Bundle(const Bundle &) = delete;
  Bundle &operator=(const Bundle &) = delete;
  ~Bundle();

  const std::string &path() const { return path_; }
  size_t size() const { return index_.size(); }

  /// Whether there is an entry of that name; it may be damaged.
  bool contains(const Key &key) const;
  /// The entry of that key; null if there is none, or if it is damaged, which `damage` (may be null) is told.
  std::shared_ptr<const Entry> find(const Key &key, Status *damage = nullptr) const;
  /// An entry whose key differs from `key` in nothing but the assembler, or null.
  std::shared_ptr<const Entry> findAnyAssembler(const Key &key) const;
  /// Entry number `index`, below `size()`.
  Result<Entry> read(size_t index) const;

private:
  struct Place {
    std::string_view name; ///< in the mapping
    uint64_t offset, length;
    uint32_t source; ///< the entry that has the code
  };

  Bundle(std::string path, std::span<const uint8_t> bytes) : path_(std::move(path)), bytes_(bytes) {}
  Status readIndex();
  std::span<const uint8_t> bytesOf(const Place &place) const { return bytes_.subspan(place.offset, place.length); }
  std::vector<Place>::const_iterator lowerBound(std::string_view name) const;

  const std::string path_;
  const std::span<const uint8_t> bytes_; ///< the mapping
  std::vector<Place> index_;             ///< in the order of names
};

} // namespace jitk
