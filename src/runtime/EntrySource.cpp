#include "src/runtime/EntrySource.h"

#include "src/ops/UserKernel.h"
#include "src/runtime/ElfImage.h"
#include "src/runtime/Reproducer.h"
#include "src/runtime/Stopwatch.h"
#include "src/support/ExitSection.h"

#include <algorithm>
#include <cstdio>

namespace jitk {

/// Of the time until then; none once it is over.
static std::chrono::milliseconds left(Patience::Clock::time_point deadline) {
  auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - Patience::Clock::now());
  return std::max(rest, std::chrono::milliseconds(0));
}

Key EntrySource::makeKey(const Problem &problem, const Target &target, std::string assembler) const {
  return Key({problem.text, target.toString(), compiler_.buildId(), /*options=*/"", std::move(assembler)});
}

bool hasOpenConfiguration(const Description &description) {
  auto found = description.attributes().find("configuration");
  return found != description.attributes().end() && found->second == AttributeValue(std::string());
}

/// What is measured on a device holds for those of its name and for this build of the compiler.
Key EntrySource::tunedKey(const Problem &problem, const Device &device) const {
  return Key({problem.text, device.target().toString(), compiler_.buildId(), "fastest on " + device.name(), ""});
}

/// Stands for no configuration, since an entry has code.
static constexpr std::string_view kDefaultConfiguration = "default";

std::string EntrySource::findTuned(const Problem &problem, const Device &device) {
  Key key = tunedKey(problem, device);
  std::shared_ptr<const Entry> entry = findInBundles(key);
  if (!entry && disk_) {
    entry = disk_->find(key);
  }
  std::string configuration = entry ? std::string(entry->code.begin(), entry->code.end()) : std::string();
  return configuration == kDefaultConfiguration ? std::string() : configuration;
}

Status EntrySource::publishTuned(const Problem &problem, const Device &device, std::string_view configuration) {
  if (!disk_) {
    return unavailable("runtime has no disk store to keep a configuration in").atStage("store");
  }
  configuration = configuration.empty() ? kDefaultConfiguration : configuration;
  return disk_->publish({.key = tunedKey(problem, device),
                         .recipe = {},
                         .facts = {},
                         .code = {configuration.begin(), configuration.end()}});
}

Result<Key> EntrySource::keyOf(const Problem &problem, const Target &target) {
  JITK_ASSIGN(std::string assembler, compiler_.assemblerIdentity(target, isCudaSource(problem.description)));
  return makeKey(problem, target, std::move(assembler));
}

Result<Obtained> EntrySource::obtain(const Problem &problem, const Target &target, Cause cause) {
  Result<Obtained> obtained = obtainUncounted(problem, target, cause);
  Counters::add(counters_.kernels[static_cast<size_t>(obtained.ok() ? obtained->tier : Tier::None)]);
  return obtained;
}

Result<Obtained> EntrySource::obtainUncounted(const Problem &problem, const Target &target, Cause cause) {
  Stopwatch watch;
  Result<Key> key = keyOf(problem, target);
  if (!key.ok()) {
    return findWithoutCompiler(problem, target, std::move(key).takeStatus());
  }
  if (std::shared_ptr<const Entry> entry = memory_.find(*key)) {
    return Obtained{std::move(entry), Tier::Memory, watch.milliseconds()};
  }
  bool joined = false;
  std::string flight(key->bytes().begin(), key->bytes().end());
  Result<Obtained> obtained = flights_.run(flight, joined, [&] { return findOrCompile(problem, target, *key, cause); });
  if (obtained.ok()) {
    obtained->tier = joined ? Tier::Joined : obtained->tier;
    obtained->milliseconds = watch.milliseconds();
  }
  return obtained;
}

/// The entry, unless it has the code that is not wanted.
static std::shared_ptr<const Entry> unlessRefused(std::shared_ptr<const Entry> entry, const Entry *refused) {
  return entry && refused && entry->code == refused->code ? nullptr : std::move(entry);
}

