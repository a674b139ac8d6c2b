// jitk doctor: what works on this machine.

#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

namespace jitk::tool {

using Json = nlohmann::ordered_json;

static void line(const char *subject, const std::string &finding) {
  std::printf("%-10s %s\n", subject, finding.c_str());
}

/// The text of a member, or why it is null.
static std::string textOrProblem(const Json &object, const char *member) {
  return object[member].is_null() ? "none: " + object["problem"].get<std::string>() : object[member].get<std::string>();
}

/// What assembles for GPUs and for the emulator, each once, and the architectures that it is asked for.
static void showAssemblers(const Json &assemblers) {
  constexpr std::string_view kEmulator = "emulator:";
  std::map<std::pair<bool, std::string>, std::string> architecturesOf; // by the assembler, those of GPUs first
  for (const auto &[target, identity] : assemblers.items()) {
    bool isEmulator = target.starts_with(kEmulator);
    std::string &architectures = architecturesOf[{isEmulator, identity.get<std::string>()}];
    architectures += (architectures.empty() ? "" : ", ") + target.substr(isEmulator ? kEmulator.size() : 0);
  }
  for (const auto &[assembler, architectures] : architecturesOf) {
    line(assembler.first ? "emulator" : "assembler", assembler.second);
    line("", "asked for " + architectures);
  }
}

/// The tools that are not asked, why, and for which architectures.
static void showOtherTools(const Json &tools, const Json &assemblers) {
  for (const auto &[tool, findings] : tools.items()) {
    std::map<std::string, std::string> architecturesOf; // by the finding
    for (const auto &[target, finding] : findings.items()) {
      if (finding != assemblers[target]) {
        std::string &architectures = architecturesOf[finding.get<std::string>()];
        architectures += (architectures.empty() ? "" : ", ") + target;
      }
    }
    for (const auto &[finding, architectures] : architecturesOf) {
      line(tool.c_str(), finding);
      line("", "not asked for " + architectures);
    }
  }
}

static void show(const Json &report) {
  line("version", report["version"].get<std::string>() + ", build " + report["build_id"].get<std::string>());
  line("workers", report["workers"].dump());
  line("store", textOrProblem(report["store"], "folder"));
  if (const Json &shared = report["shared_store"]; !shared.is_null()) {
    line("shared", shared["address"].get<std::string>() +
                       (shared["problem"].is_null() ? "" : ": " + shared["problem"].get<std::string>()));
  }
  for (const Json &bundle : report["bundles"]) {
    line("bundle", bundle["path"].get<std::string>() + ": " + bundle["kernels"].dump() + " kernels");
  }
  line("compiler", textOrProblem(report["compiler"], "library"));
  if (report["compiler"].contains("assemblers")) {
    showAssemblers(report["compiler"]["assemblers"]);
    showOtherTools(report["compiler"]["tools"], report["compiler"]["assemblers"]);
    line("CUDA C++", report["compiler"]["cuda_source"].get<std::string>());
  }
  for (const auto &[prefix, finding] : report["backends"].items()) {
    line("devices", prefix + " " + finding.get<std::string>());
  }
}

void addDoctorVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand("doctor", "report the store, the compiler, the assemblers and the devices");
  auto options = std::make_shared<RuntimeOptions>();
  auto json = std::make_shared<bool>(false);
  options->addTo(*verb);
  verb->add_flag("--json", *json, "as JSON");
  verb->callback([=, &action] {
    action = [=] {
      std::string report = options->create().report();
      if (*json) {
        std::printf("%s\n", report.c_str());
      } else {
        show(Json::parse(report));
      }
      return int(kOk);
    };
  });
}

} // namespace jitk::tool
