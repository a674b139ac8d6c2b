#include "src/capi/Backends.h"
#include "src/capi/Guard.h"
#include "src/ops/JsonText.h"
#include "src/ops/Spelling.h"
#include "src/runtime/BuildId.h"
#include "src/support/Env.h"
#include "src/support/ExitSection.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace jitk;
using namespace jitk::capi;
using Json = nlohmann::ordered_json;

static std::string textOr(const char *given, const std::optional<std::string> &otherwise) {
  return given ? given : otherwise.value_or("");
}

/// Where lines go: to the engine; else, if JITK_LOG asks for it, to stderr.
static Status chooseLog(const jitk_runtime_options_t &given, RuntimeOptions &options) {
  if (given.log_level < JITK_LOG_LEVEL_DEFAULT || given.log_level > JITK_LOG_LEVEL_DEBUG) {
    return invalidArgument("options.log_level must be between 0 and 4: got " + std::to_string(given.log_level));
  }
  if (given.log) {
    options.logSink = [log = given.log, user = given.log_user](LogLevel level, std::string_view category,
                                                               std::string_view message) {
      if (ExitSection section; section.entered()) {
        log(user, static_cast<jitk_log_level_t>(level), std::string(category).c_str(), std::string(message).c_str());
      }
    };
    bool chosen = given.log_level != JITK_LOG_LEVEL_DEFAULT;
    options.logFilter.level = chosen ? static_cast<LogLevel>(given.log_level) : LogLevel::Warning;
  } else if (given.log_level != JITK_LOG_LEVEL_DEFAULT) {
    return invalidArgument("options.log_level needs options.log");
  } else if (environment().log) {
    JITK_ASSIGN(options.logFilter, LogFilter::parse(*environment().log));
    options.logSink = stderrSink(options.logFilter.json);
  }
  return okStatus();
}

static Status readBundles(const jitk_runtime_options_t &given, RuntimeOptions &options) {
  if (!given.bundles) {
    options.bundles = environment().bundles;
    return given.num_bundles == 0 ? okStatus() : require(given.bundles, "options.bundles");
  }
  for (size_t i = 0; i < given.num_bundles; ++i) {
    JITK_TRY(requireText(given.bundles[i], "a path of options.bundles"));
    options.bundles.emplace_back(given.bundles[i]);
  }
  return okStatus();
}

static Status readSharedStore(const jitk_runtime_options_t &given, RuntimeOptions &options) {
  std::string url = textOr(given.shared_store, environment().sharedStore);
  if (!url.empty()) {
    Result<RedisAddress> address = RedisAddress::parse(url);
    if (!address.ok()) {
      return std::move(address).takeStatus().withNote(given.shared_store ? "in options.shared_store"
                                                                         : "in JITK_SHARED_STORE");
    }
    options.sharedStore = *std::move(address);
  }
  if (given.shared_deadline_ms != 0) {
    options.sharedOptions.deadline = std::chrono::milliseconds(given.shared_deadline_ms);
  }
  return okStatus();
}

static Status chooseJobs(const jitk_runtime_options_t &given, RuntimeOptions &options) {
  static constexpr uint32_t kMostJobs = 1024;
  options.jobs = given.jobs;
  if (given.jobs > kMostJobs) {
    return invalidArgument("options.jobs must be at most " + std::to_string(kMostJobs) + ": got " +
                           std::to_string(given.jobs));
  }
  if (const std::optional<std::string> &text = environment().jobs; text && given.jobs == 0) {
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), options.jobs);
    if (error != std::errc() || end != text->data() + text->size() || options.jobs == 0 || options.jobs > kMostJobs) {
      return invalidArgument("JITK_JOBS must be a whole number between 1 and " + std::to_string(kMostJobs) + ": got '" +
                             *text + "'");
    }
  }
  return okStatus();
}

static Status choosePriority(const jitk_runtime_options_t &given, RuntimeOptions &options) {
  static constexpr uint32_t kDefaultNice = 5, kLargestNice = 19;
  if (given.worker_nice > kLargestNice && given.worker_nice != UINT32_MAX) {
    return invalidArgument("options.worker_nice must be at most " + std::to_string(kLargestNice) +
                           ", or UINT32_MAX: got " + std::to_string(given.worker_nice));
  }
  options.workerNice = given.worker_nice == UINT32_MAX ? 0 : given.worker_nice ? given.worker_nice : kDefaultNice;
  return okStatus();
}

