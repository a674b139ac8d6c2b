// Preparation: one run of a plan's problems over the workers.

#pragma once

#include "src/runtime/Runtime.h"
#include "src/runtime/Stopwatch.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace jitk {

/// What became of one problem. Lives for the length of the callback.
struct Progress {
  size_t done; ///< problems finished, this one included
  size_t total;
  const Problem &problem;
  const Target &target;
  const Status &status;
  std::shared_ptr<const Entry> entry; ///< null after a failure
  Tier tier;
  double obtainMilliseconds;
  double loadMilliseconds;
};

struct PrepareOptions {
  std::shared_ptr<Device> device; ///< null: only fill the store
  Target target;                  ///< without a device
  std::function<void(const Progress &)> progress;
  std::optional<std::chrono::steady_clock::time_point> deadline; ///< what is not begun by then fails
  /// Gets each kernel that was loaded, before its progress is reported.
  std::function<void(std::shared_ptr<const Kernel>)> keep;
};

/// Thread-safe. The runtime must outlive its end.
class Preparation : public std::enable_shared_from_this<Preparation> {
public:
  struct Item {
    std::shared_ptr<const Problem> problem;
    bool generic; ///< for others to fall back on: its failure is a line in the log, and not that of the whole
  };

  /// No two items have equal problems.
  Preparation(Runtime &runtime, PrepareOptions options, std::vector<Item> items);

  /// Gives the workers one job a problem; they take the problems in order. One whose kernel is the same as another's
  /// that is being compiled waits for it without a worker.
  void start();
  /// Problems that are not begun fail with Cancelled.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  /// OK if all went well; DeadlineExceeded if it goes on after `timeout` (none: never); else the first failure. `key`
  /// (may be null) gets the name of the key whose failure it is; it stays as it is where there is none.
  Status wait(std::optional<std::chrono::milliseconds> timeout, std::string *key = nullptr);
  /// The outcome of one problem, once it is there; InvalidArgument if the preparation does not have it.
  Status wait(const Problem &problem, std::optional<std::chrono::milliseconds> timeout, std::string *key = nullptr);
  bool finished();
  /// What was done when and on which worker, so far, in Chrome's trace event format (chrome://tracing, Perfetto).
  std::string trace();

private:
  /// One problem on the time line; milliseconds since the preparation began.
  struct Span {
    size_t item;
    size_t worker;
    double begin, obtain, load;
    Tier tier;
    StatusCode code;
    EntryFacts facts; ///< of its compilation
  };

  struct Outcome {
    Status status;
    std::shared_ptr<const Entry> entry;
    Tier tier = Tier::None;
    double obtainMilliseconds = 0, loadMilliseconds = 0;
    double begin = 0; ///< milliseconds since the preparation began
  };

  /// Items with the same program, which is compiled once.
  struct Group {
    bool made = false;           ///< or failed
    std::vector<size_t> waiting; ///< for the one that makes it
  };

  void prepareNext();
  size_t takeNext(bool &waited);
  Status mayBegin() const;
  /// The program of an item that is not stored, where others of the preparation may have the same; else empty.
  Result<std::string> programToShare(const std::shared_ptr<const Problem> &asked);
  bool hasRelatives(const Problem &problem);
  /// False if another item is making the program: this one is taken up again when it has landed.
  bool mayMake(const std::string &program, size_t index);
  void landed(const std::string &program, const std::shared_ptr<const Entry> &entry);
  Outcome prepare(const std::shared_ptr<const Problem> &problem);
  Outcome prepareOnDevice(const std::shared_ptr<const Problem> &problem);
  Outcome prepareInStore(const Problem &problem);
  void finish(size_t index, Outcome outcome);
  void giveKey(size_t index, std::string *key);

  Runtime &runtime_;
  const PrepareOptions options_;
  const std::vector<Item> items_;
  std::map<std::string_view, size_t> places_; ///< of the problems' texts; never changes
  const Stopwatch watch_;
  std::once_flag counted_;
  std::map<std::string, size_t> relatives_; ///< items by description without bounds; written once
  std::atomic<bool> cancelled_ = false;
  std::mutex reporting_; ///< held over a callback, so that they come one at a time and in order
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0;                             ///< guarded by mutex_
  std::deque<size_t> released_;                 ///< to be taken before the next one; guarded by mutex_
  std::map<std::string, Group> groups_;         ///< by program; guarded by mutex_
  size_t numFinished_ = 0;                      ///< guarded by mutex_
  std::vector<std::optional<Status>> outcomes_; ///< guarded by mutex_
  std::vector<Span> spans_;                     ///< guarded by mutex_
  std::map<std::thread::id, size_t> workers_;   ///< in the order in which they began; guarded by mutex_
  std::optional<size_t> firstFailure_;          ///< index of its item; guarded by mutex_
};

} // namespace jitk
