#include "src/ops/UserKernel.h"

#include "src/ops/UserKernelText.h"

#include <algorithm>

namespace jitk {

// What the buffers of a launch hold, and what a block may be.
static constexpr size_t kMostDimensions = 16, kMostArguments = 62;
static constexpr int64_t kMostThreads = 1024, kMostSharedBytes = 256 << 10;

bool isUserKernel(const Description &description) { return description.op() == kUserKernelOp; }

bool isCudaSource(const Description &description) {
  return isUserKernel(description) && description.word("language") == "cuda";
}

/// Sorts the dimensions into dynamic ones and others, and says what each name stands for.
static Result<Names> readDimensions(const Description &description, UserKernel &kernel) {
  Names names;
  for (const auto &[name, value] : description.attributes()) {
    const auto *dimension = std::get_if<Dimension>(&value);
    if (!dimension) {
      continue;
    }
    if (isReserved(name)) {
      return invalidArgument("dimension must not have the name of a function: got '" + name + "'");
    }
    if (dimension->isStatic()) {
      names.emplace(name, Expression::constant(dimension->value));
      kernel.staticSizes.emplace_back(name, dimension->value);
    } else {
      names.emplace(name, Expression::dimension(static_cast<uint32_t>(kernel.dimensions.size())));
      kernel.dimensions.push_back(name);
    }
  }
  if (kernel.dimensions.size() > kMostDimensions) {
    return invalidArgument("number of dynamic dimensions must be at most " + std::to_string(kMostDimensions) +
                           ": got " + std::to_string(kernel.dimensions.size()));
  }
  return names;
}

static Status checkArguments(const std::vector<UserArgument> &arguments) {
  if (arguments.size() > kMostArguments) {
    return invalidArgument("number of arguments must be at most " + std::to_string(kMostArguments) + ": got " +
                           std::to_string(arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (arguments[i].name == arguments[j].name) {
        return invalidArgument("argument must be there once: got '" + arguments[i].name + "' twice");
      }
    }
  }
  return okStatus();
}

/// One to three numbers; what is left out is `otherwise`.
static Result<std::array<Expression, 3>> readExtents(const Description &description, std::string_view attribute,
                                                     const Names &names) {
  JITK_ASSIGN(std::vector<Expression> found, parseExpressions(attribute, description.word(attribute), names));
  if (found.empty() || found.size() > 3) {
    return invalidArgument("attribute " + std::string(attribute) + " must have one to three numbers: got '" +
                           description.word(attribute) + "'");
  }
  found.resize(3, Expression::constant(1));
  return std::array<Expression, 3>{found[0], found[1], found[2]};
}

static Status readBlock(const Description &description, const Names &names, UserKernel &kernel) {
  JITK_ASSIGN(auto extents, readExtents(description, "block", names));
  int64_t threads = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    int64_t extent = extents[axis].isConstant() ? extents[axis].evaluate({}) : 0;
    threads = extent >= 1 && extent <= kMostThreads ? threads * extent : 0;
    kernel.block[axis] = static_cast<uint32_t>(extent);
  }
  if (threads < 1 || threads > kMostThreads) {
    return invalidArgument("attribute block must be numbers with a product between 1 and " +
                           std::to_string(kMostThreads) + ": got '" + description.word("block") + "'");
  }
  return okStatus();
}

/// An expression, or zero where the attribute is empty.
static Result<Expression> readNumber(const Description &description, std::string_view attribute, const Names &names) {
  JITK_ASSIGN(std::vector<Expression> found, parseExpressions(attribute, description.word(attribute), names));
  if (found.size() > 1) {
    return invalidArgument("attribute " + std::string(attribute) + " must have one number: got '" +
                           description.word(attribute) + "'");
  }
  return found.empty() ? Expression() : found.front();
}

static Status readShared(const Description &description, const Names &names, UserKernel &kernel) {
  JITK_ASSIGN(Expression bytes, readNumber(description, "shared", names));
  int64_t value = bytes.isConstant() ? bytes.evaluate({}) : -1;
  if (value < 0 || value > kMostSharedBytes) {
    return invalidArgument("attribute shared must be a number between 0 and " + std::to_string(kMostSharedBytes) +
                           ": got '" + description.word("shared") + "'");
  }
  kernel.sharedBytes = static_cast<uint32_t>(value);
  return okStatus();
}

/// Options of NVRTC that decide what the runtime decides, or read files, whose contents no key would hold.
static Status checkOption(std::string_view option) {
  static constexpr std::string_view kRefused[] = {"-I",
                                                  "--include-path",
                                                  "-include",
                                                  "--pre-include",
                                                  "-arch",
                                                  "--gpu-architecture",
                                                  "-dlto",
                                                  "--dlink-time-opt",
                                                  "-pch",
                                                  "--pch",
                                                  "-create-pch",
                                                  "--create-pch",
                                                  "-use-pch",
                                                  "--use-pch",
                                                  "--pch-dir",
                                                  "-pch-dir",
                                                  "-rdc",
                                                  "--relocatable-device-code",
                                                  "-dc",
                                                  "--device-c",
                                                  "-optix-ir",
                                                  "--optix-ir",
                                                  "--device-time-trace",
                                                  "-time",
                                                  "--time",
                                                  "-fdevice-time-trace",
                                                  "--fdevice-time-trace"};
  if (!option.starts_with('-')) {
    return invalidArgument("option must begin with '-', and have its value behind '=': got '" + std::string(option) +
                           "'");
  }
  for (std::string_view refused : kRefused) {
    bool joined = refused == "-I" && option.starts_with(refused);
    if (joined || option.substr(0, option.find('=')) == refused) {
      return invalidArgument("option is set by the library, or names a file, which headers must hold: got '" +
                             std::string(option) + "'");
    }
  }
  return okStatus();
}

static Status readOptions(std::string_view text, UserKernel &kernel) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
    if (text.empty()) {
      return okStatus();
    }
    size_t size = std::min(text.find_first_of(" \t\n"), text.size());
    JITK_TRY(checkOption(text.substr(0, size)));
    kernel.options.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
}

