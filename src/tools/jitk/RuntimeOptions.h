// The options that several verbs share, and the runtime they make.

#pragma once

#include "jitk/jitk.hpp"
#include "src/tools/timing/Gpu.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jitk::tool {

struct RuntimeOptions {
  std::optional<std::string> store;
  std::vector<std::string> bundles;
  std::string assembler;
  uint32_t jobs = 0;
  bool tuned = false;

  /// Adds --store, --bundle, --assembler, --tuned and, where asked, --jobs.
  void addTo(CLI::App &verb, bool withJobs = false);
  /// Warnings of the runtime go to stderr, or what JITK_LOG asks for.
  api::Runtime create() const;
};

struct DeviceOptions {
  std::string device = "emulator:sm_90a";
  std::string mode = "deferred";
  uint64_t emulatorSeed = 0;

  /// Adds --device, --mode and --emulator-seed.
  void addTo(CLI::App &verb);
  api::Device open(const api::Runtime &runtime) const;
  /// The clock of the GPU that was opened; null for an emulator.
  std::unique_ptr<timing::Gpu> clock() const;
};

/// A whole file. Throws std::runtime_error naming the file and why it cannot be read.
std::string readFile(const std::string &path);
/// Replaces a file. Throws std::runtime_error naming the file and why it cannot be written.
void writeFile(const std::string &path, std::string_view bytes);

} // namespace jitk::tool
