// The kernels of the TTGIR corpus, lowered by jitk and run on the emulator: right results and no findings, in both
// asynchronous modes. Each kernel once; tests/unit/codegen is about single ops.

#include "src/emulator/Formats.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <random>
#include <sstream>

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::codegen::test;

using LoweredKernel = jitk::codegen::test::CompiledKernel;

namespace {

/// A module of the corpus, its kernel renamed to `k`.
std::string corpus(const std::string &file, const std::string &kernel) {
  std::ifstream stream(std::string(JITK_CORPUS) + "/" + file + ".ttgir");
  REQUIRE(stream.good());
  std::stringstream text;
  text << stream.rdbuf();
  std::string module = text.str();
  const std::string name = "@" + kernel + "(";
  const size_t at = module.find(name);
  REQUIRE(at != std::string::npos);
  return module.replace(at, name.size(), "@k(");
}

struct alignas(64) MapBytes {
  uint8_t bytes[128];
};

/// The parameters of a launch, of any size.
class Arguments {
public:
  void add(uint64_t value) { pointers_.push_back(&words_.emplace_back(value)); }
  void add(float value) { add(uint64_t(std::bit_cast<uint32_t>(value))); }
  /// A host descriptor: map, shape, strides in elements.
  void addDescriptor(Machine &machine, uint32_t elementType, uint32_t elementBytes, uint64_t address,
                     std::array<uint64_t, 2> shape, std::array<uint32_t, 2> box, uint32_t swizzle) {
    MapBytes &map = maps_.emplace_back();
    const std::array<uint64_t, 2> sizes = {shape[1], shape[0]};
    const std::array<uint64_t, 1> strides = {shape[1] * elementBytes};
    const std::array<uint32_t, 2> boxSizes = {box[1], box[0]};
    Status status = machine.device.encodeTensorMap(map.bytes, elementType, address, sizes, strides, boxSizes, swizzle);
    REQUIRE_MESSAGE(status.ok(), status.toString());
    pointers_.push_back(map.bytes);
    for (uint64_t value : {shape[0], shape[1], shape[1], uint64_t(1)}) {
      add(value);
    }
  }
  const std::vector<void *> &pointers() const { return pointers_; }

private:
  std::deque<uint64_t> words_;
  std::deque<MapBytes> maps_;
  std::vector<void *> pointers_;
};

/// Both modes; few seeds, since these kernels are large.
std::vector<DeviceOptions> bothModes() {
  std::vector<DeviceOptions> modes;
  for (auto [mode, seed] : {std::pair(AsyncMode::Deferred, 0u), std::pair(AsyncMode::Deferred, 1u),
                            std::pair(AsyncMode::Immediate, 8812u)}) {
    DeviceOptions options;
    options.mode = mode;
    options.seed = seed;
    modes.push_back(options);
  }
  return modes;
}

/// Small multiples of 1/4: products and sums of a few hundred are exact in f32.
std::vector<float> smallNumbers(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> distribution(-8, 8);
  std::vector<float> values(count);
  for (float &value : values) {
    value = float(distribution(generator)) / 4;
  }
  return values;
}

template <typename Bits> std::vector<Bits> encode(const std::vector<float> &values, Bits (*format)(float)) {
  std::vector<Bits> bits;
  for (float value : values) {
    bits.push_back(format(value));
  }
  return bits;
}

uint32_t asFloatBits(float value) { return std::bit_cast<uint32_t>(value); }

/// c = a * b, or a * b^T.
std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b, int m, int n, int k,
                           bool transposed) {
  std::vector<float> c(size_t(m) * n);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int step = 0; step < k; ++step) {
        sum += a[size_t(row) * k + step] * (transposed ? b[size_t(column) * k + step] : b[size_t(step) * n + column]);
      }
      c[size_t(row) * n + column] = sum;
    }
  }
  return c;
}

/// Elements that differ.
size_t differences(const std::vector<float> &found, const std::vector<float> &wanted) {
  REQUIRE(found.size() == wanted.size());
  size_t count = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    count += found[i] != wanted[i];
  }
  return count;
}

