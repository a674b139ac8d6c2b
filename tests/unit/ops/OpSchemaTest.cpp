#include "src/ops/OpSchema.h"

#include "src/ops/ScalarDefault.h"
#include "src/ops/Spelling.h"
#include "src/ops/TensorShape.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace jitk;

TEST_SUITE_BEGIN("ops/OpSchema");

static std::string failure(std::string_view line) {
  Result<Description> description = parseDescription(line);
  REQUIRE_FALSE(description.ok());
  CHECK(description.status().code() == StatusCode::InvalidArgument);
  return description.status().toString();
}

TEST_CASE("a description is complete, and its text reads back as itself") {
  Result<Description> description = parseDescription("matmul m=*<=64  n=4096 k=7168");
  REQUIRE(description.ok());
  CHECK(description->toString() ==
        "matmul a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=bf16 k=7168 "
        "m=*<=64 n=4096 out_dtype=bf16 residual=false");
  CHECK(*parseDescription(description->toString()) == *description);
  // A text is written where there is one.
  description = parseDescription("matmul m=1 n=1 k=1 configuration=64x32");
  CHECK(description->toString().find(" configuration=64x32 dtype=") != std::string::npos);
  CHECK(*parseDescription(description->toString()) == *description);
}

TEST_CASE("mla_decode says what it cannot serve") {
  CHECK(failure("mla_decode heads=16 max_kv=64 page_size=0") ==
        "attribute page_size must be an integer between 1 and 65536: got '0'");
  CHECK(failure("mla_decode heads=16 max_kv=64 latent_dim=500") ==
        "attribute latent_dim must be a multiple of 16: got '500'");
  CHECK(failure("mla_decode heads=16 max_kv=64 latent_dim=1024") ==
        "attribute latent_dim must be an integer between 16 and 512: got '1024'");
  CHECK(failure("mla_decode heads=16 max_kv=64 rope_dim=8") == "attribute rope_dim must be a multiple of 16: got '8'");
  CHECK(failure("mla_decode heads=16 max_kv=64 kv_format=e4m3") ==
        "attribute kv_format must be one of bf16, fp16: got 'e4m3'");
  CHECK(failure("mla_decode heads=16 max_kv=64 splits=0").find("got '0'; in attribute splits") != std::string::npos);
  CHECK(failure("mla_decode heads=16 max_kv=64 page_size=-64") ==
        "attribute page_size must be an integer between 1 and 65536: got '-64'");
  CHECK(failure("mla_decode heads=16 max_kv=64 page_size=65537") ==
        "attribute page_size must be an integer between 1 and 65536: got '65537'");
  CHECK(failure("mla_decode max_kv=64") ==
        "attribute heads of mla_decode must be given: heads of Q and O; all share the key head");
}

TEST_CASE("paged_attention says what it cannot serve") {
  CHECK(failure("paged_attention heads=6 kv_heads=4 max_kv=64 head_dim=64") ==
        "attribute heads must be a multiple of kv_heads 4: got '6'");
  CHECK(failure("paged_attention heads=4 max_kv=64 head_dim=72") ==
        "attribute head_dim must be a multiple of 16: got '72'");
  CHECK(failure("paged_attention heads=4 max_kv=64 head_dim=512") ==
        "attribute head_dim must be an integer between 16 and 256: got '512'");
  CHECK(failure("paged_attention heads=4 max_kv=64 head_dim=64 page_size=0") ==
        "attribute page_size must be an integer between 1 and 65536: got '0'");
}

TEST_CASE("a default may be the value of another attribute") {
  Result<Description> description = parseDescription("matmul m=1 n=1 k=1 dtype=fp16");
  CHECK(description->word("out_dtype") == "fp16");
}

