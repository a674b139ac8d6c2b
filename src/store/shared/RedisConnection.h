// RedisConnection: one connection to a server of the Redis protocol (version 2).
//
// hiredis writes commands and reads replies; the socket is ours, since every step here ends at a deadline, whatever the
// server does: hiredis bounds a single read, and a server that sends a byte now and then would hold it for ever.

#pragma once

#include "src/store/File.h"
#include "src/store/shared/RedisAddress.h"
#include "src/support/Status.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

struct redisReader;

namespace jitk {

/// A reply that is no list: nothing asked here is answered by one.
struct RedisReply {
  enum class Kind { Text, Status, Error, Integer, Nil };
  Kind kind = Kind::Nil;
  std::vector<uint8_t> bytes; ///< of Text, Status and Error

  std::string text() const { return {bytes.begin(), bytes.end()}; }
};

/// For one thread at a time.
class RedisConnection {
public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Connects, logs in, and chooses the database. Fails with Unavailable, or DeadlineExceeded.
  static Result<std::unique_ptr<RedisConnection>> open(const RedisAddress &address, Deadline deadline);
  ~RedisConnection();

  /// Sends a command and waits for its reply. After a failure the connection is of no more use. A reply of kind Error
  /// is no failure.
  Result<RedisReply> ask(std::span<const std::string_view> words, Deadline deadline);

private:
  explicit RedisConnection(File socket);
  Status send(std::string_view bytes, Deadline deadline);
  Result<RedisReply> receive(Deadline deadline);

  File socket_;      ///< non-blocking
  RedisReply reply_; ///< being read
  std::unique_ptr<redisReader, void (*)(redisReader *)> reader_;
};

} // namespace jitk