std::vector<float> halves(const std::vector<uint16_t> &bits) {
  std::vector<float> values;
  for (uint16_t each : bits) {
    values.push_back(halfToFloat(each));
  }
  return values;
}

std::vector<float> roundedToHalf(std::vector<float> values) {
  for (float &value : values) {
    value = halfToFloat(floatToHalf(value));
  }
  return values;
}

struct MatmulOverPointers {
  const char *file;
  int tileM, tileN;
  enum Type { Half, E4m3, Tf32 } type;
  uint32_t cluster = 1;
};

/// Sizes that divide neither tile, so that masks and wrapped rows are used.
void checkMatmulOverPointers(const MatmulOverPointers &variant) {
  constexpr int m = 144, n = 176, k = 208;
  const LoweredKernel kernel = compileKernel(corpus(variant.file, "mm_ptr"));
  const std::vector<float> a = smallNumbers(m * k, 1), b = smallNumbers(k * n, 2);
  for (const DeviceOptions &options : bothModes()) {
    Machine machine(options);
    uint64_t pa = 0, pb = 0;
    switch (variant.type) {
    case MatmulOverPointers::Half:
      pa = machine.upload(encode(a, floatToHalf));
      pb = machine.upload(encode(b, floatToHalf));
      break;
    case MatmulOverPointers::E4m3:
      pa = machine.upload(encode(a, floatToE4m3));
      pb = machine.upload(encode(b, floatToE4m3));
      break;
    case MatmulOverPointers::Tf32:
      pa = machine.upload(encode(a, asFloatBits));
      pb = machine.upload(encode(b, asFloatBits));
      break;
    }
    const bool halfResult = variant.type == MatmulOverPointers::Half;
    const uint64_t pc = machine.allocate(size_t(m) * n * 4);
    Arguments arguments;
    for (uint64_t value : {pa, pb, pc, uint64_t(m), uint64_t(n), uint64_t(k), uint64_t(k), uint64_t(n), uint64_t(n)}) {
      arguments.add(value);
    }
    const auto tiles = uint32_t((m + variant.tileM - 1) / variant.tileM * ((n + variant.tileN - 1) / variant.tileN));
    const LaunchReport report =
        launchWithPointers(machine, kernel, arguments.pointers(), {tiles * variant.cluster, 1, 1}, variant.cluster);
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<float> wanted = product(a, b, m, n, k, false);
    if (halfResult) {
      CHECK(differences(halves(machine.download<uint16_t>(pc, size_t(m) * n)), roundedToHalf(wanted)) == 0);
    } else {
      CHECK(differences(machine.download<float>(pc, size_t(m) * n), wanted) == 0);
    }
  }
}

constexpr uint32_t u8Type = 0, f16Type = 6; // CUtensorMapDataType
constexpr uint32_t swizzle64 = 2, swizzle128 = 3;

void checkMatmulOverDescriptors(const char *file) {
  constexpr int m = 136, n = 200, k = 264;
  const LoweredKernel kernel = compileKernel(corpus(file, "mm_desc"));
  const std::vector<float> a = smallNumbers(m * k, 1), b = smallNumbers(n * k, 2);
  for (const DeviceOptions &options : bothModes()) {
    Machine machine(options);
    const uint64_t pc = machine.allocate(size_t(m) * n * 2);
    Arguments arguments;
    arguments.addDescriptor(machine, f16Type, 2, machine.upload(encode(a, floatToHalf)), {m, k}, {128, 64}, swizzle128);
    arguments.addDescriptor(machine, f16Type, 2, machine.upload(encode(b, floatToHalf)), {n, k}, {128, 64}, swizzle128);
    arguments.addDescriptor(machine, f16Type, 2, pc, {m, n}, {128, 64}, swizzle128);
    for (uint64_t value : {m, n, k}) {
      arguments.add(value);
    }
    const LaunchReport report = launchWithPointers(machine, kernel, arguments.pointers(), {2, 2, 1});
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(differences(halves(machine.download<uint16_t>(pc, size_t(m) * n)),
                      roundedToHalf(product(a, b, m, n, k, true))) == 0);
  }
}

