#include "src/store/Bundle.h"

#include "src/store/File.h"
#include "src/support/Bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jitk {

static constexpr uint64_t kMagic = 0x00444e424b54494a; // "JITKBND\0"
static constexpr uint32_t kBundleVersion = 2;
static constexpr size_t kHeaderBytes = 40;
static constexpr size_t kNameBytes = 41;
static constexpr size_t kPlaceBytes = kNameBytes + 20;

static Status damaged(const std::string &path, const std::string &what) {
  return Status(StatusCode::DataLoss, "bundle " + path + ": " + what).atStage("store");
}

static Status cannot(const char *what, const std::string &path) {
  int error = errno;
  return unavailable("bundle " + path + " cannot be " + what + ": " + describeErrno(error)).atStage("store");
}

// --- reading

Result<std::unique_ptr<Bundle>> Bundle::open(const std::string &path) {
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // opening a FIFO would wait
  struct stat status;
  if (!file || ::fstat(file.descriptor(), &status) != 0) {
    return cannot("opened", path);
  }
  auto size = static_cast<size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size < kHeaderBytes) {
    return damaged(path, "not a bundle");
  }
  void *mapping = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (mapping == MAP_FAILED) {
    return cannot("mapped", path);
  }
  std::unique_ptr<Bundle> bundle(new Bundle(path, {static_cast<const uint8_t *>(mapping), size}));
  JITK_TRY(bundle->readIndex());
  return bundle;
}

Bundle::~Bundle() { ::munmap(const_cast<uint8_t *>(bytes_.data()), bytes_.size()); }

Status Bundle::readIndex() {
  ByteReader header(bytes_);
  if (header.integer<uint64_t>() != kMagic) {
    return damaged(path_, "not a bundle");
  }
  if (auto version = header.integer<uint32_t>(); version != kBundleVersion) {
    return damaged(path_, "version must be " + std::to_string(kBundleVersion) + ": got " + std::to_string(version));
  }
  auto count = header.integer<uint32_t>();
  if (auto length = header.integer<uint64_t>(); length != bytes_.size()) {
    return damaged(path_, "length must be " + std::to_string(length) + " bytes: got " + std::to_string(bytes_.size()));
  }
  Hash128 checksum;
  checksum.high = header.integer<uint64_t>();
  checksum.low = header.integer<uint64_t>();
  std::span<const uint8_t> index = header.raw(size_t{count} * kPlaceBytes);
  if (header.failed() || hashBytes(index) != checksum) {
    return damaged(path_, "index is damaged");
  }
  ByteReader reader(index);
  index_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    std::span<const uint8_t> name = reader.raw(kNameBytes);
    auto offset = reader.integer<uint64_t>();
    auto length = reader.integer<uint64_t>();
    auto source = reader.integer<uint32_t>();
    if (offset > bytes_.size() || length > bytes_.size() - offset || source >= count) {
      return damaged(path_, "an entry lies outside the file");
    }
    index_.push_back({{reinterpret_cast<const char *>(name.data()), name.size()}, offset, length, source});
  }
  return okStatus();
}

std::vector<Bundle::Place>::const_iterator Bundle::lowerBound(std::string_view name) const {
  return std::lower_bound(index_.begin(), index_.end(), name,
                          [](const Place &place, std::string_view wanted) { return place.name < wanted; });
}

Result<Entry> Bundle::read(size_t index) const {
  const Place &place = index_[index];
  JITK_ASSIGN(Entry entry, Entry::deserialize(bytesOf(place)));
  if (!entry.isReference()) {
    return entry;
  }
  JITK_ASSIGN(Entry source, Entry::deserialize(bytesOf(index_[place.source])));
  std::shared_ptr<const Entry> whole = Entry::resolve(entry, std::make_shared<const Entry>(std::move(source)));
  return whole ? Result<Entry>(*whole) : Status(StatusCode::DataLoss, "the code is of another program");
}

bool Bundle::contains(const Key &key) const {
  auto place = lowerBound(key.name());
  return place != index_.end() && place->name == key.name();
}