TEST_CASE("what the schema refuses is named with what was found and what is allowed") {
  CHECK(failure("nonsense m=1") ==
        "op must be one of flash_attention, fp8_block_matmul, gated_delta_rule, "
        "grouped_fp8_block_matmul, matmul, mla_decode, paged_attention, user_kernel: got 'nonsense'");
  CHECK(failure("matmul m=1 n=1 k=1 colour=red") ==
        "attribute of matmul must be one of m, n, k, dtype, out_dtype, "
        "a_layout, b_layout, bias, residual, accumulate, activation, a_stride, b_stride, residual_stride, c_stride, "
        "configuration: got 'colour'");
  CHECK(failure("matmul m=1 n=1 k=1 m=2") == "attribute must be given once: got 'm' twice");
  CHECK(failure("matmul m=1 n=1") == "attribute k of matmul must be given: columns of A");
  CHECK(failure("matmul m=1 n=1 k=1 dtype=int4") == "attribute dtype must be one of bf16, fp16: got 'int4'");
  CHECK(failure("matmul m=0 n=1 k=1").find("got '0'; in attribute m") != std::string::npos);
  CHECK(failure("matmul m=-3 n=1 k=1").find("got '-3'; in attribute m") != std::string::npos);
  CHECK(failure("matmul m=3000000000 n=1 k=1") == "attribute m must be between 1 and 2147483392: got '3000000000'");
  CHECK(failure("flash_attention heads=8 seq_q=1 head_dim=7") ==
        "attribute head_dim must be an integer between 16 and 512: got '7'");
  CHECK(failure("flash_attention heads=8 seq_q=1 head_dim=100") ==
        "attribute head_dim must be a multiple of 16: got '100'");
  CHECK(failure("flash_attention heads=8 seq_q=1 head_dim=64 value_dim=40") ==
        "attribute value_dim must be a multiple of 16: got '40'");
  CHECK(failure("flash_attention heads=8 kv_heads=3 seq_q=1 head_dim=64") ==
        "attribute heads must be a multiple of kv_heads 3: got '8'");
  CHECK(failure("flash_attention heads=8 seq_q=1 head_dim=64 causal=yes") ==
        "attribute causal must be true or false: got 'yes'");
  CHECK(failure("matmull m=1") == "op must be one of flash_attention, fp8_block_matmul, gated_delta_rule, "
                                  "grouped_fp8_block_matmul, matmul, mla_decode, paged_attention, user_kernel (did "
                                  "you mean matmul?): got 'matmull'");
  CHECK(failure("matmul m=1 n=1 k=1 dtpye=bf16") ==
        "attribute of matmul must be one of m, n, k, dtype, out_dtype, a_layout, b_layout, bias, residual, "
        "accumulate, activation, a_stride, b_stride, residual_stride, c_stride, configuration (did you mean dtype?): "
        "got 'dtpye'");
  CHECK(failure("matmul m=1 n=1 k=1 dtype=b16") ==
        "attribute dtype must be one of bf16, fp16 (did you mean bf16?): got 'b16'");
  CHECK(failure("matmul m=1 n=1 k=1 activation=gelu_tan") ==
        "attribute activation must be one of none, relu, gelu_tanh, silu (did you mean gelu_tanh?): got 'gelu_tan'");
  CHECK(failure("matmul m=1 n=1 k=1 residual=true accumulate=true") ==
        "residual and accumulate of matmul must not both be true: each adds a matrix");
  CHECK(failure("matmul m=1 n=1 k=1 out_dtype=@nothing") ==
        "attribute out_dtype must be one of bf16, fp16, fp32: got '@nothing'");
  CHECK(failure("") == "description must begin with the name of an op: got ''");
  CHECK(failure("matmul m") == "attribute must be written name=value: got 'm'");
}

TEST_CASE("gated_delta_rule refuses what no kernel of it takes") {
  const std::string op = "gated_delta_rule tokens=8 qk_heads=2 ";
  CHECK(failure(op + "key_dim=64 v_heads=3") == "attribute v_heads must be a multiple of qk_heads 2: got '3'");
  CHECK(failure(op + "key_dim=257") == "attribute key_dim must be an integer between 1 and 256: got '257'");
  CHECK(failure(op + "key_dim=64 value_dim=0") == "attribute value_dim must be an integer between 1 and 256: got '0'");
  for (const char *chunk : {"48", "128", "-7", "x", ""}) {
    CHECK(failure(op + "key_dim=64 chunk=" + chunk) ==
          "attribute chunk must be one of 16, 32, 64: got '" + std::string(chunk) + "'");
  }
  CHECK(failure(op + "key_dim=64 dtype=e4m3") == "attribute dtype must be one of bf16, fp16, fp32: got 'e4m3'");
  CHECK(failure(op + "key_dim=64 mode=parallel") == "attribute mode must be one of chunk, recurrent: got 'parallel'");
  CHECK(failure(op + "key_dim=64 state_layout=vk") ==
        "attribute state_layout must be one of key-major, value-major: got 'vk'");
  CHECK(
      failure(op + "key_dim=64 state_pool=true initial_state=true") ==
      "attribute initial_state must be false where state_pool is true: the pool holds the initial states: got 'true'");
  CHECK(failure(op) == "attribute key_dim of gated_delta_rule must be given: length of a query and a key");
}