void checkPersistentMatmul(const char *file) {
  constexpr int m = 264, n = 328, k = 200;
  const LoweredKernel kernel = compileKernel(corpus(file, "mm_pers"));
  const std::vector<float> a = smallNumbers(m * k, 1), b = smallNumbers(n * k, 2);
  for (const DeviceOptions &options : bothModes()) {
    Machine machine(options);
    const uint64_t pc = machine.allocate(size_t(m) * n * 2);
    Arguments arguments;
    for (uint64_t value : {machine.upload(encode(a, floatToHalf)), machine.upload(encode(b, floatToHalf)), pc,
                           uint64_t(m), uint64_t(n), uint64_t(k)}) {
      arguments.add(value);
    }
    const LaunchReport report = launchWithPointers(machine, kernel, arguments.pointers(), {132, 1, 1});
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(differences(halves(machine.download<uint16_t>(pc, size_t(m) * n)),
                      roundedToHalf(product(a, b, m, n, k, true))) == 0);
  }
}

/// Numbers that e2m1 has, and their codes, two to a byte.
struct PackedE2m1 {
  std::vector<float> values;
  std::vector<uint8_t> bytes;

  explicit PackedE2m1(size_t count) {
    constexpr float magnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    for (size_t i = 0; i < count; ++i) {
      const auto code = uint8_t(i * 7 % 13 + i / 32 % 4) & 15;
      values.push_back(code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7]);
      if (i % 2 == 0) {
        bytes.push_back(uint8_t(code));
      } else {
        bytes.back() |= uint8_t(code << 4);
      }
    }
  }
};

/// Block-scaled: each 32 elements of K share a power of two. A is e4m3; B is e4m3 or e2m1.
void checkScaledMatmul(const char *file, bool isNarrow) {
  constexpr int m = 128, n = 256, k = 256, groups = k / 32;
  const LoweredKernel kernel = compileKernel(corpus(file, "mm_scaled"));
  const PackedE2m1 packed(size_t(n) * k);
  const std::vector<float> a = smallNumbers(m * k, 1), b = isNarrow ? packed.values : smallNumbers(n * k, 2);
  std::vector<uint8_t> scaleA(m * groups), scaleB(n * groups);
  std::vector<float> scaledA = a, scaledB = b;
  const auto scale = [](std::vector<uint8_t> &scales, std::vector<float> &values, uint32_t step) {
    for (size_t i = 0; i < scales.size(); ++i) {
      const int exponent = int(i * step % 4) - 2;
      scales[i] = uint8_t(127 + exponent);
      for (size_t j = i * 32; j < (i + 1) * 32; ++j) {
        values[j] = std::ldexp(values[j], exponent);
      }
    }
  };
  scale(scaleA, scaledA, 3);
  scale(scaleB, scaledB, 5);
  for (const DeviceOptions &options : bothModes()) {
    Machine machine(options);
    const uint64_t pc = machine.allocate(size_t(m) * n * 4);
    Arguments arguments;
    arguments.addDescriptor(machine, u8Type, 1, machine.upload(encode(a, floatToE4m3)), {m, k}, {128, 128}, swizzle128);
    if (isNarrow) {
      arguments.addDescriptor(machine, u8Type, 1, machine.upload(packed.bytes), {n, k / 2}, {128, 64}, swizzle64);
    } else {
      arguments.addDescriptor(machine, u8Type, 1, machine.upload(encode(b, floatToE4m3)), {n, k}, {128, 128},
                              swizzle128);
    }
    for (uint64_t value : {pc, machine.upload(scaleA), machine.upload(scaleB), uint64_t(m), uint64_t(n), uint64_t(k)}) {
      arguments.add(value);
    }
    const LaunchReport report = launchWithPointers(machine, kernel, arguments.pointers(), {1, 2, 1});
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(differences(machine.download<float>(pc, size_t(m) * n), product(scaledA, scaledB, m, n, k, true)) == 0);
  }
}

