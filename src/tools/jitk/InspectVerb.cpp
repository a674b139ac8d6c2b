// jitk inspect: the key of a description, the ways to build its kernel, and its intermediate code; and what a stored
// entry holds.

#include "src/tools/jitk/ProblemOptions.h"
#include "src/tools/jitk/RuntimeOptions.h"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>
#include <map>
#include <stdexcept>

namespace jitk::tool {
namespace {

struct Options {
  ProblemOptions problem;
  std::string target = "sm_90a", show = "key", reproducer;
  RuntimeOptions runtime;
};

} // namespace

/// What a reproducer says behind `name`.
static std::string lineOf(const std::string &text, const std::string &name, const std::string &path) {
  std::string mark = "\n// " + name + ": ";
  size_t at = text.find(mark);
  if (!text.starts_with("// jitk reproducer\n") || at == std::string::npos) {
    throw std::invalid_argument("file must be a reproducer: got " + path);
  }
  at += mark.size();
  return text.substr(at, text.find('\n', at) - at);
}

/// Does a failed compilation again. Exit code 0 if it works now; else as the failure has it.
static int replay(const Options &options) {
  std::string text = readFile(options.reproducer);
  std::string target = lineOf(text, "target", options.reproducer);
  api::Runtime runtime = options.runtime.create();
  api::Description description = api::Description::parse(lineOf(text, "description", options.reproducer));
  std::printf("%s for %s\nit failed with %s\n", description.label().c_str(), target.c_str(),
              lineOf(text, "failure", options.reproducer).c_str());
  api::Artifact::compile(runtime, description, target);
  std::printf("it compiles now\n");
  return kOk;
}

static int printDump(const api::Artifact &artifact, const std::string &show) {
  static const std::map<std::string, jitk_dump_t> kDumps = {
      {"commonir", JITK_DUMP_COMMON_IR}, {"ttgir", JITK_DUMP_TTGIR},
      {"llvm", JITK_DUMP_LLVM_IR},       {"ptx", JITK_DUMP_PTX},
      {"code", JITK_DUMP_CODE},          {"recipe", JITK_DUMP_RECIPE}};
  std::string_view text = artifact.dump(kDumps.at(show));
  if (text.empty()) {
    std::fprintf(stderr, "jitk: there is no %s for target %s\n", show.c_str(), artifact.info().target);
    return kUsage;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kOk;
}

/// Shows what a stored entry holds; intermediate code is made anew, of what its key says.
static int inspectEntry(const Options &options) {
  api::Runtime runtime = options.runtime.create();
  if (options.show == "key") {
    std::printf("%s\n", runtime.explainKey(options.problem.op).c_str());
    return kOk;
  }
  api::Artifact stored = api::Artifact::read(runtime, options.problem.op);
  api::Description description = api::Description::parse(stored.info().description);
  if (options.show == "configurations") {
    std::printf("%s\n", runtime.configurations(description, stored.info().target).c_str());
    return kOk;
  }
  bool isStored = options.show == "code" || options.show == "recipe";
  return printDump(isStored ? stored : api::Artifact::compile(runtime, description, stored.info().target),
                   options.show);
}

static int inspect(const Options &options) {
  if (!options.reproducer.empty()) {
    return replay(options);
  }
  if (options.problem.isKey()) {
    return inspectEntry(options);
  }
  api::Runtime runtime = options.runtime.create();
  api::Description description = options.problem.description();
  if (options.show == "key") {
    std::printf("%s\n", runtime.key(description, options.target).c_str());
    return kOk;
  }
  if (options.show == "configurations") {
    std::printf("%s\n", runtime.configurations(description, options.target).c_str());
    return kOk;
  }
  return printDump(api::Artifact::compile(runtime, description, options.target), options.show);
}

void addInspectVerb(CLI::App &app, Action &action) {
  auto *verb = app.add_subcommand(
      "inspect", "show a kernel's key, its intermediate code, recipe or machine code, of a description "
                 "or of a stored entry's key; compile a reproducer again");
  auto options = std::make_shared<Options>();
  options->problem.addTo(*verb);
  verb->get_option("op")->required(false);
  CLI::Option *replayed = verb->add_option("--reproducer", options->reproducer, "compile again what a reproducer has")
                              ->type_name("FILE")
                              ->check(CLI::ExistingFile);
  verb->get_option("op")->excludes(replayed);
  verb->add_option("--target", options->target, "sm_90a, emulator:sm_90a, ...")->capture_default_str();
  verb->add_option("--show", options->show, "what to print")
      ->check(CLI::IsMember({"key", "configurations", "commonir", "ttgir", "llvm", "ptx", "code", "recipe"}))
      ->capture_default_str();
  options->runtime.addTo(*verb);
  verb->callback([=, &action] { action = [=] { return inspect(*options); }; });
}

} // namespace jitk::tool
