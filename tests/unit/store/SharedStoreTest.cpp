// The shared store against a real redis-server, and against servers that misbehave.

#include "src/store/shared/SharedStore.h"

#include "tests/support/LogLines.h"
#include "tests/support/RedisServer.h"
#include "tests/support/SampleEntry.h"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <functional>

using namespace jitk;
using namespace jitk::test;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST_SUITE_BEGIN("store/SharedStore");

namespace {

/// A shared store with a log.
struct Fixture {
  explicit Fixture(const std::string &url, SharedStore::Options options = {.deadline = 5s, .retryAfter = 1h})
      : log(lines.sink(), LogFilter{LogLevel::Info, {}}), store(*RedisAddress::parse(url), options, log) {}

  LogLines lines;
  Log log;
  SharedStore store;
};

/// Asks a server directly.
RedisReply ask(const std::string &url, std::vector<std::string_view> words) {
  auto connection = RedisConnection::open(*RedisAddress::parse(url), Clock::now() + 5s);
  REQUIRE(connection.ok());
  Result<RedisReply> reply = (*connection)->ask(words, Clock::now() + 5s);
  REQUIRE(reply.ok());
  return *reply;
}

std::string nameOf(const Key &key) { return "jitk:entry3:" + key.name(); }

std::string textOf(const std::vector<uint8_t> &bytes) { return {bytes.begin(), bytes.end()}; }

/// Milliseconds that `work` takes.
template <typename Work> double timed(Work work) {
  Clock::time_point begin = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Listens on the loopback interface, and gives each connection to `serve`, which gets its socket.
class OddServer {
public:
  explicit OddServer(std::function<void(int socket)> serve) : serve_(std::move(serve)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof place;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr *>(&place), length) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr *>(&place), &length) == 0);
    REQUIRE(::listen(listener_, 64) == 0);
    url_ = "redis://127.0.0.1:" + std::to_string(ntohs(place.sin_port));
    thread_ = std::thread([this] {
      int socket;
      while ((socket = ::accept(listener_, nullptr, nullptr)) >= 0) {
        serving_.emplace_back([this, socket] {
          serve_(socket);
          ::close(socket);
        });
      }
    });
  }
  ~OddServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (std::thread &serving : serving_) {
      serving.join();
    }
    ::close(listener_);
  }

  const std::string &url() const { return url_; }

private:
  std::function<void(int)> serve_;
  int listener_;
  std::string url_;
  std::vector<std::thread> serving_; ///< of thread_
  std::thread thread_;
};

/// Reads a command, of which something must come.
bool hear(int socket) {
  char buffer[4096];
  return ::recv(socket, buffer, sizeof buffer, 0) > 0;
}

void say(int socket, std::string_view bytes) { (void)!::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

/// Waits until the other side has closed.
void outlast(int socket) {
  while (hear(socket)) {
  }
}

// Every look-up at a server that does not answer ends within this much of its deadline.
constexpr double kSlackMs = 400;

} // namespace

TEST_CASE("addresses") {
  RedisAddress address = *RedisAddress::parse("redis://cache");
  CHECK(address.host == "cache");
  CHECK(address.port == 6379);
  address = *RedisAddress::parse("redis://user:p@ss:w/rd@[::1]:7000/3");
  CHECK(address.user == "user");
  CHECK(address.password == "p@ss:w/rd");
  CHECK(address.host == "::1");
  CHECK(address.port == 7000);
  CHECK(address.database == 3);
  CHECK(address.toString() == "redis://[::1]:7000/3");
  address = *RedisAddress::parse("redis+unix://:secret@/run/redis.sock");
  CHECK(address.socketPath == "/run/redis.sock");
  CHECK(address.user.empty());
  CHECK(address.toString() == "redis+unix:///run/redis.sock");
  for (const char *bad :
       {"", "redis://", "redis://:70", "redis://h:0", "redis://h:65536", "redis://h:1x", "redis://h/x", "redis://[::1",
        "redis://[::1]7", "redis://user@h", "redis+unix://relative", "rediss://:secret@h", "http://h"}) {
    CAPTURE(bad);
    Result<RedisAddress> parsed = RedisAddress::parse(bad);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.status().code() == StatusCode::InvalidArgument);
    CHECK(parsed.status().toString().find("secret") == std::string::npos);
  }
}

