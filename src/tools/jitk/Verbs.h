// The verbs of `jitk`, one a file. Each adds its subcommand and, when it is the one given, runs and returns the exit
// code: 0 ok, 1 wrong result or failed check, 2 usage, 3 environment.

#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace jitk::tool {

enum ExitCode : int { kOk = 0, kWrongResult = 1, kUsage = 2, kEnvironment = 3 };

/// What to run for the subcommand that was given; set while the command line is parsed.
using Action = std::function<int()>;

void addOpsVerb(CLI::App &app, Action &action);
void addPlanVerb(CLI::App &app, Action &action);
void addPrepareVerb(CLI::App &app, Action &action);
void addRunVerb(CLI::App &app, Action &action);
void addBenchVerb(CLI::App &app, Action &action);
void addStoreVerb(CLI::App &app, Action &action);
void addInspectVerb(CLI::App &app, Action &action);
void addDoctorVerb(CLI::App &app, Action &action);

} // namespace jitk::tool
