// The environment, read once. No other file of the project calls getenv.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jitk {

/// What the environment says, word by word: who uses a value checks it, and names the variable in its message. A
/// variable that is not set, or is empty where a value is needed, is absent.
struct Environment {
  std::optional<std::string> store;           ///< JITK_STORE: folder of the disk store; empty = no disk
  std::vector<std::string> bundles;           ///< JITK_BUNDLES: paths of bundles, divided by colons
  std::optional<std::string> sharedStore;     ///< JITK_SHARED_STORE: URL of the shared store
  std::optional<std::string> compilerLibrary; ///< JITK_COMPILER_LIBRARY: path of libjitk-compiler.so
  std::optional<std::string> driverLibrary;   ///< JITK_DRIVER_LIBRARY: path of libcuda.so.1
  std::optional<std::string> assembler;       ///< JITK_ASSEMBLER: nvjitlink, ptxas or driver
  std::optional<std::string> ptxas;           ///< JITK_PTXAS: path of the ptxas program
  std::optional<std::string> log;             ///< JITK_LOG: a level, categories, or both: "debug,store"
  std::optional<std::string> reproducers;     ///< JITK_REPRODUCERS: folder for reproducers of failed compilations
  std::optional<std::string> jobs;            ///< JITK_JOBS: number of worker threads
  std::optional<std::string> cacheHome;       ///< XDG_CACHE_HOME
  std::optional<std::string> home;            ///< HOME
  std::optional<std::string> runtimeFolder;   ///< XDG_RUNTIME_DIR
  std::optional<std::string> path;            ///< PATH, for finding tools
  std::optional<std::string> cudaHome;        ///< CUDA_HOME, else CUDA_PATH: an installed toolkit

  /// The folder of the disk store that the environment asks for; empty if it asks for none, absent if it names no
  /// place for one.
  std::optional<std::string> storeFolder() const;
};

/// Reads the environment now. For tests; all else uses `environment`.
Environment readEnvironment();

/// The environment as it was at the first call. Thread-safe.
const Environment &environment();

} // namespace jitk
