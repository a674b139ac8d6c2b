#include "src/store/shared/SharedStore.h"

#include <array>

namespace jitk {

static constexpr char kCategory[] = "store";

// Names the form of the value, so that libraries whose forms differ do not undo each other's work.
static std::string nameOf(const Key &key) { return "jitk:entry" + std::to_string(Entry::kVersion) + ":" + key.name(); }

// --- the server

bool SharedStore::mayAsk() {
  std::lock_guard lock(mutex_);
  if (down_ && Clock::now() < retryAt_) {
    return false;
  }
  // While one asks whether the server is back the others do not wait for it too.
  retryAt_ = Clock::now() + options_.retryAfter;
  return true;
}

std::unique_ptr<RedisConnection> SharedStore::takeIdle() {
  std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    return nullptr;
  }
  std::unique_ptr<RedisConnection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

Result<RedisReply> SharedStore::askOver(std::unique_ptr<RedisConnection> connection,
                                        std::span<const std::string_view> words, Clock::time_point deadline) {
  JITK_ASSIGN(RedisReply reply, connection->ask(words, deadline));
  std::lock_guard lock(mutex_);
  idle_.push_back(std::move(connection));
  return reply;
}

Result<RedisReply> SharedStore::ask(std::span<const std::string_view> words) {
  Clock::time_point deadline = Clock::now() + options_.deadline;
  // Servers close what was idle for long, so a failure of an old connection says nothing.
  if (std::unique_ptr<RedisConnection> connection = takeIdle()) {
    Result<RedisReply> reply = askOver(std::move(connection), words, deadline);
    if (reply.ok() || reply.status().code() == StatusCode::DeadlineExceeded) {
      return reply;
    }
  }
  JITK_ASSIGN(std::unique_ptr<RedisConnection> fresh, RedisConnection::open(address_, deadline));
  return askOver(std::move(fresh), words, deadline);
}

Status SharedStore::check() {
  JITK_ASSIGN(RedisReply reply, ask(std::array<std::string_view, 1>{"PING"}));
  return reply.kind == RedisReply::Kind::Error ? unavailable("server refused PING: " + reply.text()) : okStatus();
}

// --- what the log hears of it

void SharedStore::noteFailure(const Status &why) {
  {
    std::lock_guard lock(mutex_);
    retryAt_ = Clock::now() + options_.retryAfter;
    idle_.clear();
    if (std::exchange(down_, true)) {
      return;
    }
  }
  log_.warning(kCategory, "shared store " + address() + " does not serve: " + why.toString() +
                              "; kernels are compiled here until it does");
}

void SharedStore::noteAnswer() {
  {
    std::lock_guard lock(mutex_);
    if (!std::exchange(down_, false)) {
      return;
    }
  }
  log_.info(kCategory, "shared store " + address() + " serves again");
}

void SharedStore::noteRefusal(const char *doing, const RedisReply &reply) {
  bool known;
  {
    std::lock_guard lock(mutex_);
    known = std::exchange(refused_, true);
  }
  log_.write(known ? LogLevel::Debug : LogLevel::Warning, kCategory,
             "shared store " + address() + " refused " + doing + ": " + reply.text());
}

// --- entries

/// The value; nothing if there is none, or no answer that is one.
std::optional<RedisReply> SharedStore::askForText(std::span<const std::string_view> words) {
  if (!mayAsk()) {
    return std::nullopt;
  }
  Result<RedisReply> reply = ask(words);
  if (!reply.ok()) {
    noteFailure(reply.status());
    return std::nullopt;
  }
  noteAnswer();
  if (reply->kind == RedisReply::Kind::Nil) {
    return std::nullopt;
  }
  if (reply->kind != RedisReply::Kind::Text) {
    noteRefusal("to say what it has", *reply);
    return std::nullopt;
  }
  return *std::move(reply);
}

bool SharedStore::contains(const Key &key) {
  // The first byte, which is none where there is no value.
  std::string name = nameOf(key);
  std::optional<RedisReply> reply = askForText(std::array<std::string_view, 4>{"GETRANGE", name, "0", "0"});
  return reply && !reply->bytes.empty();
}

std::shared_ptr<const Entry> SharedStore::find(const Key &key) {
  std::string name = nameOf(key);
  std::optional<RedisReply> reply = askForText(std::array<std::string_view, 2>{"GET", name});
  if (!reply) {
    return nullptr;
  }
  Result<Entry> entry = Entry::deserialize(reply->bytes);
  if (!entry.ok()) {
    log_.warning(kCategory, "shared store " + address() + ": " + name +
                                " is damaged and will be built again: " + std::string(entry.status().message()));
    return nullptr;
  }
  // The hash only names the entry; a server is given whole ones.
  return entry->key == key && !entry->isReference() ? std::make_shared<const Entry>(*std::move(entry)) : nullptr;
}

void SharedStore::publish(const Entry &entry) {
  if (!mayAsk()) {
    return;
  }
  std::string name = nameOf(entry.key);
  std::vector<uint8_t> bytes = entry.serialize();
  std::string_view value(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  Result<RedisReply> reply = ask(std::array<std::string_view, 3>{"SET", name, value});
  if (!reply.ok()) {
    noteFailure(reply.status());
    return;
  }
  noteAnswer();
  if (reply->kind != RedisReply::Kind::Status) {
    noteRefusal("to take a kernel", *reply);
  }
}

} // namespace jitk
