// ldmatrix, stmatrix and mma.sync against the fragment layouts of the PTX ISA.

#include "src/emulator/Formats.h"
#include "tests/unit/emulator/InstructionProgram.h"

using namespace jitk;
using namespace jitk::emulator;
using namespace jitk::emulator::test;

namespace {

/// Loads `count` 32-bit registers `%name0..` of the thread from %base, which holds [thread][register].
std::string loadRegisters(const std::string &name, const std::string &base, int count, bool asFloat = false) {
  std::string text = globalOf(name + "_at", base, 4 * count);
  for (int i = 0; i < count; ++i) {
    const std::string reg = "%" + name + std::to_string(i);
    const std::string at = "%" + name + "_at" + std::to_string(i);
    text += at + " = llvm.getelementptr %" + name + "_at[" + std::to_string(4 * i) +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n";
    text += reg + (asFloat ? "_bits" : "") + " = ptx.inst \"ld.global.b32\"(%true, " + at +
            ") : (i1, !llvm.ptr<1>) -> i32\n";
    if (asFloat) {
      text += reg + " = llvm.bitcast " + reg + "_bits : i32 to f32\n";
    }
  }
  return text;
}

/// Stores results %d#i of the thread to %base.
std::string storeResults(const std::string &base, int count, const std::string &type) {
  std::string text = globalOf("d_at", base, 4 * count);
  for (int i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += "%d_at" + n + " = llvm.getelementptr %d_at[" + std::to_string(4 * i) +
            "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n";
    if (type == "f32") {
      text += "%d_bits" + n + " = llvm.bitcast %d#" + n + " : f32 to i32\n";
      text += "ptx.inst \"st.global.b32\"(%true, %d_at" + n + ", %d_bits" + n + ") : (i1, !llvm.ptr<1>, i32) -> ()\n";
    } else {
      text += "ptx.inst \"st.global.b32\"(%true, %d_at" + n + ", %d#" + n + ") : (i1, !llvm.ptr<1>, i32) -> ()\n";
    }
  }
  return text;
}

std::string mmaKernel(const std::string &form, int numC, const std::string &typeC) {
  return kernel("%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %out: !llvm.ptr<1>",
                loadRegisters("ra", "a", 4) + loadRegisters("rb", "b", 2) +
                    loadRegisters("rc", "c", numC, typeC == "f32") + "%d:" + std::to_string(numC) + " = ptx.inst \"" +
                    form + "\"(" + numbered("%ra", 4) + ", " + numbered("%rb", 2) + ", " + numbered("%rc", numC) +
                    ") : (" + repeated("i32", 6) + ", " + repeated(typeC, numC) + ") -> (" + repeated(typeC, numC) +
                    ")\n" + storeResults("out", numC, typeC));
}

// Small integers and halves are exact in every type and sum.
float valueA(int row, int k) { return float((row * 3 + k * 5) % 7 - 3); }
float valueB(int k, int column) { return float((k * 2 + column * 3) % 5 - 2); }
float valueC(int row, int column) { return float(row - column); }

float expected(int row, int column, int depth) {
  float sum = valueC(row, column);
  for (int k = 0; k < depth; ++k) {
    sum += valueA(row, k) * valueB(k, column);
  }
  return sum;
}

/// A lane's A and B registers of m16n8k16 with 16-bit elements, as the ISA states them: a0..a7 have row groupID, or
/// groupID + 8 for a2, a3, a6, a7, and column 2 * threadInGroup + (i & 1), plus 8 from a4 on.
template <typename Encode> std::vector<uint32_t> fragmentsA16(Encode encode) {
  std::vector<uint32_t> registers;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; i += 2) {
      const int row = lane / 4 + ((i / 2) % 2 == 1 ? 8 : 0);
      const int column = lane % 4 * 2 + (i >= 4 ? 8 : 0);
      registers.push_back(encode(valueA(row, column)) | uint32_t(encode(valueA(row, column + 1))) << 16);
    }
  }
  return registers;
}

