// The program ptxas, in a child process.

#include "backends/nvidia/codegen/AssemblerTools.h"
#include "backends/nvidia/codegen/ChildProcess.h"
#include "src/support/Env.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace jitk::nvidia {

namespace {
/// A folder of its own under the system's folder for temporary files; removed with the object.
class TemporaryFolder {
public:
  static Result<TemporaryFolder> create() {
    std::error_code error;
    std::string pattern = (std::filesystem::temp_directory_path(error) / "jitk-XXXXXX").string();
    if (error || !mkdtemp(pattern.data())) {
      return unavailable("no temporary folder for ptxas: " + pattern);
    }
    return TemporaryFolder(std::move(pattern));
  }
  TemporaryFolder(TemporaryFolder &&other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder() {
    if (!path_.empty()) {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }
  }
  std::string file(const char *name) const { return path_ + "/" + name; }

private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

class PtxasAssembler : public Assembler {
public:
  PtxasAssembler(std::string program, std::string version)
      : program_(std::move(program)), identity_("ptxas " + std::move(version)) {}

  std::string identity() const override { return identity_; }

  Result<Cubin> assemble(std::string_view ptx, const Target &target, const AssembleOptions &options) const override {
    JITK_ASSIGN(TemporaryFolder folder, TemporaryFolder::create());
    std::string source = folder.file("kernel.ptx"), object = folder.file("kernel.cubin");
    if (!(std::ofstream(source, std::ios::binary) << ptx).flush()) {
      return unavailable("cannot write " + source).atStage("assemble");
    }
    std::vector<std::string> arguments = {program_, "--verbose",     "--gpu-name=" + target.architecture(),
                                          source,   "--output-file", object};
    if (options.lineInfo) {
      arguments.emplace_back("--generate-line-info");
    }
    Result<ChildResult> child = runChild(arguments, options.deadline);
    if (!child) {
      return std::move(child).takeStatus().atStage("assemble");
    }
    if (child->exitCode < 0) {
      return internalError("ptxas crashed: signal " + std::to_string(-child->exitCode))
          .atStage("assemble")
          .withToolOutput(child->output);
    }
    if (child->exitCode != 0) {
      bool tooOld = isTooOld(child->output);
      Status failure = tooOld ? unavailable(identity_ + " is too old for " + target.architecture() + " or its PTX")
                              : internalError("ptxas refused the kernel: exit code " + std::to_string(child->exitCode));
      return std::move(failure)
          .withNote("while running " + commandText(arguments))
          .withToolOutput(std::move(child->output))
          .atStage("assemble");
    }
    Cubin cubin{.code = readFile(object), .log = std::move(child->output)};
    if (cubin.code.empty()) {
      return internalError("ptxas gave no code").withToolOutput(std::move(cubin.log)).atStage("assemble");
    }
    JITK_TRY(readLog(cubin));
    return cubin;
  }

private:
  /// Whether ptxas does not know the architecture, or the version of PTX: the machine's fault, where all else is ours.
  static bool isTooOld(std::string_view output) {
    return output.find("is not defined for option 'gpu-name'") != std::string_view::npos ||
           output.find("Unsupported .version") != std::string_view::npos;
  }

  static std::string commandText(const std::vector<std::string> &arguments) {
    std::string text;
    for (const std::string &argument : arguments) {
      text += (text.empty() ? "" : " ") + argument;
    }
    return text;
  }

  static std::vector<uint8_t> readFile(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  std::string program_;
  std::string identity_;
};
} // namespace

static std::vector<std::string> usualPlaces() {
  const Environment &found = environment();
  if (found.ptxas) {
    return {*found.ptxas};
  }
  std::vector<std::string> places;
  std::string_view path = found.path ? std::string_view(*found.path) : std::string_view();
  while (!path.empty()) {
    size_t colon = std::min(path.find(':'), path.size());
    if (colon > 0) {
      places.push_back(std::string(path.substr(0, colon)) + "/ptxas");
    }
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  if (found.cudaHome) {
    places.push_back(*found.cudaHome + "/bin/ptxas");
  }
  places.emplace_back("/usr/local/cuda/bin/ptxas");
  removeRepeated(places);
  return places;
}

/// Reads "13.0.88" from "Cuda compilation tools, release 13.0, V13.0.88".
static Result<std::string> versionOf(const std::string &program) {
  JITK_ASSIGN(ChildResult child, runChild({program, "--version"}, std::chrono::seconds(20)));
  size_t start = child.output.rfind(", V");
  if (child.exitCode != 0 || start == std::string::npos) {
    return unavailable(program + " does not tell its version").withToolOutput(std::move(child.output));
  }
  start += 3;
  return child.output.substr(start, child.output.find_first_not_of("0123456789.", start) - start);
}

/// The one at that place.
static Result<std::shared_ptr<const Assembler>> openAt(const std::string &place, unsigned ptxVersion) {
  JITK_ASSIGN(std::string version, versionOf(place));
  auto assembler = std::make_shared<const PtxasAssembler>(place, std::move(version));
  JITK_TRY(checkPtxVersion(*assembler, place, ptxVersion));
  return std::shared_ptr<const Assembler>(std::move(assembler));
}

Result<std::shared_ptr<const Assembler>> openPtxas(const std::string &path, unsigned ptxVersion) {
  std::vector<std::string> places = path.empty() ? usualPlaces() : std::vector<std::string>{path};
  std::string searched;
  Status unfit; // of the first that is there
  for (const std::string &place : places) {
    if (access(place.c_str(), X_OK) == 0) {
      Result<std::shared_ptr<const Assembler>> opened = openAt(place, ptxVersion);
      if (opened.ok()) {
        return opened;
      }
      unfit = unfit.ok() ? std::move(opened).takeStatus() : std::move(unfit).withNote(opened.status().toString());
    }
    searched += (searched.empty() ? "" : ", ") + place;
  }
  if (!unfit.ok()) {
    return unfit;
  }
  bool ofEnvironment = path.empty() && environment().ptxas;
  return unavailable("no ptxas: searched " + searched + (ofEnvironment ? " (JITK_PTXAS)" : "")).atStage("assemble");
}

} // namespace jitk::nvidia
