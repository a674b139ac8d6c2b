#include "src/runtime/Preparation.h"

#include "src/ops/JsonText.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>

namespace jitk {

Preparation::Preparation(Runtime &runtime, PrepareOptions options, std::vector<Item> items)
    : runtime_(runtime), options_(std::move(options)), items_(std::move(items)), outcomes_(items_.size()) {
  for (size_t i = 0; i < items_.size(); ++i) {
    places_.emplace(items_[i].problem->text, i);
  }
}

void Preparation::start() {
  for (size_t i = 0; i < items_.size(); ++i) {
    runtime_.workers().submit([self = shared_from_this()] { self->prepareNext(); });
  }
}

size_t Preparation::takeNext(bool &waited) {
  std::lock_guard lock(mutex_);
  waited = !released_.empty();
  if (!waited) {
    return next_++;
  }
  size_t index = released_.front();
  released_.pop_front();
  return index;
}

void Preparation::prepareNext() {
  bool waited = false;
  size_t index = takeNext(waited);
  const std::shared_ptr<const Problem> &problem = items_[index].problem;
  Outcome outcome;
  std::string program;
  double begin = watch_.milliseconds();
  // The entry of a worker's task: std and oneTBB may throw, nothing of ours does.
  try {
    Result<std::string> shared = waited ? std::string() : programToShare(problem);
    program = shared.ok() ? *shared : std::string();
    if (!program.empty() && !mayMake(program, index)) {
      return;
    }
    outcome = shared.ok() ? prepare(problem) : Outcome{.status = std::move(shared).takeStatus(), .entry = nullptr};
  } catch (const std::bad_alloc &) {
    outcome.status = Status(StatusCode::OutOfMemory, "out of host memory while preparing " + problem->label);
  } catch (const std::exception &exception) {
    outcome.status =
        internalError(std::string("exception while preparing ") + problem->label + ": " + exception.what());
  } catch (...) {
    outcome.status = internalError("exception while preparing " + problem->label);
  }
  outcome.begin = begin;
  if (!program.empty()) {
    landed(program, outcome.entry);
  }
  finish(index, std::move(outcome));
}

// --- items whose kernel is the same

/// The description without the bounds of its dimensions. They choose among the ways to build a kernel, of which there
/// are few, so that descriptions which differ in nothing else often come to the same one.
static std::string textWithoutBounds(const Description &description) {
  auto attributes = description.attributes();
  for (auto &[name, value] : attributes) {
    if (auto *dimension = std::get_if<Dimension>(&value)) {
      dimension->bound = 0;
    }
  }
  return Description(description.op(), std::move(attributes)).toString();
}

bool Preparation::hasRelatives(const Problem &problem) {
  std::call_once(counted_, [this] {
    for (const Item &item : items_) {
      ++relatives_[textWithoutBounds(item.problem->description)];
    }
  });
  return relatives_.at(textWithoutBounds(problem.description)) > 1;
}

Result<std::string> Preparation::programToShare(const std::shared_ptr<const Problem> &asked) {
  if (!mayBegin().ok()) {
    return std::string();
  }
  const Target &target = options_.target;
  std::shared_ptr<const Problem> problem = options_.device ? runtime_.tuned(asked, *options_.device) : asked;
  bool isAlone = runtime_.entries().isStored(*problem, target) || !hasRelatives(*asked);
  return isAlone ? Result<std::string>(std::string()) : runtime_.entries().programOf(*problem, target);
}

bool Preparation::mayMake(const std::string &program, size_t index) {
  std::lock_guard lock(mutex_);
  auto [place, isFirst] = groups_.try_emplace(program);
  if (isFirst || place->second.made) {
    return true;
  }
  place->second.waiting.push_back(index);
  return false;
}

void Preparation::landed(const std::string &program, const std::shared_ptr<const Entry> &entry) {
  if (entry) {
    runtime_.entries().learn(program, entry); // it may be of another process
  }
  std::vector<size_t> waiting;
  {
    std::lock_guard lock(mutex_);
    Group &group = groups_[program];
    group.made = true;
    waiting.swap(group.waiting);
    released_.insert(released_.end(), waiting.begin(), waiting.end());
  }
  for (size_t i = 0; i < waiting.size(); ++i) {
    runtime_.workers().submit([self = shared_from_this()] { self->prepareNext(); });
  }
}

Status Preparation::mayBegin() const {
  if (cancelled_.load(std::memory_order_relaxed)) {
    return Status(StatusCode::Cancelled, "preparation was cancelled").atStage("plan");
  }
  if (options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline) {
    return Status(StatusCode::DeadlineExceeded, "deadline of the preparation passed before this kernel was begun")
        .atStage("plan");
  }
  return okStatus();
}

Preparation::Outcome Preparation::prepare(const std::shared_ptr<const Problem> &problem) {
  if (Status status = mayBegin(); !status.ok()) {
    return {.status = std::move(status), .entry = nullptr};
  }
  return options_.device ? prepareOnDevice(problem) : prepareInStore(*problem);
}

Preparation::Outcome Preparation::prepareOnDevice(const std::shared_ptr<const Problem> &problem) {
  Stopwatch watch;
  Tier tier = Tier::None;
  Result<std::shared_ptr<const Kernel>> kernel = runtime_.kernel(options_.device, problem, Cause::Preparation, &tier);
  if (!kernel.ok()) {
    return {.status = std::move(kernel).takeStatus(), .entry = nullptr, .obtainMilliseconds = watch.milliseconds()};
  }
  if (options_.keep) {
    options_.keep(*kernel);
  }
  Outcome outcome{.status = okStatus(), .entry = (*kernel)->obtained().entry, .tier = tier};
  bool loadedNow = tier != Tier::Loaded && tier != Tier::Joined;
  outcome.loadMilliseconds = loadedNow ? (*kernel)->loadMilliseconds() : 0;
  outcome.obtainMilliseconds = watch.milliseconds() - outcome.loadMilliseconds;
  return outcome;
}

Preparation::Outcome Preparation::prepareInStore(const Problem &problem) {
  Stopwatch watch;
  Result<Obtained> obtained = runtime_.entries().obtain(problem, options_.target, Cause::Preparation);
  if (!obtained.ok()) {
    return {.status = std::move(obtained).takeStatus(), .entry = nullptr, .obtainMilliseconds = watch.milliseconds()};
  }
  return {.status = okStatus(),
          .entry = std::move(obtained->entry),
          .tier = obtained->tier,
          .obtainMilliseconds = watch.milliseconds()};
}

void Preparation::finish(size_t index, Outcome outcome) {
  const Item &item = items_[index];
  std::lock_guard reporting(reporting_);
  size_t done = 0;
  {
    std::lock_guard lock(mutex_);
    size_t worker = workers_.try_emplace(std::this_thread::get_id(), workers_.size()).first->second;
    spans_.push_back({index, worker, outcome.begin, outcome.obtainMilliseconds, outcome.loadMilliseconds, outcome.tier,
                      outcome.status.code(), outcome.entry ? outcome.entry->facts : EntryFacts()});
    // The count itself goes up after the callback: who waits may free what the callback uses.
    done = numFinished_ + 1;
  }
  if (!outcome.status.ok() && item.generic) {
    runtime_.log().warning("compile", "there is no generic kernel to fall back on: " + item.problem->label + ": " +
                                          outcome.status.toString());
  }
  if (options_.progress) {
    options_.progress({.done = done,
                       .total = items_.size(),
                       .problem = *item.problem,
                       .target = options_.target,
                       .status = outcome.status,
                       .entry = std::move(outcome.entry),
                       .tier = outcome.tier,
                       .obtainMilliseconds = outcome.obtainMilliseconds,
                       .loadMilliseconds = outcome.loadMilliseconds});
  }
  std::lock_guard lock(mutex_);
  ++numFinished_;
  if (!outcome.status.ok() && !firstFailure_ && !item.generic) {
    firstFailure_ = index;
  }
  outcomes_[index] = std::move(outcome.status);
  changed_.notify_all();
}

void Preparation::giveKey(size_t index, std::string *key) {
  if (!key) {
    return;
  }
  Target target = options_.device ? options_.device->target() : options_.target;
  if (Result<Key> made = runtime_.entries().keyOf(*items_[index].problem, target); made.ok()) {
    *key = made->name();
  }
}

Status Preparation::wait(std::optional<std::chrono::milliseconds> timeout, std::string *key) {
  std::unique_lock lock(mutex_);
  auto over = [this] { return numFinished_ == items_.size(); };
  if (!timeout) {
    changed_.wait(lock, over);
  } else if (!changed_.wait_for(lock, *timeout, over)) {
    return Status(StatusCode::DeadlineExceeded, "preparation goes on after " + std::to_string(timeout->count()) +
                                                    " ms: " + std::to_string(numFinished_) + " of " +
                                                    std::to_string(items_.size()) + " kernels are finished")
        .atStage("plan");
  }
  if (!firstFailure_) {
    return okStatus();
  }
  // Nothing changes any more.
  lock.unlock();
  giveKey(*firstFailure_, key);
  return outcomes_[*firstFailure_]->clone();
}

Status Preparation::wait(const Problem &problem, std::optional<std::chrono::milliseconds> timeout, std::string *key) {
  auto place = places_.find(problem.text);
  if (place == places_.end()) {
    return invalidArgument("description must be one of the preparation: got " + problem.label).atStage("plan");
  }
  std::unique_lock lock(mutex_);
  const std::optional<Status> &outcome = outcomes_[place->second];
  auto over = [&] { return outcome.has_value(); };
  if (!timeout) {
    changed_.wait(lock, over);
  } else if (!changed_.wait_for(lock, *timeout, over)) {
    lock.unlock();
    giveKey(place->second, key);
    return Status(StatusCode::DeadlineExceeded,
                  "kernel is not ready after " + std::to_string(timeout->count()) + " ms: " + problem.label)
        .atStage("plan");
  }
  // It does not change any more.
  lock.unlock();
  if (!outcome->ok()) {
    giveKey(place->second, key);
  }
  return outcome->clone();
}

bool Preparation::finished() {
  std::lock_guard lock(mutex_);
  return numFinished_ == items_.size();
}

static_assert(static_cast<size_t>(Tier::Equal) + 1 == Counters::kNumTiers);
static constexpr std::array<const char *, Counters::kNumTiers> kTierNames = {
    "failed", "loaded", "memory", "disk", "compiled", "joined", "bundle", "shared", "equal"};

std::string Preparation::trace() {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  auto add = [&](const char *category, const std::string &name, size_t worker, double begin, double length) -> Json & {
    // Microseconds, as the format wants them.
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"ts", 1000 * begin},
                      {"dur", 1000 * length},
                      {"pid", 1},
                      {"tid", worker}});
    return events.back();
  };
  std::lock_guard lock(mutex_);
  for (const Span &span : spans_) {
    const std::string &name = items_[span.item].problem->label;
    add("kernel", name, span.worker, span.begin, span.obtain + span.load)["args"] = {
        {"tier", kTierNames[static_cast<size_t>(span.tier)]}, {"status", statusCodeName(span.code)}};
    double end = span.begin + span.obtain;
    if (span.tier == Tier::Compiled) {
      const EntryFacts &facts = span.facts;
      double begin = end - (facts.buildMs + facts.lowerMs + facts.llvmMs + facts.assembleMs);
      for (auto [stage, length] : {std::pair("build", facts.buildMs), std::pair("lower", facts.lowerMs),
                                   std::pair("llvm", facts.llvmMs), std::pair("assemble", facts.assembleMs)}) {
        add("stage", stage, span.worker, std::max(begin, span.begin), length);
        begin += length;
      }
    }
    if (span.load > 0) {
      add("stage", "load", span.worker, end, span.load);
    }
  }
  return jsonText(Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}, /*indent=*/1);
}

} // namespace jitk