TEST_CASE("what one machine publishes another finds, over TCP and over a socket") {
  RedisServer server(JITK_REDIS_SERVER);
  REQUIRE(server.running());
  Entry entry = sampleEntry(sampleKey(), 300'000);
  Fixture writer(server.url());
  CHECK_FALSE(writer.store.find(sampleKey()));
  CHECK_FALSE(writer.store.contains(sampleKey()));
  writer.store.publish(entry);
  for (const std::string &url :
       {server.url(), "redis+unix://" + server.socketPath(), "redis://localhost:" + std::to_string(server.port())}) {
    CAPTURE(url);
    Fixture reader(url);
    std::shared_ptr<const Entry> found = reader.store.find(sampleKey());
    REQUIRE(found);
    CHECK(found->serialize() == entry.serialize());
    CHECK(reader.store.contains(sampleKey()));
    CHECK_FALSE(reader.store.find(sampleKey("other")));
    CHECK_FALSE(reader.store.contains(sampleKey("other")));
    CHECK(reader.store.check().ok());
    CHECK(reader.lines.lines().empty());
  }
  Fixture elsewhere(server.url() + "/3");
  CHECK_FALSE(elsewhere.store.find(sampleKey()));
  CHECK(elsewhere.lines.lines().empty());
}

TEST_CASE("a password opens the server, and does not show in the log") {
  RedisServer server(JITK_REDIS_SERVER, {"--requirepass", "sesame"});
  REQUIRE(server.running());
  std::string place = "127.0.0.1:" + std::to_string(server.port());
  Fixture right("redis://:sesame@" + place), wrong("redis://default:sesam@" + place), none("redis://" + place);
  right.store.publish(sampleEntry(sampleKey()));
  CHECK(right.store.find(sampleKey()));
  CHECK(right.lines.lines().empty());
  for (Fixture *refused : {&wrong, &none}) {
    CHECK_FALSE(refused->store.find(sampleKey()));
    CHECK_FALSE(refused->store.find(sampleKey()));
    CHECK_FALSE(refused->store.check().ok());
    REQUIRE(refused->lines.lines().size() == 1);
    CHECK(refused->lines.lines()[0].find("sesam") == std::string::npos);
    CHECK(refused->lines.lines()[0].find("refused") != std::string::npos);
  }
}

TEST_CASE("damage, another version and another key are misses, and the next publication heals them") {
  RedisServer server(JITK_REDIS_SERVER);
  REQUIRE(server.running());
  std::vector<uint8_t> bytes = sampleEntry(sampleKey()).serialize();
  std::string wanted;
  SUBCASE("a flipped bit") {
    bytes[bytes.size() / 2] ^= 1;
    wanted = "checksum differs";
  }
  SUBCASE("a part") {
    bytes.resize(bytes.size() - 1);
    wanted = "length must be";
  }
  SUBCASE("nothing") {
    bytes.clear();
    wanted = "not a store entry";
  }
  SUBCASE("another version") {
    bytes[8] = 9;
    wanted = "entry version must be 3: got 9";
  }
  SUBCASE("another key") { bytes = sampleEntry(sampleKey("other")).serialize(); }
  ask(server.url(), {"SET", nameOf(sampleKey()), textOf(bytes)});
  Fixture fixture(server.url());
  CHECK_FALSE(fixture.store.find(sampleKey()));
  if (wanted.empty()) {
    CHECK(fixture.lines.lines().empty());
  } else {
    REQUIRE(fixture.lines.lines().size() == 1);
    CHECK(fixture.lines.lines()[0].find(wanted) != std::string::npos);
  }
  fixture.store.publish(sampleEntry(sampleKey()));
  CHECK(fixture.store.find(sampleKey()));
}

TEST_CASE("what the server refuses is said once, and the rest still served") {
  RedisServer server(JITK_REDIS_SERVER, {"--maxmemory", "3mb", "--maxmemory-policy", "noeviction"});
  REQUIRE(server.running());
  ask(server.url(), {"LPUSH", nameOf(sampleKey("list")), "x"});
  Fixture fixture(server.url());
  CHECK_FALSE(fixture.store.find(sampleKey("list")));
  fixture.store.publish(sampleEntry(sampleKey("small")));
  for (const char *name : {"a", "b", "c", "d"}) {
    fixture.store.publish(sampleEntry(sampleKey(name), 1'500'000));
  }
  CHECK(fixture.store.find(sampleKey("small")));
  CHECK_FALSE(fixture.store.find(sampleKey("d")));
  CHECK(fixture.lines.lines().size() == 1);
}

TEST_CASE("a connection that the server dropped is replaced without a word") {
  RedisServer server(JITK_REDIS_SERVER);
  REQUIRE(server.running());
  Fixture fixture(server.url());
  fixture.store.publish(sampleEntry(sampleKey()));
  ask(server.url(), {"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(fixture.store.find(sampleKey()));
  CHECK(fixture.lines.lines().empty());
}

TEST_CASE("a server that is not there costs one line, and serves when it comes") {
  uint16_t port = freePort();
  Fixture fixture("redis://127.0.0.1:" + std::to_string(port), {.deadline = 5s, .retryAfter = 50ms});
  CHECK_FALSE(fixture.store.find(sampleKey()));
  std::this_thread::sleep_for(60ms);
  fixture.store.publish(sampleEntry(sampleKey()));
  REQUIRE(fixture.lines.lines().size() == 1);
  CHECK(fixture.lines.lines()[0].find("connect: Connection refused") != std::string::npos);

  RedisServer server(JITK_REDIS_SERVER, {}, port);
  REQUIRE(server.running());
  std::this_thread::sleep_for(60ms);
  fixture.store.publish(sampleEntry(sampleKey()));
  CHECK(fixture.store.find(sampleKey()));
  REQUIRE(fixture.lines.lines().size() == 2);
  CHECK(fixture.lines.lines()[1].find("serves again") != std::string::npos);
}

TEST_CASE("a server that stops answering costs its deadline, once") {
  RedisServer server(JITK_REDIS_SERVER);
  REQUIRE(server.running());
  Fixture fixture(server.url(), {.deadline = 200ms, .retryAfter = 1h});
  fixture.store.publish(sampleEntry(sampleKey()));
  server.freeze();
  double first = timed([&] { CHECK_FALSE(fixture.store.find(sampleKey())); });
  CHECK(first >= 190);
  CHECK(first < 200 + kSlackMs);
  double next = timed([&] {
    for (int i = 0; i < 1000; ++i) {
      CHECK_FALSE(fixture.store.find(sampleKey()));
    }
  });
  CHECK(next < 200);
  server.thaw();
  REQUIRE(fixture.lines.lines().size() == 1);
  CHECK(fixture.lines.lines()[0].find("took too long") != std::string::npos);
}

TEST_CASE("whatever a server says, a look-up ends by its deadline with nothing, and one line") {
  std::function<void(int)> serve;
  SUBCASE("nothing") { serve = outlast; }
  SUBCASE("goodbye") {
    serve = [](int) {};
  }
  SUBCASE("half a reply") {
    serve = [](int socket) {
      hear(socket);
      say(socket, "$1000\r\nabc");
      outlast(socket);
    };
  }
  SUBCASE("a byte now and then") {
    serve = [](int socket) {
      hear(socket);
      say(socket, "$100000\r\n");
      for (int i = 0; i < 40; ++i) {
        say(socket, "x");
        std::this_thread::sleep_for(20ms);
      }
    };
  }
  SUBCASE("another protocol") {
    serve = [](int socket) {
      hear(socket);
      say(socket, "HTTP/1.1 400 Bad Request\r\n\r\n");
      outlast(socket);
    };
  }
  SUBCASE("a list without end") {
    serve = [](int socket) {
      hear(socket);
      say(socket, "*2147483647\r\n");
      outlast(socket);
    };
  }
  SUBCASE("a length that is none") {
    serve = [](int socket) {
      hear(socket);
      say(socket, "$99999999999999999999\r\n");
      outlast(socket);
    };
  }
  SUBCASE("more than any entry holds") {
    serve = [](int socket) {
      hear(socket);
      say(socket, "$2000000000\r\n");
      outlast(socket);
    };
  }
  SUBCASE("a number") {
    serve = [](int socket) {
      while (hear(socket)) {
        say(socket, ":7\r\n");
      }
    };
  }
  REQUIRE(serve);
  OddServer server(serve);
  Fixture fixture(server.url(), {.deadline = 150ms, .retryAfter = 1h});
  double took = timed([&] { CHECK_FALSE(fixture.store.find(sampleKey())); });
  CHECK(took < 150 + kSlackMs);
  took = timed([&] { fixture.store.publish(sampleEntry(sampleKey(), 1'000'000)); });
  CHECK(took < 150 + kSlackMs);
  CHECK(fixture.lines.lines().size() == 1);
}

TEST_CASE("threads wait side by side, not one after the other") {
  OddServer server(outlast);
  Fixture fixture(server.url(), {.deadline = 200ms, .retryAfter = 1h});
  double took = timed([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] { (void)fixture.store.find(sampleKey(std::to_string(i))); });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
  });
  CHECK(took < 200 + kSlackMs);
  CHECK(fixture.lines.lines().size() == 1);
}

TEST_CASE("a name that nobody knows is a miss") {
  Fixture fixture("redis://no-such-host.invalid", {.deadline = 300ms, .retryAfter = 1h});
  double took = timed([&] { CHECK_FALSE(fixture.store.find(sampleKey())); });
  CHECK(took < 300 + kSlackMs);
  CHECK(fixture.lines.lines().size() == 1);
}

TEST_CASE("many threads share a server") {
  RedisServer server(JITK_REDIS_SERVER);
  REQUIRE(server.running());
  Fixture fixture(server.url());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 50; ++j) {
        Key key = sampleKey(std::to_string(j % 10));
        if (i % 2 == 0) {
          fixture.store.publish(sampleEntry(key, 5000));
        }
        std::shared_ptr<const Entry> found = fixture.store.find(key);
        wrong += found && found->serialize() != sampleEntry(key, 5000).serialize();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
  CHECK(fixture.lines.lines().empty());
  CHECK(fixture.store.find(sampleKey("9")));
}

TEST_SUITE_END();
