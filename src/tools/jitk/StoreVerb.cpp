// jitk store ls|verify|why|gc|export|import: what the disk store holds.

#include "src/tools/jitk/FileOption.h"
#include "src/tools/jitk/NumberOption.h"
#include "src/tools/jitk/ProblemOptions.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Table.h"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace jitk::tool {
namespace {

struct Options {
  RuntimeOptions runtime;
  bool json = false;
  uint64_t bytes = 0;
  ProblemOptions problem;
  std::string path, target = "sm_90a";
};

using Json = nlohmann::ordered_json;

/// First digits of a key, enough to tell entries apart at a glance.
constexpr size_t kShortKey = 12;

} // namespace

/// A value on a line; of a long text only its beginning.
static std::string shortened(const Json &value) {
  constexpr size_t kLongest = 60;
  std::string text = value.dump();
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

/// Lists the entries; with `verify` what is damaged is moved to the quarantine. Exit code 1 if something is damaged.
static int list(const Options &options, bool verify) {
  Json store = Json::parse(options.runtime.create().listStore(verify));
  Table table({"key", "kernel", "target", ">registers", ">spills", ">shared", ">size"});
  size_t numDamaged = 0;
  uint64_t bytes = 0;
  for (const Json &entry : store["entries"]) {
    bytes += entry["bytes"].get<uint64_t>();
    if (entry.contains("problem")) {
      ++numDamaged;
      continue;
    }
    std::string target = entry["target"];
    table.add({entry["key"].get<std::string>().substr(0, kShortKey), labelOf(entry["description"]), target,
               ofGpu(entry["registers"], target), ofGpu(entry["spill_bytes"], target),
               byteCount(entry["shared_bytes"].get<uint64_t>()), byteCount(entry["bytes"].get<uint64_t>())});
  }
  if (options.json) {
    std::printf("%s\n", store.dump(2).c_str());
    return numDamaged ? kWrongResult : kOk;
  }
  if (!table.empty()) {
    std::printf("%s\n", table.render().c_str());
  }
  for (const Json &entry : store["entries"]) {
    if (entry.contains("problem")) {
      const char *fate = entry["quarantined"] ? ", moved to the quarantine" : verify ? ", and cannot be moved" : "";
      std::printf("damaged%s: %s: %s\n", fate, entry["key"].get<std::string>().c_str(),
                  entry["problem"].get<std::string>().c_str());
    }
  }
  std::printf("%s: %zu entries, %s, %zu damaged\n", store["folder"].get<std::string>().c_str(),
              store["entries"].size() - numDamaged, byteCount(bytes).c_str(), numDamaged);
  return numDamaged ? kWrongResult : kOk;
}

static void printDifferences(const Json &other) {
  std::printf("%s differs in\n", other["key"].get<std::string>().substr(0, kShortKey).c_str());
  for (const auto &[part, values] : other["differs"].items()) {
    std::printf("  %s: stored %s, wanted %s\n", part.c_str(), shortened(values["stored"]).c_str(),
                shortened(values["wanted"]).c_str());
  }
}

/// Says what the key of an entry is made of, and what differs in the nearest other one.
static int whyKey(const Options &options) {
  Json answer = Json::parse(options.runtime.create().explainKey(options.problem.op));
  if (options.json) {
    std::printf("%s\n", answer.dump(2).c_str());
    return kOk;
  }
  std::printf("%s\n  description: %s\n", answer["key"].get<std::string>().c_str(),
              labelOf(answer["description"]).c_str());
  for (const char *part : {"target", "build_id", "options", "assembler"}) {
    std::printf("  %s: %s\n", part, answer[part].get<std::string>().c_str());
  }
  if (answer["nearest"].is_null()) {
    std::printf("there is no other entry\n");
  } else {
    printDifferences(answer["nearest"]);
  }
  return kOk;
}

/// Says where a kernel would come from, and which stored ones are near it.
static int why(const Options &options) {
  if (options.problem.isKey()) {
    return whyKey(options);
  }
  api::Runtime runtime = options.runtime.create();
  api::Description description = options.problem.description();
  Json answer = Json::parse(runtime.explain(description, options.target));
  if (options.json) {
    std::printf("%s\n", answer.dump(2).c_str());
    return kOk;
  }
  std::printf("%s for %s has the key %s\n", description.label().c_str(), options.target.c_str(),
              answer["key"].get<std::string>().c_str());
  std::printf("%s\n", answer["found"].is_null() ? "it would be compiled"
                                                : ("it is in the " + answer["found"].get<std::string>()).c_str());
  for (const Json &similar : answer["similar"]) {
    printDifferences(similar);
  }
  if (answer["found"].is_null() && answer["similar"].empty() && !answer["nearest"].is_null()) {
    printDifferences(answer["nearest"]);
  }
  return kOk;
}

static int collect(const Options &options) {
  options.runtime.create().collectStore(options.bytes);
  return list(options, /*verify=*/false);
}

static int exportBundle(const Options &options) {
  size_t count = options.runtime.create().exportStore(options.path);
  std::printf("%s: %zu kernels\n", options.path.c_str(), count);
  return kOk;
}

static int importBundle(const Options &options) {
  size_t count = options.runtime.create().importBundle(options.path);
  std::printf("%zu kernels from %s\n", count, options.path.c_str());
  return kOk;
}

/// Adds one of the verbs below `store`; `work` is called with what the command line said.
template <typename Work>
static CLI::App *addSubverb(CLI::App &store, Action &action, const std::shared_ptr<Options> &options, const char *name,
                            const char *meaning, Work work) {
  CLI::App *verb = store.add_subcommand(name, meaning);
  options->runtime.addTo(*verb);
  verb->callback([=, &action] { action = [=] { return work(*options); }; });
  return verb;
}

void addStoreVerb(CLI::App &app, Action &action) {
  CLI::App *store = app.add_subcommand("store", "look into the kernel store");
  store->require_subcommand(1);
  auto options = std::make_shared<Options>();

  CLI::App *ls = addSubverb(*store, action, options, "ls", "list the entries; exit 1 if one is damaged",
                            [](const Options &given) { return list(given, /*verify=*/false); });
  CLI::App *verify = addSubverb(*store, action, options, "verify",
                                "as ls, and move damaged entries to the quarantine: they are compiled anew when needed",
                                [](const Options &given) { return list(given, /*verify=*/true); });
  CLI::App *explain = addSubverb(
      *store, action, options, "why",
      "say why a kernel is found or would be compiled; or, of an entry's key, what is in it and in the nearest one",
      why);
  options->problem.addTo(*explain);
  explain->add_option("--target", options->target, "sm_90a, emulator:sm_90a, ...")->capture_default_str();
  for (CLI::App *verb : {ls, verify, explain}) {
    verb->add_flag("--json", options->json, "as JSON");
  }

  addSubverb(*store, action, options, "gc", "remove least recently used entries, and the quarantine", collect)
      ->add_option("--bytes", options->bytes, "what the store may keep; 0 empties it")
      ->required()
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->transform(wholeNumber(0, UINT64_MAX, /*allowsUnit=*/true)); // runs before the one above
  addSubverb(*store, action, options, "export", "write all good entries into one file, a bundle", exportBundle)
      ->add_option("file", options->path, "the bundle to write")
      ->required()
      ->check(notEmpty());
  addSubverb(*store, action, options, "import", "put the good entries of a bundle into the store", importBundle)
      ->add_option("file", options->path, "the bundle to read")
      ->required()
      ->check(CLI::ExistingFile);
}

} // namespace jitk::tool
