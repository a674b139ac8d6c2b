// wgmma: descriptors over all swizzles and both major-nesses, fragments, groups, and what is found when the protocol is
// broken.

#include "src/emulator/Formats.h"
#include "tests/unit/emulator/InstructionProgram.h"

#include <functional>

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

constexpr uint32_t imageBytes = 32768; // copied to shared memory at 1024
constexpr uint32_t offsetB = 16384;

/// How a tile lies in shared memory.
struct Tile {
  uint32_t start = 0;        ///< within the image
  uint32_t swizzleBytes = 0; ///< 0, 32, 64, 128
  uint32_t leading = 0;      ///< byte offsets of the descriptor
  uint32_t stride = 0;
  bool mnMajor = false;

  /// Where byte `byte` along the contiguous dimension of line `line` of the other dimension lies: the canonical layouts
  /// of the matrix descriptors. Eight lines of a swizzle's width (16 bytes without one) form an atom.
  uint32_t offset(uint32_t line, uint32_t byte) const {
    const uint32_t width = swizzleBytes ? swizzleBytes : 16;
    uint32_t address = line % 8 * width + byte % width;
    const uint32_t alongLines = line / 8;
    const uint32_t alongBytes = byte / width;
    if (mnMajor && !swizzleBytes) {
      address += alongLines * leading + alongBytes * stride;
    } else {
      address += alongLines * stride + alongBytes * leading;
    }
    address += start;
    if (swizzleBytes) {
      // The 16-byte chunk within the line, XOR the number of the 128-byte row.
      address ^= address / 128 % (swizzleBytes / 16) * 16;
    }
    return address;
  }

  uint64_t descriptor() const {
    const uint64_t mode = swizzleBytes == 128 ? 1 : swizzleBytes == 64 ? 2 : swizzleBytes == 32 ? 3 : 0;
    return (1024 + start) >> 4 | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 | mode << 62;
  }
};

float valueA(int row, int k) { return float((row * 3 + k * 5) % 7 - 3); }
float valueB(int k, int column) { return float((k * 2 + column * 3) % 5 - 2); }

float expected(int row, int column, int depth) {
  float sum = 0;
  for (int k = 0; k < depth; ++k) {
    sum += valueA(row, k) * valueB(k, column);
  }
  return sum;
}

/// Writes element (row of M or N, k) for all rows and k.
void fill(std::vector<uint8_t> &image, const Tile &tile, int rows, int depth, int bytes,
          const std::function<uint32_t(int, int)> &element) {
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < depth; ++k) {
      const uint32_t bits = element(row, k);
      const uint32_t at = tile.mnMajor ? tile.offset(k, row * bytes) : tile.offset(row, k * bytes);
      std::memcpy(&image[at], &bits, bytes);
    }
  }
}

