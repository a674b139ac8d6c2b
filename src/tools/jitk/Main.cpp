// jitk: plans, prepares, runs and inspects kernels from the command line, over the public API.

#include "jitk/jitk.hpp"
#include "src/tools/jitk/Verbs.h"

#include <cstdio>
#include <stdexcept>

using namespace jitk;
using namespace jitk::tool;

/// Whose fault a failure is, as an exit code.
static int exitCodeOf(jitk_status_t status) {
  switch (status) {
  case JITK_STATUS_INVALID_ARGUMENT:
  case JITK_STATUS_UNSUPPORTED:
    return kUsage;
  case JITK_STATUS_INTERNAL:
    return kWrongResult;
  default:
    return kEnvironment;
  }
}

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
  addStoreVerb(app, action);
  addInspectVerb(app, action);
  addDoctorVerb(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  return runAction(action);
}