TEST_CASE("a scalar's default follows from the attributes") {
  const ScalarSchema &scale = (*findOp("mla_decode"))->scalars.front();
  CHECK(defaultOf(scale, *parseDescription("mla_decode heads=1 max_kv=1")) == 1 / std::sqrt(512.0 + 64));
  CHECK(defaultOf(scale, *parseDescription("mla_decode heads=1 max_kv=1 latent_dim=64 rope_dim=0")) == 0.125);
  CHECK(defaultOf({"ratio", "0.25", ""}, *parseDescription("matmul m=1 n=1 k=1")) == 0.25);
}

TEST_CASE("equal numbers are equal attributes") {
  const std::string op = "flash_attention heads=1 seq_q=1 head_dim=64 scale=";
  for (const char *text : {"0.25", "2.5e-1", "0.2500000001", "00.250"}) {
    CAPTURE(text);
    CHECK(parseDescription(op + text)->word("scale") == "0.25");
  }
  CHECK(parseDescription(op + "1e-05")->toString() == parseDescription(op + "0.00001")->toString());
  CHECK(parseDescription(op + "65536")->word("scale") == "65536");
  CHECK(numberOf("scale", *parseDescription(op + "0.1")) == double(0.1f));
  Description written = *parseDescription(op + "0.3");
  CHECK(*parseDescription(written.toString()) == written);
}

TEST_CASE("a number that equals its default is as none") {
  const std::string op = "flash_attention heads=1 seq_q=1 head_dim=64";
  CHECK(*parseDescription(op + " scale=0.125") == *parseDescription(op));
  CHECK(numberOf("scale", *parseDescription(op)) == 0.125);
  CHECK(parseDescription(op + " value_dim=32 scale=0.125")->word("scale") == "");
  const std::string wide = "flash_attention heads=1 seq_q=1 head_dim=128";
  CHECK(*parseDescription(wide + " scale=0.08838834764831845") == *parseDescription(wide));
  CHECK(numberOf("scale", *parseDescription(wide)) == 1 / std::sqrt(128.0));
}

TEST_CASE("rows lie side by side unless a stride says otherwise") {
  Description plain = *parseDescription("matmul m=* n=96 k=64");
  CHECK_FALSE(plain.rowStride("a"));
  CHECK(plain.toString().find("stride") == std::string::npos);
  // A stride that is a row's length says nothing.
  CHECK(*parseDescription("matmul m=* n=96 k=64 a_stride=64 b_stride=96 c_stride=96") == plain);
  Description apart = *parseDescription("matmul m=* n=96 k=64 a_stride=80 b_stride=96");
  CHECK(apart.rowStride("a") == 80);
  CHECK_FALSE(apart.rowStride("b"));
  CHECK(apart.toString().find("a_stride=80") != std::string::npos);
  CHECK(*parseDescription(apart.toString()) == apart);
  // A row of B is one of [n,k] where it is column major.
  CHECK_FALSE(parseDescription("matmul m=1 n=96 k=64 b_layout=col b_stride=64")->rowStride("b"));
  CHECK(parseDescription("matmul m=1 n=96 k=64 b_layout=col b_stride=96")->rowStride("b") == 96);
  // Known at launch only, a row may be as long as its stride.
  CHECK(parseDescription("matmul m=1 n=96 k=* a_stride=64")->rowStride("a") == 64);
  CHECK(parseDescription("flash_attention heads=4 seq_q=9 head_dim=64 q_stride=768")->rowStride("q") == 768);
  CHECK_FALSE(parseDescription("mla_decode heads=2 max_kv=64 latent_dim=64 rope_dim=16 q_stride=160")->rowStride("q"));
}