/// Copies the image to shared memory, 16 bytes a thread and step.
const std::string copyImage = R"(
      %image_bytes = llvm.mlir.constant(32768 : i32) : i32
      %step = llvm.mlir.constant(2048 : i32) : i32
      %begin = llvm.mul %tid, %c16 : i32
      llvm.br ^copy(%begin : i32)
    ^copy(%at: i32):
      %at64 = llvm.zext %at : i32 to i64
      %from = llvm.getelementptr %image[%at64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %chunk:4 = ptx.inst "ld.global.v4.b32"(%true, %from) : (i1, !llvm.ptr<1>) -> (i32, i32, i32, i32)
      %to = llvm.add %smem, %at : i32
      ptx.inst "st.shared.v4.b32"(%true, %to, %chunk#0, %chunk#1, %chunk#2, %chunk#3) : (i1, i32, i32, i32, i32, i32) -> ()
      %next = llvm.add %at, %step : i32
      %more = llvm.icmp "ult" %next, %image_bytes : i32
      llvm.cond_br %more, ^copy(%next : i32), ^copied
    ^copied:
)";
const std::string proxyFence = "ptx.inst \"fence.proxy.async.shared::cta\"() : () -> ()\n";
const std::string barrier = "ptx.inst \"bar.sync\"() {imms = array<i64: 0>} : () -> ()\n";
const std::string wgmmaFence = "ptx.inst \"wgmma.fence\"() : () -> ()\n";
const std::string commit = "ptx.inst \"wgmma.commit_group\"() : () -> ()\n";

/// `%<result>:n = wgmma` of an SS form.
std::string wgmma(const std::string &result, const std::string &form, int count, const std::string &type,
                  const std::string &a, const std::string &b, const std::string &scaleD, const std::string &c,
                  const std::string &imms) {
  return "%" + result + ":" + std::to_string(count) + " = ptx.inst \"" + form + "\"(" + a + ", " + b + ", " + scaleD +
         ", " + c + ") {imms = array<i64" + imms + ">} : (i64, i64, i1, " + repeated(type, count) + ") -> (" +
         repeated(type, count) + ")\n";
}

std::string waitFor(const std::string &result, const std::string &source, int count, const std::string &type,
                    int pending) {
  const std::string suffix = type == "f32" ? ".f32x" : ".b32x";
  return "%" + result + ":" + std::to_string(count) + " = ptx.inst \"wgmma.wait_group" + suffix +
         std::to_string(count) + "\"(" + numbered("%" + source + "#", count) +
         ") {imms = array<i64: " + std::to_string(pending) + ">} : (" + repeated(type, count) + ") -> (" +
         repeated(type, count) + ")\n";
}

/// Stores registers %source#i to out[thread][i].
std::string store(const std::string &source, int count, const std::string &type) {
  std::string text = globalOf("target", "out", 4 * count);
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "%to" + n + " = llvm.getelementptr %target[" + std::to_string(4 * i) +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n";
    std::string value = "%" + source + "#" + n;
    if (type == "f32") {
      text += "%bits" + n + " = llvm.bitcast " + value + " : f32 to i32\n";
      value = "%bits" + n;
    }
    text += "ptx.inst \"st.global.b32\"(%true, %to" + n + ", " + value + ") : (i1, !llvm.ptr<1>, i32) -> ()\n";
  }
  return text;
}

std::string zero(const std::string &type) {
  return type == "f32" ? "%zero = llvm.mlir.constant(0.000000e+00 : f32) : f32\n" : "";
}

std::string zeroRegisters(int count, const std::string &type) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::string(i ? ", " : "") + (type == "f32" ? "%zero" : "%c0");
  }
  return text;
}

const std::string parameters = "%image: !llvm.ptr<1>, %a: i64, %b: i64, %out: !llvm.ptr<1>";

/// D = A * B once.
std::string product(const std::string &form, int count, const std::string &type, const std::string &imms) {
  return kernel(parameters, zero(type) + copyImage + proxyFence + barrier + wgmmaFence +
                                wgmma("d", form, count, type, "%a", "%b", "%true", zeroRegisters(count, type), imms) +
                                commit + waitFor("r", "d", count, type, 0) + store("r", count, type));
}

LaunchReport runImage(Machine &machine, const std::string &text, const std::vector<uint8_t> &image, uint64_t a,
                      uint64_t b, uint64_t out, uint32_t threads = 128) {
  LaunchParameters launch;
  launch.sharedBytes = imageBytes;
  return machine.run(text, threads, {machine.upload(image), a, b, out}, launch);
}

/// d[i] of a thread: row 16 * warp + lane / 4, 8 further down for i & 2; column 8 * (i / 4) + 2 * (lane & 3) + (i & 1).
int rowD(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + (i & 2) * 4; }
int columnD(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + (i & 1); }

uint32_t half(float value) { return floatToHalf(value); }