Result<Obtained> EntrySource::findOrCompile(const Problem &problem, const Target &target, const Key &key, Cause cause,
                                            const Entry *refused) {
  // Asked again: the flight before this one may have landed after the caller looked.
  if (std::shared_ptr<const Entry> entry = unlessRefused(memory_.find(key), refused)) {
    return Obtained{std::move(entry), Tier::Memory, 0};
  }
  if (std::shared_ptr<const Entry> entry = unlessRefused(findInBundles(key), refused)) {
    memory_.add(entry);
    return Obtained{std::move(entry), Tier::Bundle, 0};
  }
  std::shared_ptr<const Entry> entry = disk_ ? unlessRefused(disk_->find(key), refused) : nullptr;
  if (entry) {
    memory_.add(entry);
    return Obtained{std::move(entry), Tier::Disk, 0};
  }
  const Patience::Clock::time_point deadline = patience_.deadline();
  KeyLock lock;
  if (disk_) {
    lock = disk_->lock(key, left(deadline), [this] { return patience_.isOver(); });
    noteTimeout(lock, "store", "another process holds the lock", problem);
    // Whoever held it may have published.
    entry = unlessRefused(disk_->find(key), refused);
  }
  Obtained obtained{std::move(entry), Tier::Disk, 0};
  if (!obtained.entry) {
    JITK_ASSIGN(obtained, makeEntry(problem, target, key, cause, deadline, refused));
  }
  memory_.add(obtained.entry);
  return obtained;
}

/// Waits for its turn among the processes of this machine; after too long it is its turn anyway.
KeyLock EntrySource::takeToken(const Problem &problem, Patience::Clock::time_point deadline) {
  if (!disk_ || hostJobs_ == 0) {
    return {};
  }
  KeyLock token = disk_->takeToken(hostJobs_, left(deadline), [this] { return patience_.isOver(); });
  noteTimeout(token, "compile", "other processes compile", problem);
  return token;
}

void EntrySource::noteTimeout(const KeyLock &lock, std::string_view category, const std::string &what,
                              const Problem &problem) {
  if (lock.outcome() == KeyLock::Outcome::TimedOut) {
    patience_.noteTimeout();
    Counters::add(counters_.lockTimeouts);
    log_.warning(category, what + " for too long: compiling too: " + problem.label);
  }
}

Result<Obtained> EntrySource::makeEntry(const Problem &problem, const Target &target, const Key &key, Cause cause,
                                        Patience::Clock::time_point deadline, const Entry *refused) {
  ExitSection section; // what is compiled is published, too
  JITK_TRY(section.status());
  Obtained obtained{shared_ ? unlessRefused(shared_->find(key), refused) : nullptr, Tier::Shared, 0};
  bool isShared = obtained.entry != nullptr;
  if (!isShared && refused) {
    // Not the code of another problem either: that could be the one that is refused.
    JITK_ASSIGN(obtained, compileEntry(problem, target, key, cause, {}, deadline));
  } else if (!isShared) {
    JITK_ASSIGN(obtained, compileOrShare(problem, target, key, cause, deadline));
  }
  if (disk_ && obtained.tier != Tier::Compiled) {
    (void)disk_->publish(*obtained.entry);
  }
  if (shared_ && !isShared) {
    shared_->publish(*obtained.entry);
  }
  return obtained;
}

Result<Obtained> EntrySource::replace(const Problem &problem, const Target &target, const Entry &refused,
                                      const Status &why, Cause cause) {
  JITK_ASSIGN(const Key key, keyOf(problem, target));
  bool joined = false;
  return flights_.run("instead of " + key.name(), joined,
                      [&] { return replaceOnce(problem, target, key, refused, why, cause); });
}

Result<Obtained> EntrySource::replaceOnce(const Problem &problem, const Target &target, const Key &key,
                                          const Entry &refused, const Status &why, Cause cause) {
  // Another device of this kind may have asked before.
  if (std::shared_ptr<const Entry> known = unlessRefused(memory_.find(key), &refused)) {
    return Obtained{std::move(known), Tier::Memory, 0};
  }
  {
    std::lock_guard lock(mutex_);
    if (!replaced_.insert(key.name()).second) {
      return why.clone();
    }
  }
  const std::string reason = "the device refuses it: " + why.toString();
  if (!disk_ || !disk_->reject(refused, Status(StatusCode::DataLoss, reason))) {
    log_.warning("store", "code of " + problem.label + " will be built again: " + reason);
  }
  return findOrCompile(problem, target, key, cause, &refused);
}

std::shared_ptr<const Entry> EntrySource::findInBundles(const Key &key) {
  for (const std::unique_ptr<Bundle> &bundle : bundles_) {
    Status damage;
    if (std::shared_ptr<const Entry> entry = bundle->find(key, &damage)) {
      return entry;
    }
    if (!damage.ok()) {
      log_.warning("store", damage.message());
    }
  }
  return nullptr;
}

