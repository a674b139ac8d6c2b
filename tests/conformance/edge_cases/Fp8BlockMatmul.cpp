#include "tests/conformance/edge_cases/EdgeCases.h"

namespace jitk::conformance {

std::vector<checked::Problem> fp8BlockMatmulEdgeCases() {
  return {
      // fp8_block_matmul: scale blocks that are whole and cut in each dimension.
      {"fp8_block_matmul m=64 n=128 k=128 out_dtype=fp16", {}},
      {"fp8_block_matmul m=17 n=200 k=300 out_dtype=bf16", {}},
      {"fp8_block_matmul m=1 n=129 k=136 out_dtype=fp16", {}},
      {"fp8_block_matmul m=83 n=132 k=84 out_dtype=fp16", {}},
      {"fp8_block_matmul m=* n=128 k=256", {{"m", 0}}},
      {"fp8_block_matmul m=* n=128 k=256", {{"m", 70}}},
      // Those that TMA can move, on sm_90a, and those beside them: few rows and many, each variant, no row at all.
      {"fp8_block_matmul m=300 n=328 k=272", {}},
      {"fp8_block_matmul m=131 n=264 k=144 out_dtype=fp16", {}},
      {"fp8_block_matmul m=200 n=328 k=1024", {}}, // scales of four blocks at once, in each kind of tile
      // Shared memory is full, and scales that do not come four at a time want some of it.
      {"fp8_block_matmul m=150 n=264 k=1408", {}},
      {"fp8_block_matmul m=9 n=200 k=496 out_dtype=fp16", {}},
      {"fp8_block_matmul m=* n=200 k=512", {{"m", 33}}},
      {"fp8_block_matmul m=40 n=72 k=8192", {}}, // K in parts
      {"fp8_block_matmul m=36 n=40 k=7680", {}}, // 60 blocks, which 8 parts do not divide
      // A last tile of 128 rows whose second consumer has none.
      {"fp8_block_matmul m=192 n=144 k=512", {}},
      {"fp8_block_matmul m=*%64 n=144 k=512", {{"m", 192}}},
      {"fp8_block_matmul m=130 n=136 k=6144 out_dtype=fp16", {}},
      {"fp8_block_matmul m=5 n=200 k=4080", {}},
      {"fp8_block_matmul m=* n=72 k=4096", {{"m", 20}}},
      {"fp8_block_matmul m=* n=72 k=4096", {{"m", 100}}},
      {"fp8_block_matmul m=* n=200 k=512", {{"m", 70}}},
      {"fp8_block_matmul m=1 n=8 k=16", {}},
      {"fp8_block_matmul m=70 n=36 k=64", {}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 0}}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 8}}},
      // Rows that lie apart, as TMA can move them and as it cannot.
      {"fp8_block_matmul m=300 n=328 k=272 a_stride=288 b_stride=1024 c_stride=400", {}},
      {"fp8_block_matmul m=70 n=200 k=272 a_stride=300 b_stride=276 c_stride=201 out_dtype=fp16", {}},
      {"fp8_block_matmul m=40 n=72 k=8192 a_stride=8208 b_stride=8224 c_stride=80", {}},
      {"fp8_block_matmul m=* n=200 k=512 a_stride=528 c_stride=208", {{"m", 5}}},
      {"fp8_block_matmul m=* n=* k=* a_stride=160 b_stride=132 c_stride=72", {{"m", 20}, {"n", 70}, {"k", 128}}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 9}}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 33}}},
      {"fp8_block_matmul m=* n=200 k=400", {{"m", 333}}},
      {"fp8_block_matmul m=*<=64 n=*%8 k=144", {{"m", 40}, {"n", 0}}},
      {"fp8_block_matmul m=*<=64 n=*%8 k=144", {{"m", 40}, {"n", 264}}},
      {"fp8_block_matmul m=24 n=16 k=*%16", {{"k", 0}}},
      {"fp8_block_matmul m=24 n=16 k=*%16", {{"k", 144}}},
      // Results in fp32: whole tiles, few rows, K in parts with and without a second step, rows of 16 bytes; plain.
      {"fp8_block_matmul m=300 n=328 k=272 out_dtype=fp32", {}},
      {"fp8_block_matmul m=150 n=264 k=1408 out_dtype=fp32", {}},
      {"fp8_block_matmul m=40 n=72 k=8192 out_dtype=fp32", {}},
      {"fp8_block_matmul m=9 n=196 k=496 out_dtype=fp32 c_stride=204", {}},
      {"fp8_block_matmul m=* n=72 k=4096 out_dtype=fp32", {{"m", 20}}},
      {"fp8_block_matmul m=70 n=35 k=84 out_dtype=fp32", {}},
      // Scales of A column by column: of all rows, of a wider buffer, in each kind of tile; plain.
      {"fp8_block_matmul m=300 n=328 k=272 a_scale_layout=col", {}},
      {"fp8_block_matmul m=131 n=264 k=1408 a_scale_layout=col a_scale_stride=132", {}},
      {"fp8_block_matmul m=40 n=72 k=8192 a_scale_layout=col", {}},
      {"fp8_block_matmul m=* n=200 k=512 a_scale_layout=col", {{"m", 5}}},
      {"fp8_block_matmul m=* n=200 k=400 a_scale_layout=col", {{"m", 333}}},
      {"fp8_block_matmul m=*<=64 n=72 k=512 a_scale_layout=col a_scale_stride=64", {{"m", 33}}},
      {"fp8_block_matmul m=70 n=200 k=300 a_scale_layout=col a_scale_stride=72", {}},
      {"fp8_block_matmul m=* n=* k=* a_scale_layout=col", {{"m", 20}, {"n", 70}, {"k", 300}}},
      {"fp8_block_matmul m=70 n=200 k=1024 a_scale_stride=9", {}},
      {"fp8_block_matmul m=70 n=200 k=* a_scale_stride=4", {{"k", 300}}},
  };
}

} // namespace jitk::conformance
