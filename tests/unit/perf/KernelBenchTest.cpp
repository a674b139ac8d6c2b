#include "tests/support/TemporaryFolder.h"

#include "perf/kernels/DeepGemmPeer.h"
#include "perf/kernels/Problems.h"
#include "perf/kernels/Report.h"

#include <cmath>
#include <doctest/doctest.h>
#include <fstream>
#include <stdexcept>

using namespace jitk;
using namespace jitk::perf;

TEST_SUITE_BEGIN("perf/kernels");

static std::vector<Problem> readText(const std::string &text) {
  test::TemporaryFolder folder;
  std::string file = folder.path("problems.txt");
  std::ofstream(file) << text;
  return readProblems(file);
}

TEST_CASE("a list has one problem a line, comments, and sizes of dynamic dimensions") {
  std::vector<Problem> problems =
      readText("# squares\n\nmatmul m=64 n=32 k=16 # small\n  matmul m=* n=8 k=8   m:100\n");
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].text == "matmul m=64 n=32 k=16");
  CHECK(problems[0].size("m") == 64);
  CHECK(problems[1].sizes.at("m") == 100);
  CHECK(problems[1].size("m") == 100);
}

TEST_CASE("a list gives integers that are not to be drawn") {
  std::vector<Problem> problems =
      readText("mla_decode batch=5 heads=* max_kv=320 num_pages=32 heads:16 seq_lens:128,256..320/32,7\n");
  CHECK(problems[0].text == "mla_decode batch=5 heads=* max_kv=320 num_pages=32");
  CHECK(problems[0].line == "mla_decode batch=5 heads=* max_kv=320 num_pages=32 heads:16 seq_lens:128,256..320/32,7");
  CHECK(problems[0].size("heads") == 16);
  CHECK(problems[0].values == reference::GivenValues{{"seq_lens", {128, 256, 288, 320, 7}}});
}

TEST_CASE("the work of masked groups is that of the rows that are expected") {
  std::vector<Problem> problems =
      readText("grouped_fp8_block_matmul masked=true groups=6 m=64 expected_m=16 n=256 k=512\n"
               "grouped_fp8_block_matmul masked=true groups=6 m=64 n=256 k=512\n"
               "grouped_fp8_block_matmul masked=true groups=6 m=64 expected_m=1024 n=256 k=512\n");
  CHECK(workOf(problems[0]).flops == 2.0 * 6 * 16 * 256 * 512);
  CHECK(workOf(problems[1]).flops == 2.0 * 6 * 64 * 256 * 512);
  CHECK(workOf(problems[2]).flops == 2.0 * 6 * 64 * 256 * 512);
  double perRow = 512 + 4 * 4 + 2 * 256; // A, its scales, C
  CHECK(workOf(problems[1]).bytes - workOf(problems[0]).bytes == doctest::Approx(6 * 48 * perRow));
}

TEST_CASE("DeepGEMM is asked for the rows that masked groups are expected to have") {
  using timing::DeepGemm;
  auto shapeOf = [](const std::string &text) {
    Problem problem = readText(text + "\n").front();
    CHECK(DeepGemmPeer::serves(problem));
    return DeepGemmPeer::shapeOf(problem);
  };
  const std::string grouped = "grouped_fp8_block_matmul groups=6 n=256 k=512 ";
  CHECK(shapeOf("fp8_block_matmul m=64 n=256 k=512") == DeepGemm::Shape{.m = 64, .n = 256, .k = 512});
  CHECK(shapeOf(grouped + "m=768") == DeepGemm::Shape{DeepGemm::Groups::Contiguous, 6, 768, 256, 512});
  CHECK(shapeOf(grouped + "m=64 masked=true") == DeepGemm::Shape{DeepGemm::Groups::Masked, 6, 64, 256, 512});
  CHECK(shapeOf(grouped + "m=64 masked=true expected_m=20") ==
        DeepGemm::Shape{DeepGemm::Groups::Masked, 6, 20, 256, 512});
  for (const char *other : {"out_dtype=fp32", "a_scale_layout=col", "a_stride=1024"}) {
    CAPTURE(other);
    CHECK(!DeepGemmPeer::serves(readText(grouped + "m=64 " + other + "\n").front()));
  }
  CHECK(!DeepGemmPeer::serves(readText("matmul m=64 n=32 k=16\n").front()));
}

TEST_CASE("what cannot be read is named by its line") {
  auto failureOf = [](const std::string &text) -> std::string {
    try {
      readText(text);
    } catch (const std::runtime_error &failure) {
      return failure.what();
    }
    return "";
  };
  CHECK(failureOf("matmul m=1 n=1 k=1\nmatmul m=1\n").find("problems.txt:2: ") != std::string::npos);
  CHECK(failureOf("matmul m=* n=1 k=1 m:many\n").find("problems.txt:1: ") != std::string::npos);
  for (const char *lengths : {"1..9", "1..9/0", "1..9/2/3", "1;2", "x", "3x"}) {
    CAPTURE(lengths);
    std::string problem = "mla_decode heads=16 max_kv=64 num_pages=1 seq_lens:";
    CHECK(failureOf(problem + lengths).find("problems.txt:1: ") != std::string::npos);
  }
}