Result<Obtained> EntrySource::findWithoutCompiler(const Problem &problem, const Target &target, Status why) {
  Stopwatch watch;
  Key key = makeKey(problem, target, /*assembler=*/"");
  for (const std::unique_ptr<Bundle> &bundle : bundles_) {
    if (std::shared_ptr<const Entry> entry = bundle->findAnyAssembler(key)) {
      return Obtained{std::move(entry), Tier::Bundle, watch.milliseconds()};
    }
  }
  std::shared_ptr<const Entry> entry = disk_ ? disk_->findAnyAssembler(key) : nullptr;
  if (!entry) {
    return std::move(why).withNote(disk_ ? "and the store has no kernel for " + problem.label
                                         : "and there is no store to look for " + problem.label);
  }
  return Obtained{std::move(entry), Tier::Disk, watch.milliseconds()};
}

/// Refuses what must not be published: an empty, foreign or unfinished file, a recipe that a launch cannot evaluate.
static Status checkCompiled(const CompiledKernel &kernel) {
  JITK_TRY(checkElfImage(kernel.code).atStage("assemble"));
  return kernel.recipe.validate().atStage("build");
}

void EntrySource::reportLate(const Problem &problem, const Target &target, Cause cause, const Status &status,
                             double milliseconds) {
  if (!onLate_) {
    return;
  }
  Result<Key> key = keyOf(problem, target);
  const std::string name = key.ok() ? key->name() : std::string();
  onLate_({.cause = cause,
           .status = status,
           .key = name,
           .problem = problem,
           .target = target,
           .milliseconds = milliseconds});
}

/// Adds where the reproducer of a failure lies, if it is one that a reproducer helps with.
Status EntrySource::withReproducer(Status failure, const Problem &problem, const Target &target, Compiler &compiler) {
  bool isOfMachine = failure.code() == StatusCode::Unavailable || failure.code() == StatusCode::Cancelled;
  if (reproducers_.empty() || isOfMachine) {
    return failure;
  }
  Result<std::string> path = writeReproducer(reproducers_, problem, target, failure, compiler);
  if (!path.ok()) {
    log_.warning("compile", path.status().toString());
    return failure;
  }
  return std::move(failure).withNote("reproducer: " + *path);
}

Result<CompiledKernel> EntrySource::compile(const Problem &problem, const Target &target, const CompileOptions &options,
                                            Cause cause) {
  ExitSection section;
  JITK_TRY(section.status());
  JITK_ASSIGN(Compiler * compiler, compiler_.get());
  Stopwatch watch;
  Counters::add(counters_.compilations);
  Result<CompiledKernel> compiled = compiler->compile(problem.description, target, options);
  if (compiled.ok()) {
    if (Status status = checkCompiled(*compiled); !status.ok()) {
      compiled = std::move(status).withNote("after compiling " + problem.label);
    }
  }
  Counters::add(counters_.microseconds, static_cast<uint64_t>(1000 * watch.milliseconds()));
  Counters::add(counters_.failures, compiled.ok() ? 0 : 1);
  if (cause != Cause::Preparation) {
    reportLate(problem, target, cause, compiled.ok() ? okStatus() : compiled.status().clone(), watch.milliseconds());
  }
  if (!compiled.ok()) {
    return withReproducer(std::move(compiled).takeStatus(), problem, target, *compiler);
  }
  return compiled;
}

bool EntrySource::isStored(const Problem &problem, const Target &target) {
  Result<Key> key = keyOf(problem, target);
  if (!key.ok()) {
    return false;
  }
  return memory_.find(*key) || (disk_ && disk_->exists(*key)) ||
         std::any_of(bundles_.begin(), bundles_.end(), [&](const auto &bundle) { return bundle->contains(*key); }) ||
         (shared_ && shared_->contains(*key));
}

// --- problems whose code is the same

Result<std::string> EntrySource::programOf(const Problem &problem, const Target &target) {
  Result<Key> key = keyOf(problem, target);
  return key.ok() ? programOf(problem, target, *key) : std::string();
}