static Status chooseAssembler(const jitk_runtime_options_t &given, RuntimeOptions &options) {
  options.assembler = textOr(given.assembler, environment().assembler);
  if (options.assembler.empty() || std::ranges::find(kAssemblerNames, options.assembler) != std::end(kAssemblerNames)) {
    return okStatus();
  }
  return invalidArgument(std::string(given.assembler ? "options.assembler" : "JITK_ASSEMBLER") + " must be one of " +
                         allowedWords(options.assembler, kAssemblerNames) + ": got '" + options.assembler + "'");
}

/// The compiler, and where it runs.
static Status chooseCompiler(const jitk_runtime_options_t &given, RuntimeOptions &options) {
  options.compilerLibrary = textOr(given.compiler_library, environment().compilerLibrary);
  options.buildId = kBuildId;
  options.isolateCompiler = given.isolate_compiler != 0;
  if (!options.isolateCompiler && (given.compile_deadline_ms != 0 || given.compile_memory_bytes != 0)) {
    return invalidArgument("options.compile_deadline_ms and compile_memory_bytes need options.isolate_compiler");
  }
  options.compileTimeLimit = std::chrono::milliseconds(given.compile_deadline_ms);
  options.compileMemoryBytes = given.compile_memory_bytes;
  options.compilerProgram = textOr(given.compiler_program, std::nullopt);
  return okStatus();
}

static_assert(JITK_CAUSE_REQUESTED == static_cast<int>(Cause::Requested));
static_assert(JITK_CAUSE_MISSED == static_cast<int>(Cause::Missed));
static_assert(JITK_CAUSE_BACKGROUND == static_cast<int>(Cause::Background));

static LateCompilationCallback lateCompilationCallback(const jitk_runtime_options_t &given) {
  if (!given.late_compilation) {
    return {};
  }
  return [call = given.late_compilation, user = given.late_compilation_user](const LateCompilation &late) {
    const std::string target = late.target.toString();
    jitk_late_compilation_t told = {};
    told.struct_size = kKnownBytes<jitk_late_compilation_t>;
    told.cause = static_cast<jitk_cause_t>(late.cause);
    told.status = static_cast<jitk_status_t>(late.status.code());
    told.key = late.key.c_str();
    told.description = late.problem.text.c_str();
    told.target = target.c_str();
    told.compile_ms = late.milliseconds;
    call(user, &told); // in the section of the compilation
  };
}

