// jitk: plans, prepares, runs and inspects kernels from the command line, over the public API.

#include "jitk/jitk.hpp"
#include "src/ops/Spelling.h"
#include "src/tools/jitk/Verbs.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

using namespace jitk;
using namespace jitk::tool;

static int runAction(const Action &action) {
  try {
    return action();
  } catch (const api::Exception &failure) {
    std::fprintf(stderr, "jitk: %s\n", failure.what());
    if (!failure.toolOutput().empty()) {
      std::fprintf(stderr, "%s\n", failure.toolOutput().c_str());
    }
    return exitCodeOf(failure.status());
  } catch (const std::invalid_argument &failure) {
    std::fprintf(stderr, "jitk: %s\n", failure.what());
    return kUsage;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "jitk: %s\n", failure.what());
    return kEnvironment;
  }
}

/// What was printed may still be on its way: an exit code of 0 promises that it arrived.
static int withOutputWritten(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) {
    return code;
  }
  std::fprintf(stderr, "jitk: cannot write to standard output: %s\n", std::strerror(errno));
  return code == kOk ? kEnvironment : code;
}

/// Says what the verbs are if the first word is none: the parser would only say that one is missing.
static bool knowsVerb(const CLI::App &app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App *verb : app.get_subcommands(nullptr)) {
    names.push_back(verb->get_name());
  }
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) {
    return true;
  }
  std::vector<std::string_view> views(names.begin(), names.end());
  std::fprintf(stderr, "jitk: verb must be one of %s: got '%s'\n", allowedWords(word, views).c_str(),
               std::string(word).c_str());
  return false;
}

int main(int argc, char **argv) {
  CLI::App app("jitk " + std::string(jitk_version()) + ": kernels for LLM serving, compiled at model load", "jitk");
  app.set_version_flag("--version", jitk_version());
  app.require_subcommand(1);
  Action action;
  addOpsVerb(app, action);
  addPlanVerb(app, action);
  addPrepareVerb(app, action);
  addRunVerb(app, action);
  addBenchVerb(app, action);
  addTuneVerb(app, action);
  addStoreVerb(app, action);
  addInspectVerb(app, action);
  addDoctorVerb(app, action);
  if (argc > 1 && !knowsVerb(app, argv[1])) {
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return withOutputWritten(app.exit(error) == 0 ? kOk : kUsage);
  }
  return withOutputWritten(runAction(action));
}
