#include "src/compiler/CudaCompilation.h"

#include "src/compiler/Stopwatch.h"
#include "src/kernels/user/UserRecipe.h"

namespace jitk::compiler {

static uint32_t bytesOf(const UserArgument &argument) {
  if (argument.kind == UserArgument::Kind::Scalar) {
    return scalarBytes(argument.scalar);
  }
  return argument.kind == UserArgument::Kind::Integer32 ? 4 : 8;
}

/// Compares what is declared with what the PTX takes: a launch could not notice.
static Status checkParameters(const UserKernel &kernel, const nvidia::CudaPtx &ptx) {
  JITK_ASSIGN(std::vector<nvidia::KernelParameter> parameters, nvidia::parametersOf(ptx.ptx, ptx.symbol));
  if (parameters.size() != kernel.arguments.size()) {
    return invalidArgument("number of arguments must be " + std::to_string(parameters.size()) +
                           ", as the source has them: got " + std::to_string(kernel.arguments.size()));
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const UserArgument &argument = kernel.arguments[i];
    const auto [bytes, alignment] = parameters[i];
    if (bytes != bytesOf(argument)) {
      return invalidArgument("argument " + argument.name + " must have " + std::to_string(bytes) +
                             " bytes, as the source has it: got " + std::to_string(bytesOf(argument)));
    }
    // A launch lays out the parameters by their sizes.
    if (alignment != bytes) {
      return invalidArgument("argument " + argument.name + " must be aligned to its " + std::to_string(bytes) +
                             " bytes in the source: got " + std::to_string(alignment));
    }
  }
  return okStatus();
}

static nvidia::CudaSource sourceOf(const UserKernel &kernel) {
  nvidia::CudaSource source{kernel.source, kernel.entry, {}, {}};
  for (const auto &[name, size] : kernel.staticSizes) {
    source.options.push_back("-DJITK_" + name + "=" + std::to_string(size));
  }
  source.options.insert(source.options.end(), kernel.options.begin(), kernel.options.end());
  for (const UserHeader &header : kernel.headers) {
    source.headers.emplace_back(header.name, header.text);
  }
  return source;
}

Result<CompiledKernel> compileCuda(const UserKernel &kernel, const Target &target, const nvidia::CudaCompiler &compiler,
                                   const nvidia::Assembler &assembler) {
  Stopwatch watch;
  JITK_ASSIGN(nvidia::CudaPtx ptx, compiler.compile(sourceOf(kernel), target));
  if (Status status = checkParameters(kernel, ptx); !status.ok()) {
    return std::move(status).atStage("build");
  }
  CompiledKernel compiled;
  compiled.times.build = watch.lap();
  Result<nvidia::Cubin> cubin = assembler.assemble(ptx.ptx, target);
  if (!cubin.ok()) {
    return std::move(cubin).takeStatus().atStage("assemble");
  }
  compiled.times.assemble = watch.lap();
  compiled.recipe = kernels::userRecipe(kernel, ptx.symbol);
  compiled.code = std::move(cubin->code);
  compiled.statistics = {cubin->registers, cubin->spillBytes, cubin->sharedBytes + kernel.sharedBytes};
  compiled.dump.ptx = ptx.ptx;
  compiled.ptx = std::move(ptx.ptx);
  return compiled;
}

} // namespace jitk::compiler
