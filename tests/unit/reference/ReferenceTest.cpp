#include "src/reference/Instance.h"
#include "src/reference/Numeric.h"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <map>

using namespace jitk;
using namespace jitk::reference;

namespace {

/// Tensors of a description with given values in the inputs, by name.
std::vector<HostTensor> tensorsOf(const Description &description,
                                  const std::map<std::string, std::vector<float>> &values) {
  Result<std::vector<HostTensor>> tensors = makeTensors(description, {}, 1);
  REQUIRE(tensors.ok());
  for (HostTensor &tensor : *tensors) {
    if (auto found = values.find(tensor.shape.name); found != values.end()) {
      if (tensor.shape.dtype == "int32") {
        std::vector<int32_t> integers(found->second.begin(), found->second.end());
        tensor.bytes.assign(reinterpret_cast<uint8_t *>(integers.data()),
                            reinterpret_cast<uint8_t *>(integers.data() + integers.size()));
      } else {
        tensor.bytes = encode(tensor.shape.dtype, found->second);
      }
      REQUIRE(int64_t(tensor.bytes.size()) == tensor.shape.bytes());
    }
  }
  return *std::move(tensors);
}

std::vector<Expected> expectationOf(const std::string &text, const std::map<std::string, std::vector<float>> &values) {
  Result<Description> description = parseDescription(text);
  REQUIRE(description.ok());
  Result<std::vector<Expected>> expected = computeExpected(*description, {}, tensorsOf(*description, values), 1);
  REQUIRE(expected.ok());
  return *std::move(expected);
}

} // namespace

