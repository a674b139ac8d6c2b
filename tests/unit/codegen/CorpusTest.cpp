// Kernels of the corpus on the emulator: matrix products against integers, attention against its formula.

#include "tests/unit/codegen/SmallNumbers.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <sstream>

using namespace jitk::codegen::test;

namespace {

/// The kernel of a corpus file, whose function is `name`.
CompiledKernel corpusKernel(const std::string &file, const std::string &name) {
  std::ifstream stream(std::string(JITK_CORPUS) + "/" + file);
  std::stringstream text;
  text << stream.rdbuf();
  std::string module = text.str();
  const size_t at = module.find("@" + name + "(");
  REQUIRE(at != std::string::npos);
  return compileKernel(module.replace(at, name.size() + 1, "@k"));
}

/// Arguments of a launch: values of up to 8 bytes, and tensor maps.
class Arguments {
public:
  void add(uint64_t value) {
    values_.push_back(value);
    pointers_.push_back(&values_.back());
  }
  void addFloat(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    add(bits);
  }
  /// A map of a row-major matrix of bytes whose boxes have 128 rows of `boxColumns` columns, and the scalars after it.
  void addBytes(Machine &machine, uint64_t address, uint64_t rows, uint64_t columns, uint32_t boxColumns) {
    constexpr uint32_t u8Type = 0, swizzle64 = 2, swizzle128 = 3;
    maps_.emplace_back();
    const uint64_t sizes[] = {columns, rows}, strides[] = {columns};
    const uint32_t box[] = {boxColumns, 128};
    REQUIRE(machine.device
                .encodeTensorMap(maps_.back().bytes, u8Type, address, sizes, strides, box,
                                 boxColumns == 128 ? swizzle128 : swizzle64)
                .ok());
    pointers_.push_back(maps_.back().bytes);
    add(rows);
    add(columns);
    add(columns);
    add(1);
  }
  /// A map of a row-major f16 matrix whose boxes have `boxRows` rows of 64 columns, and the scalars that follow it.
  void addMatrix(Machine &machine, uint64_t address, uint64_t rows, uint64_t columns, uint32_t boxRows) {
    constexpr uint32_t f16Type = 6, swizzle128 = 3;
    maps_.emplace_back();
    const uint64_t sizes[] = {columns, rows}, strides[] = {2 * columns};
    const uint32_t box[] = {64, boxRows};
    REQUIRE(machine.device.encodeTensorMap(maps_.back().bytes, f16Type, address, sizes, strides, box, swizzle128).ok());
    pointers_.push_back(maps_.back().bytes);
    add(rows);
    add(columns);
    add(columns);
    add(1);
  }
  std::vector<void *> pointers() const { return pointers_; }

private:
  struct alignas(64) Map {
    uint8_t bytes[128];
  };
  std::deque<uint64_t> values_;
  std::deque<Map> maps_;
  std::vector<void *> pointers_;
};

/// Runs a kernel in all modes; `prepare` fills the arguments and gives the address of the output.
template <typename Prepare>
std::vector<uint8_t> runModes(const CompiledKernel &kernel, std::array<uint32_t, 3> grid, size_t outputBytes,
                              Prepare prepare) {
  std::vector<uint8_t> output;
  for (const jitk::emulator::DeviceOptions &options : jitk::emulator::test::allModes()) {
    CAPTURE(options.seed);
    Machine machine(options);
    Arguments arguments;
    const uint64_t address = prepare(machine, arguments);
    LaunchReport report = launchWithPointers(machine, kernel, arguments.pointers(), grid);
    INFO(report.toString());
    REQUIRE(report.clean());
    std::vector<uint8_t> read = machine.download<uint8_t>(address, outputBytes);
    REQUIRE((output.empty() || output == read));
    output = std::move(read);
  }
  return output;
}

std::vector<int> transpose(const std::vector<int> &matrix, int rows, int columns) {
  std::vector<int> turned(matrix.size());
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      turned[size_t(c) * rows + r] = matrix[size_t(r) * columns + c];
    }
  }
  return turned;
}

