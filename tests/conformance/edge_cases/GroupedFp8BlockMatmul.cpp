#include "tests/conformance/edge_cases/EdgeCases.h"

namespace jitk::conformance {

std::vector<checked::Problem> groupedFp8BlockMatmulEdgeCases() {
  return {
      // grouped_fp8_block_matmul: runs of rows that are short or of no group, groups without rows, tails.
      {"grouped_fp8_block_matmul groups=3 m=700 n=200 k=304", {}},
      {"grouped_fp8_block_matmul groups=3 m=448 n=144 k=512", {}},
      {"grouped_fp8_block_matmul groups=2 m=300 n=132 k=84 out_dtype=fp16", {}},
      {"grouped_fp8_block_matmul groups=3 m=* n=328 k=144", {{"m", 0}}},
      {"grouped_fp8_block_matmul groups=3 m=* n=328 k=144", {{"m", 130}}},
      {"grouped_fp8_block_matmul groups=* m=* n=*%8 k=128", {{"groups", 2}, {"m", 256}, {"n", 136}}},
      {"grouped_fp8_block_matmul groups=3 m=520 n=264 k=512", {}},
      {"grouped_fp8_block_matmul groups=* m=* n=*%8 k=128", {{"groups", 0}, {"m", 130}, {"n", 136}}},
      // masked: all rows of a group and none, tiles of 64 rows and 128, rows that no tile covers.
      {"grouped_fp8_block_matmul masked=true groups=4 m=128 n=200 k=304", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=256 n=328 k=144 expected_m=20 out_dtype=fp16", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=70 n=132 k=84", {}},
      {"grouped_fp8_block_matmul masked=true groups=5 m=*%64 n=72 k=272", {{"m", 192}}},
      {"grouped_fp8_block_matmul masked=true groups=5 m=*%64 n=72 k=496", {{"m", 192}}},
      {"grouped_fp8_block_matmul masked=true groups=5 m=*%64 n=72 k=272", {{"m", 0}}},
      {"grouped_fp8_block_matmul masked=true groups=* m=* n=*%8 k=128", {{"groups", 0}, {"m", 70}, {"n", 136}}},
      {"grouped_fp8_block_matmul masked=true groups=* m=200 n=136 k=192 a_scale_layout=col", {{"groups", 0}}},
      // Rows that lie apart, of all groups alike.
      {"grouped_fp8_block_matmul groups=3 m=700 n=200 k=304 a_stride=320 b_stride=336 c_stride=264", {}},
      {"grouped_fp8_block_matmul groups=2 m=300 n=132 k=84 a_stride=88 b_stride=100 c_stride=133", {}},
      {"grouped_fp8_block_matmul masked=true groups=4 m=128 n=200 k=304 a_stride=320 b_stride=304 c_stride=216", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=70 n=132 k=84 a_stride=96 b_stride=84 c_stride=140", {}},
      {"grouped_fp8_block_matmul groups=3 m=700 n=200 k=304 out_dtype=fp32 a_scale_layout=col", {}},
      {"grouped_fp8_block_matmul groups=2 m=300 n=131 k=84 out_dtype=fp32 a_scale_layout=col a_scale_stride=304", {}},
      {"grouped_fp8_block_matmul masked=true groups=4 m=128 n=200 k=304 a_scale_layout=col a_scale_stride=132", {}},
      {"grouped_fp8_block_matmul masked=true groups=5 m=*%64 n=72 k=512 a_scale_layout=col out_dtype=fp32",
       {{"m", 192}}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=70 n=132 k=84 a_scale_layout=col out_dtype=fp32", {}},
  };
}

} // namespace jitk::conformance