TEST_CASE("a stride leaves room for a row") {
  CHECK(failure("matmul m=1 n=96 k=64 a_stride=63") ==
        "attribute a_stride must be at least 64, the length of a row: got '63'");
  CHECK(failure("matmul m=1 n=96 k=*<=128 a_stride=127") ==
        "attribute a_stride must be at least 128, the length of a row: got '127'");
  CHECK(failure("flash_attention heads=4 kv_heads=2 seq_q=9 head_dim=64 value_dim=32 v_stride=60") ==
        "attribute v_stride must be at least 64, the length of a row: got '60'");
  CHECK(failure("mla_decode heads=2 max_kv=64 latent_dim=64 rope_dim=16 q_stride=159") ==
        "attribute q_stride must be at least 160, the length of a row: got '159'");
  CHECK(failure("matmul m=1 n=96 k=64 residual_stride=96") ==
        "attribute residual_stride must be left out where there is no tensor residual: got '96'");
  CHECK(failure("matmul m=1 n=96 k=64 a_stride=*") ==
        "attribute a_stride must be an integer between 1 and 2147483392: got '*'");
}

TEST_CASE("pages follow one another unless a stride says otherwise") {
  const std::string op = "paged_attention heads=4 kv_heads=2 max_kv=100 num_pages=3 page_size=16 head_dim=64";
  Description plain = *parseDescription(op);
  CHECK_FALSE(plain.pageStride("k_cache"));
  CHECK_FALSE(plain.rowStride("block_table"));
  // What is as long as a row, a page, or the pages of the longest sequence, says nothing.
  CHECK(*parseDescription(op + " k_cache_stride=128 v_cache_page_stride=2048 block_table_stride=7") == plain);
  Description beside = *parseDescription(op + " k_cache_page_stride=4096 v_cache_page_stride=4096");
  CHECK(beside.pageStride("k_cache") == 4096);
  CHECK(*parseDescription(beside.toString()) == beside);
  // A page of rows that lie apart is as long as they take.
  Description rows = *parseDescription(op + " k_cache_stride=136 k_cache_page_stride=2176");
  CHECK(rows.rowStride("k_cache") == 136);
  CHECK_FALSE(rows.pageStride("k_cache"));
  // Known at launch only, a page may be as long as its stride.
  const std::string any = "paged_attention heads=* kv_heads=* max_kv=* page_size=16 head_dim=64";
  CHECK(parseDescription(any + " k_cache_page_stride=2048")->pageStride("k_cache") == 2048);
  CHECK(parseDescription(any + " block_table_stride=7")->rowStride("block_table") == 7);
  CHECK(parseDescription("mla_decode heads=4 max_kv=100 kv_cache_page_stride=73728")->pageStride("kv_cache") == 73728);
}

TEST_CASE("a row of scales is as long as the blocks of k") {
  for (const std::string op : {"fp8_block_matmul m=8 n=16 ", "grouped_fp8_block_matmul groups=2 m=8 n=16 "}) {
    CAPTURE(op);
    for (const char *size : {"k=300", "k=*<=300"}) {
      CAPTURE(size);
      CHECK(parseDescription(op + size + " a_scale_stride=4")->rowStride("a_scale") == 4);
      CHECK(failure(op + size + " a_scale_stride=2") ==
            "attribute a_scale_stride must be at least 3, the length of a row: got '2'");
    }
    CHECK(parseDescription(op + "k=* a_scale_stride=4")->rowStride("a_scale") == 4);
    CHECK_FALSE(parseDescription(op + "k=300 a_scale_stride=3")->rowStride("a_scale"));
  }
}

TEST_CASE("a stride leaves room for a page") {
  const std::string op = "paged_attention heads=4 kv_heads=2 max_kv=100 num_pages=3 page_size=16 head_dim=64";
  CHECK(failure(op + " k_cache_page_stride=2047") ==
        "attribute k_cache_page_stride must be at least 2048, the length of a page: got '2047'");
  CHECK(failure(op + " v_cache_stride=127") ==
        "attribute v_cache_stride must be at least 128, the length of a row: got '127'");
  CHECK(failure(op + " v_cache_stride=130 v_cache_page_stride=2079") ==
        "attribute v_cache_page_stride must be at least 2080, the length of a page: got '2079'");
  CHECK(failure(op + " block_table_stride=6") ==
        "attribute block_table_stride must be at least 7, the length of a row: got '6'");
  CHECK(failure("mla_decode heads=4 max_kv=*<=1000 block_table_stride=15") ==
        "attribute block_table_stride must be at least 16, the length of a row: got '15'");
}