/// C = A B with tiles of 128 rows, by pointers.
void checkPointerProduct(const std::string &file, const NumberFormat &format, const NumberFormat &result,
                         unsigned tileColumns) {
  CAPTURE(file);
  const CompiledKernel kernel = corpusKernel(file, "mm_ptr");
  // Not whole tiles: rows and columns wrap around, the rest of K is masked.
  constexpr int m = 144, n = 256, k = 176;
  const std::vector<int> a = smallNumbers(m * k, 1), b = smallNumbers(k * n, 2);
  const std::vector<uint8_t> bytes = runModes(
      kernel, {2 * n / tileColumns, 1, 1}, size_t(m) * n * result.bytes, [&](Machine &machine, Arguments &arguments) {
        arguments.add(machine.upload(encode(a, format)));
        arguments.add(machine.upload(encode(b, format)));
        const uint64_t c = machine.upload(std::vector<uint8_t>(size_t(m) * n * result.bytes));
        arguments.add(c);
        for (int value : {m, n, k, k, n, n}) {
          arguments.add(uint64_t(value));
        }
        return c;
      });
  CHECK(decode(bytes, result) == multiply(a, b, m, n, k));
}

/// C = A B^T; the maps are made by the host or by the kernel.
void checkTensorCopyProduct(const std::string &file, const std::string &name, bool hostMaps) {
  CAPTURE(file);
  const CompiledKernel kernel = corpusKernel(file, name);
  constexpr int m = 160, n = 136, k = 192;
  const std::vector<int> a = smallNumbers(m * k, 1), b = smallNumbers(n * k, 2);
  const std::array<uint32_t, 3> grid = hostMaps ? std::array<uint32_t, 3>{2, 2, 1} : std::array<uint32_t, 3>{4, 1, 1};
  const std::vector<uint8_t> bytes =
      runModes(kernel, grid, size_t(m) * n * 2, [&](Machine &machine, Arguments &arguments) {
        const uint64_t addressA = machine.upload(encode(a, f16)), addressB = machine.upload(encode(b, f16));
        const uint64_t c = machine.upload(std::vector<uint8_t>(size_t(m) * n * 2));
        if (hostMaps) {
          arguments.addMatrix(machine, addressA, m, k, 128);
          arguments.addMatrix(machine, addressB, n, k, 128);
          arguments.addMatrix(machine, c, m, n, 128);
        } else {
          arguments.add(addressA);
          arguments.add(addressB);
          arguments.add(c);
        }
        for (int value : {m, n, k}) {
          arguments.add(uint64_t(value));
        }
        return c;
      });
  CHECK(decode(bytes, f16) == multiply(a, transpose(b, n, k), m, n, k));
}

