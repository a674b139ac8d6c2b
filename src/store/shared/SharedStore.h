// SharedStore: entries on a server that many machines share: any that speaks the Redis protocol.
//
// A key "jitk:entry3:<name>" holds the bytes that a file of the disk store holds: an entry carries its checksum and its
// whole key, and is used only if both are right. How much the server keeps, and what it drops, is its own business.
//
// The tier never stands in the way. Each look-up and each publication ends by its deadline; after a failure the server
// is left alone for a while, with one log line for the whole outage; the kernel is then compiled here. Who can write to
// the server decides what code its readers run: a checksum finds damage, not malice.

#pragma once

#include "src/store/Entry.h"
#include "src/store/shared/RedisConnection.h"
#include "src/support/Log.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace jitk {

/// Thread-safe.
class SharedStore {
public:
  struct Options {
    std::chrono::milliseconds deadline{250};      ///< of a look-up or a publication, connecting included
    std::chrono::milliseconds retryAfter{10'000}; ///< how long a server that failed is left alone
  };

  /// Touches no network. `log` must outlive the store.
  SharedStore(RedisAddress address, Options options, Log &log)
      : address_(std::move(address)), options_(options), log_(log) {}

  /// The entry of that key, or null. One that is damaged, or of another version of the form, is a miss with one log
  /// line; the next publication replaces it.
  std::shared_ptr<const Entry> find(const Key &key);
  /// Whether the server has a value of that name; it may be damaged.
  bool contains(const Key &key);
  void publish(const Entry &entry);

  /// Asks the server whether it is there. For people: does not count as an outage.
  Status check();
  std::string address() const { return address_.toString(); }

private:
  using Clock = std::chrono::steady_clock;

  bool mayAsk();
  Result<RedisReply> ask(std::span<const std::string_view> words);
  Result<RedisReply> askOver(std::unique_ptr<RedisConnection> connection, std::span<const std::string_view> words,
                             Clock::time_point deadline);
  std::optional<RedisReply> askForText(std::span<const std::string_view> words);
  std::unique_ptr<RedisConnection> takeIdle();
  void noteFailure(const Status &why);
  void noteAnswer();
  void noteRefusal(const char *doing, const RedisReply &reply);

  const RedisAddress address_;
  const Options options_;
  Log &log_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RedisConnection>> idle_; ///< guarded by mutex_
  bool down_ = false;                                  ///< guarded by mutex_
  bool refused_ = false;                               ///< a refusal is on record; guarded by mutex_
  Clock::time_point retryAt_;                          ///< while down; guarded by mutex_
};

} // namespace jitk