std::shared_ptr<const Entry> Bundle::find(const Key &key, Status *damage) const {
  auto place = lowerBound(key.name());
  if (place == index_.end() || place->name != key.name()) {
    return nullptr;
  }
  Result<Entry> entry = read(static_cast<size_t>(place - index_.begin()));
  if (!entry.ok()) {
    if (damage) {
      *damage = damaged(path_, "entry " + key.name() + ": " + std::string(entry.status().message()));
    }
    return nullptr;
  }
  // The hash only names the entry.
  return entry->key == key ? std::make_shared<const Entry>(*std::move(entry)) : nullptr;
}

std::shared_ptr<const Entry> Bundle::findAnyAssembler(const Key &key) const {
  for (auto place = lowerBound(key.problemName()); place != index_.end() && place->name.starts_with(key.problemName());
       ++place) {
    Result<Entry> entry = read(static_cast<size_t>(place - index_.begin()));
    if (!entry.ok()) {
      continue;
    }
    KeyParts parts = entry->key.parts();
    parts.assembler = key.parts().assembler;
    if (parts == key.parts()) {
      return std::make_shared<const Entry>(*std::move(entry));
    }
  }
  return nullptr;
}

// --- writing

namespace {
/// An entry or a reference, and the number of the entry that has its code.
struct Written {
  std::vector<uint8_t> bytes;
  uint32_t source;
};
} // namespace

static Written writeEntry(const Entry &entry, uint32_t number, std::map<std::string, uint32_t> &programs,
                          std::span<const Entry *const> entries) {
  if (!entry.program.empty()) {
    auto [source, isFirst] = programs.try_emplace(entry.programKey().name(), number);
    if (!isFirst && entries[source->second]->code == entry.code) {
      return {entry.reference().serialize(), source->second};
    }
  }
  return {entry.serialize(), number};
}

/// The whole file.
static std::vector<uint8_t> serialize(std::span<const Entry> entries) {
  std::map<std::string, const Entry *> byName;
  for (const Entry &entry : entries) {
    byName.try_emplace(entry.key.name(), &entry);
  }
  std::vector<const Entry *> inOrder;
  for (const auto &[name, entry] : byName) {
    inOrder.push_back(entry);
  }
  ByteWriter index;
  std::vector<Written> written;
  std::map<std::string, uint32_t> programs;
  uint64_t offset = kHeaderBytes + byName.size() * kPlaceBytes;
  for (const auto &[name, entry] : byName) {
    const Written &next =
        written.emplace_back(writeEntry(*entry, static_cast<uint32_t>(written.size()), programs, inOrder));
    index.raw({reinterpret_cast<const uint8_t *>(name.data()), name.size()});
    index.integer(offset);
    index.integer(static_cast<uint64_t>(next.bytes.size()));
    index.integer(next.source);
    offset += next.bytes.size();
  }
  Hash128 checksum = hashBytes(index.written());
  ByteWriter writer;
  writer.integer(kMagic);
  writer.integer(kBundleVersion);
  writer.integer(static_cast<uint32_t>(byName.size()));
  writer.integer(offset);
  writer.integer(checksum.high);
  writer.integer(checksum.low);
  writer.raw(index.written());
  for (const Written &entry : written) {
    writer.raw(entry.bytes);
  }
  return writer.take();
}

/// The file that a rename would replace: `path`, or what it is a symbolic link to. Fails for what is there and is no
/// regular file.
static Result<std::string> replaceableFile(const std::string &path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    return path; // nothing there, or a fault that creating the file shows
  }
  if (!S_ISREG(status.st_mode)) {
    return invalidArgument("bundle " + path + " must be a regular file, or none yet").atStage("store");
  }
  std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
  if (!resolved) {
    return cannot("found", path);
  }
  return std::string(resolved.get());
}

Status Bundle::write(const std::string &name, std::span<const Entry> entries) {
  JITK_ASSIGN(std::string path, replaceableFile(name));
  std::string temporary = path + ".tmp-" + uniqueSuffix();
  {
    File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file) {
      return cannot("created", temporary);
    }
    // Flushed, since a bundle is made once and carried elsewhere.
    if (!writeAll(file, serialize(entries)) || ::fsync(file.descriptor()) != 0 || !file.close()) {
      Status status = cannot("written", temporary);
      (void)::unlink(temporary.c_str());
      return status;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    Status status = cannot("renamed", path);
    (void)::unlink(temporary.c_str());
    return status;
  }
  return okStatus();
}

} // namespace jitk