float halfToFloat(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float magnitude =
      exponent == 0 ? std::ldexp(float(mantissa), -24) : std::ldexp(float(mantissa | 1024), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// softmax(scale Q K^T) V for one head of 64 columns, in double.
std::vector<double> attention(const std::vector<int> &q, const std::vector<int> &k, const std::vector<int> &v,
                              int length, double scale, bool causal) {
  constexpr int width = 64;
  std::vector<double> out(size_t(length) * width);
  for (int i = 0; i < length; ++i) {
    const int seen = causal ? i + 1 : length;
    std::vector<double> weight(size_t(seen), 0);
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < seen; ++j) {
      for (int d = 0; d < width; ++d) {
        weight[j] += scale * q[size_t(i) * width + d] * k[size_t(j) * width + d];
      }
      largest = std::max(largest, weight[j]);
    }
    for (double &w : weight) {
      w = std::exp(w - largest);
      sum += w;
    }
    for (int j = 0; j < seen; ++j) {
      for (int d = 0; d < width; ++d) {
        out[size_t(i) * width + d] += weight[j] / sum * v[size_t(j) * width + d];
      }
    }
  }
  return out;
}

void checkAttention(const std::string &file, bool causal, bool hostMaps) {
  CAPTURE(file);
  const CompiledKernel kernel = corpusKernel(file, "fa");
  constexpr int length = 256, width = 64;
  constexpr float scale = 0.02f;
  const std::vector<int> q = smallNumbers(length * width, 1), k = smallNumbers(length * width, 2),
                         v = smallNumbers(length * width, 3);
  const std::vector<uint8_t> bytes =
      runModes(kernel, {2, 1, 1}, size_t(length) * width * 2, [&](Machine &machine, Arguments &arguments) {
        const uint64_t o = machine.upload(std::vector<uint8_t>(size_t(length) * width * 2));
        const uint64_t matrices[] = {machine.upload(encode(q, f16)), machine.upload(encode(k, f16)),
                                     machine.upload(encode(v, f16)), o};
        for (size_t i = 0; i < 4; ++i) {
          if (hostMaps) {
            arguments.addMatrix(machine, matrices[i], length, width, i == 0 || i == 3 ? 128 : 64);
            continue;
          }
          // Pointer, sizes, strides, whether the padding is NaN; then sizes and strides again.
          for (uint64_t value : {matrices[i], uint64_t(length), uint64_t(width), uint64_t(width), uint64_t(1),
                                 uint64_t(0), uint64_t(length), uint64_t(width), uint64_t(width), uint64_t(1)}) {
            arguments.add(value);
          }
        }
        arguments.add(machine.upload(std::vector<float>(length)));
        arguments.add(length);
        arguments.addFloat(scale);
        return o;
      });
  const std::vector<double> wanted = attention(q, k, v, length, scale, causal);
  double worst = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, &bytes[2 * i], 2);
    worst = std::max(worst, std::abs(halfToFloat(bits) - wanted[i]));
  }
  // Weights are rounded to f16 (2^-11) before they multiply values up to 4, the result once more.
  CHECK(worst < 2 * 4 * std::ldexp(1.0, -11));
}

/// C = A B^T where blocks of 32 along K share a power of two; A in e4m3, B in e4m3 or, two to a byte, in e2m1.
void checkScaledProduct(const std::string &file, bool narrowB) {
  CAPTURE(file);
  const CompiledKernel kernel = corpusKernel(file, "mm_scaled");
  constexpr int m = 128, n = 128, k = 256, blocks = k / 32;
  const std::vector<int> a = smallNumbers(m * k, 1), b = smallNumbers(n * k, 2),
                         powers = smallNumbers((m + n) * blocks, 3);
  std::vector<uint8_t> packed;
  for (size_t i = 0; narrowB && i < b.size(); i += 2) {
    // e2m1 writes 0, 1, 2, 3, 4 as 0, 2, 4, 5, 6.
    auto code = [](int value) { return uint8_t((value < 0 ? 8 : 0) | "\0\2\4\5\6"[std::abs(value)]); };
    packed.push_back(uint8_t(code(b[i]) | code(b[i + 1]) << 4));
  }
  std::vector<uint8_t> scales;
  for (int power : powers) {
    scales.push_back(uint8_t(127 + power));
  }
  const std::vector<uint8_t> bytes =
      runModes(kernel, {1, 1, 1}, size_t(m) * n * 4, [&](Machine &machine, Arguments &arguments) {
        const uint64_t c = machine.upload(std::vector<uint8_t>(size_t(m) * n * 4));
        arguments.addBytes(machine, machine.upload(encode(a, e4m3)), m, k, 128);
        if (narrowB) {
          arguments.addBytes(machine, machine.upload(packed), n, k / 2, 64);
        } else {
          arguments.addBytes(machine, machine.upload(encode(b, e4m3)), n, k, 128);
        }
        arguments.add(c);
        arguments.add(machine.upload(std::vector<uint8_t>(scales.begin(), scales.begin() + m * blocks)));
        arguments.add(machine.upload(std::vector<uint8_t>(scales.begin() + m * blocks, scales.end())));
        for (int value : {m, n, k}) {
          arguments.add(uint64_t(value));
        }
        return c;
      });
  // All numbers are multiples of 2^-8 below 2^24 of them: sums in f32 are exact.
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) {
        const int power = powers[i * blocks + l / 32] + powers[m * blocks + j * blocks + l / 32];
        sum += std::ldexp(double(a[size_t(i) * k + l]) * b[size_t(j) * k + l], power);
      }
      float value;
      std::memcpy(&value, &bytes[4 * (size_t(i) * n + j)], 4);
      REQUIRE(double(value) == sum);
    }
  }
}

