#include "tests/conformance/Cases.h"

namespace jitk::conformance {

const std::vector<checked::Problem> &configurationCases() {
  static const std::vector<checked::Problem> cases = {
      {"matmul m=200 n=264 k=136 b_layout=col bias=true residual=true", {}},
      {"matmul m=40 n=136 k=1000 dtype=fp16 activation=relu", {}},
      {"flash_attention batch=2 heads=4 kv_heads=2 seq_q=200 seq_k=300 head_dim=128 causal=true", {}},
      {"flash_attention batch=2 heads=2 kv_heads=1 seq_q=200 seq_k=300 head_dim=64 causal=true varlen=true", {}},
      {"flash_attention heads=2 seq_q=150 seq_k=190 head_dim=256 dtype=fp16", {}},
      {"flash_attention heads=1 seq_q=70 seq_k=200 head_dim=192 value_dim=128", {}},
      {"flash_attention batch=3 heads=2 seq_q=150 seq_k=200 total_q=330 total_k=410 head_dim=128 packed=true", {}},
      {"flash_attention heads=2 seq_q=2100 seq_k=2150 head_dim=64 window_left=100 window_right=60", {}},
      {"flash_attention heads=2 seq_q=200 seq_k=300 head_dim=128 causal=true softcap=1", {}},
      {"fp8_block_matmul m=200 n=328 k=272", {}},
      {"fp8_block_matmul m=200 n=328 k=1008", {}}, // scales by TMA
      {"fp8_block_matmul m=20 n=72 k=4080 out_dtype=fp16", {}},
      {"fp8_block_matmul m=* n=200 k=272", {{"m", 150}}},
      {"fp8_block_matmul m=192 n=144 k=512", {}},
      {"fp8_block_matmul m=200 n=328 k=512 out_dtype=fp32 a_scale_layout=col a_scale_stride=204", {}},
      {"grouped_fp8_block_matmul groups=3 m=500 n=200 k=304", {}},
      {"grouped_fp8_block_matmul groups=3 m=448 n=144 k=512", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=128 n=328 k=144", {}},
  };
  return cases;
}

const std::vector<checked::Problem> &severalTilesCases() {
  static const std::vector<checked::Problem> cases = {
      {"matmul m=1600 n=2816 k=72 b_layout=col configuration=128x256", {}},
      {"matmul m=1600 n=2816 k=200 b_layout=col bias=true residual=true activation=gelu_tanh configuration=128x256",
       {}},
      {"matmul m=1600 n=2816 k=136 out_dtype=fp32 bias=true configuration=128x256", {}},
      {"matmul m=1600 n=2816 k=72 b_layout=col out_dtype=fp32 accumulate=true configuration=128x256", {}},
      {"matmul m=4096 n=2112 k=200 b_layout=col configuration=128x192", {}},
      {"matmul m=*%64 n=*%256 k=*%64 b_layout=col", {{"m", 1600}, {"n", 2816}, {"k", 192}}},
      {"matmul m=* n=*%256 k=*%64 b_layout=col bias=true", {{"m", 1590}, {"n", 2816}, {"k", 64}}},
      {"fp8_block_matmul m=1664 n=2816 k=1024 configuration=128x256", {}},
      {"fp8_block_matmul m=1600 n=2816 k=1024 configuration=128x128", {}},
      {"fp8_block_matmul m=4096 n=2112 k=512 configuration=128x192.s2", {}},
      {"grouped_fp8_block_matmul groups=3 m=1664 n=2816 k=3072 configuration=128x256", {}},
      {"grouped_fp8_block_matmul masked=true groups=3 m=1024 expected_m=1024 n=2816 k=512 configuration=128x256", {}},
  };
  return cases;
}

const std::vector<checked::Problem> &chosenConfigurationCases() {
  static const std::vector<checked::Problem> cases = [] {
    std::vector<checked::Problem> all;
    // Few rows are the columns of a tile, in eights. So many blocks of K as go into any number of parts up to 16.
    for (int m : {7, 16, 23, 32, 39, 48, 55, 64}) {
      for (int blocks : {64, 60, 56, 52, 48, 44, 40, 36}) {
        std::string rows = "m=" + std::to_string(m) + " n=72 k=";
        all.push_back({"matmul b_layout=col " + rows + std::to_string(64 * blocks), {}});
        all.push_back({"fp8_block_matmul " + rows + std::to_string(128 * blocks), {}});
      }
    }
    // Of 16 bits up to 192 rows are, in at most two parts.
    for (int m : {71, 79, 95, 125, 135, 143, 159, 190}) {
      for (int blocks : {64, 60, 56, 52, 48, 44, 40, 36}) {
        all.push_back({"matmul b_layout=col n=72 m=" + std::to_string(m) + " k=" + std::to_string(64 * blocks), {}});
      }
    }
    // Even tiles: 63 rows of two and 32 of four; and those of two rounds.
    for (int columns : {80, 96, 112, 144, 160, 176, 208, 224, 240}) {
      for (int tiles : {2, 4}) {
        all.push_back({"matmul m=4000 k=72 b_layout=col n=" + std::to_string(tiles * columns - 8), {}});
      }
    }
    all.push_back({"matmul m=4000 n=568 k=72 b_layout=col bias=true residual=true", {}});
    all.push_back({"matmul m=4000 n=632 k=72", {}});
    all.push_back({"matmul m=4000 n=696 k=72 b_layout=col out_dtype=fp32 accumulate=true", {}});
    return all;
  }();
  return cases;
}

std::vector<std::string> gridOfChoices(std::string_view op) {
  std::vector<std::string> grid;
  auto add = [&](const std::string &attributes) { grid.push_back(std::string(op) + " " + attributes); };
  auto with = [](const char *name, auto value) { return std::string(name) + "=" + std::to_string(value) + " "; };
  if (op == "flash_attention") {
    for (int dim : {32, 48, 64, 96, 128, 192, 256}) {
      for (int heads : {1, 8, 16, 32, 128}) {
        for (int queries : {1, 16, 50, 64, 100, 128, 200, 256, 512, 1024, 4096, 16384}) {
          for (int keys : {64, 200, 1024, 4096, 16384}) {
            for (const char *causal : {"causal=false", "causal=true"}) {
              add(with("heads", heads) + with("seq_q", queries) + with("seq_k", keys) + with("head_dim", dim) + causal);
            }
          }
        }
      }
    }
    return grid;
  }
  if (op == "grouped_fp8_block_matmul") {
    for (int groups : {1, 2, 4, 6, 8, 16, 32, 64, 128}) {
      for (auto [n, k] :
           {std::pair(512, 7168), {2112, 7168}, {4096, 7168}, {6144, 7168}, {7168, 2048}, {7168, 3072}, {2048, 512}}) {
        std::string matrix = with("groups", groups) + with("n", n) + with("k", k);
        for (int m : {128, 1024, 4096, 8192, 32768}) {
          add(matrix + with("m", m));
        }
        add(matrix + "m=*");
        for (int m : {64, 128, 192, 256, 1024, 4096}) {
          for (int expected : {0, 1, 8, 20, 64, 65, 100, 192, 256, 1024}) {
            add(matrix + with("m", m) + with("expected_m", expected) + "masked=true");
          }
        }
      }
    }
    return grid;
  }
  for (const char *m : {"1",   "5",    "8",    "12",   "16",   "20",   "24",   "30",   "32",  "40",    "48",    "50",
                        "56",  "60",   "64",   "65",   "100",  "128",  "160",  "192",  "256", "300",   "384",   "512",
                        "768", "1000", "1024", "1536", "2048", "3000", "4096", "8192", "*",   "*<=64", "*<=512"}) {
    for (int n : {64, 128, 256, 512, 576, 640, 1024, 1536, 2112, 3072, 4096, 5120, 7168, 11008, 18432, 24576, 32768,
                  36864, 129280}) {
      for (int k : {64, 512, 1024, 1536, 2048, 4096, 5120, 7168, 16384, 18432}) {
        std::string sizes = std::string("m=") + m + " " + with("n", n) + with("k", k);
        add(sizes);
        if (op == "matmul") {
          add(sizes + "b_layout=col");
        }
        if (op == "matmul" && k == 7168) {
          add(sizes + "out_dtype=fp32");
          add(sizes + "bias=true residual=true");
        }
      }
    }
  }
  return grid;
}

} // namespace jitk::conformance