void checkProduct(const Tile &a, const Tile &b, int n, const DeviceOptions &options = {}) {
  std::vector<uint8_t> image(imageBytes);
  fill(image, a, 64, 16, 2, [](int row, int k) { return half(valueA(row, k)); });
  fill(image, b, n, 16, 2, [](int column, int k) { return half(valueB(k, column)); });
  const int count = n / 2;
  const std::string imms = std::string(": 1, 1, ") + (a.mnMajor ? "1" : "0") + ", " + (b.mnMajor ? "1" : "0");
  Machine machine(options);
  const uint64_t out = machine.allocate(size_t(128) * count * 4);
  const LaunchReport report =
      runImage(machine, product("wgmma.m64n" + std::to_string(n) + "k16.f32.f16.ss", count, "f32", imms), image,
               a.descriptor(), b.descriptor(), out);
  CHECK_MESSAGE(report.clean(), report.toString());
  const std::vector<float> d = machine.download<float>(out, size_t(128) * count);
  int wrong = 0;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < count; ++i) {
      wrong += d[thread * count + i] != expected(rowD(thread, i), columnD(thread, i), 16);
    }
  }
  CHECK(wrong == 0);
}

Tile kMajor(uint32_t swizzle, uint32_t start) {
  const uint32_t width = swizzle ? swizzle : 16;
  // Unswizzled: the two 16-byte halves of K are 128 bytes apart within 256-byte groups of eight rows.
  return {start, swizzle, swizzle ? 0u : 128u, swizzle ? width * 8 : 256u, false};
}

Tile mnMajor(uint32_t swizzle, uint32_t start, int rows) {
  const uint32_t width = swizzle ? swizzle : 16;
  const uint32_t atoms = uint32_t(rows) * 2 / width; // along M or N
  if (!swizzle) {
    return {start, 0, atoms * 128, 128, true};
  }
  return {start, swizzle, width * 8, atoms * width * 8, true};
}

/// Element types of one product. An instruction's step of K is 32 bytes wide in all of them.
struct Format {
  std::string types; ///< as forms name them: "f32.e4m3.e5m2"
  int depth;
  std::function<uint32_t(float)> encodeA, encodeB;
  std::string accumulator; ///< register type
};

uint32_t single(float value) { return std::bit_cast<uint32_t>(value); }
uint32_t integer(float value) { return uint8_t(int8_t(value)); }

const Format formats[] = {
    {"f32.f16", 16, floatToHalf, floatToHalf, "f32"},
    {"f16.f16", 16, floatToHalf, floatToHalf, "i32"},
    {"f32.bf16", 16, floatToBfloat, floatToBfloat, "f32"},
    {"f32.tf32", 8, single, single, "f32"},
    {"f32.e4m3", 32, floatToE4m3, floatToE4m3, "f32"},
    {"f32.e4m3.e5m2", 32, floatToE4m3, floatToE5m2, "f32"},
    {"f32.e5m2.e4m3", 32, floatToE5m2, floatToE4m3, "f32"},
    {"f32.e5m2", 32, floatToE5m2, floatToE5m2, "f32"},
    {"s32.s8", 32, integer, integer, "i32"},
};

std::string formOf(const Format &format, int n, bool registersA) {
  return "wgmma.m64n" + std::to_string(n) + "k" + std::to_string(format.depth) + "." + format.types +
         (registersA ? ".rs" : ".ss");
}

constexpr int formatWidth = 16; // n

Names formatNames() {
  for (const Format &format : formats) {
    namedForms().insert({formOf(format, formatWidth, false), formOf(format, formatWidth, true)});
  }
  return {};
}
const Names names = formatNames();
const Names protocolNames = {"wgmma.fence", "wgmma.commit_group", "wgmma.wait_group", "wgmma.wait_group.f32x4"};

/// A thread's registers of A, as the image's first 2 KiB: row 16 * warp + lane / 4 (+ 8), in each half of K the
/// elements that fill the lane's register.
void fillRegistersA(std::vector<uint8_t> &image, const Format &format) {
  const int bytes = 32 / format.depth, perRegister = 4 / bytes;
  for (int thread = 0; thread < 128; ++thread) {
    for (int r = 0; r < 4; ++r) {
      for (int i = 0; i < perRegister; ++i) {
        const int k = (r / 2) * 4 * perRegister + thread % 4 * perRegister + i;
        const uint32_t bits = format.encodeA(valueA(rowD(thread, (r & 1) * 2), k));
        std::memcpy(&image[size_t(thread * 16 + r * 4 + i * bytes)], &bits, size_t(bytes));
      }
    }
  }
}

