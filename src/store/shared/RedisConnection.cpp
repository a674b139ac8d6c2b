#include "src/store/shared/RedisConnection.h"

#include "src/store/shared/Resolve.h"

#include <cerrno>
#include <cstring>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <new>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace jitk {

using Clock = std::chrono::steady_clock;

// Far above any entry; what is larger is no answer to anything asked here.
static constexpr size_t kMaximalReplyBytes = size_t{256} << 20;

static Status failed(const char *doing, int error) {
  return unavailable(std::string(doing) + ": " + describeErrno(error));
}

static Status late(const char *doing) { return {StatusCode::DeadlineExceeded, std::string(doing) + " took too long"}; }

/// Waits until the socket is ready.
static Status waitFor(const File &socket, short events, RedisConnection::Deadline deadline, const char *doing) {
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      return late(doing);
    }
    pollfd watched = {socket.descriptor(), events, 0};
    int ready = ::poll(&watched, 1, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (ready > 0) {
      return okStatus();
    }
    if (ready < 0 && errno != EINTR) {
      return failed(doing, errno);
    }
  }
}

// --- connecting

static Result<File> connectTo(const SocketAddress &place, RedisConnection::Deadline deadline) {
  File socket(::socket(place.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) {
    return failed("socket", errno);
  }
  if (::connect(socket.descriptor(), place.get(), place.length) != 0) {
    // A local socket whose queue is full says EAGAIN, and waiting for it would not help.
    if (errno != EINPROGRESS && errno != EINTR) {
      return failed("connect", errno);
    }
    JITK_TRY(waitFor(socket, POLLOUT, deadline, "connect"));
    int error = 0;
    socklen_t length = sizeof error;
    if (::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &length) != 0 || error != 0) {
      return failed("connect", error ? error : errno);
    }
  }
  int on = 1;
  (void)::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

static Result<File> connectToAny(const std::vector<SocketAddress> &places, RedisConnection::Deadline deadline) {
  Status failure = unavailable("the name has no address");
  for (const SocketAddress &place : places) {
    Result<File> socket = connectTo(place, deadline);
    if (socket.ok()) {
      return socket;
    }
    failure = std::move(socket).takeStatus();
  }
  return failure;
}

/// Asks for what the server must answer with OK.
static Status demand(RedisConnection &connection, std::span<const std::string_view> words,
                     RedisConnection::Deadline deadline) {
  JITK_ASSIGN(RedisReply reply, connection.ask(words, deadline));
  if (reply.kind != RedisReply::Kind::Status || reply.text() != "OK") {
    return unavailable("server refused " + std::string(words.front()) + ": " + reply.text());
  }
  return okStatus();
}

static Status logIn(RedisConnection &connection, const RedisAddress &address, RedisConnection::Deadline deadline) {
  if (!address.password.empty()) {
    std::vector<std::string_view> words = {"AUTH"};
    if (!address.user.empty()) {
      words.push_back(address.user);
    }
    words.push_back(address.password);
    JITK_TRY(demand(connection, words, deadline));
  }
  if (address.database != 0) {
    std::string number = std::to_string(address.database);
    JITK_TRY(demand(connection, std::array<std::string_view, 2>{"SELECT", number}, deadline));
  }
  return okStatus();
}

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const RedisAddress &address, Deadline deadline) {
  JITK_ASSIGN(std::vector<SocketAddress> places, resolve(address, deadline));
  JITK_ASSIGN(File socket, connectToAny(places, deadline));
  std::unique_ptr<RedisConnection> connection(new RedisConnection(std::move(socket)));
  JITK_TRY(logIn(*connection, address, deadline));
  return connection;
}

// --- replies

