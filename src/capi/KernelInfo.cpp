#include "src/capi/KernelInfo.h"

#include <algorithm>

namespace jitk::capi {

static_assert(JITK_TIER_BUNDLE == static_cast<int>(Tier::Bundle));
static_assert(JITK_TIER_SHARED == static_cast<int>(Tier::Shared));
static_assert(JITK_TIER_EQUAL == static_cast<int>(Tier::Equal));
static_assert(JITK_TIER_COMPILED == static_cast<int>(Tier::Compiled));

void fillFromEntry(const Entry &entry, jitk_kernel_info_t &info) {
  info.description = entry.key.parts().description.c_str();
  info.target = entry.key.parts().target.c_str();
  info.key = entry.key.name().c_str();
  info.registers = entry.facts.registers;
  info.spill_bytes = entry.facts.spillBytes;
  info.shared_bytes = entry.facts.sharedBytes;
  info.code_bytes = entry.code.size();
  info.build_ms = entry.facts.buildMs;
  info.lower_ms = entry.facts.lowerMs;
  info.llvm_ms = entry.facts.llvmMs;
  info.assemble_ms = entry.facts.assembleMs;
}

uint32_t mostThreads(const Recipe &recipe) {
  uint32_t threads = 0;
  for (const LaunchStep &step : recipe.steps) {
    threads = std::max(threads, step.threads);
  }
  return threads;
}

jitk_kernel_info_t infoOf(const Kernel &kernel) {
  jitk_kernel_info_t info = {};
  info.struct_size = sizeof info;
  fillFromEntry(kernel.entry(), info);
  info.tier = static_cast<jitk_tier_t>(kernel.obtained().tier);
  info.num_steps = static_cast<uint32_t>(kernel.recipe().steps.size());
  info.threads = mostThreads(kernel.recipe());
  info.obtain_ms = kernel.obtained().milliseconds;
  info.load_ms = kernel.loadMilliseconds();
  return info;
}

std::string keyNameOf(Runtime &runtime, const Problem &problem, const Target &target) {
  Result<Key> key = runtime.entries().keyOf(problem, target);
  return key.ok() ? key->name() : std::string();
}

} // namespace jitk::capi
