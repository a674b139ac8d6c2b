// ttng.warp_group_dot on wgmma, against integer products.

#include "tests/unit/codegen/SmallNumbers.h"
#include "tests/unit/codegen/TensorKernel.h"
#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>

using namespace jitk::codegen::test;

namespace {

const std::string rows =
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const std::string rows8 =
    "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>";

struct Product {
  std::string claim;
  NumberFormat a, c;
  int m = 64, n = 64, k = 64;
  int swizzle = 128;
  bool turnedA = false; ///< A is M-major in memory
  bool turnedB = false; ///< B is K-major in memory
  bool registersA = false;
  std::string warps = "[4, 1]";
  int columns = 64; ///< of one instruction
  std::string attributes = "";
};

std::string buffer(const std::vector<int64_t> &shape, const NumberFormat &format, int swizzle, bool transposed) {
  return "!ttg.memdesc<" + std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" + format.element +
         ", #ttg.nvmma_shared<{swizzlingByteWidth = " + std::to_string(swizzle) +
         ", transposed = " + (transposed ? "true" : "false") +
         ", elementBitWidth = " + std::to_string(8 * format.bytes) + "}>, #ttg.shared_memory>";
}

/// Defines %<name>m: the tensor at %p<name> in shared memory, contiguous along its first dimension if `turned`.
std::string inMemory(const std::string &name, const std::vector<int64_t> &shape, const Product &p, bool turned,
                     const std::string &layout) {
  return loadTensor(name, "p" + name, shape, p.a.element, layout) + "  %" + name + "m = ttg.local_alloc %" + name +
         " : (" + tensorType(shape, p.a.element, layout) + ") -> " + buffer(shape, p.a, p.swizzle, turned) + "\n";
}

CompiledKernel kernelFor(const Product &p) {
  const std::vector<int64_t> shapeA = {p.m, p.k}, shapeB = {p.k, p.n}, shapeC = {p.m, p.n};
  const bool wide = p.warps != "[4, 1]";
  const std::string &layout = wide ? rows8 : rows;
  const std::string mma = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = " + p.warps +
                          ", instrShape = [16, " + std::to_string(p.columns) + ", " + std::to_string(32 / p.a.bytes) +
                          "]}>";
  const std::string operand =
      "#ttg.dot_op<{opIdx = 0, parent = " + mma + ", kWidth = " + std::to_string(4 / p.a.bytes) + "}>";
  const std::string typeC = tensorType(shapeC, p.c.element, mma);
  std::string body = inMemory("b", shapeB, p, p.turnedB, layout);
  std::string a = "%am", typeA = buffer(shapeA, p.a, p.swizzle, p.turnedA);
  if (p.registersA) {
    a = "%ao", typeA = tensorType(shapeA, p.a.element, operand);
    body += loadTensor("a", "pa", shapeA, p.a.element, layout) +
            "  %ao = ttg.convert_layout %a : " + tensorType(shapeA, p.a.element, layout) + " -> " + typeA + "\n";
  } else {
    body += inMemory("a", shapeA, p, p.turnedA, layout);
  }
  body += loadTensor("c", "pc", shapeC, p.c.element, mma) +
          "  ttng.fence_async_shared {bCluster = false}\n  %d = " + "ttng.warp_group_dot " + a +
          ", %bm, %c {inputPrecision = 0 : i32" + p.attributes + "} : " + typeA + " * " +
          buffer(shapeB, p.a, p.swizzle, p.turnedB) + " -> " + typeC + "\n" +
          storeTensor("d", "pd", shapeC, p.c.element, mma);
  return compileKernel(
      moduleOf("",
               kernelOf(pointerParameter("pa", p.a.element) + ", " + pointerParameter("pb", p.a.element) + ", " +
                            pointerParameter("pc", p.c.element) + ", " + pointerParameter("pd", p.c.element),
                        body),
               wide ? 8 : 4, 90));
}

void check(const Product &p) {
  CAPTURE(p.claim);
  const CompiledKernel kernel = kernelFor(p);
  const std::vector<int> a = smallNumbers(size_t(p.m) * p.k, 1), b = smallNumbers(size_t(p.k) * p.n, 2),
                         c = smallNumbers(size_t(p.m) * p.n, 3);
  std::vector<int> wanted = multiply(a, b, p.m, p.n, p.k);
  for (size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] += c[i];
  }
  const std::vector<uint8_t> bytes =
      runEverywhere<uint8_t>(kernel, wanted.size() * p.c.bytes, encode(a, p.a), encode(b, p.a), encode(c, p.c));
  CHECK(decode(bytes, p.c) == wanted);
}