template <typename Encode> std::vector<uint32_t> fragmentsB16(Encode encode) {
  std::vector<uint32_t> registers;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; i += 2) {
      const int k = lane % 4 * 2 + (i >= 2 ? 8 : 0);
      registers.push_back(encode(valueB(k, lane / 4)) | uint32_t(encode(valueB(k + 1, lane / 4))) << 16);
    }
  }
  return registers;
}

/// The same for m16n8k32 with 8-bit elements: columns 4 * threadInGroup + (i & 3), plus 16 in the upper half.
template <typename Encode> std::vector<uint32_t> fragmentsA8(Encode encode) {
  std::vector<uint32_t> registers;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 16; i += 4) {
      const int row = lane / 4 + (i / 4 % 2 == 1 ? 8 : 0);
      uint32_t bits = 0;
      for (int j = 0; j < 4; ++j) {
        bits |= uint32_t(uint8_t(encode(valueA(row, lane % 4 * 4 + j + (i >= 8 ? 16 : 0))))) << (8 * j);
      }
      registers.push_back(bits);
    }
  }
  return registers;
}

template <typename Encode> std::vector<uint32_t> fragmentsB8(Encode encode) {
  std::vector<uint32_t> registers;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 8; i += 4) {
      uint32_t bits = 0;
      for (int j = 0; j < 4; ++j) {
        bits |= uint32_t(uint8_t(encode(valueB(lane % 4 * 4 + j + (i >= 4 ? 16 : 0), lane / 4)))) << (8 * j);
      }
      registers.push_back(bits);
    }
  }
  return registers;
}

/// c0, c1 have row groupID, c2, c3 row groupID + 8; column 2 * threadInGroup + (i & 1).
int rowC(int lane, int i) { return lane / 4 + (i >= 2 ? 8 : 0); }
int columnC(int lane, int i) { return lane % 4 * 2 + (i & 1); }

std::vector<float> fragmentsC() {
  std::vector<float> values;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      values.push_back(valueC(rowC(lane, i), columnC(lane, i)));
    }
  }
  return values;
}

void checkFloatProduct(const std::string &form, const std::vector<uint32_t> &a, const std::vector<uint32_t> &b,
                       int depth) {
  DeviceOptions options;
  options.seed = 7;
  Machine machine(options);
  const uint64_t out = machine.allocate(4 * 128);
  const LaunchReport report = machine.run(mmaKernel(form, 4, "f32"), 32,
                                          {machine.upload(a), machine.upload(b), machine.upload(fragmentsC()), out});
  CHECK_MESSAGE(report.clean(), report.toString());
  const std::vector<float> d = machine.download<float>(out, 128);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      CHECK(d[lane * 4 + i] == expected(rowC(lane, i), columnC(lane, i), depth));
    }
  }
}

uint8_t asSigned(float value) { return uint8_t(int8_t(value)); }

/// Four 8 x 8 matrices of 16-bit numbers 0, 1, 2, ..., a row after a row; registers of lanes 6 and 31.
struct LoadCase {
  std::string suffix;
  std::vector<uint64_t> lane6, lane31;
};

const LoadCase loadCases[] = {
    // Lane 6 has row 1, columns 4 and 5, lane 31 row 7, columns 6 and 7; transposed, rows of a column.
    {".x1", {0x000d000c}, {0x003f003e}},
    {".x2", {0x000d000c, 0x004d004c}, {0x003f003e, 0x007f007e}},
    {".x4", {0x000d000c, 0x004d004c, 0x008d008c, 0x00cd00cc}, {0x003f003e, 0x007f007e, 0x00bf00be, 0x00ff00fe}},
    {".x1.trans", {0x00290021}, {0x003f0037}},
    {".x2.trans", {0x00290021, 0x00690061}, {0x003f0037, 0x007f0077}},
    {".x4.trans", {0x00290021, 0x00690061, 0x00a900a1, 0x00e900e1}, {0x003f0037, 0x007f0077, 0x00bf00b7, 0x00ff00f7}},
};

