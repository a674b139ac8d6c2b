#include "tests/conformance/edge_cases/EdgeCases.h"

namespace jitk::conformance {

std::vector<checked::Problem> matmulEdgeCases() {
  return {
      // matmul: the least problem, ragged edges in each dimension, both layouts, each pair of types.
      {"matmul m=1 n=1 k=1", {}},
      {"matmul m=128 n=128 k=128 dtype=fp16", {}},
      {"matmul m=17 n=9 k=1 dtype=fp16 out_dtype=fp32", {}},
      {"matmul m=33 n=65 k=47 dtype=fp16", {}},
      {"matmul m=33 n=65 k=47 dtype=bf16 b_layout=col out_dtype=fp32", {}},
      {"matmul m=100 n=72 k=136 dtype=bf16 b_layout=col", {}},
      {"matmul m=64 n=130 k=72 dtype=bf16 b_layout=row out_dtype=fp16", {}},
      {"matmul m=129 n=16 k=64 dtype=fp16 b_layout=col", {}},
      {"matmul m=1 n=256 k=200 dtype=bf16 b_layout=col", {}},
      {"matmul m=*<=100 n=48 k=80 dtype=bf16 b_layout=col", {{"m", 0}}},
      {"matmul m=*<=100 n=48 k=80 dtype=bf16 b_layout=col", {{"m", 1}}},
      {"matmul m=*<=100 n=48 k=80 dtype=bf16 b_layout=col", {{"m", 77}}},
      {"matmul m=* n=*%8 k=*%16 dtype=fp16", {{"m", 5}, {"n", 40}, {"k", 48}}},
      {"matmul m=* n=* k=* dtype=bf16 b_layout=col", {{"m", 18}, {"n", 21}, {"k", 37}}},

      // The plain kernel's wide tile, whose products run on while the next ones are started: no block of K, and
      // several. Rows past the end, and none, whose copies the compiler gives to TMA; a part of a block of K as well.
      {"matmul m=* n=*%8 k=*%64 b_layout=col", {{"m", 140}, {"n", 264}, {"k", 320}}},
      {"matmul m=* n=*%256 k=*%8 dtype=fp16 out_dtype=fp32", {{"m", 130}, {"n", 256}, {"k", 200}}},
      {"matmul m=* n=*%8 k=*%64 b_layout=col bias=true", {{"m", 9}, {"n", 16}, {"k", 0}}},
      {"matmul m=* n=*%8 k=*%64 b_layout=col", {{"m", 0}, {"n", 264}, {"k", 64}}},
      {"matmul m=* n=*%8 k=*%8 b_layout=col", {{"m", 140}, {"n", 264}, {"k", 136}}},

      // Column-major A, [k, m], of which TMA and the compiler's tiles are other ones: tails in each dimension, single
      // elements, no row and a few, the wide tile, rows apart.
      {"matmul m=200 n=328 k=200 a_layout=col b_layout=col", {}},
      {"matmul m=136 n=264 k=72 a_layout=col dtype=fp16 out_dtype=fp32 bias=true residual=true", {}},
      {"matmul m=64 n=136 k=3000 a_layout=col b_layout=col activation=silu", {}},
      {"matmul m=*%8 n=264 k=200 a_layout=col b_layout=col", {{"m", 0}}},
      {"matmul m=*%8 n=264 k=200 a_layout=col b_layout=col", {{"m", 56}}},
      {"matmul m=70 n=44 k=51 a_layout=col", {}},
      {"matmul m=* n=* k=* a_layout=col dtype=fp16", {{"m", 18}, {"n", 21}, {"k", 37}}},
      {"matmul m=*%128 n=*%8 k=*%64 a_layout=col b_layout=col", {{"m", 128}, {"n", 264}, {"k", 192}}},
      {"matmul m=200 n=328 k=200 a_layout=col b_layout=col a_stride=216 b_stride=208 c_stride=336", {}},
      {"matmul m=50 n=130 k=72 a_layout=col a_stride=51", {}},

      // matmul in tiles that TMA moves: tails in each dimension, one block of K, CTAs that take several tiles or none.
      {"matmul m=300 n=328 k=200 dtype=bf16 b_layout=col", {}},
      {"matmul m=131 n=264 k=72 dtype=fp16 b_layout=row out_dtype=fp32", {}},
      {"matmul m=1 n=8 k=8 dtype=bf16", {}},
      {"matmul m=70 n=36 k=64 dtype=bf16 b_layout=col out_dtype=fp32", {}},
      {"matmul m=* n=512 k=192 dtype=bf16 b_layout=row", {{"m", 0}}},
      {"matmul m=* n=512 k=192 dtype=bf16 b_layout=row", {{"m", 333}}},
      {"matmul m=* n=264 k=1000 dtype=bf16 b_layout=col", {{"m", 300}}},
      {"matmul m=* n=264 k=520 dtype=bf16 b_layout=col out_dtype=fp32", {{"m", 300}}},
      {"matmul m=* n=264 k=1000 dtype=bf16 b_layout=col residual=true", {{"m", 300}}},
      {"matmul m=* n=192 k=72 dtype=bf16 b_layout=col", {{"m", 8}}},
      {"matmul m=* n=192 k=72 dtype=bf16 b_layout=col", {{"m", 9}}},
      {"matmul m=*<=64 n=*%8 k=136 dtype=fp16 b_layout=col", {{"m", 40}, {"n", 0}}},
      {"matmul m=*<=64 n=*%8 k=136 dtype=fp16 b_layout=col", {{"m", 40}, {"n", 88}}},
      {"matmul m=24 n=16 k=*%8 dtype=bf16", {{"k", 0}}},

      // matmul in the largest tile of the plain kernel, whose copies the compiler gives to TMA: no block of K, one, as
      // many as there are slots, and more.
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=col", {{"m", 128}, {"n", 512}, {"k", 0}}},
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=col", {{"m", 256}, {"n", 256}, {"k", 64}}},
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=row", {{"m", 128}, {"n", 512}, {"k", 256}}},
      {"matmul m=*%128 n=*%256 k=*%8 dtype=fp16 b_layout=col", {{"m", 128}, {"n", 256}, {"k", 712}}},
      // The same of CTAs that stay, whose copies go on into their next tile: several tiles for each and not as many, no
      // block of K and fewer than there are slots, rows past the end; stored by TMA, of 16 bits, of fp32, to rows
      // apart.
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=col", {{"m", 384}, {"n", 1024}, {"k", 64}}},
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=row", {{"m", 256}, {"n", 1280}, {"k", 128}}},
      {"matmul m=*%128 n=*%256 k=*%64 b_layout=col", {{"m", 256}, {"n", 768}, {"k", 0}}},
      {"matmul m=* n=512 k=*%64 b_layout=col bias=true activation=silu", {{"m", 300}, {"k", 320}}},
      {"matmul m=* n=*%256 k=*%64 dtype=fp16 out_dtype=fp32", {{"m", 130}, {"n", 768}, {"k", 192}}},
      {"matmul m=* n=*%256 k=*%64 b_layout=col c_stride=784 a_stride=264", {{"m", 260}, {"n", 768}, {"k", 256}}},
      {"matmul m=*%128 n=*%256 k=*%64 a_layout=col", {{"m", 384}, {"n", 512}, {"k", 192}}},
      // Columns past the end of row-major B, and of column-major A, with and without a part of a block of K.
      {"matmul m=* n=*%8 k=*%64", {{"m", 140}, {"n", 520}, {"k", 192}}},
      {"matmul m=*%8 n=*%8 k=*%64 a_layout=col", {{"m", 136}, {"n", 520}, {"k", 128}}},
      {"matmul m=*%8 n=*%8 k=*%8 dtype=fp16 a_layout=col", {{"m", 136}, {"n", 264}, {"k", 200}}},
      {"matmul m=* n=*%8 k=*%64", {{"m", 140}, {"n", 0}, {"k", 64}}},
      // Results added to what is there: CTAs of one tile each.
      {"matmul m=* n=*%256 k=*%64 b_layout=col accumulate=true", {{"m", 140}, {"n", 512}, {"k", 192}}},

      // matmul with what follows the product: each part of it, in whole tiles and over edges.
      {"matmul m=33 n=65 k=47 dtype=fp16 bias=true activation=relu", {}},
      {"matmul m=33 n=65 k=47 dtype=bf16 b_layout=col residual=true activation=gelu_tanh out_dtype=fp32", {}},
      {"matmul m=*<=40 n=*%8 k=*%8 accumulate=true activation=silu", {{"m", 21}, {"n", 24}, {"k", 40}}},
      {"matmul m=5 n=7 k=*%8 bias=true accumulate=true", {{"k", 0}}},
      {"matmul m=200 n=264 k=136 b_layout=col bias=true", {}},
      {"matmul m=131 n=328 k=72 dtype=fp16 residual=true activation=silu", {}},
      {"matmul m=150 n=36 k=64 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true", {}},
      {"matmul m=150 n=72 k=200 out_dtype=fp32 bias=true residual=true activation=relu", {}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh", {{"m", 0}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh", {{"m", 5}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh", {{"m", 60}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh", {{"m", 200}}},
      {"matmul m=40 n=72 k=136 dtype=fp16 b_layout=col out_dtype=fp32 bias=true accumulate=true", {}},

      // matmul of few tiles, K split over CTAs: parts that do not divide K, rows and columns past the end.
      {"matmul m=64 n=64 k=4096", {}},
      {"matmul m=50 n=136 k=3000 b_layout=col bias=true residual=true activation=silu", {}},
      {"matmul m=*<=100 n=72 k=2560 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true", {{"m", 3}}},
      {"matmul m=*<=100 n=72 k=2560 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true", {{"m", 77}}},

      // matmul of rows that lie apart: as TMA can move them and as it cannot, in each operand, in each kind of tile and
      // epilogue, K split over CTAs, and in the largest tile of the plain kernel.
      {"matmul m=300 n=328 k=200 b_layout=col a_stride=208 b_stride=640 c_stride=1000", {}},
      {"matmul m=131 n=264 k=72 dtype=fp16 out_dtype=fp32 a_stride=80 b_stride=272 c_stride=268", {}},
      {"matmul m=131 n=264 k=72 dtype=fp16 out_dtype=fp32 a_stride=73 b_stride=266 c_stride=265", {}},
      {"matmul m=33 n=65 k=47 a_stride=48 b_stride=72 c_stride=80", {}},
      {"matmul m=33 n=65 k=47 dtype=fp16 b_layout=col a_stride=49 b_stride=51 c_stride=67", {}},
      {"matmul m=*<=64 n=192 k=72 b_layout=col a_stride=1024 b_stride=96 c_stride=576", {{"m", 6}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh residual_stride=400 "
       "c_stride=200",
       {{"m", 5}}},
      {"matmul m=* n=192 k=72 b_layout=col bias=true residual=true activation=gelu_tanh residual_stride=400 "
       "c_stride=200",
       {{"m", 200}}},
      {"matmul m=150 n=72 k=200 out_dtype=fp32 residual=true activation=relu a_stride=216 residual_stride=74", {}},
      {"matmul m=150 n=36 k=64 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true c_stride=44", {}},
      {"matmul m=50 n=136 k=3000 b_layout=col residual=true activation=silu a_stride=3008 residual_stride=144 "
       "c_stride=152",
       {}},
      {"matmul m=*<=100 n=72 k=2560 dtype=fp16 b_layout=col out_dtype=fp32 accumulate=true b_stride=2568 c_stride=80",
       {{"m", 77}}},
      {"matmul m=* n=* k=* b_layout=col a_stride=64 b_stride=50 c_stride=33", {{"m", 18}, {"n", 21}, {"k", 37}}},
      {"matmul m=* n=*%8 k=*%64 b_layout=col a_stride=448 b_stride=384 c_stride=272",
       {{"m", 140}, {"n", 264}, {"k", 320}}},
      {"matmul m=*%128 n=*%256 k=*%64 a_stride=264 b_stride=520", {{"m", 128}, {"n", 512}, {"k", 256}}},
      {"matmul m=*<=100 n=48 k=80 b_layout=col a_stride=96 c_stride=64", {{"m", 0}}},
  };
}

} // namespace jitk::conformance
