// nvJitLink, opened at run time. Its few functions are declared here, so that no toolkit is needed to build.

#include "backends/nvidia/codegen/AssemblerTools.h"
#include "src/support/Env.h"

namespace jitk::nvidia {

namespace {
struct LinkHandleTag;
using LinkHandle = LinkHandleTag *;
constexpr int inputPtx = 2;

struct LinkFunctions {
  int (*version)(unsigned *major, unsigned *minor) = nullptr;
  int (*create)(LinkHandle *, uint32_t numOptions, const char **options) = nullptr;
  int (*destroy)(LinkHandle *) = nullptr;
  int (*addData)(LinkHandle, int type, const void *data, size_t size, const char *name) = nullptr;
  int (*complete)(LinkHandle) = nullptr;
  int (*cubinSize)(LinkHandle, size_t *) = nullptr;
  int (*cubin)(LinkHandle, void *) = nullptr;
  int (*errorLogSize)(LinkHandle, size_t *) = nullptr;
  int (*errorLog)(LinkHandle, char *) = nullptr;
  int (*infoLogSize)(LinkHandle, size_t *) = nullptr;
  int (*infoLog)(LinkHandle, char *) = nullptr;

  bool resolve(const SharedLibrary &library) {
    return library.resolve(version, "nvJitLinkVersion") && library.resolve(create, "nvJitLinkCreate") &&
           library.resolve(destroy, "nvJitLinkDestroy") && library.resolve(addData, "nvJitLinkAddData") &&
           library.resolve(complete, "nvJitLinkComplete") &&
           library.resolve(cubinSize, "nvJitLinkGetLinkedCubinSize") &&
           library.resolve(cubin, "nvJitLinkGetLinkedCubin") &&
           library.resolve(errorLogSize, "nvJitLinkGetErrorLogSize") &&
           library.resolve(errorLog, "nvJitLinkGetErrorLog") &&
           library.resolve(infoLogSize, "nvJitLinkGetInfoLogSize") && library.resolve(infoLog, "nvJitLinkGetInfoLog");
  }
};

/// One link; destroyed with the object.
class Link {
public:
  explicit Link(const LinkFunctions &functions) : functions_(functions) {}
  ~Link() {
    if (handle_) {
      functions_.destroy(&handle_);
    }
  }
  Link(const Link &) = delete;

  int run(std::string_view ptx, const Target &target, bool lineInfo) {
    // Without its cache, whose hits have no log: spills would read as none.
    std::string arch = "-arch=" + target.architecture();
    std::vector<const char *> options = {arch.c_str(), "-O3", "-verbose", "-no-cache"};
    if (lineInfo) {
      options.push_back("-lineinfo");
    }
    // The text ends with a NUL, which the library expects to be counted.
    std::string text(ptx);
    int code = functions_.create(&handle_, static_cast<uint32_t>(options.size()), options.data());
    code = code ? code : functions_.addData(handle_, inputPtx, text.c_str(), text.size() + 1, "kernel.ptx");
    return code ? code : functions_.complete(handle_);
  }
  std::string log(bool error) const {
    size_t size = 0;
    if (!handle_ || (error ? functions_.errorLogSize : functions_.infoLogSize)(handle_, &size) || size == 0) {
      return "";
    }
    std::string text(size, '\0');
    (error ? functions_.errorLog : functions_.infoLog)(handle_, text.data());
    text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
    return text;
  }
  std::vector<uint8_t> code() const {
    size_t size = 0;
    functions_.cubinSize(handle_, &size);
    std::vector<uint8_t> bytes(size);
    return functions_.cubin(handle_, bytes.data()) ? std::vector<uint8_t>() : bytes;
  }

private:
  const LinkFunctions &functions_;
  LinkHandle handle_ = nullptr;
};

class NvJitLinkAssembler : public Assembler {
public:
  NvJitLinkAssembler(SharedLibrary library, const LinkFunctions &functions)
      : library_(std::move(library)), functions_(functions) {
    unsigned major = 0, minor = 0;
    functions_.version(&major, &minor);
    identity_ = "nvjitlink " + std::to_string(major) + "." + std::to_string(minor);
  }

  std::string identity() const override { return identity_; }

  Result<Cubin> assemble(std::string_view ptx, const Target &target, const AssembleOptions &options) const override {
    Link link(functions_);
    if (int code = link.run(ptx, target, options.lineInfo)) {
      return internalError("nvJitLink refused the kernel: error " + std::to_string(code))
          .withToolOutput(link.log(/*error=*/true) + link.log(/*error=*/false))
          .atStage("assemble");
    }
    Cubin cubin{.code = link.code(), .log = link.log(/*error=*/false)};
    if (cubin.code.empty()) {
      return internalError("nvJitLink gave no code").atStage("assemble");
    }
    JITK_TRY(readLog(cubin));
    return cubin;
  }

private:
  SharedLibrary library_;
  LinkFunctions functions_;
  std::string identity_;
};
} // namespace

Result<std::shared_ptr<const Assembler>> openNvJitLink(const std::string &path, unsigned ptxVersion) {
  std::vector<std::string> places = {path};
  if (path.empty()) {
    places = {"libnvJitLink.so.13", "libnvJitLink.so.12", "/usr/local/cuda/lib64/libnvJitLink.so"};
    if (const std::optional<std::string> &toolkit = environment().cudaHome) {
      places.push_back(*toolkit + "/lib64/libnvJitLink.so");
    }
    removeRepeated(places);
  }
  std::string searched;
  Status tooOld; // the first that is there
  for (const std::string &place : places) {
    SharedLibrary library(place);
    LinkFunctions functions;
    if (library && functions.resolve(library)) {
      auto assembler = std::make_shared<const NvJitLinkAssembler>(std::move(library), functions);
      Status status = checkPtxVersion(*assembler, place, ptxVersion);
      if (status.ok()) {
        return std::shared_ptr<const Assembler>(std::move(assembler));
      }
      tooOld = tooOld.ok() ? std::move(status) : std::move(tooOld);
    }
    searched += (searched.empty() ? "" : ", ") + place;
  }
  if (!tooOld.ok()) {
    return tooOld;
  }
  return unavailable("no nvJitLink library: searched " + searched).atStage("assemble");
}

} // namespace jitk::nvidia
