// DiskStore: entries in files, shared by all processes of a user.
//
//   <folder>/                       0700, the user's own
//     <problem>-<assembler>.jitk    one entry; the name is a hash of its key, the file holds the whole key
//     <program>-<assembler>.program another name of an entry that has the code of a program: a hard link
//     lock                          never removed; see KeyLock. Of a remote folder it lies on this machine
//     tmp-<random>                  being written; reaped when an hour old
//     quarantine/                   what was found damaged, for people to look at; the first to go
//
// Of problems that are built from the same program the first one's entry has the code; the others' are references, and
// find it by the program's name. A reference whose program has gone is a miss.
//
// An entry is written aside, then renamed: a reader sees all of it or nothing. It is not flushed to the medium: what a
// power loss leaves of it fails its checksum and is built again. A bad disk is never a failure of the caller: what
// cannot be read is a miss, what cannot be written stays in memory, and the log has a line.

#pragma once

#include "src/store/Entry.h"
#include "src/store/KeyLock.h"
#include "src/support/Log.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace jitk {

/// Thread-safe, and safe against other processes.
class DiskStore {
public:
  /// One entry as `list` finds it.
  struct Item {
    std::string name;
    uint64_t bytes = 0;
    int64_t lastUse = 0; ///< seconds of the epoch
    Result<Entry> entry; ///< or what is wrong with it
    bool isQuarantined = false;
  };

  /// See `openStoreFolder` for the folders that are refused. `log` must outlive the store.
  static Result<std::unique_ptr<DiskStore>> open(const std::string &folder, uint64_t maximalBytes, Log &log);

  const std::string &folder() const { return path_; }

  /// The entry of that key, or null. A damaged one is moved to the quarantine with one log line, and is a miss. Marks
  /// the entry as used now.
  std::shared_ptr<const Entry> find(const Key &key);
  /// An entry with the code of that program, whichever problem's it is, or null.
  std::shared_ptr<const Entry> findProgram(const Key &programKey);
  /// Whether there is a file of that name; it may be damaged.
  bool exists(const Key &key) const;
  /// The most recently used entry whose key differs from `key` in nothing but the assembler, or null.
  std::shared_ptr<const Entry> findAnyAssembler(const Key &key);

  /// Writes an entry, as a reference if the code of its program is there, and then drops least recently used ones until
  /// the bound holds. Fails with Unavailable where the
  /// entry alone is above the bound and, after a log line, where the folder cannot be written: whoever only wants the
  /// kernel may go on.
  Status publish(const Entry &entry);

  /// Moves an entry to the quarantine, with one log line, if it is still what the store has: that it is whole does not
  /// say that it is of use. False if it is not there, or could not be moved.
  bool reject(const Entry &entry, const Status &why);

  /// Asked between attempts to take what others have: true ends the wait. None: only the time does.
  using GivesUp = std::function<bool()>;

  /// Waits until this process may compile the kernel of `key`, until `key` has an entry, or until `patience` is over.
  KeyLock lock(const Key &key, std::chrono::milliseconds patience, const GivesUp &givesUp = nullptr);
  /// The same of a program.
  KeyLock lockProgram(const Key &programKey, std::chrono::milliseconds patience, const GivesUp &givesUp = nullptr);

  /// Waits until fewer than `limit` processes of those that use this folder hold such a token, until `patience` is
  /// over. A token goes back with the object, or with its process.
  KeyLock takeToken(uint32_t limit, std::chrono::milliseconds patience, const GivesUp &givesUp = nullptr);

  /// Everything there, read and checked. With `quarantine`, what is damaged is moved there.
  std::vector<Item> list(bool quarantine);
  /// Drops least recently used entries until at most `bytes` are left, and all of the quarantine.
  /// Waits for other processes that do so, for at most ten seconds. Fails with Unavailable where one cannot be removed.
  Status collect(uint64_t bytes);

private:
  struct Listed {
    std::string name;    ///< of the entry; empty where another one has it now
    std::string program; ///< the name of its program, if it has that
    uint64_t bytes;
    int64_t lastUse; ///< nanoseconds of the epoch
  };

  /// What walking the folder found, and what this process has added since.
  struct Walk {
    uint64_t bytes = 0;     ///< of all entries
    int64_t folderTime = 0; ///< of the folder's last change that this process knows of
    std::chrono::steady_clock::time_point when;
  };

  DiskStore(std::string path, File folder, uint64_t maximalBytes, Log &log)
      : path_(std::move(path)), folder_(std::move(folder)), maximalBytes_(maximalBytes), log_(log) {}

  const File &lockFolder() const { return localLocks_ ? localLocks_ : folder_; }
  /// The entry or reference in a file, or null.
  std::shared_ptr<const Entry> read(const std::string &fileName);
  /// What a file stands for: null for a reference whose program has gone.
  std::shared_ptr<const Entry> resolve(std::shared_ptr<const Entry> entry);
  bool existsFile(const std::string &fileName) const;
  bool hasCodeOf(const Entry &entry);
  void nameProgram(const std::string &fileName, const std::string &programName);
  /// False if the file could not be moved or removed.
  bool quarantine(const std::string &fileName, const File &file, const Status &why);
  void removeQuarantine();
  bool removeFolder(const std::string &name);
  /// Least recently used first. Removes abandoned temporary files on the way.
  std::vector<Listed> listFiles();
  /// The lock of evictions is held.
  Status evict(uint64_t bytes);
  /// Nanoseconds of the epoch; -1 if they cannot be had.
  int64_t folderTime() const;
  bool isAsWalked();
  bool addToWalk(uint64_t bytes);
  /// Writes a file and gives it its name; 0, or the errno of what failed.
  int place(const std::string &name, std::span<const uint8_t> bytes);
  bool writeAside(const std::string &temporary, std::span<const uint8_t> bytes);
  Status cannotWrite(int error);

  const std::string path_;
  const File folder_;
  File localLocks_; ///< of a store that is remote; empty = the locks lie in `folder_`
  const uint64_t maximalBytes_;
  Log &log_;
  std::mutex mutex_;
  std::optional<Walk> walk_;           ///< the last one; guarded by mutex_
  std::atomic<bool> readOnly_ = false; ///< the first write that can never work sets it
  std::atomic<bool> warned_ = false;
};

} // namespace jitk
