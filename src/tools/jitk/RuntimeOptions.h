// The options that several verbs share, and the runtime they make.

#pragma once

#include "jitk/jitk.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace jitk::tool {

struct RuntimeOptions {
  std::string store;
  std::string assembler;
  uint32_t jobs = 0;
  bool hasStore = false;

  /// Adds --store, --assembler and, where asked, --jobs.
  void addTo(CLI::App &verb, bool withJobs = false);
  api::Runtime create() const;
};

struct DeviceOptions {
  std::string device = "emulator:sm_90a";
  std::string mode = "deferred";
  uint64_t emulatorSeed = 0;

  /// Adds --device, --mode and --emulator-seed.
  void addTo(CLI::App &verb);
  api::Device open(const api::Runtime &runtime) const;
};

/// A whole file. Throws std::runtime_error naming the file and why it cannot be read.
std::string readFile(const std::string &path);
/// Replaces a file. Throws std::runtime_error naming the file and why it cannot be written.
void writeFile(const std::string &path, std::string_view bytes);

/// "op" and "name=value" words as one description line.
std::string descriptionLine(const std::string &op, const std::vector<std::string> &attributes);

} // namespace jitk::tool
