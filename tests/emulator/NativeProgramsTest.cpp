// The programs in CommonIR of tests/ir/passes/convert-common-ir-to-ttgir-native.mlir on data: by all passes, for
// mma.sync and for wgmma's target, against references in double precision.

#include "src/emulator/Formats.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

using namespace jitk::codegen::test;

namespace {

/// A module of the file's aliases and one of its functions, renamed to `k`.
std::string program(const std::string &name) {
  std::ifstream stream(JITK_NATIVE_PROGRAMS);
  REQUIRE(stream.good());
  std::stringstream all;
  all << stream.rdbuf();
  const std::string text = all.str(), function = "\ntt.func public @" + name + "(", end = "\n}\n";
  const size_t first = text.find("\ntt.func"), begin = text.find(function);
  REQUIRE(begin != std::string::npos);
  const size_t length = text.find(end, begin) + end.size() - begin;
  return text.substr(0, first) + text.substr(begin, length).replace(0, function.size(), "\ntt.func public @k(") + "}\n";
}

/// Small multiples of 1/4, which fp16 has exactly.
std::vector<uint16_t> smallHalves(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> distribution(-8, 8);
  std::vector<uint16_t> values(count);
  std::ranges::generate(values, [&] { return jitk::emulator::floatToHalf(float(distribution(generator)) / 4); });
  return values;
}

double at(const std::vector<uint16_t> &matrix, int rowSize, int row, int column) {
  return jitk::emulator::halfToFloat(matrix[size_t(row * rowSize + column)]);
}

} // namespace

TEST_SUITE("emulator/NativePrograms") {
  TEST_CASE("matmul") {
    // A tile of C = A B; the rows of all three are 128 long.
    constexpr int tile = 32, k = 128;
    const std::vector<uint16_t> a = smallHalves(tile * k, 1), b = smallHalves(k * k, 2);
    for (const char *target : {"sm_80", "sm_90a"}) {
      CAPTURE(target);
      const CompiledKernel kernel = compileCommonIr(program("matmul"), target);
      const std::vector<uint16_t> c = runEverywhere<uint16_t>(kernel, tile * k, a, b);
      size_t wrong = 0;
      for (int row = 0; row < tile; ++row) {
        for (int column = 0; column < k; ++column) {
          double sum = 0; // exact in fp32 too: of multiples of 1/16 below 2^9
          for (int step = 0; step < k && column < tile; ++step) {
            sum += at(a, k, row, step) * at(b, k, step, column);
          }
          wrong += jitk::emulator::floatToHalf(float(sum)) != c[size_t(row * k + column)];
        }
      }
      CHECK(wrong == 0);
    }
  }

  TEST_CASE("flash") {
    // O = softmax(Q K^T) V in base 2, of 16 queries and two blocks of 16 keys.
    constexpr int queries = 16, keys = 32, dim = 32;
    const std::vector<uint16_t> q = smallHalves(queries * dim, 3), k = smallHalves(keys * dim, 4),
                                v = smallHalves(keys * dim, 5);
    for (const char *target : {"sm_80", "sm_90a"}) {
      CAPTURE(target);
      const CompiledKernel kernel = compileCommonIr(program("flash"), target);
      const std::vector<float> o = runEverywhere<float>(kernel, queries * dim, q, k, v);
      double worst = 0, largest = 0;
      for (int row = 0; row < queries; ++row) {
        std::vector<double> weights(keys);
        for (int key = 0; key < keys; ++key) {
          for (int i = 0; i < dim; ++i) {
            weights[size_t(key)] += at(q, dim, row, i) * at(k, dim, key, i);
          }
        }
        const double most = std::ranges::max(weights);
        double total = 0;
        for (double &weight : weights) {
          weight = std::exp2(weight - most);
          total += weight;
        }
        for (int i = 0; i < dim; ++i) {
          double wanted = 0;
          for (int key = 0; key < keys; ++key) {
            wanted += weights[size_t(key)] / total * at(v, dim, key, i);
          }
          worst = std::max(worst, std::fabs(wanted - double(o[size_t(row * dim + i)])));
          largest = std::max(largest, std::fabs(wanted));
        }
      }
      // Weights are rounded to fp16 for the second product, 2^-11 of them; values are at most 2.
      CHECK(worst < 2 * 0x1p-11);
      CHECK(largest > 0.5);
    }
  }
}