TEST_SUITE("reference/Reference") {
  TEST_CASE("a product in both layouts of B") {
    std::vector<double> product = {1 * 5 + 2 * 7, 1 * 6 + 2 * 8, 3 * 5 + 4 * 7, 3 * 6 + 4 * 8};
    CHECK(expectationOf("matmul m=2 n=2 k=2", {{"a", {1, 2, 3, 4}}, {"b", {5, 6, 7, 8}}})[0].values == product);
    CHECK(expectationOf("matmul m=2 n=2 k=2 b_layout=col", {{"a", {1, 2, 3, 4}}, {"b", {5, 7, 6, 8}}})[0].values ==
          product);
  }

  TEST_CASE("what is added to a product, then the activation") {
    // The product is -4; each form by hand.
    const std::map<std::string, std::vector<float>> values = {
        {"a", {1, 2}}, {"b", {2, -3}}, {"bias", {1.5}}, {"residual", {3}}, {"c", {7}}};
    auto result = [&](const std::string &epilogue) {
      return expectationOf("matmul m=1 n=1 k=2 out_dtype=fp32 " + epilogue, values)[0].values[0];
    };
    CHECK(result("") == -4);
    CHECK(result("bias=true") == -2.5);
    CHECK(result("bias=true residual=true") == 0.5);
    CHECK(result("accumulate=true") == 3);
    CHECK(result("activation=relu") == 0);
    CHECK(result("accumulate=true activation=relu") == 3);
    CHECK(result("bias=true residual=true activation=silu") == doctest::Approx(0.5 / (1 + std::exp(-0.5))));
    double inner = std::sqrt(2 / 3.14159265358979) * (0.5 + 0.044715 * 0.125);
    CHECK(result("bias=true residual=true activation=gelu_tanh") == doctest::Approx(0.25 * (1 + std::tanh(inner))));
  }

  TEST_CASE("scales of blocks multiply their part of the sum") {
    std::vector<float> a(129, 1), b(129, 2);
    a[128] = 3;
    auto expected = expectationOf("fp8_block_matmul m=1 n=1 k=129",
                                  {{"a", a}, {"b", b}, {"a_scale", {0.5, 2}}, {"b_scale", {1, 4}}});
    CHECK(expected[0].values[0] == 128 * 2 * 0.5 + 3 * 2 * 2 * 4);
  }

  TEST_CASE("rows are multiplied with the B of their group, and rows of none are not expected") {
    std::vector<float> a(3 * 16, 1), b(2 * 16, 2), scale(3, 1);
    std::fill(b.begin() + 16, b.end(), 3.f);
    auto named =
        expectationOf("grouped_fp8_block_matmul groups=2 m=3 n=1 k=16",
                      {{"a", a}, {"b", b}, {"a_scale", scale}, {"b_scale", {1, 4}}, {"row_group", {1, -1, 0}}});
    CHECK(named[0].rows == std::vector<int64_t>{0, 2});
    CHECK(named[0].values == std::vector<double>{16 * 3 * 4, 16 * 2});
    a.resize(2 * 3 * 16, 1);
    scale.resize(6, 1);
    auto masked = expectationOf("grouped_fp8_block_matmul masked=true groups=2 m=3 n=1 k=16",
                                {{"a", a}, {"b", b}, {"a_scale", scale}, {"b_scale", {1, 4}}, {"valid_rows", {0, 2}}});
    CHECK(masked[0].rows == std::vector<int64_t>{3, 4});
    CHECK(!masked[0].isSample()); // all that have a value
    masked[0].rows.pop_back();
    CHECK(masked[0].isSample());
    CHECK(masked[0].values == std::vector<double>{16 * 3 * 4, 16 * 3 * 4});
  }

  TEST_CASE("attention weighs values by the softmax of scaled scores") {
    // One query of 16 ones; keys whose scores are 0 and 4 ln 3 / 4 ... chosen so that the weights are 1/4 and 3/4.
    std::vector<float> q(16, 1), k(32, 0), v(32, 0);
    k[16] = 4 * 1.0986123f; // score = 4 ln 3 / sqrt(16) = ln 3
    v[0] = 4;
    v[16] = 8;
    auto expected = expectationOf("flash_attention heads=1 seq_q=1 seq_k=2 head_dim=16 dtype=fp16 out_dtype=fp32",
                                  {{"q", q}, {"k", k}, {"v", v}});
    CHECK(expected[0].values[0] == doctest::Approx(0.25 * 4 + 0.75 * 8).epsilon(1e-3));
    CHECK(expected[1].values[0] == doctest::Approx(std::log(1 + 3.0)).epsilon(1e-3));
  }

  TEST_CASE("causal attention is aligned at the bottom right and rows that see nothing give 0 and -inf") {
    std::vector<float> q(3 * 16, 0), k(2 * 16, 0), v(2 * 16, 0);
    v[0] = 2;
    v[16] = 4;
    auto expected = expectationOf("flash_attention heads=1 seq_q=3 seq_k=2 head_dim=16 causal=true out_dtype=fp32",
                                  {{"q", q}, {"k", k}, {"v", v}});
    CHECK(expected[0].values[0] == 0);
    CHECK(expected[0].values[16] == 2);
    CHECK(expected[0].values[32] == 3);
    CHECK(expected[1].values[0] == -std::numeric_limits<double>::infinity());
    CHECK(expected[1].values[2] == doctest::Approx(std::log(2.0)));
  }

  TEST_CASE("a window has both ends at the diagonal's distance, and a cap bends scores before they are masked") {
    // Values are the numbers of the keys; equal scores average those in the window.
    std::vector<float> q(2 * 16, 0), k(5 * 16, 0), v(5 * 16, 0);
    for (int key = 0; key < 5; ++key) {
      v[size_t(key) * 16] = float(key);
    }
    std::string window = "flash_attention heads=1 seq_q=2 seq_k=5 head_dim=16 out_dtype=fp32 window_left=2";
    auto both = expectationOf(window + " window_right=1", {{"q", q}, {"k", k}, {"v", v}});
    CHECK(both[0].values[0] == doctest::Approx((1 + 2 + 3 + 4) / 4.0)); // the diagonal is key 3
    CHECK(both[0].values[16] == doctest::Approx((2 + 3 + 4) / 3.0));
    auto causal = expectationOf(window + " causal=true", {{"q", q}, {"k", k}, {"v", v}});
    CHECK(causal[0].values[0] == doctest::Approx((1 + 2 + 3) / 3.0));
    // Scores of 0 and 8 / 4 = 2, with the scale 1/4, become 0 and 3 tanh(2/3).
    q[0] = 2;
    k[4 * 16] = 4;
    auto capped = expectationOf("flash_attention heads=1 seq_q=2 seq_k=5 head_dim=16 out_dtype=fp32 softcap=3 "
                                "window_left=1",
                                {{"q", q}, {"k", k}, {"v", v}});
    double weight = std::exp(3 * std::tanh(2.0 / 3));
    CHECK(capped[1].values[0] == doctest::Approx(std::log(2 + weight)));
    CHECK(capped[0].values[0] == doctest::Approx((2 + 3 + 4 * weight) / (2 + weight)));
  }

  TEST_CASE("latent decoding takes the first channels of a key as its value, and +inf for no key") {
    // Two sequences: one key of page 1, and none. The scores do not matter where there is one key.
    std::string text =
        "mla_decode batch=2 heads=1 max_kv=1 num_pages=2 page_size=1 latent_dim=16 rope_dim=16 splits=1 ";
    Description description = *parseDescription(text + "kv_format=fp16 out_dtype=fp32");
    auto tensors = makeTensors(description, {}, 1, {{"seq_lens", {1, -7}}});
    REQUIRE(tensors.ok());
    std::vector<float> q(64, 0), cache(64, 0);
    q[0] = 2;
    cache[32] = 3;
    for (HostTensor &tensor : *tensors) {
      if (tensor.shape.name == "q" || tensor.shape.name == "kv_cache") {
        tensor.bytes = encode("fp16", tensor.shape.name == "q" ? q : cache);
      } else if (tensor.shape.name == "block_table") {
        tensor.bytes = {1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F};
      }
    }
    auto expected = computeExpected(description, {}, *tensors, 1, {0.5f});
    REQUIRE(expected.ok());
    CHECK((*expected)[0].values[0] == 3);
    CHECK((*expected)[0].values[16] == 0);
    CHECK((*expected)[1].values[0] == 0.5 * 2 * 3);
    CHECK((*expected)[1].values[1] == std::numeric_limits<double>::infinity());
    // One part for both: sequences 0 to 1, one block each.
    CHECK((*expected)[2].values == std::vector<double>{0, 1, 0, 1, 0, 0, 0, 0});
    CHECK((*expected)[3].values == std::vector<double>{0, 1, 2});
  }

  TEST_CASE("paged attention reads the key head of its group, and gives -inf for no key") {
    // Two key heads of 16 channels, one query head each; the one key of sequence 0 lies in page 1.
    Description description = *parseDescription("paged_attention batch=2 heads=2 max_kv=1 num_pages=2 page_size=1 "
                                                "head_dim=16 splits=1 dtype=fp16 out_dtype=fp32");
    auto tensors = makeTensors(description, {}, 1, {{"seq_lens", {1, -7}}});
    REQUIRE(tensors.ok());
    std::vector<float> q(64, 0), keys(64, 0), values(64, 0);
    q[16] = 2;      // of head 1
    keys[48] = 3;   // page 1, head 1
    values[32] = 5; // page 1, head 0
    values[48] = 7; // page 1, head 1
    for (HostTensor &tensor : *tensors) {
      if (tensor.shape.name == "q" || tensor.shape.name == "k_cache" || tensor.shape.name == "v_cache") {
        tensor.bytes = encode("fp16", tensor.shape.name == "q" ? q : tensor.shape.name == "k_cache" ? keys : values);
      } else if (tensor.shape.name == "block_table") {
        tensor.bytes = {1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F};
      }
    }
    auto expected = computeExpected(description, {}, *tensors, 1, {0.5f});
    REQUIRE(expected.ok());
    CHECK((*expected)[0].values[0] == 5);
    CHECK((*expected)[0].values[16] == 7);
    CHECK((*expected)[0].values[32] == 0);
    CHECK((*expected)[1].values[0] == 0);
    CHECK((*expected)[1].values[1] == 0.5 * 2 * 3);
    CHECK((*expected)[1].values[2] == -std::numeric_limits<double>::infinity());
    CHECK((*expected)[2].values == std::vector<double>{0, 1, 0, 1, 0, 0, 0, 0});
  }

  TEST_CASE("given values must fit an integer input or a scalar") {
    Description description = *parseDescription("mla_decode heads=1 max_kv=64 num_pages=1");
    CHECK_FALSE(makeTensors(description, {}, 1, {{"seq_lens", {1, 2}}}).ok());
    CHECK_FALSE(makeTensors(description, {}, 1, {{"seq_lens", {1.5}}}).ok());
    CHECK_FALSE(makeTensors(description, {}, 1, {{"q", {1}}}).ok());
    CHECK_FALSE(makeTensors(description, {}, 1, {{"scale", {1, 2}}}).ok());
    CHECK(makeTensors(description, {}, 1, {{"seq_lens", {64}}, {"scale", {2}}}).ok());
    CHECK(makeScalars(description, {{"scale", {2}}}) == std::vector<Number>{2});
    CHECK(makeScalars(description) == std::vector<Number>{float(1 / std::sqrt(576.0))});
  }

  TEST_CASE("rows past a sequence's length must keep their bytes") {
    Result<Description> description =
        parseDescription("flash_attention batch=2 heads=1 seq_q=3 seq_k=3 head_dim=16 varlen=true");
    REQUIRE(description.ok());
    auto tensors = makeTensors(*description, {}, 7);
    REQUIRE(tensors.ok());
    auto expected = computeExpected(*description, {}, *tensors, 7);
    REQUIRE(expected.ok());
    CHECK((*expected)[0].bounds[0] >= 0);     // the first sequence has its full length
    CHECK((*expected)[0].bounds[3 * 16] < 0); // the second has length 0
  }

  TEST_CASE("the gated delta rule decays, corrects and reads its state token by token") {
    // One head, key_dim 4 (scale 1/2), value_dim 1. Token 0 writes beta v = 0.5 * 4 under the first key; token 1 halves
    // the state, finds 1 there, and writes u = 1 * (3 - 1).
    auto expected =
        expectationOf("gated_delta_rule mode=recurrent tokens=2 qk_heads=1 key_dim=4 value_dim=1 dtype=fp32",
                      {{"q", {1, 0, 0, 0, 2, 1, 0, 0}},
                       {"k", {1, 0, 0, 0, 1, 0, 0, 0}},
                       {"v", {4, 3}},
                       {"g", {0, float(std::log(0.5))}},
                       {"beta", {0.5, 1}}});
    CHECK(expected[0].values[0] == doctest::Approx(0.5 * 2));
    CHECK(expected[0].values[1] == doctest::Approx(0.5 * 2 * 3));
    CHECK(expected[1].values[0] == doctest::Approx(3));
    CHECK(expected[1].values[1] == 0);
  }

  TEST_CASE("neighbouring value heads of the gated delta rule share a key head") {
    // One token, whose keys are 1 and 10: value heads 0 and 1 have the first, 2 and 3 the second. Each writes k v.
    auto expected = expectationOf(
        "gated_delta_rule mode=recurrent tokens=1 qk_heads=2 v_heads=4 key_dim=1 value_dim=1 dtype=fp32",
        {{"q", {1, 3}}, {"k", {1, 10}}, {"v", {2, 3, 4, 5}}, {"g", {0, 0, 0, 0}}, {"beta", {1, 1, 1, 1}}});
    CHECK(expected[1].values == std::vector<double>{2, 3, 40, 50});
    CHECK(expected[0].values == std::vector<double>{2, 3, 120, 150});
  }

  TEST_CASE("the gated delta rule starts from its states, in either layout, and normalizes its keys") {
    const std::string problem = "gated_delta_rule mode=recurrent tokens=1 qk_heads=1 key_dim=2 value_dim=2 dtype=fp32 "
                                "qk_l2norm=true initial_state=true";
    std::map<std::string, std::vector<float>> values = {{"q", {0, 5}}, {"k", {3, 0}}, {"v", {1, 1}},
                                                        {"g", {0}},    {"beta", {1}}, {"initial_state", {1, 2, 3, 4}}};
    auto keyMajor = expectationOf(problem, values);
    const std::vector<double> state = {1, 1, 3, 4};
    for (size_t i = 0; i < state.size(); ++i) {
      CHECK(keyMajor[1].values[i] == doctest::Approx(state[i]).epsilon(1e-6));
    }
    CHECK(keyMajor[0].values[0] == doctest::Approx(3 / std::sqrt(2.0)).epsilon(1e-6));
    auto valueMajor = expectationOf(problem + " state_layout=value-major", values);
    CHECK(valueMajor[0].values[0] == doctest::Approx(2 / std::sqrt(2.0)).epsilon(1e-6));
    CHECK(valueMajor[1].values[1] == 2);
  }

  TEST_CASE("slots that no sequence names and tokens of none must keep their bytes") {
    Result<Description> description = parseDescription(
        "gated_delta_rule mode=recurrent batch=3 tokens=16 qk_heads=1 key_dim=4 varlen=true state_pool=true slots=4");
    REQUIRE(description.ok());
    auto tensors = makeTensors(*description, {}, 7);
    REQUIRE(tensors.ok());
    auto expected = computeExpected(*description, {}, *tensors, 7);
    REQUIRE(expected.ok());
    const Expected &outputs = (*expected)[0], &states = (*expected)[1];
    CHECK(outputs.bounds.front() == -1);
    CHECK(outputs.bounds[size_t(2 * outputs.rowSize)] >= 0);
    CHECK(outputs.bounds.back() == -1);
    CHECK(outputs.rows.size() == 16);
    // Sequences 0 and 2 have a slot each; 1 has none.
    CHECK(states.rows.size() == 4 * 4);
    CHECK(std::count(states.bounds.begin(), states.bounds.end(), -1) == 2 * 4 * 4);
  }

  TEST_CASE("offsets and slots may be given") {
    Result<Description> description = parseDescription(
        "gated_delta_rule mode=recurrent batch=2 tokens=4 qk_heads=1 key_dim=1 varlen=true state_pool=true slots=3");
    auto tensors = makeTensors(*description, {}, 7, {{"cu_seqlens", {1, 2, 4}}, {"state_indices", {2, 0}}});
    REQUIRE(tensors.ok());
    auto expected = computeExpected(*description, {}, *tensors, 7);
    REQUIRE(expected.ok());
    auto isUntouched = [](double bound) { return bound == -1; };
    std::vector<bool> tokens, slots;
    std::ranges::transform((*expected)[0].bounds, std::back_inserter(tokens), isUntouched);
    std::ranges::transform((*expected)[1].bounds, std::back_inserter(slots), isUntouched);
    CHECK(tokens == std::vector<bool>{true, false, false, false});
    CHECK(slots == std::vector<bool>{false, true, false});
  }

  TEST_CASE("sequences and slots that the op leaves open are named, and those that it does not are computed") {
    Description description = *parseDescription(
        "gated_delta_rule mode=recurrent batch=2 tokens=9 qk_heads=1 key_dim=2 varlen=true state_pool=true slots=3");
    auto expectationOf = [&](const GivenValues &given) {
      auto tensors = makeTensors(description, {}, 7, given);
      REQUIRE(tensors.ok());
      return computeExpected(description, {}, *tensors, 7);
    };
    auto refusal = [&](const GivenValues &given) { return std::string(expectationOf(given).status().message()); };
    const std::string needs = "a check needs sequences that are specified: ";
    CHECK(refusal({{"cu_seqlens", {4, 2, 9}}}) == needs + "cu_seqlens descends to 2, where sequence 1 begins, after 4");
    CHECK(refusal({{"state_indices", {1, 1}}}) == needs + "state_indices gives slot 1 to sequences 0 and 1");
    CHECK(expectationOf({{"state_indices", {-1, -1}}}).ok());
    CHECK(expectationOf({{"cu_seqlens", {-4, -6, 30}}}).ok()); // both are 0
    // The last sequence ends before it begins, and is empty; the first one has its tokens.
    auto expected = expectationOf({{"cu_seqlens", {0, 8, -5}}, {"state_indices", {2, 0}}});
    REQUIRE(expected.ok());
    const Expected &outputs = (*expected)[0];
    CHECK(std::ranges::none_of(outputs.values, [](double value) { return std::isnan(value); }));
    CHECK(std::count(outputs.bounds.begin(), outputs.bounds.end(), -1) == 2); // of the token that no sequence has
  }

  TEST_CASE("queries, keys and values of no sequence are NaN") {
    auto valuesOf = [](const char *text, const GivenValues &given) {
      auto tensors = makeTensors(*parseDescription(text), {}, 5, given);
      REQUIRE(tensors.ok());
      std::vector<std::vector<float>> values;
      for (size_t tensor : {0, 1, 2}) {
        values.push_back(decode("bf16", (*tensors)[tensor].bytes));
      }
      return values;
    };
    auto check = [](const std::vector<float> &rows, const std::vector<int> &numbers) {
      for (size_t i = 0; i < rows.size(); ++i) {
        bool isNumber = std::ranges::find(numbers, int(i / 16)) != numbers.end();
        CHECK(std::isnan(rows[i]) == !isNumber);
      }
    };
    auto padded = valuesOf("flash_attention batch=2 heads=1 seq_q=3 seq_k=4 head_dim=16 varlen=true",
                           {{"seq_lens_q", {2, 0}}, {"seq_lens_k", {4, 1}}});
    check(padded[0], {0, 1});
    check(padded[1], {0, 1, 2, 3, 4});
    check(padded[2], {0, 1, 2, 3, 4});
    auto packed = valuesOf("flash_attention batch=2 heads=1 seq_q=2 head_dim=16 packed=true total_q=6 total_k=5",
                           {{"cu_seqlens_q", {1, 2, 9}}, {"cu_seqlens_k", {0, 1, 3}}});
    check(packed[0], {1, 2, 3}); // no more than two of a sequence
    check(packed[1], {0, 1, 2});
    check(packed[2], {0, 1, 2});
  }

  TEST_CASE("rows that lie apart have NaN between them, which must stay") {
    Description apart = *parseDescription("matmul m=3 n=2 k=4 a_stride=6 c_stride=5");
    auto tensors = makeTensors(apart, {}, 3), together = makeTensors(*parseDescription("matmul m=3 n=2 k=4"), {}, 3);
    REQUIRE((tensors.ok() && together.ok()));
    CHECK((*tensors)[0].bytes == (*together)[0].bytes); // the same values
    CHECK(spreadRows((*tensors)[1]) == (*tensors)[1].bytes);
    std::vector<uint8_t> memory = spreadRows((*tensors)[0]);
    REQUIRE(memory.size() == size_t(2 * 6 + 4) * 2);
    std::vector<float> values = decode("bf16", memory), rows = decode("bf16", (*tensors)[0].bytes);
    for (size_t i = 0; i < values.size(); ++i) {
      bool isBetween = i % 6 >= 4;
      CHECK((isBetween ? std::isnan(values[i]) : values[i] == rows[i / 6 * 4 + i % 6]));
    }
    const TensorShape &shape = (*tensors)[0].shape;
    CHECK(gatherRows(shape, memory) == (*tensors)[0].bytes);
    CHECK(checkBetweenRows(shape, memory).ok());
    auto complaint = [](int byte) {
      return "what lies between the rows of a was overwritten, byte " + std::to_string(byte);
    };
    for (size_t changed : {8, 11, 22, 23}) { // two gaps of two elements
      CAPTURE(changed);
      std::vector<uint8_t> damaged = memory;
      damaged[changed] = 0;
      CHECK(checkBetweenRows(shape, damaged).message() == complaint(int(changed)));
      damaged[8] = 0;
      CHECK(checkBetweenRows(shape, damaged).message() == complaint(8));
      CHECK(gatherRows(shape, damaged) == (*tensors)[0].bytes);
    }
  }

  TEST_CASE("what is drawn depends on the seed alone, also over many blocks") {
    Description description = *parseDescription("matmul m=300 n=1 k=500");
    auto first = makeTensors(description, {}, 3), again = makeTensors(description, {}, 3);
    auto other = makeTensors(description, {}, 4);
    CHECK((*first)[0].bytes == (*again)[0].bytes);
    CHECK((*first)[0].bytes != (*other)[0].bytes);
    std::vector<float> values = decode("bf16", (*first)[0].bytes);
    CHECK(values[0] != values[size_t(1) << 16]); // of two blocks
    double squares = 0;
    for (float value : values) {
      squares += double(value) * value;
    }
    CHECK(squares / double(values.size()) == doctest::Approx(1).epsilon(0.02));
  }

  TEST_CASE("rows that are not computed must be finite where the expectation says so") {
    Expected expected{"c", 3, 2, {1}, {1, 2}, {0, 0}};
    const std::vector<float> output = {0, NAN, 1, 2, 0, 0}, before(6, 0);
    CHECK(compare(expected, output, before).failed == 0);
    expected.restIsFinite = true;
    ErrorFigures figures = compare(expected, output, before);
    CHECK(figures.failed == 1);
    CHECK(figures.checked == 2);
    CHECK(figures.firstFailure == "c[0,1]: got NaN, want a finite number");
  }

  TEST_CASE("errors that are a random walk are held to their root mean square") {
    Expected expected{"c", 1, 4, {0}, {1, 1, 1, 1}, {0.5, 0.5, 0.5, 0.5}, 0.01};
    CHECK(compare(expected, {1.015f, 1, 1, 1}, {0, 0, 0, 0}).failed == 0);
    ErrorFigures figures = compare(expected, {1.03f, 1, 1, 1}, {0, 0, 0, 0});
    CHECK(figures.failed == 1);
    CHECK(figures.firstFailure == "c: RMS of the errors over RMS of the values: got 0.015000, want less than 0.010000");
  }

  TEST_CASE("a comparison refuses NaN, wrong infinities and touched elements") {
    Expected expected{"c", 1, 3, {0}, {1, -std::numeric_limits<double>::infinity(), 0}, {0.5, 0, -1}};
    float infinity = std::numeric_limits<float>::infinity();
    CHECK(compare(expected, {1.25f, -infinity, 7}, {0, 0, 7}).failed == 0);
    CHECK(compare(expected, {NAN, -infinity, 7}, {0, 0, 7}).failed == 1);
    CHECK(compare(expected, {1.25f, infinity, 7}, {0, 0, 7}).failed == 1);
    CHECK(compare(expected, {1.75f, -infinity, 8}, {0, 0, 7}).failed == 2);
    CHECK(compare(expected, {1.75f, -infinity, 7}, {0, 0, 7}).firstFailure == "c[0,0]: got 1.750000, want 1.000000 "
                                                                              "within 0.500000");
  }

  TEST_CASE("large problems are sampled with their first and last row") {
    std::vector<int64_t> rows = chooseRows(1000, 1000, 3, 20000);
    CHECK(rows.size() == 20);
    CHECK(rows.front() == 0);
    CHECK(rows.back() == 999);
    CHECK(chooseRows(10, 1000, 3, 20000).size() == 10);
  }
}
