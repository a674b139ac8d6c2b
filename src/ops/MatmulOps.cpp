#include "src/ops/Families.h"

namespace jitk {

using Kind = AttributeSchema::Kind;

void addMatmulOps(std::vector<OpSchema> &ops) {
  ops.push_back({
      .name = "matmul",
      .summary = "C[m,n] = A[m,k] B, accumulated in fp32",
      .attributes =
          {
              {"m", Kind::Dimension, "", "rows of A and C"},
              {"n", Kind::Dimension, "", "columns of C"},
              {"k", Kind::Dimension, "", "columns of A"},
              {"dtype", Kind::Word, "bf16", "type of A and B", {"bf16", "fp16"}},
              {"out_dtype", Kind::Word, "@dtype", "type of C", {"bf16", "fp16", "fp32"}},
              {"b_layout", Kind::Word, "row", "B is [k,n] (row) or [n,k] (col)", {"row", "col"}},
          },
      .tensors =
          {
              {"a", "@dtype", {"m", "k"}, Access::Read, "row major"},
              {"b", "@dtype", {"k", "n"}, Access::Read, "[n,k] if b_layout is col", "", "b_layout=col"},
              {"c", "@out_dtype", {"m", "n"}, Access::Written, "row major"},
          },
      .scalars = {},
  });
  ops.push_back({
      .name = "fp8_block_matmul",
      .summary = "C[m,n] = A[m,k] B[n,k]^T, in e4m3 with one scale for 1x128 of A and 128x128 of B",
      .attributes =
          {
              {"m", Kind::Dimension, "", "rows of A and C"},
              {"n", Kind::Dimension, "", "rows of B, columns of C"},
              {"k", Kind::Dimension, "", "columns of A and B"},
              {"out_dtype", Kind::Word, "bf16", "type of C", {"bf16", "fp16"}},
          },
      .tensors =
          {
              {"a", "e4m3", {"m", "k"}, Access::Read, "row major"},
              {"a_scale", "fp32", {"m", "ceil(k/128)"}, Access::Read, "row major"},
              {"b", "e4m3", {"n", "k"}, Access::Read, "row major"},
              {"b_scale", "fp32", {"ceil(n/128)", "ceil(k/128)"}, Access::Read, "row major"},
              {"c", "@out_dtype", {"m", "n"}, Access::Written, "row major"},
          },
      .scalars = {},
  });
}

} // namespace jitk