/// Attention of one head over `length` tokens in double precision.
std::vector<double> attention(const std::vector<float> &q, const std::vector<float> &k, const std::vector<float> &v,
                              int length, double scale, bool causal) {
  constexpr int d = 64;
  std::vector<double> out(size_t(length) * d);
  for (int row = 0; row < length; ++row) {
    const int limit = causal ? row + 1 : length;
    std::vector<double> weights(size_t(limit), 0);
    double largest = -INFINITY, total = 0;
    for (int column = 0; column < limit; ++column) {
      for (int i = 0; i < d; ++i) {
        weights[column] += scale * q[size_t(row) * d + i] * k[size_t(column) * d + i];
      }
      largest = std::max(largest, weights[column]);
    }
    for (double &weight : weights) {
      weight = std::exp(weight - largest);
      total += weight;
    }
    for (int column = 0; column < limit; ++column) {
      for (int i = 0; i < d; ++i) {
        out[size_t(row) * d + i] += weights[column] / total * v[size_t(column) * d + i];
      }
    }
  }
  return out;
}

/// How a kernel takes the four matrices of attention.
enum class AttentionAbi { Descriptors, Pointers };

/// A descriptor that was lowered to pointers: address, shape, strides, padding, then shape and strides once more.
void addPointerDescriptor(Arguments &arguments, uint64_t address, std::array<uint64_t, 2> shape) {
  for (uint64_t value :
       {address, shape[0], shape[1], shape[1], uint64_t(1), uint64_t(0), shape[0], shape[1], shape[1], uint64_t(1)}) {
    arguments.add(value);
  }
}

void checkAttention(const char *file, bool causal, AttentionAbi abi = AttentionAbi::Descriptors) {
  constexpr int length = 256, d = 64;
  constexpr float scale = 0.125f;
  const LoweredKernel kernel = compileKernel(corpus(file, "fa"));
  const std::vector<float> q = smallNumbers(length * d, 1), k = smallNumbers(length * d, 2),
                           v = smallNumbers(length * d, 3);
  const std::vector<double> wanted = attention(q, k, v, length, scale, causal);
  for (const DeviceOptions &options : bothModes()) {
    Machine machine(options);
    const uint64_t po = machine.allocate(length * d * 2), lse = machine.allocate(length * 4);
    Arguments arguments;
    const std::array<uint64_t, 2> shape = {length, d};
    const std::pair<uint64_t, uint32_t> matrices[] = {{machine.upload(encode(q, floatToHalf)), 128},
                                                      {machine.upload(encode(k, floatToHalf)), 64},
                                                      {machine.upload(encode(v, floatToHalf)), 64},
                                                      {po, 128}};
    for (auto [address, boxRows] : matrices) {
      if (abi == AttentionAbi::Descriptors) {
        arguments.addDescriptor(machine, f16Type, 2, address, shape, {boxRows, d}, swizzle128);
      } else {
        addPointerDescriptor(arguments, address, shape);
      }
    }
    arguments.add(lse);
    arguments.add(uint64_t(length));
    arguments.add(scale);
    const LaunchReport report = launchWithPointers(machine, kernel, arguments.pointers(), {length / 128, 1, 1});
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<float> out = halves(machine.download<uint16_t>(po, length * d));
    double worst = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      worst = std::max(worst, std::fabs(out[i] - wanted[i]));
    }
    // Weights are rounded to f16 before the second product, the result once more: 2^-11 of values up to 2, twice.
    CHECK(worst < 4e-3);
  }
}

void checkTranspose(const char *file) {
  CAPTURE(file);
  constexpr int size = 64;
  const LoweredKernel kernel = compileKernel(corpus(file, "transp"));
  std::vector<uint16_t> x(size * size), wanted(x.size());
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      x[row * size + column] = uint16_t(row * size + column);
      wanted[column * size + row] = x[row * size + column];
    }
  }
  for (const DeviceOptions &options : bothModes()) {
    Machine machine(options);
    const uint64_t y = machine.allocate(x.size() * 2);
    Arguments arguments;
    arguments.add(machine.upload(x));
    arguments.add(y);
    const LaunchReport report = launchWithPointers(machine, kernel, arguments.pointers(), {1, 1, 1});
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(machine.download<uint16_t>(y, x.size()) == wanted);
  }
}

