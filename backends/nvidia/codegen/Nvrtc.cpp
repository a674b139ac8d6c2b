// NVRTC's few functions are declared here, so that no toolkit is needed to build.

#include "backends/nvidia/codegen/Nvrtc.h"

#include "backends/nvidia/codegen/AssemblerTools.h"
#include "src/support/Env.h"

#include <algorithm>
#include <charconv>
#include <dlfcn.h>
#include <fstream>

namespace jitk::nvidia {

namespace {
struct ProgramTag;
using Program = ProgramTag *;

struct Functions {
  int (*version)(int *major, int *minor) = nullptr;
  const char *(*errorString)(int) = nullptr;
  int (*create)(Program *, const char *source, const char *name, int numHeaders, const char *const *headers,
                const char *const *includeNames) = nullptr;
  int (*destroy)(Program *) = nullptr;
  int (*addName)(Program, const char *expression) = nullptr;
  int (*compile)(Program, int numOptions, const char *const *options) = nullptr;
  int (*logSize)(Program, size_t *) = nullptr;
  int (*log)(Program, char *) = nullptr;
  int (*loweredName)(Program, const char *expression, const char **name) = nullptr;
  int (*ptxSize)(Program, size_t *) = nullptr;
  int (*ptx)(Program, char *) = nullptr;

  bool resolve(const SharedLibrary &library) {
    return library.resolve(version, "nvrtcVersion") && library.resolve(errorString, "nvrtcGetErrorString") &&
           library.resolve(create, "nvrtcCreateProgram") && library.resolve(destroy, "nvrtcDestroyProgram") &&
           library.resolve(addName, "nvrtcAddNameExpression") && library.resolve(compile, "nvrtcCompileProgram") &&
           library.resolve(logSize, "nvrtcGetProgramLogSize") && library.resolve(log, "nvrtcGetProgramLog") &&
           library.resolve(loweredName, "nvrtcGetLoweredName") && library.resolve(ptxSize, "nvrtcGetPTXSize") &&
           library.resolve(ptx, "nvrtcGetPTX");
  }
};

/// One program of NVRTC; destroyed with the object.
class OpenProgram {
public:
  explicit OpenProgram(const Functions &functions) : functions_(functions) {}
  ~OpenProgram() {
    if (program_) {
      functions_.destroy(&program_);
    }
  }
  OpenProgram(const OpenProgram &) = delete;

  int compile(const CudaSource &source, const std::vector<std::string> &options) {
    std::vector<const char *> names, texts, words;
    for (const auto &[name, text] : source.headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    for (const std::string &option : options) {
      words.push_back(option.c_str());
    }
    int code = functions_.create(&program_, source.text.c_str(), "kernel.cu", static_cast<int>(names.size()),
                                 texts.data(), names.data());
    code = code ? code : functions_.addName(program_, source.entry.c_str());
    return code ? code : functions_.compile(program_, static_cast<int>(words.size()), words.data());
  }
  std::string log() const { return text(functions_.logSize, functions_.log); }
  std::string ptx() const { return text(functions_.ptxSize, functions_.ptx); }
  std::string symbolOf(const std::string &entry) const {
    const char *name = nullptr;
    return functions_.loweredName(program_, entry.c_str(), &name) == 0 && name ? name : "";
  }

private:
  std::string text(int (*sizeOf)(Program, size_t *), int (*read)(Program, char *)) const {
    size_t size = 0;
    if (!program_ || sizeOf(program_, &size) != 0 || size == 0) {
      return "";
    }
    std::string bytes(size, '\0');
    if (read(program_, bytes.data()) != 0) {
      return "";
    }
    bytes.resize(bytes.find('\0') == std::string::npos ? size : bytes.find('\0'));
    return bytes;
  }

  const Functions &functions_;
  Program program_ = nullptr;
};

/// The toolkit's headers: where they are, and what version cuda.h says it is; empty and 0 where there are none.
struct ToolkitHeaders {
  std::string folder;
  int version = 0;
};

class NvrtcCompiler : public CudaCompiler {
public:
  NvrtcCompiler(SharedLibrary library, const Functions &functions, ToolkitHeaders headers)
      : library_(std::move(library)), functions_(functions), headers_(std::move(headers)) {
    int major = 0, minor = 0;
    functions_.version(&major, &minor);
    identity_ =
        "nvrtc " + std::to_string(major) + "." + std::to_string(minor) + " headers " + std::to_string(headers_.version);
  }

  std::string identity() const override { return identity_; }

  Result<CudaPtx> compile(const CudaSource &source, const Target &target) const override {
    std::vector<std::string> options = {"--gpu-architecture=compute_" + target.architecture().substr(3),
                                        "--no-source-include", "--std=c++17"};
    if (!headers_.folder.empty()) {
      options.push_back("--include-path=" + headers_.folder);
    }
    options.insert(options.end(), source.options.begin(), source.options.end());
    OpenProgram program(functions_);
    if (int code = program.compile(source, options)) {
      std::string log = program.log();
      return refused(log.empty() ? functions_.errorString(code) : firstError(log), log);
    }
    CudaPtx result{program.ptx(), program.symbolOf(source.entry)};
    if (result.ptx.empty() || result.symbol.empty()) {
      return refused("no kernel " + source.entry, program.log());
    }
    return result;
  }

private:
  static Status refused(const std::string &why, std::string log) {
    return invalidArgument("NVRTC refused the source: " + why).withToolOutput(std::move(log)).atStage("build");
  }
  /// The first line of the log that says so, else its first line.
  static std::string firstError(const std::string &log) {
    size_t at = log.find("error");
    size_t begin = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
    return log.substr(begin, log.find('\n', begin) - begin);
  }