/// Those that are online, whoever may use them.
static uint32_t machineCores() { return static_cast<uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

static Status readOptions(const jitk_runtime_options_t *given, RuntimeOptions &options) {
  jitk_runtime_options_t copy = {};
  if (given) {
    JITK_TRY(readStruct(given, "options", copy));
  }
  options.storeFolder = copy.store_path ? std::optional<std::string>(copy.store_path) : environment().storeFolder();
  options.storeBytes = copy.store_bytes ? copy.store_bytes : options.storeBytes;
  options.memoryBytes = copy.memory_bytes ? copy.memory_bytes : options.memoryBytes;
  if (copy.lock_deadline_ms != 0) {
    options.lockPatience = std::chrono::milliseconds(copy.lock_deadline_ms);
  }
  JITK_TRY(chooseJobs(copy, options));
  JITK_TRY(choosePriority(copy, options));
  JITK_TRY(chooseAssembler(copy, options));
  JITK_TRY(chooseCompiler(copy, options));
  options.useTuned = copy.use_tuned != 0;
  options.onLateCompilation = lateCompilationCallback(copy);
  options.reproducers = textOr(copy.reproducers, environment().reproducers);
  options.hostJobs = copy.host_jobs == UINT32_MAX ? 0 : copy.host_jobs ? copy.host_jobs : machineCores();
  JITK_TRY(readBundles(copy, options));
  JITK_TRY(readSharedStore(copy, options));
  return chooseLog(copy, options);
}

static Json storeReport(Runtime &runtime) {
  DiskStore *disk = runtime.entries().disk();
  if (disk) {
    return {{"folder", disk->folder()}};
  }
  return {{"folder", nullptr},
          {"problem", runtime.storeProblem().ok() ? "none was asked for" : runtime.storeProblem().toString()}};
}

static Json sharedReport(Runtime &runtime) {
  SharedStore *shared = runtime.entries().shared();
  if (!shared) {
    return nullptr;
  }
  Status status = shared->check();
  return {{"address", shared->address()}, {"problem", status.ok() ? Json() : Json(status.toString())}};
}

static Json bundleReport(Runtime &runtime) {
  Json report = Json::array();
  for (const std::unique_ptr<Bundle> &bundle : runtime.entries().bundles()) {
    report.push_back(Json{{"path", bundle->path()}, {"kernels", bundle->size()}});
  }
  return report;
}

/// What each assembler of this machine says to each architecture, whether or not it is the one that is used.
static Json toolsReport(Compiler &compiler) {
  Json report = Json::object();
  for (std::string_view assembler : kAssemblerNames) {
    Json &findings = report[std::string(assembler)] = Json::object();
    CompileOptions options;
    options.assembler = assembler;
    for (std::string_view architecture : Target::architectures()) {
      Result<std::string> identity = compiler.assemblerIdentity(*Target::parse(architecture), options);
      findings[std::string(architecture)] = identity.ok() ? *identity : identity.status().toString();
    }
  }
  return report;
}

static Json compilerReport(Runtime &runtime) {
  Result<Compiler *> compiler = runtime.compiler().get();
  if (!compiler.ok()) {
    return {{"library", nullptr}, {"problem", compiler.status().toString()}};
  }
  Json report = {{"library", runtime.compiler().path()},
                 {"isolated", runtime.compilerIsIsolated()},
                 {"assemblers", Json::object()}};
  for (const char *prefix : {"", "emulator:"}) {
    for (std::string_view architecture : Target::architectures()) {
      std::string name = prefix + std::string(architecture);
      Result<std::string> identity = runtime.compiler().assemblerIdentity(*Target::parse(name));
      report["assemblers"][name] = identity.ok() ? *identity : identity.status().toString();
    }
  }
  report["tools"] = toolsReport(**compiler);
  Result<std::string> cuda = runtime.compiler().assemblerIdentity(*Target::parse("sm_90a"), /*cudaSource=*/true);
  report["cuda_source"] = cuda.ok() ? *cuda : cuda.status().toString();
  return report;
}

/// Whether `configuration` is one of those that a problem can be built in, and that it leaves open.
static Status checkConfiguration(const Problem &problem, const std::vector<Configuration> &known,
                                 std::string_view configuration) {
  if (known.empty() || !problem.description.attributes().contains("configuration")) {
    return invalidArgument("description must be one whose kernel can be built in several ways: got " + problem.label);
  }
  if (!hasOpenConfiguration(problem.description)) {
    return invalidArgument("description must name no configuration, for which others are stored: got '" +
                           problem.description.word("configuration") + "'");
  }
  if (configuration.empty() || std::ranges::find(known, configuration, &Configuration::name) != known.end()) {
    return okStatus();
  }
  constexpr size_t kMostNamed = 5;
  std::string names;
  for (size_t i = 0; i < std::min(known.size(), kMostNamed); ++i) {
    names += (i == 0 ? "" : ", ") + known[i].name;
  }
  if (known.size() > kMostNamed) {
    names += ", or another of " + std::to_string(known.size());
  }
  return invalidArgument("configuration must be " + names + ": got '" + std::string(configuration) + "'");
}

extern "C" {

jitk_status_t jitk_runtime_create(const jitk_runtime_options_t *options, jitk_runtime_t *runtime, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(runtime, "runtime"));
    *runtime = nullptr;
    RuntimeOptions read;
    if (Status status = readOptions(options, read); !status.ok()) {
      return std::move(status).atStage("runtime");
    }
    auto handle = std::make_unique<jitk_runtime_s>();
    bool ofEnvironment = read.bundles == environment().bundles;
    Result<std::shared_ptr<Runtime>> created = Runtime::create(std::move(read));
    if (!created.ok()) { // for a bundle
      Status failure = std::move(created).takeStatus();
      return ofEnvironment ? std::move(failure).withNote("in JITK_BUNDLES") : std::move(failure);
    }
    handle->runtime = *std::move(created);
    *runtime = handle.release();
    return okStatus();
  });
}