/// A [64, 64] times columns in parts, plus 3. The parts lie one behind the other in a buffer of pieces as large as the
/// last one, and in memory, each row-major and K-major or not.
CompiledKernel kernelOfParts(const std::vector<int> &parts, bool isKMajor) {
  const int all = std::accumulate(parts.begin(), parts.end(), 0), unit = parts.back();
  const auto shapeOf = [&](int columns) {
    return isKMajor ? std::vector<int64_t>{columns, 64} : std::vector<int64_t>{64, columns};
  };
  const auto memory = [](const std::vector<int64_t> &shape, bool transposed) {
    std::string type = buffer({shape.end()[-2], shape.back()}, f16, 128, transposed);
    type.insert(type.rfind('>'), ", mutable");
    return shape.size() > 2 ? type.insert(type.find('<') + 1, std::to_string(shape.front()) + "x") : type;
  };
  std::vector<int64_t> ring = shapeOf(unit);
  ring.insert(ring.begin(), all / unit);
  std::string body = inMemory("a", {64, 64}, {.claim = "parts", .a = f16, .c = f32}, /*turned=*/false, rows) +
                     "  %all = ttg.local_alloc : () -> " + memory(ring, false) + "\n";
  std::string buffers, sums, typesB, typesC, stores;
  int first = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string n = std::to_string(i), comma = i ? ", " : "";
    const std::vector<int64_t> shape = shapeOf(parts[i]), shapeC = {64, parts[i]};
    const std::string mma =
        "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, " +
        std::to_string(parts[i]) + ", 16]}>";
    const std::string typeC = tensorType(shapeC, "f32", mma), piece = memory(shapeOf(unit), false);
    body += "  %o" + n + " = arith.constant " + std::to_string(first * 64) + " : i32\n  %i" + n + " = arith.constant " +
            std::to_string(first / unit) + " : i32\n  %pb" + n + " = tt.addptr %pb, %o" + n +
            " : !tt.ptr<f16>, i32\n  %pd" + n + " = tt.addptr %pd, %o" + n + " : !tt.ptr<f32>, i32\n" +
            loadTensor("b" + n, "pb" + n, shape, "f16", rows) + "  %m" + n + " = ttg.memdesc_index %all[%i" + n +
            "] : " + memory(ring, false) + " -> " + piece + "\n  %v" + n + " = ttg.memdesc_reinterpret %m" + n + " : " +
            piece + " -> " + memory(shape, false) + "\n  ttg.local_store %b" + n + ", %v" + n + " : " +
            tensorType(shape, "f16", rows) + " -> " + memory(shape, false) + "\n  %c" + n +
            " = arith.constant dense<3.0> : " + typeC + "\n";
    if (isKMajor) {
      body += "  %t" + n + " = ttg.memdesc_trans %v" + n + " {order = array<i32: 1, 0>} : " + memory(shape, false) +
              " -> " + memory({64, parts[i]}, true) + "\n";
    }
    buffers += comma + (isKMajor ? "%t" : "%v") + n;
    sums += comma + "%c" + n;
    typesB += ", " + memory({64, parts[i]}, isKMajor);
    typesC += comma + typeC;
    stores += "  %w" + n + " = ttng.warp_group_dot_wait %d#" + n + " {pendings = 0 : i32} : " + typeC + "\n" +
              storeTensor("w" + n, "pd" + n, shapeC, "f32", mma);
    first += parts[i];
  }
  body += "  ttng.fence_async_shared {bCluster = false}\n  %d:" + std::to_string(parts.size()) +
          " = ttng.warp_group_dot_parts %am, [" + buffers + "], [" + sums + "] : (" +
          buffer({64, 64}, f16, 128, false) + typesB + ", " + typesC + ") -> (" + typesC + ")\n" + stores;
  return compileKernel(moduleOf("",
                                kernelOf(pointerParameter("pa", "f16") + ", " + pointerParameter("pb", "f16") + ", " +
                                             pointerParameter("pd", "f32"),
                                         body),
                                4, 90));
}