void checkTopK(const std::string &file) {
  CAPTURE(file);
  const CompiledKernel kernel = corpusKernel(file, "topk");
  constexpr int rows = 3, length = 700, kept = 8;
  std::vector<float> x(rows * length);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = float(int(i * 2654435761u >> 8 & 0xffff) - 40000);
  }
  const std::vector<uint8_t> bytes =
      runModes(kernel, {rows, 1, 1}, rows * kept * 4, [&](Machine &machine, Arguments &arguments) {
        arguments.add(machine.upload(x));
        const uint64_t y = machine.upload(std::vector<float>(rows * kept));
        arguments.add(y);
        arguments.add(length);
        return y;
      });
  std::vector<float> largest(rows * kept);
  std::memcpy(largest.data(), bytes.data(), bytes.size());
  for (int r = 0; r < rows; ++r) {
    std::vector<float> row(x.begin() + r * length, x.begin() + (r + 1) * length);
    std::sort(row.begin(), row.end(), std::greater<float>());
    CHECK(std::vector<float>(row.begin(), row.begin() + kept) ==
          std::vector<float>(largest.begin() + r * kept, largest.begin() + (r + 1) * kept));
  }
}

} // namespace

TEST_SUITE("codegen/Corpus") {
  TEST_CASE("products by pointers") {
    checkPointerProduct("mm_ptr.sm80.ttgir", f16, f16, 128);
    checkPointerProduct("mm_ptr.sm90.ttgir", f16, f16, 128);
    checkPointerProduct("mm_ptr_tf32.sm80.ttgir", f32, f32, 64);
    checkPointerProduct("mm_ptr_tf32.sm120.ttgir", f32, f32, 64);
    checkPointerProduct("mm_ptr_fp8.sm90.ttgir", e4m3, f32, 64);
  }

  TEST_CASE("products by tensor copies") {
    checkTensorCopyProduct("mm_desc.sm90.ttgir", "mm_desc", /*hostMaps=*/true);
    checkTensorCopyProduct("mm_pers.sm90.ttgir", "mm_pers", /*hostMaps=*/false);
    checkTensorCopyProduct("mm_pers.sm120.ttgir", "mm_pers", /*hostMaps=*/false);
    checkTensorCopyProduct("mm_pers_ws_nw4.sm90.ttgir", "mm_pers", /*hostMaps=*/false);
  }

  TEST_CASE("block-scaled products") {
    checkScaledProduct("scaled_mxfp8.sm90.ttgir", /*narrowB=*/false);
    checkScaledProduct("scaled_mxmix.sm90.ttgir", /*narrowB=*/true);
  }

  TEST_CASE("the largest of a row") {
    checkTopK("topk.sm80.ttgir");
    checkTopK("topk.sm100.ttgir");
  }

  TEST_CASE("attention") {
    checkAttention("fa.sm90.ttgir", /*causal=*/false, /*hostMaps=*/true);
    checkAttention("fa_causal.sm80.ttgir", /*causal=*/true, /*hostMaps=*/false);
    checkAttention("fa_causal.sm120.ttgir", /*causal=*/true, /*hostMaps=*/true);
  }
}