/// All registers of an operand alike in all lanes.
struct ProductCase {
  std::string form;
  uint64_t a, b, c, d;
};

const ProductCase productCases[] = {
    // Pairs (1, 2) times (1, 0.5): 2 for each of 8 pairs. C is 0.5.
    {"mma.m16n8k16.f32.f16", 0x40003c00, 0x38003c00, 0x3f000000, 0x41840000},
    {"mma.m16n8k16.f32.bf16", 0x40003f80, 0x3f003f80, 0x3f000000, 0x41840000},
    {"mma.m16n8k16.f16.f16", 0x40003c00, 0x38003c00, 0x3c003800, 0x4c404c20}, // C is (0.5, 1)
    {"mma.m16n8k8.f32.tf32", 0x3f801fff, 0x40001fff, 0x3f000000, 0x41840000}, // the lower 13 bits do not count
    // (2, 1, -1 or 255, -128 or 128) times (4, 3, 2, -1 or 255), 8 times, and 2.
    {"mma.m16n8k32.s32.s8", 0x80ff0102, 0xff020304, 2, 0x0000044a},
    {"mma.m16n8k32.s32.u8", 0x80ff0102, 0xff020304, 2, 0x00040c4a},
    {"mma.m16n8k32.s32.s8.u8", 0x80ff0102, 0xff020304, 2, 0xfffc044a},
    {"mma.m16n8k32.s32.u8.s8", 0x80ff0102, 0xff020304, 2, 0x00000c4a},
    // 0x38 is 1 or 0.5, 0x3c 1.5 or 1.
    {"mma.m16n8k32.f32.e4m3", 0x38383838, 0x3c3c3c3c, 0x3f000000, 0x42420000},
    {"mma.m16n8k32.f32.e5m2", 0x38383838, 0x3c3c3c3c, 0x3f000000, 0x41840000},
    {"mma.m16n8k32.f32.e4m3.e5m2", 0x38383838, 0x3c3c3c3c, 0x3f000000, 0x42020000},
    {"mma.m16n8k32.f32.e5m2.e4m3", 0x38383838, 0x3c3c3c3c, 0x3f000000, 0x41c40000},
};

Names matrixNames() {
  for (const LoadCase &entry : loadCases) {
    namedForms().insert({"ldmatrix" + entry.suffix, "stmatrix" + entry.suffix});
  }
  return Names::of(productCases);
}
const Names names = matrixNames();

/// Row addresses for so many matrices; those of the other lanes do not count.
Lanes rowAddresses(uint64_t base, size_t matrices) {
  std::vector<uint64_t> addresses(32, 0xfffffff1);
  for (size_t row = 0; row < 8 * matrices; ++row) {
    addresses[row] = base + 16 * row;
  }
  return addresses;
}

} // namespace