/// D = A * B of one form, all elements.
void checkFormat(const Format &format, int n, bool registersA) {
  const Tile a = kMajor(32, 0), b = kMajor(32, offsetB);
  const int bytes = 32 / format.depth;
  std::vector<uint8_t> image(imageBytes);
  if (registersA) {
    fillRegistersA(image, format);
  } else {
    fill(image, a, 64, format.depth, bytes, [&](int row, int k) { return format.encodeA(valueA(row, k)); });
  }
  fill(image, b, n, format.depth, bytes, [&](int column, int k) { return format.encodeB(valueB(k, column)); });
  const bool halves = format.types.starts_with("f16"), integers = format.types.starts_with("s32");
  const int count = halves ? n / 4 : n / 2;
  const std::string imms = integers ? "" : format.depth == 16 ? ": 1, 1, 0, 0" : ": 1, 1";
  const std::string form = formOf(format, n, registersA), type = format.accumulator;
  std::string text = product(form, count, type, imms);
  if (registersA) {
    text = kernel(
        parameters,
        zero(type) + copyImage + proxyFence + barrier + globalOf("fragment", "image", 16) +
            "%f:4 = ptx.inst \"ld.global.v4.b32\"(%true, %fragment) : (i1, !llvm.ptr<1>) -> (i32, i32, i32, i32)\n" +
            wgmmaFence + "%d:" + std::to_string(count) + " = ptx.inst \"" + form +
            "\"(%f#0, %f#1, %f#2, %f#3, %b, %true, " + zeroRegisters(count, type) + ") {imms = array<i64" + imms +
            ">} : (i32, i32, i32, i32, i64, i1, " + repeated(type, count) + ") -> (" + repeated(type, count) + ")\n" +
            commit + waitFor("r", "d", count, type, 0) + store("r", count, type));
  }
  Machine machine;
  const uint64_t out = machine.allocate(size_t(128) * count * 4);
  const LaunchReport report = runImage(machine, text, image, a.descriptor(), b.descriptor(), out);
  CHECK_MESSAGE(report.clean(), report.toString());
  const std::vector<uint32_t> d = machine.download<uint32_t>(out, size_t(128) * count);
  int wrong = 0;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < n / 2; ++i) {
      const uint32_t bits = d[size_t(thread * count + (halves ? i / 2 : i))];
      const float value = halves     ? halfToFloat(uint16_t(bits >> (16 * (i % 2))))
                          : integers ? float(int32_t(bits))
                                     : std::bit_cast<float>(bits);
      wrong += value != expected(rowD(thread, i), columnD(thread, i), format.depth);
    }
  }
  CHECK(wrong == 0);
}

} // namespace