TEST_CASE("a tensor whose pages lie apart spans what lies between them") {
  Description description = *parseDescription(
      "paged_attention heads=4 kv_heads=2 max_kv=100 num_pages=3 page_size=16 head_dim=64 k_cache_stride=136 "
      "k_cache_page_stride=4096 v_cache_page_stride=3000");
  Result<std::vector<TensorShape>> shapes = tensorShapes(description, {});
  REQUIRE(shapes.ok());
  const TensorShape &k = (*shapes)[1], &v = (*shapes)[2];
  CHECK(k.rowBegin(0) == 0);
  CHECK(k.rowBegin(15) == 15 * 136);
  CHECK(k.rowBegin(16) == 4096);
  CHECK(k.span() == 2 * (2 * 4096 + 15 * 136 + 128));
  CHECK(v.rowBegin(33) == 2 * 3000 + 128);
  CHECK(v.span() == 2 * (2 * 3000 + 16 * 128));
}

TEST_CASE("a tensor whose rows lie apart spans what lies between them") {
  Description description = *parseDescription("grouped_fp8_block_matmul groups=3 m=5 n=8 k=16 masked=true a_stride=40");
  Result<std::vector<TensorShape>> shapes = tensorShapes(description, {});
  REQUIRE(shapes.ok());
  const TensorShape &a = shapes->front();
  CHECK(a.rowSize == 16);
  CHECK(a.rowStride == 40);
  CHECK(a.bytes() == 3 * 5 * 16);
  CHECK(a.span() == 14 * 40 + 16); // nothing behind the last row
  CHECK(shapes->back().span() == shapes->back().bytes());
}

TEST_CASE("what is no number above 0 is refused") {
  for (const char *text : {"0", "-0", "-0.125", "", "nan", "inf", "1e-40", "1e-400", "1e400", "65536.1", "0x1p3",
                           "0.1f", "+0.1", "0,1", "1/8", "@head_dim"}) {
    CAPTURE(text);
    CHECK(failure("flash_attention heads=1 seq_q=1 head_dim=64 scale=" + std::string(text)) ==
          "attribute scale must be a number above 0 and at most 65536: got '" + std::string(text) + "'");
  }
}

TEST_CASE("a number that is none where it is zero may be given as zero") {
  const std::string op = "flash_attention heads=1 seq_q=1 head_dim=64";
  for (const char *text : {"0", "0.0", "0.", ".00"}) {
    CAPTURE(text);
    CHECK(parseDescription(op + " softcap=" + text)->toString() == parseDescription(op)->toString());
  }
  for (const char *text : {"", ".", "-0", "-1", "0x0"}) {
    CAPTURE(text);
    CHECK(failure(op + " softcap=" + text) ==
          "attribute softcap must be a number above 0 and at most 65536: got '" + std::string(text) + "'");
  }
}

TEST_CASE("an attribute that means nothing beside another is as one that is not given") {
  auto textOf = [](const std::string &line) { return parseDescription(line)->toString(); };
  const std::string attention = "flash_attention heads=2 seq_q=64 seq_k=90 head_dim=64";
  for (const char *end : {"-1", "0", "5", "16777216"}) {
    CHECK(textOf(attention + " causal=true window_right=" + end) == textOf(attention + " causal=true"));
  }
  CHECK(textOf(attention + " window_right=5") != textOf(attention));
  CHECK(textOf(attention + " causal=true window_left=5") != textOf(attention + " causal=true"));
  CHECK(textOf(attention + " total_q=9 total_k=*") == textOf(attention));
  CHECK(parseDescription(attention + " total_q=9 total_k=*")->dimension("total_k").value == 90);
  CHECK(parseDescription(attention + " total_q=9 total_k=* packed=true")->dimension("total_q").value == 9);
  CHECK(failure(attention + " causal=true window_right=-2") ==
        "attribute window_right must be an integer between -1 and 16777216: got '-2'");
  const std::string rule = "gated_delta_rule tokens=64 qk_heads=1 key_dim=64";
  CHECK(textOf(rule + " slots=7") == textOf(rule));
  CHECK(textOf(rule + " state_pool=true slots=7") != textOf(rule + " state_pool=true"));
  CHECK(textOf(rule + " mode=recurrent chunk=16") == textOf(rule + " mode=recurrent"));
  CHECK(textOf(rule + " mode=chunk chunk=16") != textOf(rule + " mode=chunk"));
  // What it is where it is not given depends on attributes that come after it, too.
  CHECK(textOf("flash_attention total_q=9 packed=false seq_q=64 seq_k=90 heads=2 head_dim=64") == textOf(attention));
}

