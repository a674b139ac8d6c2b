#include "src/capi/Guard.h"
#include "src/capi/KernelInfo.h"
#include "src/capi/RecipeText.h"
#include "src/runtime/Stopwatch.h"

using namespace jitk;
using namespace jitk::capi;

static const std::string *textOf(const jitk_artifact_s &artifact, jitk_dump_t dump) {
  switch (dump) {
  case JITK_DUMP_COMMON_IR:
    return &artifact.kernel.dump.commonIr;
  case JITK_DUMP_TTGIR:
    return &artifact.kernel.dump.ttgir;
  case JITK_DUMP_LLVM_IR:
    return &artifact.kernel.dump.llvmIr;
  case JITK_DUMP_PTX:
    return &artifact.kernel.dump.ptx;
  case JITK_DUMP_CODE:
    return &artifact.code;
  case JITK_DUMP_RECIPE:
    return &artifact.recipe;
  }
  return nullptr;
}

static jitk_kernel_info_t infoOf(const jitk_artifact_s &artifact) {
  jitk_kernel_info_t info = {};
  info.struct_size = sizeof info;
  info.description = artifact.problem->text.c_str();
  info.target = artifact.target.c_str();
  info.key = artifact.key.c_str();
  info.tier = static_cast<jitk_tier_t>(artifact.tier);
  info.registers = artifact.kernel.statistics.registers;
  info.spill_bytes = artifact.kernel.statistics.spillBytes;
  info.shared_bytes = artifact.kernel.statistics.sharedBytes;
  info.num_steps = static_cast<uint32_t>(artifact.kernel.recipe.steps.size());
  info.threads = mostThreads(artifact.kernel.recipe);
  info.code_bytes = artifact.code.size();
  info.build_ms = artifact.kernel.times.build;
  info.lower_ms = artifact.kernel.times.lower;
  info.llvm_ms = artifact.kernel.times.llvm;
  info.assemble_ms = artifact.kernel.times.assemble;
  info.obtain_ms = artifact.milliseconds;
  return info;
}

static Status compile(Runtime &runtime, std::shared_ptr<const Problem> problem, const Target &target,
                      jitk_artifact_s &artifact) {
  Stopwatch watch;
  JITK_ASSIGN(Key key, runtime.entries().keyOf(*problem, target));
  CompileOptions options = runtime.compiler().options();
  options.dump = true;
  JITK_ASSIGN(artifact.kernel, runtime.entries().compile(*problem, target, options, Cause::Requested));
  artifact.problem = std::move(problem);
  artifact.target = target.toString();
  artifact.key = key.name();
  artifact.recipe = recipeText(artifact.kernel.recipe);
  artifact.code.assign(artifact.kernel.code.begin(), artifact.kernel.code.end());
  artifact.kernel.code.clear();
  artifact.milliseconds = watch.milliseconds();
  return okStatus();
}

extern "C" {

jitk_status_t jitk_runtime_compile(jitk_runtime_t runtime, jitk_description_t description, const char *target,
                                   jitk_artifact_t *artifact, jitk_error_t *error) {
  std::string key;
  return guard(error, key, [&]() -> Status {
    JITK_TRY(require(artifact, "artifact"));
    *artifact = nullptr;
    JITK_TRY(require(runtime, "runtime"));
    JITK_TRY(checkProcess(runtime));
    JITK_ASSIGN(Target parsed, targetOf(description, target));
    auto handle = std::make_unique<jitk_artifact_s>();
    Status status = compile(*runtime->runtime, description->problem, parsed, *handle);
    if (status.ok()) {
      *artifact = handle.release();
    } else {
      key = keyNameOf(*runtime->runtime, *description->problem, parsed);
    }
    return status;
  });
}

void jitk_artifact_retain(jitk_artifact_t artifact) { retain(artifact); }
void jitk_artifact_release(jitk_artifact_t artifact) { release(artifact); }

const char *jitk_artifact_dump(jitk_artifact_t artifact, jitk_dump_t dump, size_t *size) {
  const std::string *text = artifact ? textOf(*artifact, dump) : nullptr;
  bool isThere = text && !text->empty();
  if (size) {
    *size = isThere ? text->size() : 0;
  }
  return isThere ? text->c_str() : nullptr;
}

jitk_status_t jitk_artifact_info(jitk_artifact_t artifact, jitk_kernel_info_t *info, jitk_error_t *error) {
  return guard(error, [&]() -> Status {
    JITK_TRY(require(artifact, "artifact"));
    return writeStruct(infoOf(*artifact), "info", info);
  });
}

} // extern "C"