TEST_SUITE("emulator/Wgmma") {
  TEST_CASE("K-major operands of every swizzle") {
    for (uint32_t swizzle : {0u, 32u, 64u, 128u}) {
      CAPTURE(swizzle);
      checkProduct(kMajor(swizzle, 0), kMajor(swizzle, offsetB), 64);
    }
  }

  TEST_CASE("the usual descriptor of a 128-byte swizzled K-major tile") {
    CHECK(kMajor(128, 0).descriptor() == 0x4000004000000040);
  }

  TEST_CASE("MN-major operands of every swizzle") {
    for (uint32_t swizzle : {0u, 32u, 64u, 128u}) {
      CAPTURE(swizzle);
      checkProduct(mnMajor(swizzle, 0, 64), mnMajor(swizzle, offsetB, 128), 128);
    }
    checkProduct(kMajor(128, 0), mnMajor(128, offsetB, 64), 64);
  }

  TEST_CASE("a step of K within the swizzle atom advances the address by 32 bytes") {
    Tile a = kMajor(128, 0), b = kMajor(128, offsetB);
    std::vector<uint8_t> image(imageBytes);
    fill(image, a, 64, 64, 2, [](int row, int k) { return half(valueA(row, k)); });
    fill(image, b, 16, 64, 2, [](int column, int k) { return half(valueB(k, column)); });
    // Four steps in one chain: the accumulators pass from one to the next without a wait.
    std::string body = zero("f32") + copyImage + proxyFence + barrier + wgmmaFence;
    std::string previous = zeroRegisters(8, "f32");
    for (int step = 0; step < 4; ++step) {
      const std::string n = std::to_string(step);
      body += "%advance" + n + " = llvm.mlir.constant(" + std::to_string(2 * step) + " : i64) : i64\n%a" + n +
              " = llvm.add %a, %advance" + n + " : i64\n%b" + n + " = llvm.add %b, %advance" + n + " : i64\n";
      body +=
          wgmma("d" + n, "wgmma.m64n16k16.f32.f16.ss", 8, "f32", "%a" + n, "%b" + n, "%true", previous, ": 1, 1, 0, 0");
      previous = numbered("%d" + n + "#", 8);
    }
    body += commit + waitFor("r", "d3", 8, "f32", 0) + store("r", 8, "f32");
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(128 * 8 * 4);
      const LaunchReport report =
          runImage(machine, kernel(parameters, body), image, a.descriptor(), b.descriptor(), out);
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<float> d = machine.download<float>(out, 128 * 8);
      for (int thread : {0, 33, 127}) {
        for (int i = 0; i < 8; ++i) {
          CHECK(d[thread * 8 + i] == expected(rowD(thread, i), columnD(thread, i), 64));
        }
      }
    }
  }

  TEST_CASE("the reference product is what it should be") {
    // Typed in, so that the comparisons have an anchor.
    CHECK(expected(0, 0, 8) == 3.0f);
    CHECK(expected(9, 4, 16) == -12.0f);
    CHECK(expected(63, 15, 32) == -4.0f);
  }

  TEST_CASE("products of every type, with A in shared memory and in registers") {
    for (const Format &format : formats) {
      for (const bool registersA : {false, true}) {
        CAPTURE(format.types);
        CAPTURE(registersA);
        checkFormat(format, formatWidth, registersA);
      }
    }
    checkFormat(formats[0], 256, false);
  }

  TEST_CASE("A in registers") {
    std::vector<uint8_t> image(imageBytes);
    const Tile b = kMajor(64, offsetB);
    fill(image, b, 8, 16, 2, [](int column, int k) { return half(valueB(k, column)); });
    // The image's first 2 KiB are the threads' A registers: row 16 * warp + lane / 4 (+ 8), columns 2 * (lane & 3) (+
    // 8).
    for (int thread = 0; thread < 128; ++thread) {
      for (int r = 0; r < 4; ++r) {
        const int row = rowD(thread, (r & 1) * 2), k = thread % 4 * 2 + (r / 2) * 8;
        const uint32_t bits = half(valueA(row, k)) | half(valueA(row, k + 1)) << 16;
        std::memcpy(&image[thread * 16 + r * 4], &bits, 4);
      }
    }
    const std::string text = kernel(
        parameters,
        zero("f32") + copyImage + proxyFence + barrier + globalOf("fragment", "image", 16) +
            "%f:4 = ptx.inst \"ld.global.v4.b32\"(%true, %fragment) : (i1, !llvm.ptr<1>) -> (i32, i32, i32, i32)\n" +
            wgmmaFence + "%d:4 = ptx.inst \"wgmma.m64n8k16.f32.f16.rs\"(%f#0, %f#1, %f#2, %f#3, %b, %true, " +
            zeroRegisters(4, "f32") +
            ") {imms = array<i64: -1, 1, 0, 0>} : (i32, i32, i32, i32, i64, i1, f32, f32, f32, f32) -> (f32, f32, f32, "
            "f32)\n" +
            commit + waitFor("r", "d", 4, "f32", 0) + store("r", 4, "f32"));
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(128 * 4 * 4);
      const LaunchReport report = runImage(machine, text, image, 0, b.descriptor(), out);
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<float> d = machine.download<float>(out, 128 * 4);
      for (int thread : {0, 50, 127}) {
        for (int i = 0; i < 4; ++i) {
          CHECK(d[thread * 4 + i] == -expected(rowD(thread, i), columnD(thread, i), 16)); // scale-a is -1
        }
      }
    }
  }

  TEST_CASE("8-bit operands") {
    const Tile a = kMajor(32, 0), b = kMajor(32, offsetB);
    for (const bool integers : {false, true}) {
      std::vector<uint8_t> image(imageBytes);
      const auto encode = [&](float value) { return integers ? uint32_t(uint8_t(int8_t(value))) : floatToE4m3(value); };
      fill(image, a, 64, 32, 1, [&](int row, int k) { return encode(valueA(row, k)); });
      fill(image, b, 16, 32, 1, [&](int column, int k) { return encode(valueB(k, column)); });
      Machine machine;
      const uint64_t out = machine.allocate(128 * 8 * 4);
      const std::string text = integers ? product("wgmma.m64n16k32.s32.s8.ss", 8, "i32", "")
                                        : product("wgmma.m64n16k32.f32.e4m3.ss", 8, "f32", ": 1, 1");
      const LaunchReport report = runImage(machine, text, image, a.descriptor(), b.descriptor(), out);
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<float> f = machine.download<float>(out, 128 * 8);
      const std::vector<int32_t> s = machine.download<int32_t>(out, 128 * 8);
      for (int i = 0; i < 8; ++i) {
        const float wanted = expected(rowD(77, i), columnD(77, i), 32);
        CHECK((integers ? float(s[77 * 8 + i]) : f[77 * 8 + i]) == wanted);
      }
    }
  }

  TEST_CASE("half accumulators pack neighbours and a false scale-d drops them") {
    const Tile a = kMajor(32, 0), b = kMajor(32, offsetB);
    std::vector<uint8_t> image(imageBytes);
    fill(image, a, 64, 16, 2, [](int row, int k) { return half(valueA(row, k)); });
    fill(image, b, 8, 16, 2, [](int column, int k) { return half(valueB(k, column)); });
    const std::string nan =
        "%nan = llvm.mlir.constant(2147450879 : i32) : i32\n%false = llvm.mlir.constant(false) : i1\n";
    const std::string text = kernel(parameters, nan + copyImage + proxyFence + barrier + wgmmaFence +
                                                    wgmma("d", "wgmma.m64n8k16.f16.f16.ss", 2, "i32", "%a", "%b",
                                                          "%false", "%nan, %nan", ": 1, 1, 0, 0") +
                                                    commit + waitFor("r", "d", 2, "i32", 0) + store("r", 2, "i32"));
    Machine machine;
    const uint64_t out = machine.allocate(128 * 2 * 4);
    const LaunchReport report = runImage(machine, text, image, a.descriptor(), b.descriptor(), out);
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<uint32_t> d = machine.download<uint32_t>(out, 256);
    for (int i = 0; i < 4; ++i) {
      CHECK(halfToFloat(uint16_t(d[99 * 2 + i / 2] >> (16 * (i & 1)))) == expected(rowD(99, i), columnD(99, i), 16));
    }
  }

  // The pieces of a correct kernel of one wgmma, from which each test below leaves one out or puts one in.
  struct Protocol {
    std::string afterCopy = proxyFence + barrier;
    std::string beforeWgmma = wgmmaFence;
    std::string afterCommit = {};
    std::string wait = waitFor("r", "d", 4, "f32", 0);
    std::string stored = "r";
    uint64_t descriptorBits = 0;
  };

  static LaunchReport runProtocol(const Protocol &protocol, const DeviceOptions &options = {}) {
    Tile a = kMajor(128, 0), b = kMajor(128, offsetB);
    std::vector<uint8_t> image(imageBytes);
    const std::string text =
        kernel(parameters, zero("f32") + copyImage + protocol.afterCopy + protocol.beforeWgmma +
                               wgmma("d", "wgmma.m64n8k16.f32.f16.ss", 4, "f32", "%a", "%b", "%true",
                                     zeroRegisters(4, "f32"), ": 1, 1, 0, 0") +
                               commit + protocol.afterCommit + protocol.wait + store(protocol.stored, 4, "f32"));
    Machine machine(options);
    return runImage(machine, text, image, a.descriptor() ^ protocol.descriptorBits, b.descriptor(),
                    machine.allocate(128 * 4 * 4));
  }

  TEST_CASE("the whole protocol is clean") {
    for (const DeviceOptions &options : allModes()) {
      const LaunchReport report = runProtocol({}, options);
      CHECK_MESSAGE(report.clean(), report.toString());
    }
  }

  TEST_CASE("a missing proxy fence is found") {
    for (const DeviceOptions &options : allModes()) {
      const LaunchReport report = runProtocol({.afterCopy = barrier}, options);
      CHECK_MESSAGE(foundOnly(report, FindingKind::MissingProxyFence), report.toString());
    }
  }

  TEST_CASE("a proxy fence by the readers after the barrier serves too") {
    CHECK(runProtocol({.afterCopy = barrier + proxyFence}).clean());
  }

  TEST_CASE("a missing barrier is found") {
    const LaunchReport report = runProtocol({.afterCopy = proxyFence});
    CHECK_MESSAGE(foundOnly(report, FindingKind::Race), report.toString());
  }

  TEST_CASE("a missing wgmma.fence is found") {
    CHECK(foundOnly(runProtocol({.beforeWgmma = ""}), FindingKind::Poison));
  }

  TEST_CASE("accumulators used before the wait are found") {
    CHECK(foundOnly(runProtocol({.stored = "d"}), FindingKind::Poison));
  }

  TEST_CASE("an operand overwritten before the wait is found") {
    const std::string overwrite =
        sharedOf("own", 16) + "ptx.inst \"st.shared.b32\"(%true, %own, %c1) : (i1, i32, i32) -> ()\n";
    for (const DeviceOptions &options : allModes()) {
      const LaunchReport report = runProtocol({.afterCommit = overwrite}, options);
      CHECK_MESSAGE(foundOnly(report, FindingKind::InFlightOverwrite), report.toString());
      // After the wait the own warp is done, the other three may still read.
      const LaunchReport late = runProtocol({.wait = waitFor("r", "d", 4, "f32", 0) + overwrite}, options);
      CHECK_MESSAGE(foundOnly(late, FindingKind::InFlightOverwrite), late.toString());
      const LaunchReport ordered = runProtocol({.wait = waitFor("r", "d", 4, "f32", 0) + barrier + overwrite}, options);
      CHECK_MESSAGE(ordered.clean(), ordered.toString());
    }
  }

  TEST_CASE("descriptors that no hardware accepts are found") {
    CHECK(foundOnly(runProtocol({.descriptorBits = uint64_t(1) << 60}), FindingKind::Descriptor));
    CHECK(foundOnly(runProtocol({.descriptorBits = uint64_t(1) << 49}), FindingKind::Descriptor));
    CHECK(foundOnly(runProtocol({.descriptorBits = uint64_t(1) << 32}), FindingKind::Descriptor)); // stride 1040
    CHECK(foundOnly(runProtocol({.descriptorBits = 8}), FindingKind::Descriptor));                 // row 1 of an atom
    // 128 KiB further on there is no shared memory.
    CHECK(foundOnly(runProtocol({.descriptorBits = 0x2000}), FindingKind::OutOfBounds));
  }

  TEST_CASE("one group may stay pending while the older one is used") {
    const Tile a = kMajor(128, 0), b = kMajor(128, offsetB);
    std::vector<uint8_t> image(imageBytes);
    fill(image, a, 64, 64, 2, [](int row, int k) { return half(valueA(row, k)); });
    fill(image, b, 8, 64, 2, [](int column, int k) { return half(valueB(k, column)); });
    const std::string text = kernel(
        parameters,
        zero("f32") + copyImage + proxyFence + barrier + wgmmaFence +
            wgmma("d", "wgmma.m64n8k16.f32.f16.ss", 4, "f32", "%a", "%b", "%true", zeroRegisters(4, "f32"),
                  ": 1, 1, 0, 0") +
            commit +
            wgmma("e", "wgmma.m64n8k16.f32.f16.ss", 4, "f32", "%a", "%b", "%true", zeroRegisters(4, "f32"),
                  ": 1, -1, 0, 0") +
            commit + waitFor("r", "d", 4, "f32", 1) + waitFor("s", "e", 4, "f32", 0) +
            "%sum:4 = ptx.inst \"wgmma.wait_group.f32x4\"(%r#0, %r#1, %s#0, %s#1) {imms = array<i64: 0>} : (f32, f32, "
            "f32, f32) -> (f32, f32, f32, f32)\n" +
            store("sum", 4, "f32"));
    for (const DeviceOptions &options : allModes()) {
      Machine machine(options);
      const uint64_t out = machine.allocate(128 * 4 * 4);
      const LaunchReport report = runImage(machine, text, image, a.descriptor(), b.descriptor(), out);
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<float> d = machine.download<float>(out, 128 * 4);
      CHECK(d[0] == expected(0, 0, 16));
      CHECK(d[2] == -expected(0, 0, 16));
      CHECK(d[5] == expected(0, 3, 16));
    }
  }

  TEST_CASE("a wait without registers completes the reads and hands out nothing") {
    const std::string plain = "ptx.inst \"wgmma.wait_group\"() {imms = array<i64: 0>} : () -> ()\n";
    const std::string overwrite =
        sharedOf("own", 16) + "ptx.inst \"st.shared.b32\"(%true, %own, %c1) : (i1, i32, i32) -> ()\n";
    const LaunchReport handed = runProtocol({.wait = plain + barrier + overwrite + waitFor("r", "d", 4, "f32", 0)});
    CHECK_MESSAGE(handed.clean(), handed.toString());
    DeviceOptions options;
    CHECK(foundOnly(runProtocol({.wait = plain, .stored = "d"}, options), FindingKind::Poison));
  }

  TEST_CASE("a warp waits for its wgmma before it ends") {
    for (const DeviceOptions &options : allModes()) {
      for (int pending : {0, 1}) {
        const std::string plain =
            "ptx.inst \"wgmma.wait_group\"() {imms = array<i64: " + std::to_string(pending) + ">} : () -> ()\n";
        const std::string text = kernel(parameters, zero("f32") + copyImage + proxyFence + barrier + wgmmaFence +
                                                        wgmma("d", "wgmma.m64n8k16.f32.f16.ss", 4, "f32", "%a", "%b",
                                                              "%true", zeroRegisters(4, "f32"), ": 1, 1, 0, 0") +
                                                        commit + plain);
        Machine machine(options);
        const LaunchReport report =
            runImage(machine, text, std::vector<uint8_t>(imageBytes), kMajor(128, 0).descriptor(),
                     kMajor(128, offsetB).descriptor(), machine.allocate(128 * 4 * 4));
        CHECK_MESSAGE((pending ? foundOnly(report, FindingKind::AsyncAtExit) : report.clean()), report.toString());
      }
    }
  }

  TEST_CASE("threads of a group with different descriptors are found") {
    const std::string text = kernel(parameters, zero("f32") + copyImage + proxyFence + barrier +
                                                    "%b2 = llvm.add %b, %tid64 : i64\n" + wgmmaFence +
                                                    wgmma("d", "wgmma.m64n8k16.f32.f16.ss", 4, "f32", "%a", "%b2",
                                                          "%true", zeroRegisters(4, "f32"), ": 1, 1, 0, 0") +
                                                    commit + waitFor("r", "d", 4, "f32", 0) + store("r", 4, "f32"));
    Machine machine;
    const Tile tile = kMajor(0, 0);
    const LaunchReport report = runImage(machine, text, std::vector<uint8_t>(imageBytes), tile.descriptor(),
                                         tile.descriptor(), machine.allocate(128 * 4 * 4));
    CHECK(foundOnly(report, FindingKind::Divergence));
  }
}