void jitk_runtime_retain(jitk_runtime_t runtime) { retain(runtime); }
void jitk_runtime_release(jitk_runtime_t runtime) { releaseInOwnProcess(runtime); }

jitk_status_t jitk_runtime_report(jitk_runtime_t runtime, jitk_text_t *report, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(report, "report"));
    *report = nullptr;
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    Json json = {{"version", jitk_version()},
                 {"build_id", kBuildId},
                 {"workers", runtime->runtime->workers().count()},
                 {"store", storeReport(*runtime->runtime)},
                 {"shared_store", sharedReport(*runtime->runtime)},
                 {"bundles", bundleReport(*runtime->runtime)},
                 {"compiler", compilerReport(*runtime->runtime)},
                 {"backends", Json::object()}};
    for (const Backend &backend : backends()) {
      json["backends"][std::string(backend.prefix)] = backend.describe();
    }
    *report = new jitk_text_s{jsonText(json)};
    return okStatus();
  });
}

jitk_status_t jitk_runtime_counters(jitk_runtime_t runtime, jitk_counters_t *counters, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    const Counters &now = runtime->runtime->counters();
    auto of = [&](Tier tier) { return now.kernels[static_cast<size_t>(tier)].load(std::memory_order_relaxed); };
    jitk_counters_t read = {};
    read.struct_size = sizeof read;
    read.found_loaded = of(Tier::Loaded);
    read.found_in_memory = of(Tier::Memory);
    read.found_on_disk = of(Tier::Disk);
    read.found_in_bundles = of(Tier::Bundle);
    read.found_in_shared_store = of(Tier::Shared);
    read.joined = of(Tier::Joined);
    read.compiled = of(Tier::Compiled);
    read.failed = of(Tier::None);
    read.compilations = now.compilations;
    read.failed_compilations = now.failures;
    read.compile_us = now.microseconds;
    read.lock_timeouts = now.lockTimeouts;
    read.loads = now.loads;
    read.loaded_bytes = now.loadedBytes;
    read.found_equal = of(Tier::Equal);
    return writeStruct(read, "counters", counters);
  });
}

jitk_status_t jitk_runtime_key(jitk_runtime_t runtime, jitk_description_t description, const char *target,
                               jitk_text_t *key, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(key, "key"));
    *key = nullptr;
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    JITK_ASSIGN(Target parsed, targetOf(description, target));
    JITK_ASSIGN(Key made, runtime->runtime->entries().keyOf(*description->problem, parsed));
    Json json = {{"key", made.name()},
                 {"description", made.parts().description},
                 {"target", made.parts().target},
                 {"build_id", made.parts().buildId},
                 {"options", made.parts().options},
                 {"assembler", made.parts().assembler}};
    *key = new jitk_text_s{jsonText(json)};
    return okStatus();
  });
}

jitk_status_t jitk_runtime_configurations(jitk_runtime_t runtime, jitk_description_t description, const char *target,
                                          jitk_text_t *configurations, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(configurations, "configurations"));
    *configurations = nullptr;
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    JITK_ASSIGN(Target parsed, targetOf(description, target));
    JITK_ASSIGN(Compiler * compiler, runtime->runtime->compiler().get());
    JITK_ASSIGN(std::vector<Configuration> found, compiler->configurations(description->problem->description, parsed));
    Json json = Json::array();
    for (const Configuration &each : found) {
      json.push_back({{"name", each.name}, {"clocks", each.clocks}});
    }
    *configurations = new jitk_text_s{jsonText(json)};
    return okStatus();
  });
}

jitk_status_t jitk_runtime_store_configuration(jitk_runtime_t runtime, jitk_device_t device,
                                               jitk_description_t description, const char *configuration,
                                               jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    JITK_TRY(require(device, "device"));
    JITK_TRY(require(description, "description"));
    JITK_TRY(require(configuration, "configuration"));
    JITK_ASSIGN(Compiler * compiler, runtime->runtime->compiler().get());
    const Problem &problem = *description->problem;
    JITK_ASSIGN(std::vector<Configuration> known,
                compiler->configurations(problem.description, device->device->target()));
    JITK_TRY(checkConfiguration(problem, known, configuration));
    return runtime->runtime->entries().publishTuned(problem, *device->device, configuration);
  });
}

} // extern "C"
