#include "src/store/shared/RedisAddress.h"

#include <charconv>
#include <system_error>

namespace jitk {

static constexpr std::string_view kTcp = "redis://", kUnix = "redis+unix://";

template <typename Number> static bool readNumber(std::string_view text, Number &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

static Status malformed(const char *what) {
  // The URL may hold a password, so it is not repeated.
  return invalidArgument(std::string("shared store must be redis://[[user]:password@]host[:port][/database] or "
                                     "redis+unix://[[user]:password@]/path: got one ") +
                         what);
}

/// Takes "host[:port]" apart.
static Status readHost(std::string_view text, RedisAddress &address) {
  size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    size_t bracket = text.find(']');
    if (bracket == std::string_view::npos || (bracket + 1 != text.size() && text[bracket + 1] != ':')) {
      return malformed("with a bracket that is not closed");
    }
    address.host = text.substr(1, bracket - 1);
    colon = bracket + 1 < text.size() ? bracket + 1 : std::string_view::npos;
  } else {
    address.host = text.substr(0, colon);
  }
  if (address.host.empty()) {
    return malformed("without a host");
  }
  if (colon != std::string_view::npos && (!readNumber(text.substr(colon + 1), address.port) || address.port == 0)) {
    return malformed("whose port is none");
  }
  return okStatus();
}

Result<RedisAddress> RedisAddress::parse(std::string_view url) {
  RedisAddress address;
  bool local = url.starts_with(kUnix);
  if (!local && !url.starts_with(kTcp)) {
    return malformed("that begins otherwise");
  }
  url.remove_prefix(local ? kUnix.size() : kTcp.size());
  // The last one: a password may hold more of them.
  if (size_t at = url.rfind('@'); at != std::string_view::npos) {
    std::string_view login = url.substr(0, at);
    size_t colon = login.find(':');
    if (colon == std::string_view::npos) {
      return malformed("with a user but no password");
    }
    address.user = login.substr(0, colon);
    address.password = login.substr(colon + 1);
    url.remove_prefix(at + 1);
  }
  if (local) {
    if (!url.starts_with('/')) {
      return malformed("whose path is not absolute");
    }
    address.socketPath = url;
    return address;
  }
  size_t slash = url.find('/');
  JITK_TRY(readHost(url.substr(0, slash), address));
  if (slash != std::string_view::npos && slash + 1 != url.size() &&
      !readNumber(url.substr(slash + 1), address.database)) {
    return malformed("whose database is no number");
  }
  return address;
}

std::string RedisAddress::toString() const {
  if (host.empty()) {
    return std::string(kUnix) + socketPath;
  }
  bool bare = host.find(':') == std::string::npos;
  std::string text = std::string(kTcp) + (bare ? host : "[" + host + "]") + ":" + std::to_string(port);
  return database == 0 ? text : text + "/" + std::to_string(database);
}

} // namespace jitk
