#include "backends/nvidia/codegen/Assembler.h"

#include "backends/nvidia/codegen/AssemblerTools.h"

#include <algorithm>
#include <charconv>
#include <dlfcn.h>

namespace jitk::nvidia {

SharedLibrary::SharedLibrary(const std::string &path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

SharedLibrary::~SharedLibrary() {
  if (handle_) {
    dlclose(handle_);
  }
}

void *SharedLibrary::find(const char *name) const { return dlsym(handle_, name); }

void removeRepeated(std::vector<std::string> &places) {
  auto end = places.begin();
  for (auto place = places.begin(); place != places.end(); ++place) {
    if (std::find(places.begin(), end, *place) == end) {
      std::iter_swap(end++, place);
    }
  }
  places.erase(end, places.end());
}

/// The largest of the numbers that stand right before `unit` in the log.
static uint32_t largestBefore(std::string_view log, std::string_view unit) {
  uint32_t largest = 0;
  for (size_t at = log.find(unit); at != std::string_view::npos; at = log.find(unit, at + unit.size())) {
    size_t start = at;
    while (start > 0 && log[start - 1] >= '0' && log[start - 1] <= '9') {
      --start;
    }
    uint32_t value = 0;
    std::from_chars(log.data() + start, log.data() + at, value);
    largest = std::max(largest, value);
  }
  return largest;
}

Status readLog(Cubin &cubin) {
  if (cubin.log.find("C7510") != std::string::npos) {
    return internalError("the assembler serializes warpgroup products (C7510)")
        .withToolOutput(cubin.log)
        .atStage("assemble");
  }
  cubin.registers = largestBefore(cubin.log, " registers");
  cubin.spillBytes = largestBefore(cubin.log, " bytes spill stores") + largestBefore(cubin.log, " bytes spill loads");
  cubin.sharedBytes = largestBefore(cubin.log, " bytes smem");
  return okStatus();
}

// --- versions

namespace {
struct Release {
  unsigned major, minor; ///< of CUDA
  unsigned ptx;
};
} // namespace

// In ascending order; what is not listed knows as much as the release before it.
static constexpr Release releases[] = {
    {11, 0, 70}, {11, 1, 71}, {11, 2, 72}, {11, 3, 73}, {11, 4, 74}, {11, 5, 75}, {11, 6, 76},
    {11, 7, 77}, {11, 8, 78}, {12, 0, 80}, {12, 1, 81}, {12, 2, 82}, {12, 3, 83}, {12, 4, 84},
    {12, 5, 85}, {12, 7, 86}, {12, 8, 87}, {12, 9, 88}, {13, 0, 90}, {13, 1, 91},
};

static std::string dotted(unsigned major, unsigned minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

unsigned ptxVersionOf(std::string_view identity) {
  unsigned major = 0, minor = 0;
  std::string_view version = identity.substr(std::min(identity.find(' '), identity.size() - 1) + 1);
  const char *end = version.data() + version.size();
  auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || dot == end || *dot != '.' || std::from_chars(dot + 1, end, minor).ec != std::errc()) {
    return 0;
  }
  unsigned known = 0;
  for (const Release &release : releases) {
    known = std::pair(release.major, release.minor) <= std::pair(major, minor) ? release.ptx : known;
  }
  return known;
}

Status checkPtxVersion(const Assembler &assembler, const std::string &place, unsigned ptxVersion) {
  const unsigned known = ptxVersionOf(assembler.identity());
  if (known >= ptxVersion) {
    return okStatus();
  }
  const auto *release = std::ranges::find_if(releases, [&](const Release &each) { return each.ptx >= ptxVersion; });
  return unavailable(
             assembler.identity() + " is too old: " + place + " knows PTX " + dotted(known / 10, known % 10) +
             ", and " + dotted(ptxVersion / 10, ptxVersion % 10) + " is needed: install one of CUDA " +
             (release == std::end(releases) ? "that knows it" : dotted(release->major, release->minor) + " or newer"))
      .atStage("assemble");
}

// --- opening

namespace {
struct Tool {
  std::string_view name;
  Result<std::shared_ptr<const Assembler>> (*open)(const std::string &path, unsigned ptxVersion);
};
} // namespace

// nvJitLink compiles to link, and then ignores setmaxnreg (C7504): specialized warps keep the registers that they start
// with, and spill. The driver comes last: its compiler does not scale over threads, the other two do.
static constexpr Tool tools[] = {{"ptxas", openPtxas}, {"nvjitlink", openNvJitLink}, {"driver", openDriverLinker}};

static Result<std::shared_ptr<const Assembler>> openFirst(unsigned ptxVersion) {
  Status missing = unavailable("no assembler found: install ptxas, nvJitLink, or a CUDA driver");
  for (const Tool &tool : tools) {
    Result<std::shared_ptr<const Assembler>> opened = tool.open("", ptxVersion);
    if (opened) {
      return opened;
    }
    missing = std::move(missing).withNote(std::string(opened.status().message()));
  }
  return missing;
}

Result<std::shared_ptr<const Assembler>> openAssembler(const AssemblerChoice &choice) {
  if (choice.name.empty()) {
    return choice.path.empty() ? openFirst(choice.ptxVersion)
                               : invalidArgument("an assembler's path needs its name: got " + choice.path);
  }
  for (const Tool &tool : tools) {
    if (tool.name == choice.name) {
      return tool.open(choice.path, choice.ptxVersion);
    }
  }
  return invalidArgument("assembler must be nvjitlink, ptxas or driver: got " + choice.name);
}

} // namespace jitk::nvidia