TEST_SUITE("emulator/Matrix") {
  TEST_CASE("the reference product is what it should be") {
    // Typed in, so that the comparison below has an anchor.
    CHECK(expected(0, 0, 16) == 1.0f);
    CHECK(expected(9, 4, 16) == -7.0f);
    CHECK(expected(15, 7, 16) == 15.0f);
  }

  TEST_CASE("mma of 16-bit floats") {
    checkFloatProduct("mma.m16n8k16.f32.f16", fragmentsA16(floatToHalf), fragmentsB16(floatToHalf), 16);
    checkFloatProduct("mma.m16n8k16.f32.bf16", fragmentsA16(floatToBfloat), fragmentsB16(floatToBfloat), 16);
  }

  TEST_CASE("mma of 8-bit floats") {
    checkFloatProduct("mma.m16n8k32.f32.e4m3", fragmentsA8(floatToE4m3), fragmentsB8(floatToE4m3), 32);
    checkFloatProduct("mma.m16n8k32.f32.e5m2.e4m3", fragmentsA8(floatToE5m2), fragmentsB8(floatToE4m3), 32);
  }

  TEST_CASE("mma of tf32") {
    // a0: row groupID, a1: row + 8, a2: column + 4, a3: both; b0: k = threadInGroup, b1: k + 4.
    std::vector<uint32_t> a, b;
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        a.push_back(std::bit_cast<uint32_t>(valueA(lane / 4 + (i % 2) * 8, lane % 4 + (i / 2) * 4)) | 0x1fff);
      }
      for (int i = 0; i < 2; ++i) {
        b.push_back(std::bit_cast<uint32_t>(valueB(lane % 4 + i * 4, lane / 4)));
      }
    }
    checkFloatProduct("mma.m16n8k8.f32.tf32", a, b, 8);
  }

  TEST_CASE("mma of integers wraps and keeps signs apart") {
    Machine machine;
    std::vector<int32_t> c;
    for (float value : fragmentsC()) {
      c.push_back(int32_t(value));
    }
    const uint64_t out = machine.allocate(4 * 128);
    LaunchReport report = machine.run(
        mmaKernel("mma.m16n8k32.s32.s8", 4, "i32"), 32,
        {machine.upload(fragmentsA8(asSigned)), machine.upload(fragmentsB8(asSigned)), machine.upload(c), out});
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<int32_t> d = machine.download<int32_t>(out, 128);
    for (int lane = 0; lane < 32; ++lane) {
      CHECK(d[lane * 4 + 3] == int32_t(expected(rowC(lane, 3), columnC(lane, 3), 32)));
    }
    // 255 * -1 over 32 steps, and 255 * 255.
    const std::vector<uint32_t> ones(128, 0xffffffff), zeros(128, 0);
    machine.run(mmaKernel("mma.m16n8k32.s32.u8.s8", 4, "i32"), 32,
                {machine.upload(ones), machine.upload(ones), machine.upload(zeros), out});
    CHECK(machine.download<int32_t>(out, 1)[0] == -8160);
    machine.run(mmaKernel("mma.m16n8k32.s32.u8", 4, "i32"), 32,
                {machine.upload(ones), machine.upload(ones), machine.upload(zeros), out});
    CHECK(machine.download<int32_t>(out, 1)[0] == 2080800);
  }

  TEST_CASE("mma with half accumulators packs neighbours") {
    Machine machine;
    std::vector<uint32_t> c;
    const std::vector<float> values = fragmentsC();
    for (size_t i = 0; i < values.size(); i += 2) {
      c.push_back(floatToHalf(values[i]) | uint32_t(floatToHalf(values[i + 1])) << 16);
    }
    const uint64_t out = machine.allocate(4 * 64);
    const LaunchReport report = machine.run(
        mmaKernel("mma.m16n8k16.f16.f16", 2, "i32"), 32,
        {machine.upload(fragmentsA16(floatToHalf)), machine.upload(fragmentsB16(floatToHalf)), machine.upload(c), out});
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<uint32_t> d = machine.download<uint32_t>(out, 64);
    for (int lane = 0; lane < 32; ++lane) {
      CHECK(halfToFloat(uint16_t(d[lane * 2])) == expected(rowC(lane, 0), columnC(lane, 0), 16));
      CHECK(halfToFloat(uint16_t(d[lane * 2 + 1] >> 16)) == expected(rowC(lane, 3), columnC(lane, 3), 16));
    }
  }

  // Fills 512 bytes of shared memory with 16-bit numbers 0, 1, 2, ...: four 8x8 matrices, a row after a row.
  static std::string fillNumbers() {
    return sharedOf("own", 16) + R"(
      %n0 = llvm.mul %tid, %c8 : i32
      %n1 = llvm.add %n0, %c1 : i32
      %n1h = llvm.shl %n1, %c16 : i32
      %w0 = llvm.or %n0, %n1h : i32
      %two = llvm.mlir.constant(131074 : i32) : i32
      %w1 = llvm.add %w0, %two : i32
      %w2 = llvm.add %w1, %two : i32
      %w3 = llvm.add %w2, %two : i32
      ptx.inst "st.shared.v4.b32"(%true, %own, %w0, %w1, %w2, %w3) : (i1, i32, i32, i32, i32, i32) -> ()
      ptx.inst "bar.warp.sync"() : () -> ()
    )";
  }

  TEST_CASE("products of every type") {
    Program program(32);
    for (const ProductCase &entry : productCases) {
      std::vector<Lanes> operands(4, Lanes(entry.a));
      operands.insert(operands.end(), 2, Lanes(entry.b));
      operands.insert(operands.end(), entry.form.find(".f16.f16") == std::string::npos ? 4 : 2, Lanes(entry.c));
      program.add(entry.form, operands);
    }
    const Outcome outcome = program.runClean();
    for (size_t i = 0; i < std::size(productCases); ++i) {
      CAPTURE(productCases[i].form);
      CHECK(outcome.all(i, 0) == std::vector<uint64_t>(32, productCases[i].d));
      CHECK(outcome.all(i, 1) == std::vector<uint64_t>(32, productCases[i].d));
    }
  }

  TEST_CASE("matrix loads of every count") {
    Program program(32);
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < 256; i += 4) {
      numbers.push_back(i | (i + 1) << 16 | (i + 2) << 32 | (i + 3) << 48);
    }
    program.fillShared(smem, numbers);
    std::vector<size_t> steps;
    for (const LoadCase &entry : loadCases) {
      steps.push_back(program.add("ldmatrix" + entry.suffix, {rowAddresses(smem, entry.lane6.size())}));
    }
    const Outcome outcome = program.runClean();
    for (size_t i = 0; i < std::size(loadCases); ++i) {
      CAPTURE(loadCases[i].suffix);
      for (size_t r = 0; r < loadCases[i].lane6.size(); ++r) {
        CHECK(outcome.at(steps[i], r, 6) == loadCases[i].lane6[r]);
        CHECK(outcome.at(steps[i], r, 31) == loadCases[i].lane31[r]);
      }
    }
  }

  TEST_CASE("matrix stores of every count") {
    for (const LoadCase &entry : loadCases) {
      CAPTURE(entry.suffix);
      const size_t matrices = entry.lane6.size();
      Program program(32);
      program.fillShared(smem, std::vector<uint64_t>(64, 0xeeeeeeeeeeeeeeee));
      // Lane l of matrix m has the numbers 64 m + 2 l and one more.
      std::vector<Lanes> operands = {rowAddresses(smem, matrices)};
      for (uint64_t m = 0; m < matrices; ++m) {
        operands.push_back(Lanes::counting((64 * m + 1) << 16 | 64 * m, 0x00020002, 32));
      }
      program.add("stmatrix" + entry.suffix, operands);
      program.barrier();
      const size_t low = program.readShared(smem), high = program.readShared(smem + 256);
      const Outcome outcome = program.runClean();
      std::vector<uint64_t> words = outcome.all(low);
      const std::vector<uint64_t> upper = outcome.all(high);
      words.insert(words.end(), upper.begin(), upper.end());
      const bool transposed = entry.suffix.ends_with(".trans");
      CHECK(words[0] == (transposed ? 0x0018001000080000 : 0x0003000200010000));
      CHECK(words[1] == (transposed ? 0x0038003000280020 : 0x0007000600050004));
      CHECK(words[15] == (transposed ? 0x003f0037002f0027 : 0x003f003e003d003c));
      if (matrices >= 2) {
        CHECK(words[16] == (transposed ? 0x0058005000480040 : 0x0043004200410040));
      }
      if (matrices == 4) {
        CHECK(words[63] == (transposed ? 0x00ff00f700ef00e7 : 0x00ff00fe00fd00fc));
      }
      for (size_t i = 16 * matrices; i < 64; ++i) {
        CHECK(words[i] == 0xeeeeeeeeeeeeeeee);
      }
    }
  }

  TEST_CASE("ldmatrix gives each lane two neighbours of a row") {
    for (const bool transposed : {false, true}) {
      const std::string form = std::string("ldmatrix.x4") + (transposed ? ".trans" : "");
      const std::string text = kernel("%out: !llvm.ptr<1>", fillNumbers() + "%d:4 = ptx.inst \"" + form +
                                                                "\"(%own) : (i32) -> (i32, i32, i32, i32)\n" +
                                                                storeResults("out", 4, "i32"));
      for (const DeviceOptions &options : allModes()) {
        Machine machine(options);
        const uint64_t out = machine.allocate(4 * 128);
        LaunchParameters parameters;
        parameters.sharedBytes = 512;
        const LaunchReport report = machine.run(text, 32, {out}, parameters);
        CHECK_MESSAGE(report.clean(), report.toString());
        const std::vector<uint32_t> d = machine.download<uint32_t>(out, 128);
        // Lane 6 has row 1, columns 4 and 5; transposed, column 1 of rows 4 and 5.
        CHECK(d[6 * 4 + 0] == (transposed ? 0x00290021u : 0x000d000cu));
        // Lane 31, third matrix: row 7, columns 6 and 7, of numbers from 128 on.
        CHECK(d[31 * 4 + 2] == (transposed ? 0x00bf00b7u : 0x00bf00beu));
      }
    }
  }

  TEST_CASE("stmatrix undoes ldmatrix") {
    for (const std::string transposed : {"", ".trans"}) {
      const std::string text = kernel("%out: !llvm.ptr<1>", fillNumbers() + "%v:4 = ptx.inst \"ldmatrix.x4" +
                                                                transposed +
                                                                "\"(%own) : (i32) -> (i32, i32, i32, i32)\n" + R"(
        %copy = llvm.add %own, %c512 : i32
        ptx.inst "stmatrix.x4)" + transposed + R"("(%copy, %v#0, %v#1, %v#2, %v#3) : (i32, i32, i32, i32, i32) -> ()
        ptx.inst "bar.warp.sync"() : () -> ()
        %d:4 = ptx.inst "ld.shared.v4.b32"(%true, %copy) : (i1, i32) -> (i32, i32, i32, i32)
      )" + storeResults("out", 4, "i32"));
      Machine machine;
      const uint64_t out = machine.allocate(4 * 128);
      LaunchParameters parameters;
      parameters.sharedBytes = 1024;
      const LaunchReport report = machine.run(text, 32, {out}, parameters);
      CHECK_MESSAGE(report.clean(), report.toString());
      const std::vector<uint16_t> d = machine.download<uint16_t>(out, 256);
      CHECK(d[0] == 0);
      CHECK(d[100] == 100);
      CHECK(d[255] == 255);
    }
  }

  TEST_CASE("ldmatrix before the rows are written is a race") {
    std::string body = fillNumbers();
    body.erase(body.find("ptx.inst \"bar.warp.sync\""));
    const std::string text =
        kernel("", body + "%d:4 = ptx.inst \"ldmatrix.x4\"(%own) : (i32) -> (i32, i32, i32, i32)\n" + R"(
      %next = llvm.xor %own, %c16 : i32
      %e:4 = ptx.inst "ldmatrix.x4"(%next) : (i32) -> (i32, i32, i32, i32))");
    Machine machine;
    LaunchParameters parameters;
    parameters.sharedBytes = 512;
    CHECK(foundOnly(machine.run(text, 32, {}, parameters), FindingKind::Race));
  }

  TEST_CASE("conversions round, saturate and place the lower element first") {
    const std::string text = kernel("%out: !llvm.ptr<1>", R"(
      %a = llvm.mlir.constant(1.000000e+00 : f32) : f32
      %b = llvm.mlir.constant(-1.000000e+03 : f32) : f32
      %e4 = ptx.inst "cvt.rn.satfinite.e4m3x2.f32"(%a, %b) : (f32, f32) -> i16
      %e4w = llvm.zext %e4 : i16 to i32
      %h = ptx.inst "cvt.rn.f16x2.e4m3x2"(%e4) : (i16) -> i32
      %bf = ptx.inst "cvt.rn.bf16x2.f32"(%a, %b) : (f32, f32) -> i32
      %sel = llvm.mlir.constant(37137 : i32) : i32
      %p = ptx.inst "prmt.b32"(%h, %bf, %sel) : (i32, i32, i32) -> i32
      ptx.inst "st.global.v4.b32"(%true, %out, %e4w, %h, %bf, %p) : (i1, !llvm.ptr<1>, i32, i32, i32, i32) -> ())");
    Machine machine;
    const uint64_t out = machine.allocate(16);
    const LaunchReport report = machine.run(text, 1, {out});
    CHECK_MESSAGE(report.clean(), report.toString());
    const std::vector<uint32_t> d = machine.download<uint32_t>(out, 4);
    CHECK(d[0] == 0xfe38u);
    CHECK(d[1] == 0xdf003c00u); // -448 and 1
    CHECK(d[2] == 0xc47a3f80u);
    // Selector 0x9111: byte 1 three times, then the sign of byte 1.
    CHECK(d[3] == 0x003c3c3cu);
  }

  TEST_CASE("approximate functions flush subnormals where they say so") {
    const std::string text = kernel("%out: !llvm.ptr<1>", R"(
      %three = llvm.mlir.constant(3.000000e+00 : f32) : f32
      %tiny = llvm.mlir.constant(1 : i32) : i32
      %subnormal = llvm.bitcast %tiny : i32 to f32
      %a = ptx.inst "ex2.approx.ftz.f32"(%three) : (f32) -> f32
      %b = ptx.inst "rcp.approx.ftz.f32"(%subnormal) : (f32) -> f32
      %c = ptx.inst "lg2.approx.f32"(%a) : (f32) -> f32
      %d = ptx.inst "sqrt.approx.ftz.f32"(%subnormal) : (f32) -> f32
      %a32 = llvm.bitcast %a : f32 to i32
      %b32 = llvm.bitcast %b : f32 to i32
      %c32b = llvm.bitcast %c : f32 to i32
      %d32 = llvm.bitcast %d : f32 to i32
      ptx.inst "st.global.v4.b32"(%true, %out, %a32, %b32, %c32b, %d32) : (i1, !llvm.ptr<1>, i32, i32, i32, i32) -> ())");
    Machine machine;
    const uint64_t out = machine.allocate(16);
    CHECK(machine.run(text, 1, {out}).clean());
    const std::vector<float> d = machine.download<float>(out, 4);
    CHECK(d[0] == 8.0f);
    CHECK(d[1] == INFINITY);
    CHECK(d[2] == 3.0f);
    CHECK(d[3] == 0.0f);
  }

  TEST_CASE("mathematics that arrives as an LLVM intrinsic is the C library's") {
    const std::string text = kernel("%out: !llvm.ptr<1>", R"(
      %three = llvm.mlir.constant(3.000000e+00 : f32) : f32
      %x = llvm.sitofp %tid : i32 to f32
      %y = llvm.fadd %x, %three : f32
      %a = llvm.intr.exp2(%y) : (f32) -> f32
      %h = llvm.fptrunc %a : f32 to f16
      %w = llvm.fpext %h : f16 to f32
      %b = llvm.bitcast %w : f32 to i32
      ptx.inst "st.global.b32"(%true, %out, %b) : (i1, !llvm.ptr<1>, i32) -> ())");
    Machine machine;
    const uint64_t out = machine.allocate(4);
    CHECK(machine.run(text, 1, {out}).clean());
    CHECK(machine.download<float>(out, 1)[0] == 8.0f);
  }
}
