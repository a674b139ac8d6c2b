/* Launches with tensors that say what they are: each thing that can be wrong is named. On the fake driver. */

#include "check.h"

#include <stdlib.h>

/* matmul m=* n=64 k=32: a [m,32], b [32,64] or, as col, [64,32], c [m,64]. */
typedef struct case_t {
  int64_t shapes[3][2], strides[3][2];
  jitk_dltensor_t tensors[3];
  const jitk_dltensor_t *pointers[3];
  jitk_dlpack_launch_t launch;
} case_t;

static void good(case_t *c, int64_t m) {
  const int64_t shapes[3][2] = {{m, 32}, {32, 64}, {m, 64}};
  int i;
  memset(c, 0, sizeof *c);
  for (i = 0; i < 3; ++i) {
    jitk_dltensor_t *tensor = &c->tensors[i];
    memcpy(c->shapes[i], shapes[i], sizeof shapes[i]);
    c->strides[i][0] = shapes[i][1];
    c->strides[i][1] = 1;
    tensor->data = (void *)(size_t)(0x10000 * (i + 1));
    tensor->device.device_type = 2;
    tensor->device.device_id = 1;
    tensor->ndim = 2;
    tensor->dtype.code = 4;
    tensor->dtype.bits = 16;
    tensor->dtype.lanes = 1;
    tensor->shape = c->shapes[i];
    c->pointers[i] = tensor;
  }
  c->launch.struct_size = sizeof c->launch;
  c->launch.tensors = c->pointers;
  c->launch.num_tensors = 3;
}

static void check_wrong(jitk_kernel_t kernel) {
  jitk_error_t error = NULL;
  case_t c;
  int64_t rows = 8;
  good(&c, 7);
  c.tensors[1].dtype.code = 2;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "type of tensor b must be bf16: got fp16");
  good(&c, 7);
  c.tensors[2].dtype.lanes = 2;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "type of tensor c must be bf16: got another one");
  good(&c, 7);
  c.tensors[0].ndim = 1;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "rank of tensor a must be 2: got 1");
  good(&c, 7);
  c.shapes[1][1] = 65;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "size 1 of tensor b must be 64: got 65");
  good(&c, 7);
  c.shapes[2][0] = 8;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "size 0 of tensor c must be 7: got 8");
  good(&c, 7);
  c.tensors[0].strides = c.strides[0];
  c.strides[0][0] = 40;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "stride 0 of tensor a must be 32: got 40");
  good(&c, 7);
  c.tensors[1].byte_offset = 8;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error),
                "address of tensor b must be aligned to 16 bytes: got 0x20008");
  good(&c, 7);
  c.tensors[2].device.device_id = 0;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error),
                "tensor c must be on CUDA device 1: got device type 2, device 0");
  good(&c, 7);
  c.pointers[1] = NULL;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "tensor b must have a shape: got none");
  good(&c, 7);
  c.launch.num_tensors = 2;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "number of tensors must be 3: got 2");
  good(&c, 7);
  c.launch.dimensions = &rows;
  c.launch.num_dimensions = 1;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "size 0 of tensor a must be 8: got 7");
  good(&c, 600);
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "dimension m must be at most 512: got 600");
}