/// Reads "#header name" lines, each followed by the header's text.
static Status readHeaders(std::string_view text, UserKernel &kernel) {
  static constexpr std::string_view kMark = "#header ";
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kMark) && line.size() > kMark.size()) {
      kernel.headers.push_back({std::string(line.substr(kMark.size())), ""});
    } else if (kernel.headers.empty()) {
      return invalidArgument("attribute headers must begin with a line '#header name': got '" +
                             std::string(line.substr(0, 40)) + "'");
    } else {
      kernel.headers.back().text += std::string(line) + "\n";
    }
  }
  return okStatus();
}

/// Refuses what NVRTC would read from the file system, whose contents no key holds.
static Status checkIncludes(std::string_view text) {
  static constexpr std::string_view kInclude = "#include";
  for (size_t at = text.find(kInclude); at != std::string_view::npos; at = text.find(kInclude, at + 1)) {
    std::string_view name = text.substr(at + kInclude.size(), text.find('\n', at) - at - kInclude.size());
    name.remove_prefix(std::min(name.find_first_of("\"<"), name.size()));
    if (name.size() > 1 && (name[1] == '/' || name.find("../") != std::string_view::npos)) {
      return invalidArgument("include must name one of the headers, or a header of the toolkit: got '" +
                             std::string(name) + "'");
    }
  }
  return okStatus();
}

/// Attributes that only one of the languages has.
static Status checkLanguage(const Description &description, const UserKernel &kernel) {
  bool cuda = kernel.language == UserKernel::Language::Cuda;
  for (const char *attribute : {"options", "headers", "shared", "block"}) {
    bool given = !description.word(attribute).empty();
    if (!cuda && given) {
      return invalidArgument("attribute " + std::string(attribute) + " is for language cuda alone: got '" +
                             description.word(attribute).substr(0, 40) + "'");
    }
  }
  for (const char *attribute : {"source", "entry", "grid"}) {
    if (description.word(attribute).empty()) {
      return invalidArgument("attribute " + std::string(attribute) + " of user_kernel must not be empty");
    }
  }
  return okStatus();
}

Result<UserKernel> readUserKernel(const Description &description) {
  using Language = UserKernel::Language;
  const std::string &language = description.word("language");
  UserKernel kernel;
  kernel.language = language == "cuda" ? Language::Cuda : language == "ttgir" ? Language::Ttgir : Language::CommonIr;
  kernel.entry = description.word("entry");
  kernel.source = description.word("source");
  JITK_TRY(checkLanguage(description, kernel));
  JITK_ASSIGN(Names names, readDimensions(description, kernel));
  JITK_ASSIGN(kernel.arguments, parseArguments(description.word("arguments"), names, kernel.dimensions));
  JITK_TRY(checkArguments(kernel.arguments));
  JITK_ASSIGN(kernel.grid, readExtents(description, "grid", names));
  JITK_ASSIGN(kernel.workspaceBytes, readNumber(description, "workspace", names));
  if (kernel.language == Language::Cuda) {
    JITK_TRY(readBlock(description, names, kernel));
    JITK_TRY(readShared(description, names, kernel));
    JITK_TRY(readOptions(description.word("options"), kernel));
    JITK_TRY(readHeaders(description.word("headers"), kernel));
    JITK_TRY(checkIncludes(kernel.source));
    JITK_TRY(checkIncludes(description.word("headers")));
  }
  return kernel;
}

} // namespace jitk