void checkParts(const std::vector<int> &parts, bool isKMajor) {
  CAPTURE(parts.front());
  const std::vector<int> a = smallNumbers(64 * 64, 1);
  std::vector<int> inputs, wanted;
  for (int columns : parts) {
    std::vector<int> b = smallNumbers(size_t(64) * columns, columns), kByN(b);
    for (int i = 0; isKMajor && i < 64 * columns; ++i) {
      kByN[i] = b[i % columns * 64 + i / columns];
    }
    inputs.insert(inputs.end(), b.begin(), b.end());
    for (int sum : multiply(a, kByN, 64, columns, 64)) {
      wanted.push_back(sum + 3);
    }
  }
  const std::vector<uint8_t> bytes = runEverywhere<uint8_t>(kernelOfParts(parts, isKMajor), wanted.size() * f32.bytes,
                                                            encode(a, f16), encode(inputs, f16));
  CHECK(decode(bytes, f32) == wanted);
}

} // namespace

TEST_SUITE("codegen/WarpGroupDot") {
  TEST_CASE("16-bit operands in every order") {
    check({.claim = "A K-major, B N-major", .a = f16, .c = f32});
    check({.claim = "B K-major", .a = f16, .c = f32, .turnedB = true});
    check({.claim = "A M-major", .a = f16, .c = f32, .turnedA = true});
    check({.claim = "both turned", .a = bf16, .c = f32, .turnedA = true, .turnedB = true});
  }

  TEST_CASE("every swizzle") {
    check({.claim = "64 bytes", .a = f16, .c = f32, .k = 32, .swizzle = 64, .turnedB = true});
    check({.claim = "64 bytes, N-major", .a = f16, .c = f32, .k = 32, .swizzle = 64});
    check({.claim = "32 bytes", .a = f16, .c = f32, .k = 32, .swizzle = 32, .turnedB = true});
  }

  TEST_CASE("several panels, tiles and warpgroups") {
    check({.claim = "K of two panels", .a = f16, .c = f32, .k = 128, .turnedB = true});
    check({.claim = "N of two panels", .a = f16, .c = f32, .n = 128, .columns = 128});
    check({.claim = "N of two instructions", .a = f16, .c = f32, .n = 128, .columns = 64});
    check({.claim = "M of two tiles", .a = f16, .c = f32, .m = 128});
    check({.claim = "warpgroups along M", .a = f16, .c = f32, .m = 128, .warps = "[8, 1]"});
    check({.claim = "warpgroups along M, M-major", .a = f16, .c = f32, .m = 128, .turnedA = true, .warps = "[8, 1]"});
    check({.claim = "warpgroups along N", .a = f16, .c = f32, .n = 128, .warps = "[4, 2]"});
  }

  TEST_CASE("columns in parts are one product") {
    checkParts({128, 16}, /*isKMajor=*/true);
    checkParts({64, 32, 8}, /*isKMajor=*/true);
    checkParts({128, 64}, /*isKMajor=*/true);
    checkParts({128, 64}, /*isKMajor=*/false);
  }

  TEST_CASE("A in registers") {
    check({.claim = "f16", .a = f16, .c = f32, .registersA = true});
    check({.claim = "two tiles", .a = f16, .c = f32, .m = 128, .registersA = true});
    check({.claim = "fp8",
           .a = e4m3,
           .c = f32,
           .k = 128,
           .turnedB = true,
           .registersA = true,
           .attributes = ", maxNumImpreciseAcc = 1073741824 : i32"});
  }

  TEST_CASE("other element types") {
    check({.claim = "f16 accumulator", .a = f16, .c = f16});
    check({.claim = "tf32", .a = f32, .c = f32, .k = 32, .turnedB = true});
    check({.claim = "e4m3",
           .a = e4m3,
           .c = f32,
           .k = 128,
           .turnedB = true,
           .attributes = ", maxNumImpreciseAcc = 1073741824 : i32"});
    check({.claim = "e5m2, promoted",
           .a = e5m2,
           .c = f32,
           .k = 128,
           .turnedB = true,
           .attributes = ", maxNumImpreciseAcc = 64 : i32"});
  }
}
