#include "src/store/DiskStore.h"

#include "src/store/StoreFolder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace jitk {

static constexpr std::string_view kSuffix = ".jitk";
static constexpr std::string_view kProgramSuffix = ".program";
static constexpr std::string_view kTemporaryPrefix = "tmp-";
static constexpr char kQuarantine[] = "quarantine";
static constexpr char kCategory[] = "store";

// Far above any kernel, far below what reading by mistake would hurt.
static constexpr uint64_t kMaximalEntryBytes = uint64_t{1} << 30;

// A temporary file is written in milliseconds; one this old has lost its writer.
static constexpr int64_t kAbandonedAfter = int64_t{3600} * 1'000'000'000;

// How long what a walk through the folder found is relied upon: long beside a publication, so that those of a bundle's
// import do not walk each, and short beside what other processes need to fill half a store.
static constexpr std::chrono::seconds kWalkLasts(1);

// Key locks use offsets with the top two bits clear, so that these are nobody else's.
static constexpr int64_t kEvictionLock = INT64_MAX - 1;
static constexpr int64_t kFirstToken = int64_t{1} << 62;
static int64_t lockOffset(const Key &key) { return static_cast<int64_t>(key.hash() >> 2); }

static std::string fileNameOf(const Key &key) { return key.name() + std::string(kSuffix); }
static std::string programFileOf(const Key &programKey) { return programKey.name() + std::string(kProgramSuffix); }

static int64_t nanoseconds(const timespec &time) { return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec; }

Result<std::unique_ptr<DiskStore>> DiskStore::open(const std::string &folder, uint64_t maximalBytes, Log &log) {
  JITK_ASSIGN(File opened, openStoreFolder(folder));
  std::unique_ptr<DiskStore> store(new DiskStore(folder, std::move(opened), maximalBytes, log));
  if (isRemote(store->folder_)) {
    store->localLocks_ = openLocalLockFolder(store->folder_);
  }
  return store;
}

// --- reading

std::shared_ptr<const Entry> DiskStore::read(const std::string &fileName) {
  File file = openAt(folder_, fileName.c_str(), O_RDONLY);
  std::vector<uint8_t> bytes;
  if (!file || !readAll(file, kMaximalEntryBytes, bytes)) {
    if (errno != ENOENT && log_.enabled(LogLevel::Info, kCategory)) {
      log_.info(kCategory, "cannot read " + fileName + ": " + describeErrno(errno));
    }
    return nullptr;
  }
  Result<Entry> entry = Entry::deserialize(bytes);
  if (!entry.ok()) {
    quarantine(fileName, file, entry.status());
    return nullptr;
  }
  // Last use is the time of modification: access times are not kept on most mounts. On a read-only store it fails, and
  // nothing is evicted there anyway.
  const timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  (void)::futimens(file.descriptor(), now);
  return std::make_shared<const Entry>(*std::move(entry));
}

std::shared_ptr<const Entry> DiskStore::find(const Key &key) {
  std::shared_ptr<const Entry> entry = read(fileNameOf(key));
  // The hash only names the file: another key under the same name is a miss.
  return entry && entry->key == key ? resolve(std::move(entry)) : nullptr;
}

std::shared_ptr<const Entry> DiskStore::findProgram(const Key &programKey) {
  std::shared_ptr<const Entry> entry = read(programFileOf(programKey));
  bool isOfProgram = entry && !entry->isReference() && !entry->program.empty() && entry->programKey() == programKey;
  return isOfProgram ? entry : nullptr;
}

std::shared_ptr<const Entry> DiskStore::resolve(std::shared_ptr<const Entry> entry) {
  return entry->isReference() ? Entry::resolve(*entry, findProgram(entry->programKey())) : entry;
}

std::shared_ptr<const Entry> DiskStore::findAnyAssembler(const Key &key) {
  std::vector<Listed> files = listFiles();
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (!file->name.starts_with(key.problemName())) {
      continue;
    }
    if (std::shared_ptr<const Entry> entry = read(file->name)) {
      KeyParts parts = entry->key.parts();
      parts.assembler = key.parts().assembler;
      if (std::shared_ptr<const Entry> found = parts == key.parts() ? resolve(std::move(entry)) : nullptr) {
        return found;
      }
    }
  }
  return nullptr;
}

bool DiskStore::existsFile(const std::string &fileName) const {
  struct stat status;
  return ::fstatat(folder_.descriptor(), fileName.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status.st_mode);
}

