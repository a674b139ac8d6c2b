// The verbs of `jitk`, one a file. Each adds its subcommand; the one that is given sets the action, which does the work
// and returns the exit code.

#pragma once

#include "src/tools/jitk/ExitCode.h"

#include <CLI/CLI.hpp>
#include <functional>

namespace jitk::tool {

/// What to run for the subcommand that was given; set while the command line is parsed.
using Action = std::function<int()>;

void addOpsVerb(CLI::App &app, Action &action);
void addPlanVerb(CLI::App &app, Action &action);
void addPrepareVerb(CLI::App &app, Action &action);
void addRunVerb(CLI::App &app, Action &action);
void addBenchVerb(CLI::App &app, Action &action);
void addTuneVerb(CLI::App &app, Action &action);
void addStoreVerb(CLI::App &app, Action &action);
void addInspectVerb(CLI::App &app, Action &action);
void addDoctorVerb(CLI::App &app, Action &action);

} // namespace jitk::tool
