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

namespace {
struct Tool {
  std::string_view name;
  Result<std::shared_ptr<const Assembler>> (*open)(const std::string &path);
};
} // namespace

// nvJitLink compiles to link, and then ignores setmaxnreg (C7504): specialized warps keep the registers that they start
// with, and spill. The driver comes last: its compiler does not scale over threads, the other two do.
static constexpr Tool tools[] = {{"ptxas", openPtxas}, {"nvjitlink", openNvJitLink}, {"driver", openDriverLinker}};

static Result<std::shared_ptr<const Assembler>> openFirst() {
  Status missing = unavailable("no assembler found: install ptxas, nvJitLink, or a CUDA driver");
  for (const Tool &tool : tools) {
    Result<std::shared_ptr<const Assembler>> opened = tool.open("");
    if (opened) {
      return opened;
    }
    missing = std::move(missing).withNote(std::string(opened.status().message()));
  }
  return missing;
}

Result<std::shared_ptr<const Assembler>> openAssembler(const AssemblerChoice &choice) {
  if (choice.name.empty()) {
    return choice.path.empty() ? openFirst()
                               : invalidArgument("an assembler's path needs its name: got " + choice.path);
  }
  for (const Tool &tool : tools) {
    if (tool.name == choice.name) {
      return tool.open(choice.path);
    }
  }
  return invalidArgument("assembler must be nvjitlink, ptxas or driver: got " + choice.name);
}

} // namespace jitk::nvidia