/// The reply that hiredis is told to fill; null, which fails the reading, if there is no memory for it.
static void *fill(const redisReadTask *task, RedisReply::Kind kind, const char *bytes, size_t size) noexcept {
  auto *reply = static_cast<RedisReply *>(task->privdata);
  try {
    reply->kind = kind;
    reply->bytes.assign(bytes, bytes + size);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
  return reply;
}

static void *fillText(const redisReadTask *task, char *bytes, size_t size) {
  RedisReply::Kind kind = task->type == REDIS_REPLY_ERROR    ? RedisReply::Kind::Error
                          : task->type == REDIS_REPLY_STATUS ? RedisReply::Kind::Status
                                                             : RedisReply::Kind::Text;
  return fill(task, kind, bytes, size);
}

static redisReplyObjectFunctions replyFunctions() {
  redisReplyObjectFunctions functions = {};
  functions.createString = fillText;
  // Generic, since versions of hiredis differ in the type of the number of elements.
  functions.createArray = [](const redisReadTask *, auto) -> void * { return nullptr; };
  functions.createInteger = [](const redisReadTask *task, long long) {
    return fill(task, RedisReply::Kind::Integer, "", 0);
  };
  functions.createNil = [](const redisReadTask *task) { return fill(task, RedisReply::Kind::Nil, "", 0); };
#if HIREDIS_MAJOR >= 1
  functions.createDouble = [](const redisReadTask *, double, char *, size_t) -> void * { return nullptr; };
  functions.createBool = [](const redisReadTask *, int) -> void * { return nullptr; };
#endif
  functions.freeObject = [](void *) {};
  return functions;
}

RedisConnection::RedisConnection(File socket) : socket_(std::move(socket)), reader_(nullptr, redisReaderFree) {
  static redisReplyObjectFunctions functions = replyFunctions();
  reader_.reset(redisReaderCreateWithFunctions(&functions));
  if (reader_) {
    reader_->privdata = &reply_;
  }
}

RedisConnection::~RedisConnection() = default;

// --- asking

Status RedisConnection::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(socket_.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      JITK_TRY(waitFor(socket_, POLLOUT, deadline, "send"));
    } else if (errno != EINTR) {
      return failed("send", errno);
    }
  }
  return okStatus();
}

Result<RedisReply> RedisConnection::receive(Deadline deadline) {
  std::vector<char> buffer(size_t{64} << 10);
  size_t total = 0;
  while (true) {
    void *reply = nullptr;
    if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
      return unavailable(std::string("reply is not of the Redis protocol: ") + reader_->errstr);
    }
    if (reply) {
      return std::exchange(reply_, {});
    }
    JITK_TRY(waitFor(socket_, POLLIN, deadline, "reply"));
    ssize_t got = ::recv(socket_.descriptor(), buffer.data(), buffer.size(), 0);
    if (got == 0) {
      return unavailable("server closed the connection");
    }
    if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return failed("receive", errno);
    }
    total += got > 0 ? static_cast<size_t>(got) : 0;
    if (total > kMaximalReplyBytes) {
      return unavailable("reply must be at most " + std::to_string(kMaximalReplyBytes) + " bytes: got more");
    }
    if (got > 0 && redisReaderFeed(reader_.get(), buffer.data(), static_cast<size_t>(got)) != REDIS_OK) {
      return Status(StatusCode::OutOfMemory, "out of host memory for a reply");
    }
  }
}

Result<RedisReply> RedisConnection::ask(std::span<const std::string_view> words, Deadline deadline) {
  std::vector<const char *> starts;
  std::vector<size_t> lengths;
  for (std::string_view word : words) {
    starts.push_back(word.data());
    lengths.push_back(word.size());
  }
  char *command = nullptr;
  auto length = redisFormatCommandArgv(&command, static_cast<int>(words.size()), starts.data(), lengths.data());
  if (length < 0 || !reader_) {
    return Status(StatusCode::OutOfMemory, "out of host memory for a command");
  }
  Status sent = send({command, static_cast<size_t>(length)}, deadline);
  redisFreeCommand(command);
  JITK_TRY(std::move(sent));
  return receive(deadline);
}

} // namespace jitk
