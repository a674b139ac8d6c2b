#include "src/ops/SizeRules.h"

#include "src/ops/TensorShape.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace jitk;

static std::string verdict(const char *description, std::vector<std::string> names, std::vector<int64_t> sizes) {
  Result<Description> parsed = parseDescription(description);
  REQUIRE(parsed.ok());
  return SizeRules(*parsed, std::move(names)).check(sizes).toString();
}

TEST_SUITE("ops/SizeRules") {
  TEST_CASE("sizes keep to their bounds and divisors") {
    const char *matmul = "matmul m=*%8<=64 n=* k=16";
    CHECK(verdict(matmul, {"m", "n"}, {64, 0}) == SizeRules().check({}).toString());
    CHECK(verdict(matmul, {"m", "n"}, {8}) == "number of dimensions must be 2: got 1");
    CHECK(verdict(matmul, {"m", "n"}, {-8, 1}) == "dimension m must be zero or more: got -8");
    CHECK(verdict(matmul, {"m", "n"}, {72, 1}) == "dimension m must be at most 64: got 72");
    CHECK(verdict(matmul, {"n", "m"}, {1, 12}) == "dimension m must be a multiple of 8: got 12");
    const char *decode = "mla_decode heads=16 max_kv=64 num_pages=1 splits=*";
    CHECK(verdict(decode, {"splits"}, {0}) == "dimension splits must be 1 or more: got 0");
  }

  TEST_CASE("a dimension without a bound is as large as a static one may be") {
    CHECK(verdict("matmul m=* n=8 k=8", {"m"}, {Dimension::kLargest}).find("dimension") == std::string::npos);
    CHECK(verdict("matmul m=* n=8 k=8", {"m"}, {Dimension::kLargest + 1}) ==
          "dimension m must be at most 2147483392: got 2147483393");
  }

  TEST_CASE("what the schema demands between dimensions holds for sizes known at launch only") {
    const char *both = "flash_attention heads=* kv_heads=* seq_q=1 head_dim=64";
    CHECK(verdict(both, {"heads", "kv_heads"}, {6, 3}) == SizeRules().check({}).toString());
    CHECK(verdict(both, {"heads", "kv_heads"}, {0, 0}) == SizeRules().check({}).toString());
    CHECK(verdict(both, {"kv_heads", "heads"}, {4, 6}) == "dimension heads must be a multiple of kv_heads 4: got 6");
    CHECK(verdict(both, {"heads", "kv_heads"}, {6, 0}) == "dimension heads must be a multiple of kv_heads 0: got 6");
    CHECK(verdict("flash_attention heads=2 kv_heads=* seq_q=1 head_dim=64", {"kv_heads"}, {3}) ==
          "dimension heads must be a multiple of kv_heads 3: got 2");
    CHECK(verdict("flash_attention heads=* kv_heads=2 seq_q=1 head_dim=64", {"heads"}, {5}) ==
          "dimension heads must be a multiple of kv_heads 2: got 5");
  }

  TEST_CASE("a row is no longer than its stride") {
    const char *matmul = "matmul m=* n=* k=* a_stride=64 residual=true residual_stride=40 c_stride=100";
    CHECK(verdict(matmul, {"m", "n", "k"}, {1000, 40, 64}) == SizeRules().check({}).toString());
    CHECK(verdict(matmul, {"m", "n", "k"}, {1000, 40, 65}) == "dimension k must be at most a_stride 64: got 65");
    CHECK(verdict(matmul, {"m", "n", "k"}, {1000, 41, 64}) == "dimension n must be at most residual_stride 40: got 41");
    const char *attention = "flash_attention heads=* kv_heads=* seq_q=1 head_dim=64 value_dim=32 v_stride=256";
    CHECK(verdict(attention, {"heads", "kv_heads"}, {8, 8}) == SizeRules().check({}).toString());
    CHECK(verdict(attention, {"heads", "kv_heads"}, {9, 9}) ==
          "product kv_heads x value_dim must be at most v_stride 256: got 9 x 32");
    const char *decode = "mla_decode heads=* max_kv=64 num_pages=1 latent_dim=64 rope_dim=16 q_stride=170 o_stride=150";
    CHECK(verdict(decode, {"heads"}, {2}) == SizeRules().check({}).toString());
    CHECK(verdict(decode, {"heads"}, {3}) ==
          "product heads x latent_dim+rope_dim must be at most q_stride 170: got 3 x 80");
    auto limits = SizeRules(*parseDescription(matmul), {"m", "n", "k"}).sufficientLimits();
    REQUIRE(limits);
    CHECK((*limits)[1].bound == 40);
    CHECK((*limits)[2].bound == 64);
  }

  TEST_CASE("a row of scales is as long as the blocks of k, known at launch") {
    const std::string fine = SizeRules().check({}).toString();
    for (const char *op : {"fp8_block_matmul m=8 n=16 k=* a_scale_stride=4",
                           "grouped_fp8_block_matmul groups=2 m=8 n=16 k=* a_scale_stride=4",
                           "grouped_fp8_block_matmul groups=2 m=8 n=16 k=*<=512 masked=true a_scale_stride=4"}) {
      CAPTURE(op);
      CHECK(verdict(op, {"k"}, {300}) == fine);
      CHECK(verdict(op, {"k"}, {512}) == fine);
      auto limits = SizeRules(*parseDescription(op), {"k"}).sufficientLimits();
      REQUIRE(limits);
      CHECK((*limits)[0].bound == 512);
    }
    CHECK(verdict("fp8_block_matmul m=8 n=16 k=* a_scale_stride=4", {"k"}, {513}) ==
          "dimension ceil(k/128) must be at most a_scale_stride 4: got 5");
    const char *turned = "fp8_block_matmul m=* n=16 k=* a_scale_layout=col a_scale_stride=8";
    CHECK(verdict(turned, {"m", "k"}, {8, 4096}) == fine);
    CHECK(verdict(turned, {"m", "k"}, {9, 4096}) == "dimension m must be at most a_scale_stride 8: got 9");
  }

  TEST_CASE("the ends of windows are counted in 32 bits") {
    const std::string fine = SizeRules().check({}).toString(), op = "flash_attention heads=1 head_dim=16 ";
    constexpr int64_t kLargest = Dimension::kLargest, kWidest = 1 << 24;
    auto refusal = [&](const std::string &rest) { return parseDescription(op + rest).status().toString(); };
    const std::string largest = std::to_string(kLargest), widest = std::to_string(kWidest);
    // Of static sizes.
    CHECK(parseDescription(op + "seq_q=64 seq_k=" + largest).ok());
    CHECK(parseDescription(op + "seq_q=64 window_left=" + widest + " seq_k=" + largest).ok());
    CHECK(parseDescription(op + "seq_q=64 window_right=0 seq_k=" + largest).ok());
    CHECK(
        parseDescription(op + "seq_q=64 window_right=" + widest + " seq_k=" + std::to_string(kLargest - kWidest)).ok());
    CHECK(refusal("seq_q=64 window_right=" + widest + " seq_k=" + std::to_string(kLargest - kWidest + 1)) ==
          "dimension seq_k+window_right must be at most 2147483392: got 2147483393");
    CHECK(refusal("seq_k=64 window_left=5 seq_q=" + largest) ==
          "dimension seq_q+window_left must be at most 2147483392: got 2147483397");
    // At a launch.
    const std::string both = op + "seq_q=* seq_k=* window_left=100 window_right=200";
    CHECK(verdict(both.c_str(), {"seq_q", "seq_k"}, {0, 0}) == fine);
    CHECK(verdict(both.c_str(), {"seq_q", "seq_k"}, {kLargest - 100, kLargest - 200}) == fine);
    CHECK(verdict(both.c_str(), {"seq_q", "seq_k"}, {kLargest - 99, 1}) ==
          "dimension seq_q+window_left must be at most 2147483392: got 2147483393");
    CHECK(verdict(both.c_str(), {"seq_q", "seq_k"}, {1, kLargest - 199}) ==
          "dimension seq_k+window_right must be at most 2147483392: got 2147483393");
    auto limits = SizeRules(*parseDescription(both), {"seq_q", "seq_k"}).sufficientLimits();
    REQUIRE(limits);
    CHECK((*limits)[0].bound == kLargest - 100);
    CHECK((*limits)[1].bound == kLargest - 200);
    // A window without an end leaves all sizes.
    const std::string none = op + "seq_q=* seq_k=*";
    CHECK(verdict(none.c_str(), {"seq_q", "seq_k"}, {kLargest, kLargest}) == fine);
    CHECK((*SizeRules(*parseDescription(none), {"seq_q", "seq_k"}).sufficientLimits())[1].bound == kLargest);
  }

  TEST_CASE("every such demand is about dimensions of its op") {
    for (const OpSchema &op : allOps()) {
      for (const auto &[multiple, factor] : op.multiples) {
        for (std::string_view name : {multiple, factor}) {
          CAPTURE(name);
          CHECK(op.attribute(name)->maximum == Dimension::kLargest);
        }
      }
      for (const AttributeSchema &attribute : op.attributes) {
        const bool isOfPages = attribute.kind == AttributeSchema::Kind::PageStride;
        if (isOfPages || attribute.kind == AttributeSchema::Kind::Stride) {
          CAPTURE(attribute.name);
          std::string_view suffix = isOfPages ? "_page_stride" : "_stride", tensor = attribute.name;
          REQUIRE(tensor.ends_with(suffix));
          tensor.remove_suffix(suffix.size());
          auto found = std::ranges::find(op.tensors, tensor, &TensorSchema::name);
          REQUIRE(found != op.tensors.end());
          CHECK(found->shape.size() > found->rowAxes + (isOfPages ? 1 : 0));
        }
      }
      for (const ProductRule &rule : op.products) {
        for (std::string_view factor : rule.factors) {
          CAPTURE(factor);
          std::string_view name = factor.substr(0, factor.find('+'));
          if (name.size() < factor.size()) {
            REQUIRE(op.attribute(factor.substr(name.size() + 1)));
            CHECK(op.attribute(factor.substr(name.size() + 1))->kind == AttributeSchema::Kind::Integer);
          }
          if (factor.starts_with("ceil(")) {
            name = factor.substr(5, factor.find('/') - 5);
            CHECK(std::stoi(std::string(factor.substr(factor.find('/') + 1))) > 1);
            CHECK(factor.ends_with(")"));
          }
          REQUIRE(op.attribute(name));
          auto kind = op.attribute(name)->kind;
          CHECK((kind == AttributeSchema::Kind::Dimension || kind == AttributeSchema::Kind::Integer));
        }
      }
    }
  }

  TEST_CASE("products that a kernel counts in 32 bits are bounded, of static sizes and at each launch") {
    std::string ok = SizeRules().check({}).toString();
    const char *rule = "gated_delta_rule batch=* tokens=* qk_heads=1 key_dim=16";
    CHECK(verdict(rule, {"batch", "tokens"}, {1, 2147483392}) == ok);
    CHECK(verdict(rule, {"tokens", "batch"}, {1073741696, 2}) == ok);
    CHECK(verdict(rule, {"batch", "tokens"}, {2, 1073741697}) ==
          "product batch x tokens must be at most 2147483392: got 2 x 1073741697");
    CHECK(verdict(rule, {"batch", "tokens"}, {0, 2147483392}) == ok);
    CHECK(verdict("gated_delta_rule batch=65536 tokens=* qk_heads=1 key_dim=16", {"tokens"}, {32768}) ==
          "product batch x tokens must be at most 2147483392: got 65536 x 32768");
    // Packed sequences share their tokens.
    CHECK(verdict("gated_delta_rule batch=* tokens=* qk_heads=1 key_dim=16 varlen=true", {"batch", "tokens"},
                  {65536, 2147483392}) == ok);

    auto refusal = [](const char *description) { return parseDescription(description).status().toString(); };
    CHECK(refusal("gated_delta_rule batch=65536 tokens=65536 qk_heads=1 key_dim=16") ==
          "product batch x tokens must be at most 2147483392: got 65536 x 65536");
    CHECK(refusal("mla_decode heads=1048576 seq_q=2048 max_kv=64 num_pages=1") ==
          "product seq_q x heads must be at most 2147483392: got 2048 x 1048576");
    CHECK(refusal("flash_attention heads=16777216 seq_q=* head_dim=128") ==
          "product heads x head_dim must be at most 2147483392: got 16777216 x 128");
    CHECK(refusal("flash_attention heads=8388608 seq_q=* head_dim=128 value_dim=256") ==
          "product heads x value_dim must be at most 2147483392: got 8388608 x 256");
    CHECK(refusal("grouped_fp8_block_matmul groups=32768 m=128 n=65536 k=128") ==
          "product groups x n must be at most 2147483392: got 32768 x 65536");
    CHECK(parseDescription("grouped_fp8_block_matmul groups=32768 m=65536 n=128 k=128").ok());
    CHECK(refusal("grouped_fp8_block_matmul groups=32768 m=65536 n=128 k=128 masked=true") ==
          "product groups x m must be at most 2147483392: got 32768 x 65536");
  }

  TEST_CASE("a product that does not fit 64 bits either is too large, unless a size is zero") {
    const char *attention = "flash_attention batch=* heads=* seq_q=* seq_k=1 head_dim=16";
    int64_t largest = Dimension::kLargest;
    CHECK(verdict(attention, {"batch", "heads", "kv_heads", "seq_q"}, {largest, 134217000, 1, largest}) ==
          "product batch x heads x seq_q must be at most 2147483392: got 2147483392 x 134217000 x 2147483392");
    CHECK(verdict(attention, {"batch", "heads", "kv_heads", "seq_q"}, {largest, 134217000, 1, 0}) ==
          SizeRules().check({}).toString());
    // A dimension that a launch does not give is taken as one.
    CHECK(verdict(attention, {"batch", "heads"}, {4096, 1048576}) ==
          "product batch x heads must be at most 2147483392: got 4096 x 1048576");
  }

  TEST_CASE("packed attention counts tiles of sequences, whatever there is of them") {
    const std::string op = "flash_attention head_dim=16 seq_k=1 packed=true total_q=64 total_k=64 ";
    CHECK(parseDescription(op + "batch=300 heads=64 seq_q=131072").ok());
    CHECK(parseDescription(op + "batch=300 heads=65536 seq_q=8192").status().message() ==
          "product batch x heads x ceil(seq_q/64) must be at most 2147483392: got 300 x 65536 x 128");
    // A rest is a tile.
    const std::string dynamic = op + "batch=1024 heads=1024 seq_q=*";
    CHECK(verdict(dynamic.c_str(), {"seq_q"}, {2047 * 64}) == SizeRules().check({}).toString());
    CHECK(verdict(dynamic.c_str(), {"seq_q"}, {2047 * 64 + 1}) ==
          "product batch x heads x ceil(seq_q/64) must be at most 2147483392: got 1024 x 1024 x 2048");
    auto limits = SizeRules(*parseDescription(dynamic), {"seq_q"}).sufficientLimits();
    REQUIRE(limits);
    CHECK((*limits)[0].bound == 2047 * 64);
  }

  TEST_CASE("pages fit into their strides, and the pages of a sequence into its row of the table") {
    const std::string fine = SizeRules().check({}).toString();
    const char *caches = "paged_attention heads=* kv_heads=* max_kv=64 page_size=16 head_dim=64 "
                         "k_cache_page_stride=2048";
    CHECK(verdict(caches, {"heads", "kv_heads"}, {2, 2}) == fine);
    CHECK(verdict(caches, {"heads", "kv_heads"}, {3, 3}) ==
          "product page_size x kv_heads x head_dim must be at most k_cache_page_stride 2048: got 16 x 3 x 64");
    const char *rows = "paged_attention heads=* kv_heads=* max_kv=64 page_size=16 head_dim=64 v_cache_stride=128 "
                       "v_cache_page_stride=4096";
    CHECK(verdict(rows, {"heads", "kv_heads"}, {2, 2}) == fine);
    CHECK(verdict(rows, {"heads", "kv_heads"}, {3, 3}) ==
          "product kv_heads x value_dim must be at most v_cache_stride 128: got 3 x 64");
    const char *table = "mla_decode heads=16 max_kv=* block_table_stride=7";
    CHECK(verdict(table, {"max_kv"}, {448}) == fine);
    CHECK(verdict(table, {"max_kv"}, {449}) ==
          "dimension ceil(max_kv/page_size) must be at most block_table_stride 7: got 8");
    auto limits = SizeRules(*parseDescription(table), {"max_kv"}).sufficientLimits();
    REQUIRE(limits);
    CHECK((*limits)[0].bound == 448);
  }

  TEST_CASE("sizes within sufficient limits obey every rule") {
    auto limitsOf = [](const char *description, std::vector<std::string> names) {
      return SizeRules(*parseDescription(description), std::move(names)).sufficientLimits();
    };
    auto matmul = limitsOf("matmul m=*%8<=64 n=* k=16", {"m", "n"});
    REQUIRE(matmul);
    CHECK((*matmul)[0].divisor == 8);
    CHECK((*matmul)[0].bound == 64);
    CHECK((*matmul)[1].bound == Dimension::kLargest);
    auto decode = limitsOf("mla_decode heads=16 max_kv=64 num_pages=1 splits=*", {"splits"});
    CHECK((*decode)[0].least == 1);

    // One factor of a product has all that the others leave; several share it.
    auto one = limitsOf("gated_delta_rule batch=65536 tokens=* qk_heads=1 key_dim=16", {"tokens"});
    CHECK((*one)[0].bound == Dimension::kLargest / 65536);
    const char *both = "gated_delta_rule batch=* tokens=* qk_heads=1 key_dim=16";
    auto two = limitsOf(both, {"batch", "tokens"});
    REQUIRE(two);
    int64_t each = (*two)[0].bound;
    CHECK(each > 46'000);
    CHECK((*two)[1].bound == each);
    CHECK(verdict(both, {"batch", "tokens"}, {each, each}) == SizeRules().check({}).toString());
    const char *attention = "flash_attention batch=* heads=* kv_heads=1 seq_q=* seq_k=1 head_dim=16";
    auto three = limitsOf(attention, {"batch", "heads", "seq_q"});
    REQUIRE(three);
    each = (*three)[0].bound;
    CHECK(each > 1'200);
    CHECK(verdict(attention, {"batch", "heads", "seq_q"}, {each, each, each}) == SizeRules().check({}).toString());

    // A multiple of a static size is a divisor; of another size of the launch it has none.
    auto multiple = limitsOf("flash_attention heads=*%3 kv_heads=2 seq_q=1 head_dim=64", {"heads"});
    REQUIRE(multiple);
    CHECK((*multiple)[0].divisor == 6);
    CHECK_FALSE(limitsOf("flash_attention heads=* kv_heads=* seq_q=1 head_dim=64", {"heads", "kv_heads"}));
    CHECK_FALSE(limitsOf("flash_attention heads=2 kv_heads=* seq_q=1 head_dim=64", {"kv_heads"}));
  }

  TEST_CASE("tensors of sizes that break a rule have no shape") {
    Result<Description> parsed = parseDescription("flash_attention heads=* kv_heads=2 seq_q=1 head_dim=64");
    REQUIRE(parsed.ok());
    CHECK(tensorShapes(*parsed, {{"heads", 4}}).ok());
    CHECK(tensorShapes(*parsed, {{"heads", 5}}).status().toString() ==
          "dimension heads must be a multiple of kv_heads 2: got 5");
  }
}