TEST_CASE("attention has the scores that its sequences and windows leave") {
  auto scoresOf = [](const std::string &form) {
    std::vector<Problem> problems = readText("flash_attention batch=2 heads=3 seq_q=100 head_dim=16 " + form + "\n");
    return workOf(problems.at(0)).flops / (2 * 3 * 32);
  };
  CHECK(scoresOf("") == 2 * 100 * 100);
  CHECK(scoresOf("causal=true") == 100 * 100);
  CHECK(scoresOf("window_left=0 window_right=1") == 2 * (100 + 99));
  CHECK(scoresOf("causal=true window_left=1") == 2 * (100 + 99));
  CHECK(scoresOf("varlen=true seq_lens_q:100,7 seq_lens_k:3,900") == 100 * 3 + 7 * 100);
  CHECK(scoresOf("packed=true total_q=50 total_k=60 cu_seqlens_q:0,10,50 cu_seqlens_k:0,60,60") == 10 * 60);
}

TEST_CASE("the lists of the project can be read and have a roof") {
  for (const char *list : {"flash_attention", "fp8_block_matmul", "gated_delta_rule", "grouped_fp8_block_matmul",
                           "matmul", "mla_decode", "packed", "paged_attention", "peers", "varlen", "windows"}) {
    for (const Problem &problem : readProblems(std::string(JITK_PROBLEMS "/") + list + ".txt")) {
      CAPTURE(problem.text);
      CHECK(workOf(problem).roof() > 0);
    }
  }
}

TEST_CASE("work counts each tensor once") {
  Work square = workOf(readText("matmul m=8192 n=8192 k=8192 dtype=fp16\n").front());
  CHECK(square.flops == doctest::Approx(2.0 * 8192 * 8192 * 8192));
  CHECK(square.bytes == doctest::Approx(3.0 * 8192 * 8192 * 2));
  CHECK(square.roof() == doctest::Approx(1111.7).epsilon(0.001)); // compute
  Work row = workOf(readText("matmul m=1 n=7168 k=16384 out_dtype=fp32\n").front());
  CHECK(row.bytes == doctest::Approx(2.0 * 16384 + 2.0 * 7168 * 16384 + 4.0 * 7168));
  CHECK(row.roof() == doctest::Approx(48.9).epsilon(0.01)); // memory
}

TEST_CASE("work of a cache in pages is that of the rows that sequences have") {
  Work work = workOf(readText("mla_decode batch=4 heads=128 max_kv=320 num_pages=32 reuse_schedule=true "
                              "seq_lens:128,256,256,320\n")
                         .front());
  CHECK(work.flops == doctest::Approx(2.0 * 960 * 128 * (576 + 512)));
  // Rows, queries, results, LSE; the rest is tables.
  double tensors = 2.0 * 960 * 576 + 2.0 * 4 * 128 * 576 + 2.0 * 4 * 128 * 512 + 4.0 * 4 * 128;
  CHECK(work.bytes > tensors);
  CHECK(work.bytes < tensors + 10000);
}

TEST_CASE("a report has medians, ratios, their mean, and why a problem failed") {
  Report report;
  report.device = "a GPU";
  report.commit = "2c19dc3fd2d9";
  report.build = "0.1.0-17b7";
  Measurement measured;
  measured.problem = "matmul m=8192 n=8192 k=8192";
  measured.work = {2.0 * 8192 * 8192 * 8192, 1, 989e12};
  measured.times = {3000, 2000, 1000};
  measured.peers = {{"cuBLASLt", {1000, 1000, 1000}}, {"another", {4000, 8000, 9000}}};
  measured.threads = 384;
  Measurement failed;
  failed.problem = "matmul m=1 n=1 k=1";
  failed.failure = "the result is wrong";
  report.measurements = {measured, failed};
  std::string json = report.json();
  CHECK(json.find("\"commit\": \"2c19dc3fd2d9\",\n \"build\": \"0.1.0-17b7\"") != std::string::npos);
  CHECK(json.find("\"median_us\": 2000.0") != std::string::npos);
  CHECK(json.find("\"ratio\": 0.5,") != std::string::npos);
  CHECK(json.find("\"another\": {") != std::string::npos);
  CHECK(json.find("\"peak_tflops\": 989.0") != std::string::npos);
  CHECK(json.find("\"threads\": 384") != std::string::npos);
  CHECK(json.find("missing") == std::string::npos);
  report.missing = {"cublaslt: libcublasLt.so cannot be opened"};
  CHECK(report.json().find("\"missing\": [\n  \"cublaslt: libcublasLt.so cannot be opened\"") != std::string::npos);
  CHECK(json.find("\"failure\": \"the result is wrong\"") != std::string::npos);
  Measurement slower = measured;
  slower.peers = {{"another", {1000, 1000, 1000}}};
  report.measurements.push_back(slower);
  auto means = report.meanRatios();
  REQUIRE(means.size() == 2);
  CHECK(means[0].first == "cuBLASLt");
  CHECK(means[0].second == doctest::Approx(0.5));
  CHECK(means[1].second == doctest::Approx(std::sqrt(4 * 0.5)));
  CHECK(Report().meanRatios().empty());
}

TEST_SUITE_END();