/// The eight largest of each row, in order.
void checkTopK(const char *file) {
  CAPTURE(file);
  constexpr int rows = 3, length = 700, kept = 8;
  const LoweredKernel kernel = compileKernel(corpus(file, "topk"));
  std::vector<float> x(rows * length), wanted;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = float(int(i * 2654435761u >> 8 & 0xffff) - 40000);
  }
  for (int row = 0; row < rows; ++row) {
    std::vector<float> sorted(x.begin() + row * length, x.begin() + (row + 1) * length);
    std::ranges::sort(sorted, std::greater<float>());
    wanted.insert(wanted.end(), sorted.begin(), sorted.begin() + kept);
  }
  for (const DeviceOptions &options : bothModes()) {
    Machine machine(options);
    const uint64_t y = machine.allocate(wanted.size() * 4);
    Arguments arguments;
    for (uint64_t value : {machine.upload(x), y, uint64_t(length)}) {
      arguments.add(value);
    }
    const LaunchReport report = launchWithPointers(machine, kernel, arguments.pointers(), {rows, 1, 1});
    CHECK_MESSAGE(report.clean(), report.toString());
    CHECK(machine.download<float>(y, wanted.size()) == wanted);
  }
}

} // namespace

TEST_SUITE("emulator/Corpus") {
  TEST_CASE("copy") {
    const LoweredKernel kernel = compileKernel(corpus("copy.sm86", "copy"));
    Machine machine;
    const std::vector<float> x = smallNumbers(2000, 1);
    const uint64_t y = machine.upload(std::vector<float>(2048, 7.0f));
    Arguments arguments;
    for (uint64_t value : {machine.upload(x), y, uint64_t(2000)}) {
      arguments.add(value);
    }
    const LaunchReport report = launchWithPointers(machine, kernel, arguments.pointers(), {2, 1, 1});
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<float> found = machine.download<float>(y, 2048);
    CHECK(std::vector<float>(found.begin(), found.begin() + 2000) == x);
    CHECK(found[2000] == 7.0f);
  }

  TEST_CASE("transp") {
    checkTranspose("transp.sm90");
    checkTranspose("transp.sm120");
  }

  TEST_CASE("topk") {
    checkTopK("topk.sm80");
    checkTopK("topk.sm100");
  }

  TEST_CASE("matmul over pointers by mma") {
    checkMatmulOverPointers({"mm_ptr.sm80", 128, 128, MatmulOverPointers::Half});
  }
  TEST_CASE("matmul over pointers by wgmma") {
    checkMatmulOverPointers({"mm_ptr.sm90", 128, 128, MatmulOverPointers::Half});
  }
  TEST_CASE("fp8 matmul by wgmma") { checkMatmulOverPointers({"mm_ptr_fp8.sm90", 128, 64, MatmulOverPointers::E4m3}); }
  TEST_CASE("tf32 matmul by mma") {
    checkMatmulOverPointers({"mm_ptr_tf32.sm80", 128, 64, MatmulOverPointers::Tf32});
    checkMatmulOverPointers({"mm_ptr_tf32.sm120", 128, 64, MatmulOverPointers::Tf32});
  }
  TEST_CASE("matmul over descriptors") { checkMatmulOverDescriptors("mm_desc.sm90"); }
  TEST_CASE("persistent matmul") {
    checkPersistentMatmul("mm_pers.sm90");
    checkPersistentMatmul("mm_pers.sm120");
  }
  TEST_CASE("warp-specialized persistent matmul") { checkPersistentMatmul("mm_pers_ws_nw4.sm90"); }
  TEST_CASE("attention") { checkAttention("fa.sm90", false); }
  // Both CTAs copy the tile that both hold.
  TEST_CASE("matmul by clusters of two") {
    checkMatmulOverPointers({"mm_ptr_cta2.sm90", 128, 128, MatmulOverPointers::Half, 2});
  }
  TEST_CASE("block-scaled matmul") {
    checkScaledMatmul("scaled_mxfp8.sm90", /*isNarrow=*/false);
    checkScaledMatmul("scaled_mxmix.sm90", /*isNarrow=*/true);
  }
  TEST_CASE("causal attention by mma") {
    checkAttention("fa_causal.sm80", true, AttentionAbi::Pointers);
    checkAttention("fa_causal.sm120", true);
  }
  TEST_CASE("causal attention") { checkAttention("fa_causal_ws.sm90", true); }
}
