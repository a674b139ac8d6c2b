#include "perf/overhead/CompileTimes.h"

#include "src/ops/OpSchema.h"

#include <ctime>

namespace jitk::perf {

static double threadMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

Result<CompileTimes> measureCompileTimes(Compiler &compiler, const std::string &description, const std::string &target,
                                         int count) {
  JITK_ASSIGN(Description parsed, parseDescription(description));
  JITK_ASSIGN(Target parsedTarget, Target::parse(target));
  CompileOptions options{.assembler = "ptxas", .dump = false};
  bool inChild = parsedTarget.kind != Target::Kind::Emulator;
  if (inChild && !compiler.assemblerIdentity(parsedTarget, options).ok()) {
    options.assembler.clear();
    inChild = false;
  }
  CompileTimes result;
  result.description = description;
  result.target = target;
  JITK_ASSIGN(result.assembler, compiler.assemblerIdentity(parsedTarget, options));
  Samples cpu;
  for (int i = 0; i <= count; ++i) {
    double begin = threadMilliseconds();
    JITK_ASSIGN(CompiledKernel kernel, compiler.compile(parsed, parsedTarget, options));
    double used = threadMilliseconds() - begin;
    if (i == 0) {
      result.kernel = kernel.statistics;
      result.ptxBytes = kernel.ptx.size();
      continue;
    }
    const StageTimes &times = kernel.times;
    result.build.add(times.build);
    result.lower.add(times.lower);
    result.llvm.add(times.llvm);
    result.assemble.add(times.assemble);
    result.own.add(times.build + times.lower + times.llvm);
    cpu.add(used);
  }
  if (inChild) {
    result.ownCpu = std::move(cpu);
  }
  return result;
}

} // namespace jitk::perf
