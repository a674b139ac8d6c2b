#include "tests/unit/kernels/RecipeOf.h"

#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace jitk;

/// The strides in bytes of the tensor maps of each tensor, outermost last.
static std::map<std::string, std::set<std::vector<int64_t>>> stridesOfMaps(const char *text) {
  const Recipe recipe = kernels::test::recipeOf(text);
  std::vector<int64_t> sizes(recipe.dimensions.size(), 10);
  std::map<std::string, std::set<std::vector<int64_t>>> strides;
  for (const TensorMap &map : recipe.tensorMaps) {
    if (map.tensor == TensorMap::kWorkspace) {
      continue;
    }
    std::vector<int64_t> ofMap;
    for (const Expression &stride : map.strides) {
      ofMap.push_back(stride.evaluate(sizes));
    }
    strides[recipe.tensors[map.tensor]].insert(ofMap);
  }
  return strides;
}

TEST_SUITE("kernels/RowStrides") {
  using Strides = std::set<std::vector<int64_t>>;

  TEST_CASE("TMA moves rows that lie apart where they lie") {
    auto product =
        stridesOfMaps("matmul m=* n=192 k=72 b_layout=col residual=true bias=true out_dtype=fp32 a_stride=80 "
                      "b_stride=96 residual_stride=400 c_stride=204");
    CHECK(product["a"] == Strides{{160}});
    CHECK(product["b"] == Strides{{192}});
    CHECK(product["residual"] == Strides{{1600}});
    CHECK(product["c"] == Strides{{816}});
    CHECK(product["bias"] == Strides{{192 * 4}});
    // A sequence is as long as its tokens are apart.
    auto attention = stridesOfMaps("flash_attention batch=2 heads=4 kv_heads=2 seq_q=50 seq_k=70 head_dim=64 "
                                   "varlen=true q_stride=512 k_stride=520 o_stride=264");
    CHECK(attention["q"] == Strides{{1024, 50 * 1024}});
    CHECK(attention["k"] == Strides{{1040, 70 * 1040}});
    CHECK(attention["v"] == Strides{{256, 70 * 256}});
    CHECK(attention["o"] == Strides{{528, 50 * 528}});
    auto grouped =
        stridesOfMaps("grouped_fp8_block_matmul groups=3 m=128 n=200 k=304 masked=true a_stride=320 c_stride=208");
    CHECK(grouped["a"] == Strides{{320}});
    CHECK(grouped["b"] == Strides{{304}});
    CHECK(grouped["c"] == Strides{{416}});
    auto decode = stridesOfMaps("paged_attention heads=4 kv_heads=2 max_kv=300 page_size=16 head_dim=64 "
                                "k_cache_page_stride=4096 v_cache_stride=136");
    CHECK(decode["k_cache"] == Strides{{256, 8192}});
    CHECK(decode["v_cache"] == Strides{{272, 16 * 272}});
  }

  TEST_CASE("a stride that TMA does not take is for a kernel of pointers") {
    for (const char *stride : {"a_stride=73", "b_stride=76", "residual_stride=193", "c_stride=193"}) {
      CAPTURE(stride);
      std::string text = std::string("matmul m=300 n=192 k=72 b_layout=col residual=true ") + stride;
      CHECK(stridesOfMaps(text.c_str()).empty());
    }
    CHECK(stridesOfMaps("matmul m=300 n=192 k=72 b_layout=col out_dtype=fp32 c_stride=194").empty());
    CHECK_FALSE(stridesOfMaps("matmul m=300 n=192 k=72 b_layout=col out_dtype=fp32 c_stride=196").empty());
    for (const char *stride : {"q_stride=260", "k_stride=132", "v_stride=132", "o_stride=260"}) {
      CAPTURE(stride);
      std::string text = std::string("flash_attention heads=4 kv_heads=2 seq_q=50 head_dim=64 ") + stride;
      CHECK(stridesOfMaps(text.c_str()).empty());
    }
    for (const char *stride : {"a_stride=312", "b_stride=312", "c_stride=204"}) {
      CAPTURE(stride);
      std::string text = std::string("fp8_block_matmul m=128 n=200 k=304 ") + stride;
      CHECK(stridesOfMaps(text.c_str()).empty());
    }
    for (const char *stride : {"k_cache_stride=132", "k_cache_page_stride=2052", "v_cache_page_stride=4097"}) {
      CAPTURE(stride);
      std::string text =
          std::string("paged_attention heads=4 kv_heads=2 max_kv=300 page_size=16 head_dim=64 ") + stride;
      CHECK(stridesOfMaps(text.c_str()).empty());
    }
  }
}