  SharedLibrary library_;
  Functions functions_;
  ToolkitHeaders headers_;
  std::string identity_;
};
} // namespace

/// The number behind "#define CUDA_VERSION" in a cuda.h; 0 if there is none.
static int versionOf(const std::string &cudaHeader) {
  static constexpr std::string_view kDefine = "#define CUDA_VERSION ";
  std::ifstream file(cudaHeader);
  for (std::string line; std::getline(file, line);) {
    int version = 0;
    if (line.starts_with(kDefine) &&
        std::from_chars(line.data() + kDefine.size(), line.data() + line.size(), version).ec == std::errc()) {
      return version;
    }
  }
  return 0;
}

/// Looks for the headers of `folder`'s toolkit: beside the library, then where toolkits are.
static ToolkitHeaders findHeaders(const void *symbol) {
  std::vector<std::string> places;
  if (const std::optional<std::string> &toolkit = environment().cudaHome) {
    places.push_back(*toolkit + "/include");
  }
  Dl_info info;
  if (dladdr(symbol, &info) && info.dli_fname) {
    std::string folder = info.dli_fname;
    folder.resize(folder.find_last_of('/') + 1);
    places.push_back(folder + "../include");
    places.push_back(folder + "../../../include"); // targets/x86_64-linux/lib
  }
  places.emplace_back("/usr/local/cuda/include");
  for (const std::string &place : places) {
    if (int version = versionOf(place + "/cuda.h")) {
      return {place, version};
    }
  }
  return {};
}

Result<std::shared_ptr<const CudaCompiler>> openCudaCompiler(const std::string &path) {
  std::vector<std::string> places = {path};
  if (path.empty()) {
    places = {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"};
    if (const std::optional<std::string> &toolkit = environment().cudaHome) {
      places.insert(places.begin(), *toolkit + "/lib64/libnvrtc.so");
    }
  }
  std::string searched;
  for (const std::string &place : places) {
    SharedLibrary library(place);
    Functions functions;
    if (library && functions.resolve(library)) {
      ToolkitHeaders headers = findHeaders(reinterpret_cast<const void *>(functions.version));
      return std::shared_ptr<const CudaCompiler>(
          std::make_shared<NvrtcCompiler>(std::move(library), functions, std::move(headers)));
    }
    searched += (searched.empty() ? "" : ", ") + place;
  }
  return unavailable("no NVRTC library, which kernels in CUDA C++ need: searched " + searched).atStage("build");
}

/// The number at the beginning of a text; `otherwise` if there is none.
static uint32_t numberAt(std::string_view text, uint32_t otherwise) {
  uint32_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Of a declaration such as ".param .align 8 .b8 name[16]" or ".param .u64 name", which lies at a multiple of its size.
static KernelParameter declaredParameter(std::string_view declaration) {
  uint32_t bits = 0;
  for (size_t at = declaration.find('.'); at != std::string_view::npos; at = declaration.find('.', at + 1)) {
    std::string_view word = declaration.substr(at + 1, declaration.find_first_of(" \t", at) - at - 1);
    if (word.size() > 1 && std::string_view("bsuf").find(word.front()) != std::string_view::npos) {
      uint32_t found = 0;
      auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), found);
      bits = error == std::errc() && end == word.data() + word.size() ? found : bits;
    }
  }
  size_t bracket = declaration.rfind('[');
  bool isArray = bracket != std::string_view::npos;
  uint32_t bytes = (isArray ? numberAt(declaration.substr(bracket + 1), 1) : 1) * bits / 8;
  constexpr std::string_view kAlign = ".align ";
  size_t align = declaration.find(kAlign);
  return {bytes, align == std::string_view::npos ? bits / 8 : numberAt(declaration.substr(align + kAlign.size()), 0)};
}

Result<std::vector<KernelParameter>> parametersOf(std::string_view ptx, const std::string &symbol) {
  std::string name = ".entry " + symbol + "(";
  size_t at = ptx.find(name);
  if (at == std::string_view::npos) {
    return internalError("PTX has no kernel " + symbol);
  }
  std::string_view list = ptx.substr(at + name.size(), ptx.find(')', at) - at - name.size());
  std::vector<KernelParameter> parameters;
  while (list.find(".param") != std::string_view::npos) {
    std::string_view declaration = list.substr(0, list.find(','));
    parameters.push_back(declaredParameter(declaration));
    list.remove_prefix(std::min(declaration.size() + 1, list.size()));
  }
  return parameters;
}

} // namespace jitk::nvidia
