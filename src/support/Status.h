// Status and Result<T>: how every room reports failure.
//
// A status is one pointer wide; OK is null. A failure carries whose fault it is (the code), what happened (the
// message), at which stage, the output of a tool where one failed, and notes added while it rises. Nothing here throws
// or prints. A Status may be moved between threads and is not shared.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace jitk {

/// Whose fault a failure is. The values are those of `jitk_status_t`.
enum class StatusCode : int32_t {
  Ok = 0,
  InvalidArgument = 1,  ///< the caller's
  Unsupported = 2,      ///< we cannot yet, or this target cannot
  Unavailable = 3,      ///< the machine's: a driver, a tool or a folder is missing
  OutOfMemory = 4,      ///< host, device, or disk
  DeviceLost = 5,       ///< the device stopped answering
  NotPrepared = 6,      ///< a sealed plan has no such kernel
  Cancelled = 7,        ///< the caller cancelled
  DeadlineExceeded = 8, ///< the caller's deadline passed, or a tool outran its own
  DataLoss = 9,         ///< stored bytes are damaged
  Forked = 10,          ///< called in a child after fork
  Internal = 11,        ///< ours
};

/// Returns the name as the C API spells it without its prefix: "INVALID_ARGUMENT".
std::string_view statusCodeName(StatusCode code);

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message);

  bool ok() const { return !failure_; }
  StatusCode code() const { return failure_ ? failure_->code : StatusCode::Ok; }
  /// The first message, without notes; empty for OK.
  std::string_view message() const;
  /// Where it happened: "schema", "build", "lower", "llvm", "assemble", "store", "load", "launch"; may be empty.
  std::string_view stage() const;
  /// What an external tool printed; may be empty.
  std::string_view toolOutput() const;
  /// The message and all notes: "out of memory; while loading matmul".
  std::string toString() const;

  /// Adds what was being done when the failure rose through here. No effect on OK.
  Status &&withNote(std::string note) &&;
  Status &&atStage(std::string stage) &&;
  Status &&withToolOutput(std::string output) &&;

  Status clone() const;

private:
  struct Failure {
    StatusCode code;
    std::string message;
    std::string stage;
    std::string toolOutput;
    std::vector<std::string> notes;
  };
  std::unique_ptr<Failure> failure_;
};

inline Status okStatus() { return {}; }
Status invalidArgument(std::string message);
Status unsupported(std::string message);
Status unavailable(std::string message);
Status internalError(std::string message);

/// A value, or why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T &operator*() & { return std::get<0>(state_); }
  const T &operator*() const & { return std::get<0>(state_); }
  T &&operator*() && { return std::get<0>(std::move(state_)); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  /// The failure; only when !ok().
  Status takeStatus() && { return std::get<1>(std::move(state_)); }
  const Status &status() const { return std::get<1>(state_); }

private:
  std::variant<T, Status> state_;
};

} // namespace jitk

#define JITK_CONCAT_INNER(a, b) a##b
#define JITK_CONCAT(a, b) JITK_CONCAT_INNER(a, b)

/// Returns the failure of a Status expression to the caller, with an optional note.
#define JITK_TRY(expression, ...)                                                                                      \
  do {                                                                                                                 \
    if (::jitk::Status jitkStatus = (expression); !jitkStatus.ok()) {                                                  \
      __VA_OPT__(jitkStatus = std::move(jitkStatus).withNote(__VA_ARGS__);)                                            \
      return jitkStatus;                                                                                               \
    }                                                                                                                  \
  } while (false)

/// Declares `target` with the value of a Result expression, or returns its failure.
#define JITK_ASSIGN(target, expression)                                                                                \
  auto JITK_CONCAT(jitkResult, __LINE__) = (expression);                                                               \
  if (!JITK_CONCAT(jitkResult, __LINE__).ok()) {                                                                       \
    return std::move(JITK_CONCAT(jitkResult, __LINE__)).takeStatus();                                                  \
  }                                                                                                                    \
  target = *std::move(JITK_CONCAT(jitkResult, __LINE__))