/* Rows that lie apart: the strides of the description, and no other. */
static void check_apart(jitk_runtime_t runtime, jitk_device_t device) {
  jitk_error_t error = NULL;
  jitk_description_t description = NULL;
  jitk_kernel_t kernel = NULL;
  case_t c;
  int i;
  CHECK_OK(jitk_description_parse("matmul m=* n=64 k=32 b_layout=col a_stride=40 b_stride=48 c_stride=96", &description,
                                  &error));
  CHECK_OK(jitk_runtime_kernel(runtime, device, description, &kernel, &error));
  good(&c, 7);
  c.shapes[1][0] = 64;
  c.shapes[1][1] = 32;
  for (i = 0; i < 3; ++i) {
    c.tensors[i].strides = c.strides[i];
  }
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "stride 0 of tensor a must be 40: got 32");
  c.strides[0][0] = 40;
  c.strides[1][0] = 48;
  c.strides[2][0] = 96;
  CHECK_OK(jitk_kernel_launch_dlpack(kernel, &c.launch, &error));
  /* The transposed view of b. */
  c.shapes[1][0] = 32;
  c.shapes[1][1] = 64;
  c.strides[1][0] = 1;
  c.strides[1][1] = 48;
  CHECK_OK(jitk_kernel_launch_dlpack(kernel, &c.launch, &error));
  c.strides[1][1] = 40;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "stride 1 of tensor b must be 48: got 40");
  c.strides[1][1] = 48;
  c.strides[2][0] = 64;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "stride 0 of tensor c must be 96: got 64");
  c.strides[2][0] = 96;
  c.strides[2][1] = 2;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "stride 1 of tensor c must be 1: got 2");
  c.strides[2][1] = 1;
  /* None given: side by side. */
  c.tensors[0].strides = NULL;
  CHECK_INVALID(jitk_kernel_launch_dlpack(kernel, &c.launch, &error), "stride 0 of tensor a must be 40: got 32");
  c.tensors[0].strides = c.strides[0];
  c.launch.dimensions = NULL;
  CHECK_OK(jitk_kernel_launch_dlpack(kernel, &c.launch, &error));
  jitk_kernel_release(kernel);
  jitk_description_release(description);
}

int main(void) {
  jitk_error_t error = NULL;
  jitk_runtime_t runtime = NULL;
  jitk_device_t device = NULL;
  jitk_description_t row = NULL, col = NULL;
  jitk_kernel_t kernel = NULL, of_col = NULL;
  case_t c;
  CHECK(setenv("JITK_DRIVER_LIBRARY", JITK_FAKE_CUDA, 1) == 0);
  runtime = stub_runtime("");
  CHECK_OK(jitk_device_open(runtime, "cuda:1", NULL, &device, &error));
  CHECK_OK(jitk_description_parse("matmul m=*<=512 n=64 k=32", &row, &error));
  CHECK_OK(jitk_description_parse("matmul m=* n=64 k=32 b_layout=col", &col, &error));
  CHECK_OK(jitk_runtime_kernel(runtime, device, row, &kernel, &error));
  CHECK_OK(jitk_runtime_kernel(runtime, device, col, &of_col, &error));

  good(&c, 7);
  CHECK_OK(jitk_kernel_launch_dlpack(kernel, &c.launch, &error));
  c.tensors[0].strides = c.strides[0];
  CHECK_OK(jitk_kernel_launch_dlpack(kernel, &c.launch, &error));
  good(&c, 1);
  c.tensors[0].strides = c.strides[0];
  c.strides[0][0] = 12345; /* of one row the stride says nothing */
  CHECK_OK(jitk_kernel_launch_dlpack(kernel, &c.launch, &error));
  good(&c, 0);
  CHECK_OK(jitk_kernel_launch_dlpack(kernel, &c.launch, &error));
  check_wrong(kernel);

  /* A column-major b: as it lies in memory, or as the transposed view of that; not a row-major one. */
  good(&c, 7);
  CHECK_INVALID(jitk_kernel_launch_dlpack(of_col, &c.launch, &error), "size 1 of tensor b must be 32: got 64");
  c.shapes[1][0] = 64;
  c.shapes[1][1] = 32;
  CHECK_OK(jitk_kernel_launch_dlpack(of_col, &c.launch, &error));
  good(&c, 7);
  c.tensors[1].strides = c.strides[1];
  c.strides[1][0] = 1;
  c.strides[1][1] = 32;
  CHECK_OK(jitk_kernel_launch_dlpack(of_col, &c.launch, &error));

  check_apart(runtime, device);

  jitk_kernel_release(kernel);
  jitk_kernel_release(of_col);
  jitk_description_release(row);
  jitk_description_release(col);
  jitk_device_release(device);
  jitk_runtime_release(runtime);
  return finish();
}