TEST_CASE("shapes follow flags and sums, and tensors that are not there are left out") {
  auto shapesOf = [](std::string_view line) {
    Result<Description> description = parseDescription(line);
    REQUIRE(description.ok());
    Result<std::vector<TensorShape>> shapes = tensorShapes(*description, {});
    REQUIRE(shapes.ok());
    std::map<std::string, std::vector<int64_t>> byName;
    for (const TensorShape &shape : *shapes) {
      byName[shape.name] = shape.sizes;
    }
    return byName;
  };
  using Sizes = std::vector<int64_t>;
  auto padded = shapesOf("gated_delta_rule batch=3 tokens=8 qk_heads=2 v_heads=4 key_dim=60 value_dim=32");
  CHECK(padded.at("q") == Sizes{3, 8, 2, 60});
  CHECK(padded.at("g") == Sizes{3, 8, 4});
  CHECK(padded.at("final_state") == Sizes{3, 4, 60, 32});
  CHECK(padded.count("initial_state") + padded.count("cu_seqlens") + padded.count("states") == 0);
  auto packed = shapesOf("gated_delta_rule batch=3 tokens=8 qk_heads=2 key_dim=60 varlen=true state_pool=true slots=9");
  CHECK(packed.at("q") == Sizes{1, 8, 2, 60});
  CHECK(packed.at("cu_seqlens") == Sizes{4});
  CHECK(packed.at("states") == Sizes{9, 2, 60, 60});
  CHECK(packed.count("final_state") == 0);
}

/// Values of an attribute that mean different things; some of them an op may refuse.
static std::vector<std::string> distinctValues(const AttributeSchema &attribute) {
  using Kind = AttributeSchema::Kind;
  std::vector<std::string> values(attribute.words.begin(), attribute.words.end());
  switch (attribute.kind) {
  case Kind::Dimension:
    return {"1", "2", "16", "64", "128", "4096", "7168", "*", "*%16", "*<=64", "*<=4096", "*%16<=4096"};
  case Kind::Integer:
    return values.empty() ? std::vector<std::string>{"1", "2", "4", "16", "33", "64", "128", "512"} : values;
  case Kind::Flag:
    return {"false", "true"};
  case Kind::Number:
    return {"0.25", "0.5", "3"};
  case Kind::Word:
    return values;
  case Kind::Text:
    return {"one", "another"};
  case Kind::Stride:
  case Kind::PageStride:
    return {"65536", "131072"};
  }
  return {};
}

/// The words of a line: an op and its attributes.
static std::vector<std::string> wordsOf(const std::string &line) {
  std::vector<std::string> words(1);
  for (char letter : line) {
    if (letter == ' ') {
      words.emplace_back();
    } else {
      words.back().push_back(letter);
    }
  }
  return words;
}

static std::string lineOf(const std::vector<std::string> &words) {
  std::string line;
  for (const std::string &word : words) {
    line += word + "  ";
  }
  return line;
}

