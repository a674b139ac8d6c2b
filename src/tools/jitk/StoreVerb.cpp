// jitk store ls|verify|gc: what the disk store holds.

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
};

} // namespace

using Json = nlohmann::ordered_json;

static std::string textOf(const Json &entry, const char *name) {
  if (!entry.contains(name)) {
    return "";
  }
  return entry[name].is_string() ? entry[name].get<std::string>() : entry[name].dump();
}

/// Lists the entries; exit code 1 if one is damaged.
static int list(const Options &options, bool verify) {
  std::string text = options.runtime.create().listStore(verify);
  Json store = Json::parse(text);
  const Json &damaged = store.contains("damaged") ? store["damaged"] : Json::array();
  if (options.json) {
    std::printf("%s\n", store.dump(2).c_str());
    return damaged.empty() ? kOk : kWrongResult;
  }
  Table table({"key", "kernel", "target", ">size"});
  for (const Json &entry : store["entries"]) {
    table.add({textOf(entry, "key").substr(0, 12), textOf(entry, "description"), textOf(entry, "target"),
               byteCount(entry.value("bytes", uint64_t(0)))});
  }
  std::printf("%s", table.render().c_str());
  for (const Json &entry : damaged) {
    std::printf("damaged: %s\n", entry.dump().c_str());
  }
  return damaged.empty() ? kOk : kWrongResult;
}

void addStoreVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("store", "look into the kernel store");
  verb->require_subcommand(1);
  auto options = std::make_shared<Options>();

  auto *ls = verb->add_subcommand("ls", "list the entries");
  auto *check = verb->add_subcommand("verify", "read every entry's checksum; exit 1 if one is damaged");
  for (CLI::App *sub : {ls, check}) {
    options->runtime.addTo(*sub);
    sub->add_flag("--json", options->json, "as JSON");
  }
  ls->callback([=, &action] { action = [=] { return list(*options, false); }; });
  check->callback([=, &action] { action = [=] { return list(*options, true); }; });

  auto *gc = verb->add_subcommand("gc", "remove least recently used entries, and all that is quarantined");
  options->runtime.addTo(*gc);
  gc->add_option("--bytes", options->bytes, "what the store may keep")->capture_default_str();
  gc->callback([=, &action] {
    action = [=] {
      options->runtime.create().collectStore(options->bytes);
      return int(kOk);
    };
  });
}

} // namespace jitk::tool
