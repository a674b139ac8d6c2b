/* Where the fields of the frozen header's structs lie, and what its enumerators are: compiled with each header, and the
 * two outputs are compared. */

#include "jitk/jitk.h"

#include <stdio.h>

#define FIELD(type, field) printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field))
#define VALUE(name) printf("%s %d\n", #name, (int)(name))

int main(void) {
  FIELD(jitk_runtime_options_t, struct_size);
  FIELD(jitk_runtime_options_t, store_path);
  FIELD(jitk_runtime_options_t, store_bytes);
  FIELD(jitk_runtime_options_t, memory_bytes);
  FIELD(jitk_runtime_options_t, lock_deadline_ms);
  FIELD(jitk_runtime_options_t, jobs);
  FIELD(jitk_runtime_options_t, compiler_library);
  FIELD(jitk_runtime_options_t, assembler);
  FIELD(jitk_runtime_options_t, log);
  FIELD(jitk_runtime_options_t, log_user);
  FIELD(jitk_runtime_options_t, log_level);
  FIELD(jitk_runtime_options_t, bundles);
  FIELD(jitk_runtime_options_t, num_bundles);
  FIELD(jitk_device_options_t, struct_size);
  FIELD(jitk_device_options_t, emulator_immediate);
  FIELD(jitk_device_options_t, emulator_workers);
  FIELD(jitk_device_options_t, emulator_seed);
  FIELD(jitk_kernel_info_t, struct_size);
  FIELD(jitk_kernel_info_t, description);
  FIELD(jitk_kernel_info_t, target);
  FIELD(jitk_kernel_info_t, key);
  FIELD(jitk_kernel_info_t, tier);
  FIELD(jitk_kernel_info_t, registers);
  FIELD(jitk_kernel_info_t, spill_bytes);
  FIELD(jitk_kernel_info_t, shared_bytes);
  FIELD(jitk_kernel_info_t, num_steps);
  FIELD(jitk_kernel_info_t, code_bytes);
  FIELD(jitk_kernel_info_t, build_ms);
  FIELD(jitk_kernel_info_t, lower_ms);
  FIELD(jitk_kernel_info_t, llvm_ms);
  FIELD(jitk_kernel_info_t, assemble_ms);
  FIELD(jitk_kernel_info_t, obtain_ms);
  FIELD(jitk_kernel_info_t, load_ms);
  FIELD(jitk_launch_t, struct_size);
  FIELD(jitk_launch_t, tensors);
  FIELD(jitk_launch_t, num_tensors);
  FIELD(jitk_launch_t, dimensions);
  FIELD(jitk_launch_t, num_dimensions);
  FIELD(jitk_launch_t, scalars);
  FIELD(jitk_launch_t, num_scalars);
  FIELD(jitk_launch_t, workspace);
  FIELD(jitk_launch_t, workspace_bytes);
  FIELD(jitk_launch_t, stream);
  FIELD(jitk_launch_t, device);
  FIELD(jitk_progress_t, struct_size);
  FIELD(jitk_progress_t, done);
  FIELD(jitk_progress_t, total);
  FIELD(jitk_progress_t, status);
  FIELD(jitk_progress_t, error);
  FIELD(jitk_progress_t, info);
  FIELD(jitk_prepare_options_t, struct_size);
  FIELD(jitk_prepare_options_t, device);
  FIELD(jitk_prepare_options_t, target);
  FIELD(jitk_prepare_options_t, progress);
  FIELD(jitk_prepare_options_t, progress_user);
  FIELD(jitk_prepare_options_t, deadline_ms);
  VALUE(JITK_STATUS_OK);
  VALUE(JITK_STATUS_INVALID_ARGUMENT);
  VALUE(JITK_STATUS_UNSUPPORTED);
  VALUE(JITK_STATUS_UNAVAILABLE);
  VALUE(JITK_STATUS_OUT_OF_MEMORY);
  VALUE(JITK_STATUS_DEVICE_LOST);
  VALUE(JITK_STATUS_NOT_PREPARED);
  VALUE(JITK_STATUS_CANCELLED);
  VALUE(JITK_STATUS_DEADLINE_EXCEEDED);
  VALUE(JITK_STATUS_DATA_LOSS);
  VALUE(JITK_STATUS_FORKED);
  VALUE(JITK_STATUS_INTERNAL);
  VALUE(JITK_TIER_NONE);
  VALUE(JITK_TIER_LOADED);
  VALUE(JITK_TIER_MEMORY);
  VALUE(JITK_TIER_DISK);
  VALUE(JITK_TIER_COMPILED);
  VALUE(JITK_TIER_JOINED);
  VALUE(JITK_TIER_BUNDLE);
  VALUE(JITK_DUMP_COMMON_IR);
  VALUE(JITK_DUMP_TTGIR);
  VALUE(JITK_DUMP_LLVM_IR);
  VALUE(JITK_DUMP_PTX);
  VALUE(JITK_DUMP_CODE);
  VALUE(JITK_DUMP_RECIPE);
  return 0;
}