TEST_CASE("each change that means something makes another description, and no other change does") {
  // Own kernels have no schema of what their texts mean: UserKernelTest.cpp.
  const std::vector<std::string> lines = {"flash_attention heads=8 kv_heads=2 seq_q=300 seq_k=500 head_dim=128",
                                          "flash_attention heads=8 kv_heads=2 seq_q=300 seq_k=500 head_dim=128 "
                                          "total_q=301 total_k=501 packed=true",
                                          "fp8_block_matmul m=300 n=512 k=1024",
                                          "gated_delta_rule batch=2 tokens=600 qk_heads=4 v_heads=8 key_dim=128",
                                          "gated_delta_rule batch=2 tokens=600 qk_heads=4 key_dim=128 state_pool=true",
                                          "grouped_fp8_block_matmul groups=4 m=700 n=512 k=1024",
                                          "matmul m=300 n=512 k=1024",
                                          "matmul m=300 n=512 k=1024 residual=true",
                                          "mla_decode batch=5 heads=128 max_kv=700 num_pages=60",
                                          "paged_attention batch=5 heads=16 kv_heads=4 max_kv=700 num_pages=60 "
                                          "head_dim=128"};
  std::set<std::string> unchanged; // attributes of which no value made a difference
  for (const OpSchema &op : allOps()) {
    for (const AttributeSchema &attribute : op.attributes) {
      if (!op.ownDimensions) {
        unchanged.insert(std::string(op.name) + " " + std::string(attribute.name));
      }
    }
  }
  for (const std::string &line : lines) {
    CAPTURE(line);
    const std::vector<std::string> words = wordsOf(line);
    const Result<Description> base = parseDescription(line);
    REQUIRE(base.ok());
    const std::string text = base->toString();

    // The order, spaces, and what is so anyway.
    CHECK(parseDescription(text)->toString() == text);
    std::vector<std::string> turned = words;
    std::reverse(turned.begin() + 1, turned.end());
    CHECK(parseDescription(lineOf(turned))->toString() == text);

    for (const AttributeSchema &attribute : (*findOp(words[0]))->attributes) {
      CAPTURE(attribute.name);
      const std::string name(attribute.name);
      const bool meansSomething = isPresent(attribute.meansIf, *base);
      std::set<std::string> texts;
      size_t numEqual = 0;
      for (const std::string &value : distinctValues(attribute)) {
        std::vector<std::string> changed = words;
        std::erase_if(changed, [&](const std::string &word) { return word.starts_with(name + "="); });
        changed.push_back(name + "=" + value);
        Result<Description> description = parseDescription(lineOf(changed));
        if (description.ok()) {
          const bool isNew = texts.insert(description->toString()).second;
          numEqual += description->toString() == text ? 1 : 0;
          CHECK_MESSAGE((isNew || !meansSomething), value);
        }
      }
      if (!meansSomething) {
        CHECK(texts == std::set<std::string>{text});
        continue;
      }
      CHECK(numEqual <= 1); // the value that it has without being given
      if (texts.size() > numEqual) {
        unchanged.erase(words[0] + " " + name);
      }
    }
  }
  CHECK(unchanged == std::set<std::string>());
}

TEST_CASE("ops are in the order of their names, and each table is sound") {
  std::string_view previous;
  for (const OpSchema &op : allOps()) {
    CAPTURE(op.name);
    CHECK(previous < op.name);
    previous = op.name;
    std::set<std::string_view> names;
    for (const AttributeSchema &attribute : op.attributes) {
      CAPTURE(attribute.name);
      // A default by reference needs its attribute before it.
      if (attribute.defaultValue.starts_with('@')) {
        CHECK(names.count(attribute.defaultValue.substr(1)) == 1);
      }
      CHECK(names.insert(attribute.name).second);
      CHECK_FALSE(attribute.meaning.empty());
    }
    for (const AttributeSchema &attribute : op.attributes) {
      CAPTURE(attribute.name);
      std::string_view condition = attribute.meansIf;
      condition.remove_prefix(condition.starts_with('!') ? 1 : 0);
      const AttributeSchema *other = op.attribute(condition.substr(0, condition.find('=')));
      CHECK((condition.empty() || (other && other->meansIf.empty() && !attribute.defaultValue.empty() &&
                                   !attribute.choose && attribute.kind != AttributeSchema::Kind::Number)));
    }
    for (const TensorSchema &tensor : op.tensors) {
      bool known = !tensor.type.starts_with('@') || names.count(tensor.type.substr(1)) == 1;
      CHECK(known);
      std::string_view name = tensor.presentIf;
      name.remove_prefix(name.starts_with('!') ? 1 : 0);
      bool flag = name.empty() || names.count(name) == 1;
      CHECK(flag);
    }
    for (const ScalarSchema &scalar : op.scalars) {
      CHECK_FALSE(scalar.defaultValue.empty());
      CHECK_FALSE(scalar.meaning.empty());
    }
  }
}

TEST_CASE("the nearest word is the one with the fewest edits, if it is near") {
  std::vector<std::string_view> words = {"heads", "kv_heads", "head_dim", "causal"};
  CHECK(nearestWord("haeds", words) == "heads");
  CHECK(nearestWord("kvheads", words) == "kv_heads");
  CHECK(nearestWord("casual", words) == "causal");
  CHECK(nearestWord("headdim", words) == "head_dim");
  CHECK(nearestWord("m", words).empty());
  CHECK(nearestWord("", words).empty());
  CHECK(nearestWord("window", words).empty());
}

TEST_SUITE_END();
