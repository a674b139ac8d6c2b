#include <jitk/jitk.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  jitk_runtime_options_t options = {.struct_size = sizeof options};
  jitk_runtime_t runtime = NULL;
  jitk_error_t error = NULL;
  options.store_path = "";
  if (jitk_runtime_create(&options, &runtime, &error) != JITK_STATUS_OK) {
    printf("%s\n", jitk_error_message(error));
    return 1;
  }
  jitk_runtime_release(runtime);
  printf("jitk %s knows %zu ops\n", jitk_version(), jitk_op_count());
  return strcmp(jitk_version(), "0.1.0") == 0 ? 0 : 1;
}