Result<std::string> EntrySource::programOf(const Problem &problem, const Target &target, const Key &key) {
  ExitSection section;
  Result<Compiler *> compiler = compiler_.get();
  if (!section.status().ok() || !compiler.ok()) {
    return std::string();
  }
  // What fails here fails again, and says so, where it is compiled; what took all the time that it may take is not
  // begun again.
  Result<std::string> digest = (*compiler)->programDigest(problem.description, target);
  if (!digest.ok() && digest.status().code() == StatusCode::DeadlineExceeded) {
    return withReproducer(std::move(digest).takeStatus().withNote("while compiling " + problem.label), problem, target,
                          **compiler);
  }
  if (!digest.ok() || digest->empty()) {
    return std::string();
  }
  return *digest + " " + key.parts().target + " " + key.parts().assembler;
}

std::shared_ptr<const Entry> EntrySource::findProgram(const std::string &program) {
  std::lock_guard lock(mutex_);
  return programs_.find(program);
}

void EntrySource::learn(const std::string &program, const std::shared_ptr<const Entry> &entry) {
  std::lock_guard lock(mutex_);
  programs_.add(program, entry);
}

Result<Obtained> EntrySource::findOrCompileProgram(const std::string &program, const Problem &problem,
                                                   const Target &target, const Key &key, Cause cause,
                                                   Patience::Clock::time_point deadline) {
  if (std::shared_ptr<const Entry> known = findProgram(program)) {
    return Obtained{std::move(known), Tier::Equal, 0};
  }
  KeyLock lock;
  Obtained obtained{nullptr, Tier::Equal, 0};
  if (disk_) {
    // Another process may have been asked for another problem of this program.
    Key programKey = Entry::programKey(key, program);
    lock = disk_->lockProgram(programKey, left(deadline), [this] { return patience_.isOver(); });
    noteTimeout(lock, "store", "another process holds the lock of the program", problem);
    obtained.entry = disk_->findProgram(programKey);
  }
  if (!obtained.entry) {
    JITK_ASSIGN(obtained, compileEntry(problem, target, key, cause, program, deadline));
  }
  learn(program, obtained.entry);
  return obtained;
}

Result<Obtained> EntrySource::compileOrShare(const Problem &problem, const Target &target, const Key &key, Cause cause,
                                             Patience::Clock::time_point deadline) {
  JITK_ASSIGN(const std::string program, programOf(problem, target, key));
  bool joined = false;
  Result<Obtained> made = program.empty()
                              ? compileEntry(problem, target, key, cause, {}, deadline)
                              : programFlights_.run(program, joined, [&] {
                                  return findOrCompileProgram(program, problem, target, key, cause, deadline);
                                });
  // A failure is told of the problem that was asked for, so each makes its own.
  if (joined && !made.ok()) {
    return compileEntry(problem, target, key, cause, {}, deadline);
  }
  if (made.ok() && (joined || made->tier == Tier::Equal)) {
    const Entry &equal = *made->entry;
    return Obtained{std::make_shared<const Entry>(Entry{key, equal.recipe, equal.facts, equal.code, equal.program}),
                    Tier::Equal, 0};
  }
  return made;
}

static std::string timesText(const StageTimes &times) {
  char text[128];
  std::snprintf(text, sizeof text, "build %.1f, lower %.1f, llvm %.1f, assemble %.1f ms", times.build, times.lower,
                times.llvm, times.assemble);
  return text;
}

Result<Obtained> EntrySource::compileEntry(const Problem &problem, const Target &target, const Key &key, Cause cause,
                                           std::string program, Patience::Clock::time_point deadline) {
  KeyLock token = takeToken(problem, deadline);
  JITK_ASSIGN(CompiledKernel compiled, compile(problem, target, compiler_.options(), cause));
  if (log_.enabled(LogLevel::Info, "compile")) {
    log_.info("compile", problem.label + " for " + target.toString() + ": " + timesText(compiled.times));
  }
  if (!compiled.note.empty()) {
    log_.warning("compile", problem.label + ": " + compiled.note);
  }
  EntryFacts facts{
      .registers = compiled.statistics.registers,
      .spillBytes = compiled.statistics.spillBytes,
      .sharedBytes = compiled.statistics.sharedBytes,
      .buildMs = compiled.times.build,
      .lowerMs = compiled.times.lower,
      .llvmMs = compiled.times.llvm,
      .assembleMs = compiled.times.assemble,
  };
  auto entry = std::make_shared<const Entry>(
      Entry{key, compiled.recipe.serialize(), facts, std::move(compiled.code), std::move(program)});
  if (disk_) {
    // Here, where others wait for it; it has said why if it failed, and the kernel is there.
    (void)disk_->publish(*entry);
  }
  return Obtained{std::move(entry), Tier::Compiled, 0};
}

} // namespace jitk
