// RedisAddress: where a server of the Redis protocol is, and what it asks of those who connect.

#pragma once

#include "src/support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace jitk {

struct RedisAddress {
  std::string host; ///< a name or an address; empty for a socket of this machine
  uint16_t port = 6379;
  std::string socketPath;
  std::string user, password; ///< empty: none
  uint32_t database = 0;

  /// Reads "redis://[[user]:password@]host[:port][/database]", where an IPv6 address stands in brackets, or
  /// "redis+unix://[[user]:password@]/path". InvalidArgument, without the password, for anything else: TLS too.
  static Result<RedisAddress> parse(std::string_view url);

  /// The URL without user and password, for messages.
  std::string toString() const;
};

} // namespace jitk
