#include "src/ops/Families.h"

namespace jitk {

using Kind = AttributeSchema::Kind;

static Status checkMatmul(const Description &description) {
  if (description.flag("residual") && description.flag("accumulate")) {
    return invalidArgument("residual and accumulate of matmul must not both be true: each adds a matrix");
  }
  return okStatus();
}

/// The sizes of a product of fp8, and what all such products have.
static std::vector<AttributeSchema> fp8Attributes(std::vector<AttributeSchema> sizes) {
  std::vector<AttributeSchema> attributes = std::move(sizes);
  attributes.insert(
      attributes.end(),
      {
          {"out_dtype", Kind::Word, "bf16", "type of C", {"bf16", "fp16", "fp32"}},
          // Column by column is what TMA moves, and what quantizers that write for it leave.
          {"a_scale_layout",
           Kind::Word,
           "row",
           "A's scales are [m,ceil(k/128)] (row) or [ceil(k/128),m] (col)",
           {"row", "col"}},
          strideAttribute("a_scale_stride", "elements from a row of A's scales, as it lies in memory, to the next"),
          strideAttribute("a_stride", "elements from a row of A to the next"),
          strideAttribute("b_stride", "elements from a row of B to the next"),
          strideAttribute("c_stride", "elements from a row of C to the next"),
          configurationAttribute(),
      });
  return attributes;
}

void addMatmulOps(std::vector<OpSchema> &ops) {
  ops.push_back({
      .name = "matmul",
      .summary = "C[m,n] = activation(A[m,k] B + bias + residual), in fp32 and rounded once",
      .attributes =
          {
              {"m", Kind::Dimension, "", "rows of A and C"},
              {"n", Kind::Dimension, "", "columns of C"},
              {"k", Kind::Dimension, "", "columns of A"},
              {"dtype", Kind::Word, "bf16", "type of A and B", {"bf16", "fp16"}},
              {"out_dtype", Kind::Word, "@dtype", "type of C", {"bf16", "fp16", "fp32"}},
              {"a_layout", Kind::Word, "row", "A is [m,k] (row) or [k,m] (col)", {"row", "col"}},
              {"b_layout", Kind::Word, "row", "B is [k,n] (row) or [n,k] (col)", {"row", "col"}},
              {"bias", Kind::Flag, "false", "add a row to every row of A B"},
              {"residual", Kind::Flag, "false", "add a matrix to A B"},
              {"accumulate", Kind::Flag, "false", "add what C holds to A B"},
              {"activation",
               Kind::Word,
               "none",
               "applied to the sum; gelu_tanh is 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
               {"none", "relu", "gelu_tanh", "silu"}},
              strideAttribute("a_stride", "elements from a row of A, as it lies in memory, to the next"),
              strideAttribute("b_stride", "elements from a row of B, as it lies in memory, to the next"),
              strideAttribute("residual_stride", "elements from a row of the residual to the next"),
              strideAttribute("c_stride", "elements from a row of C to the next"),
              configurationAttribute(),
          },
      .tensors =
          {
              {"a", "@dtype", {"m", "k"}, Access::Read, "[k,m] if a_layout is col", "", "a_layout=col"},
              {"b", "@dtype", {"k", "n"}, Access::Read, "[n,k] if b_layout is col", "", "b_layout=col"},
              {"bias", "@out_dtype", {"n"}, Access::Read, "one value a column of C", "bias"},
              {"residual", "@out_dtype", {"m", "n"}, Access::Read, "row major", "residual"},
              {"c", "@out_dtype", {"m", "n"}, Access::Written, "row major", "!accumulate"},
              {"c", "@out_dtype", {"m", "n"}, Access::Updated, "row major", "accumulate"},
          },
      .scalars = {},
      .check = checkMatmul,
  });
  ops.push_back({
      .name = "fp8_block_matmul",
      .summary = "C[m,n] = A[m,k] B[n,k]^T, in e4m3 with one scale for 1x128 of A and 128x128 of B",
      .attributes = fp8Attributes({
          {"m", Kind::Dimension, "", "rows of A and C"},
          {"n", Kind::Dimension, "", "rows of B, columns of C"},
          {"k", Kind::Dimension, "", "columns of A and B"},
      }),
      .tensors =
          {
              {"a", "e4m3", {"m", "k"}, Access::Read, "row major"},
              {"a_scale",
               "fp32",
               {"m", "ceil(k/128)"},
               Access::Read,
               "[ceil(k/128),m] if a_scale_layout is col",
               "",
               "a_scale_layout=col"},
              {"b", "e4m3", {"n", "k"}, Access::Read, "row major"},
              {"b_scale", "fp32", {"ceil(n/128)", "ceil(k/128)"}, Access::Read, "row major"},
              {"c", "@out_dtype", {"m", "n"}, Access::Written, "row major"},
          },
      .scalars = {},
  });
  ops.push_back({
      .name = "grouped_fp8_block_matmul",
      .summary = "fp8_block_matmul of rows with the B of their group: the experts of a mixture",
      .attributes = fp8Attributes({
          {"masked", Kind::Flag, "false", "m rows for each group, of which the first few are valid, not rows of all"},
          {"groups", Kind::Dimension, "", "matrices B"},
          {"m", Kind::Dimension, "", "rows of A and C; of each group if masked"},
          {"n", Kind::Dimension, "", "rows of each B, columns of C"},
          {"k", Kind::Dimension, "", "columns of A and B"},
          {"expected_m", Kind::Integer, "0", "masked: valid rows of a group to be fast for; 0: m", {}, 0},
      }),
      .tensors =
          {
              {"a", "e4m3", {"masked?groups:1", "m", "k"}, Access::Read, "row major"},
              {"a_scale",
               "fp32",
               {"masked?groups:1", "m", "ceil(k/128)"},
               Access::Read,
               "[.., ceil(k/128), m] if a_scale_layout is col",
               "",
               "a_scale_layout=col"},
              {"b", "e4m3", {"groups", "n", "k"}, Access::Read, "row major"},
              {"b_scale", "fp32", {"groups", "ceil(n/128)", "ceil(k/128)"}, Access::Read, "row major"},
              {"row_group",
               "int32",
               {"m"},
               Access::Read,
               "group of each row; any other number, such as -1: C's row is undefined; a group's rows begin at a "
               "multiple of 128",
               "!masked"},
              {"valid_rows",
               "int32",
               {"groups"},
               Access::Read,
               "of each group; C's other rows are undefined",
               "masked"},
              {"c", "@out_dtype", {"masked?groups:1", "m", "n"}, Access::Written, "row major"},
          },
      .scalars = {},
      .products = {{{"groups", "n"}}, {{"groups", "m"}, "masked"}},
  });
}

} // namespace jitk