bool DiskStore::exists(const Key &key) const { return existsFile(fileNameOf(key)); }

bool DiskStore::reject(const Entry &entry, const Status &why) {
  const std::string name = fileNameOf(entry.key);
  File file = openAt(folder_, name.c_str(), O_RDONLY);
  std::shared_ptr<const Entry> found = find(entry.key);
  if (!file || !found || found->code != entry.code) {
    return false;
  }
  if (!found->program.empty()) {
    // The other problems of the program are to have other code too.
    std::shared_ptr<const Entry> source = findProgram(found->programKey());
    if (source && source->code == entry.code) {
      (void)::unlinkat(folder_.descriptor(), programFileOf(found->programKey()).c_str(), 0);
    }
  }
  return quarantine(name, file, why);
}

bool DiskStore::quarantine(const std::string &fileName, const File &file, const Status &why) {
  // Another process may have put a good file in its place since.
  struct stat opened, named;
  bool same = ::fstat(file.descriptor(), &opened) == 0 &&
              ::fstatat(folder_.descriptor(), fileName.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
              opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
  if (!same) {
    return true;
  }
  (void)::mkdirat(folder_.descriptor(), kQuarantine, 0700);
  std::string aside = std::string(kQuarantine) + "/" + fileName;
  if (::renameat(folder_.descriptor(), fileName.c_str(), folder_.descriptor(), aside.c_str()) != 0) {
    if (::unlinkat(folder_.descriptor(), fileName.c_str(), 0) != 0 && errno != ENOENT) {
      log_.warning(kCategory, "entry is damaged and cannot be removed: " + path_ + "/" + fileName + ": " +
                                  std::string(why.message()));
      return false;
    }
  }
  log_.warning(kCategory, "entry is damaged and will be built again: " + path_ + "/" + fileName + ": " +
                              std::string(why.message()));
  return true;
}

// --- writing

static std::string temporaryName() { return std::string(kTemporaryPrefix) + uniqueSuffix(); }

bool DiskStore::writeAside(const std::string &temporary, std::span<const uint8_t> bytes) {
  File file = openAt(folder_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  return file && writeAll(file, bytes) && file.close();
}

Status DiskStore::cannotWrite(int error) {
  if (error == EROFS || error == EACCES || error == EPERM || error == ENOENT) {
    readOnly_ = true;
  }
  std::string message = "cannot write to " + path_ + ": " + describeErrno(error);
  log_.write(warned_.exchange(true) ? LogLevel::Debug : LogLevel::Warning, kCategory,
             message + "; kernels stay in memory");
  return unavailable(message).atStage("store");
}

Status DiskStore::publish(const Entry &entry) {
  if (readOnly_) {
    return unavailable("cannot write to " + path_).atStage("store");
  }
  bool isShared = hasCodeOf(entry);
  std::vector<uint8_t> bytes = (isShared ? entry.reference() : entry).serialize();
  if (bytes.size() > maximalBytes_) {
    // It would push out all others, then itself.
    return unavailable("an entry of " + std::to_string(bytes.size()) + " bytes is more than " + path_ + " may keep")
        .atStage("store");
  }
  std::string name = fileNameOf(entry.key);
  bool isKnown = isAsWalked();
  // A temporary file can vanish: after a jump of the clock it looks abandoned to other processes.
  int error = place(name, bytes);
  if (error == ENOENT) {
    error = place(name, bytes);
  }
  if (error != 0) {
    return cannotWrite(error);
  }
  if (!isShared && !entry.program.empty()) {
    nameProgram(name, programFileOf(entry.programKey()));
  }
  if (!isKnown || !addToWalk(bytes.size())) {
    // One process at a time; the others' next publication does what this one leaves.
    KeyLock lock = KeyLock::tryAcquire(lockFolder(), kEvictionLock);
    if (lock.outcome() != KeyLock::Outcome::TimedOut) {
      (void)evict(maximalBytes_);
    }
  }
  return okStatus();
}

/// Whether another problem's entry has the same code of the same program.
bool DiskStore::hasCodeOf(const Entry &entry) {
  if (entry.program.empty()) {
    return false;
  }
  std::shared_ptr<const Entry> known = findProgram(entry.programKey());
  return known && !(known->key == entry.key) && known->code == entry.code;
}

/// Gives an entry the name of its program, instead of whatever has it. Where the file system knows no links, each
/// problem's entry has its own code.
void DiskStore::nameProgram(const std::string &fileName, const std::string &programName) {
  auto link = [&] {
    return ::linkat(folder_.descriptor(), fileName.c_str(), folder_.descriptor(), programName.c_str(), 0) == 0;
  };
  if (!link() && errno == EEXIST && ::unlinkat(folder_.descriptor(), programName.c_str(), 0) == 0) {
    (void)link();
  }
}

int64_t DiskStore::folderTime() const {
  struct stat status;
  return ::fstat(folder_.descriptor(), &status) == 0 ? nanoseconds(status.st_mtim) : -1;
}

/// Whether nobody else changed the folder since this process walked through it.
bool DiskStore::isAsWalked() {
  std::lock_guard lock(mutex_);
  return walk_ && walk_->folderTime == folderTime();
}

/// Counts what this process has published. True if the bound holds for certain: half of it is left for what escapes the
/// folder's time, whose ticks are longer than a publication.
bool DiskStore::addToWalk(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!walk_) {
    return false;
  }
  walk_->bytes += bytes;
  walk_->folderTime = folderTime();
  return walk_->bytes <= maximalBytes_ / 2 && std::chrono::steady_clock::now() - walk_->when < kWalkLasts;
}

/// Makes way for a file where a folder has its name, which no rename replaces.
bool DiskStore::removeFolder(const std::string &name) {
  if (::unlinkat(folder_.descriptor(), name.c_str(), AT_REMOVEDIR) == 0) {
    return true;
  }
  (void)::mkdirat(folder_.descriptor(), kQuarantine, 0700);
  std::string aside = std::string(kQuarantine) + "/" + temporaryName();
  return ::renameat(folder_.descriptor(), name.c_str(), folder_.descriptor(), aside.c_str()) == 0;
}

int DiskStore::place(const std::string &name, std::span<const uint8_t> bytes) {
  std::string temporary = temporaryName();
  auto rename = [&] {
    return ::renameat(folder_.descriptor(), temporary.c_str(), folder_.descriptor(), name.c_str()) == 0;
  };
  if (writeAside(temporary, bytes) && (rename() || (errno == EISDIR && removeFolder(name) && rename()))) {
    return 0;
  }
  int error = errno;
  (void)::unlinkat(folder_.descriptor(), temporary.c_str(), 0);
  return error;
}

KeyLock DiskStore::takeToken(uint32_t limit, std::chrono::milliseconds patience, const GivesUp &givesUp) {
  return KeyLock::acquireAny(lockFolder(), kFirstToken, limit, std::chrono::steady_clock::now() + patience, givesUp);
}

KeyLock DiskStore::lock(const Key &key, std::chrono::milliseconds patience, const GivesUp &givesUp) {
  return KeyLock::acquire(lockFolder(), lockOffset(key), std::chrono::steady_clock::now() + patience,
                          [&] { return exists(key) || (givesUp && givesUp()); });
}

KeyLock DiskStore::lockProgram(const Key &programKey, std::chrono::milliseconds patience, const GivesUp &givesUp) {
  return KeyLock::acquire(lockFolder(), lockOffset(programKey), std::chrono::steady_clock::now() + patience,
                          [&] { return existsFile(programFileOf(programKey)) || (givesUp && givesUp()); });
}

// --- housekeeping

static bool hasForm(std::string_view name, std::string_view suffix) {
  return name.size() == 32 + 1 + 8 + suffix.size() && name[32] == '-' && name.ends_with(suffix);
}

std::vector<DiskStore::Listed> DiskStore::listFiles() {
  std::vector<Listed> files;
  // Not a duplicate of `folder_`, which would share its reading position between threads.
  int descriptor = ::openat(folder_.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
  if (!stream) {
    File closesIt(descriptor);
    return files;
  }
  std::map<ino_t, size_t> numbers; // an entry can have two names
  timespec clock;
  ::clock_gettime(CLOCK_REALTIME, &clock);
  const int64_t now = nanoseconds(clock);
  while (const dirent *found = ::readdir(stream)) {
    std::string name = found->d_name;
    struct stat status;
    if (::fstatat(descriptor, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) {
      continue;
    }
    bool isProgram = hasForm(name, kProgramSuffix);
    if (isProgram || hasForm(name, kSuffix)) {
      int64_t lastUse = nanoseconds(status.st_mtim);
      // A clock that was ahead has been set back: when this was used is unknown, and it must not stay for ever.
      bool isFromFuture = lastUse - now > kAbandonedAfter;
      auto [known, isNew] = numbers.try_emplace(status.st_ino, files.size());
      if (isNew) {
        files.push_back({{}, {}, static_cast<uint64_t>(status.st_size), isFromFuture ? 0 : lastUse});
      }
      (isProgram ? files[known->second].program : files[known->second].name) = std::move(name);
    } else if (name.starts_with(kTemporaryPrefix) && std::abs(now - nanoseconds(status.st_mtim)) > kAbandonedAfter) {
      (void)::unlinkat(descriptor, name.c_str(), 0);
    }
  }
  ::closedir(stream);
  std::sort(files.begin(), files.end(), [](const Listed &a, const Listed &b) {
    return std::tie(a.lastUse, a.name, a.program) < std::tie(b.lastUse, b.name, b.program);
  });
  return files;
}

Status DiskStore::evict(uint64_t bytes) {
  Walk walk = {.bytes = 0, .folderTime = folderTime(), .when = std::chrono::steady_clock::now()};
  std::vector<Listed> files = listFiles();
  uint64_t total = 0;
  for (const Listed &file : files) {
    total += file.bytes;
  }
  walk.bytes = total;
  {
    // What is removed below changes the folder, so that the next publication walks again.
    std::lock_guard guard(mutex_);
    walk_ = walk;
  }
  if (total > bytes) {
    removeQuarantine();
  }
  auto remove = [&](const std::string &name) {
    return name.empty() || ::unlinkat(folder_.descriptor(), name.c_str(), 0) == 0 || errno == ENOENT;
  };
  int error = 0;
  for (const Listed &file : files) {
    if (total <= bytes) {
      return okStatus();
    }
    if (remove(file.program) && remove(file.name)) {
      total -= file.bytes;
    } else {
      error = errno;
    }
  }
  return error ? unavailable("cannot remove entries of " + path_ + ": " + describeErrno(error)).atStage("store")
               : okStatus();
}

void DiskStore::removeQuarantine() {
  int descriptor = ::openat(folder_.descriptor(), kQuarantine, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *stream = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
  if (!stream) {
    File closesIt(descriptor);
    return;
  }
  while (const dirent *found = ::readdir(stream)) {
    (void)::unlinkat(descriptor, found->d_name, 0); // "." and ".." are folders and stay
  }
  ::closedir(stream);
}

std::vector<DiskStore::Item> DiskStore::list(bool quarantineDamaged) {
  std::vector<Item> items;
  for (const Listed &listed : listFiles()) {
    if (listed.name.empty()) {
      continue; // the code of others, which are listed
    }
    File file = openAt(folder_, listed.name.c_str(), O_RDONLY);
    std::vector<uint8_t> bytes;
    if (!file || !readAll(file, kMaximalEntryBytes, bytes)) {
      continue; // evicted meanwhile
    }
    Result<Entry> entry = Entry::deserialize(bytes);
    if (entry.ok() && fileNameOf(entry->key) != listed.name) {
      entry = Status(StatusCode::DataLoss, "name differs from the key's: " + entry->key.name());
    }
    if (entry.ok() && entry->isReference()) {
      std::shared_ptr<const Entry> whole = resolve(std::make_shared<const Entry>(*std::move(entry)));
      if (!whole) {
        continue; // its program has gone
      }
      entry = *whole;
    }
    bool isQuarantined = !entry.ok() && quarantineDamaged && quarantine(listed.name, file, entry.status());
    std::string name = listed.name.substr(0, listed.name.size() - kSuffix.size());
    items.push_back({std::move(name), listed.bytes, listed.lastUse / 1'000'000'000, std::move(entry), isQuarantined});
  }
  return items;
}

Status DiskStore::collect(uint64_t bytes) {
  removeQuarantine();
  // Others hold it for as long as removing takes, and a process that is being started for as long as that does.
  constexpr std::chrono::seconds kPatience(10);
  KeyLock lock =
      KeyLock::acquire(lockFolder(), kEvictionLock, std::chrono::steady_clock::now() + kPatience, /*done=*/nullptr);
  if (lock.outcome() == KeyLock::Outcome::TimedOut) {
    return unavailable("cannot remove entries of " + path_ + ": another process is removing some").atStage("store");
  }
  return evict(bytes);
}

} // namespace jitk
