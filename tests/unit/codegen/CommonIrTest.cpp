// CommonIR on data: copies of each width, views of buffers, and buffers that control flow chooses, through all passes.

#include "tests/unit/codegen/TtgirFixture.h"

#include <numeric>
#include <sstream>

using namespace jitk::codegen::test;

namespace {

using Shape = std::vector<int64_t>;

const char *const aliases = R"(
#row = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#mat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#swizzled = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#panels = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#cube = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [2, 1, 0]}>
)";

std::string sizes(const Shape &shape, const char *separator) {
  std::string text;
  for (int64_t size : shape) {
    text += (text.empty() ? "" : separator) + std::to_string(size);
  }
  return text;
}

std::string tensor(const Shape &shape, const std::string &element) {
  return "tensor<" + sizes(shape, "x") + "x" + element + ">";
}
std::string pointers(const Shape &shape, const std::string &element) {
  return tensor(shape, "!tt.ptr<" + element + ">");
}
std::string view(const Shape &shape, const std::string &element) {
  return "<[" + sizes(shape, ", ") + "], " + element + ", shared>";
}
std::string buffer(const Shape &shape, const std::string &element) { return "!tile.buf" + view(shape, element); }

/// Lines that define `%name`: pointers from `%base` + `offset` on, `strides` elements apart.
std::string pointersFrom(const std::string &name, const std::string &base, const Shape &shape, const Shape &strides,
                         const std::string &element, int64_t offset = 0) {
  std::ostringstream text;
  const std::string whole = tensor(shape, "i32");
  text << "  %" << name << "_0 = arith.constant dense<" << offset << "> : " << whole << "\n";
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const std::string here = "%" + name + "_" + std::to_string(dim + 1);
    text << "  " << here << "r = tt.make_range {start = 0 : i32, end = " << shape[dim]
         << " : i32} : " << tensor({shape[dim]}, "i32") << "\n";
    std::string current = here + "r";
    Shape known = {shape[dim]};
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (axis == dim) {
        continue;
      }
      const std::string before = tensor(known, "i32"), next = here + "e" + std::to_string(axis);
      known.insert(known.begin() + int64_t(axis), 1);
      text << "  " << next << " = tt.expand_dims " << current << " {axis = " << axis << " : i32} : " << before << " -> "
           << tensor(known, "i32") << "\n";
      current = next;
    }
    if (known != shape) {
      text << "  " << here << "b = tt.broadcast " << current << " : " << tensor(known, "i32") << " -> " << whole
           << "\n";
      current = here + "b";
    }
    text << "  " << here << "c = arith.constant dense<" << strides[dim] << "> : " << whole << "\n  " << here
         << "m = arith.muli " << current << ", " << here << "c : " << whole << "\n  " << here << " = arith.addi %"
         << name << "_" << dim << ", " << here << "m : " << whole << "\n";
  }
  text << "  %" << name << "_s = tt.splat " << base << " : !tt.ptr<" << element << "> -> " << pointers(shape, element)
       << "\n  %" << name << " = tt.addptr %" << name << "_s, %" << name << "_" << shape.size() << " : "
       << pointers(shape, element) << ", " << whole << "\n";
  return text.str();
}

std::string alloc(const std::string &name, const Shape &shape, const std::string &element, const std::string &layout) {
  return "  %" + name + " = tile.alloc {space = 7 : i64, tle.gpu_layout = #" + layout + "} : " + view(shape, element) +
         "\n";
}
std::string copyIn(const std::string &from, const std::string &to, const Shape &shape, const std::string &element) {
  return "  tile.copy %" + from + " -> %" + to + " : " + pointers(shape, element) + ", " + buffer(shape, element) +
         "\n";
}
std::string copyOut(const std::string &from, const std::string &to, const Shape &shape, const std::string &element) {
  return "  tile.copy %" + from + " -> %" + to + " : " + buffer(shape, element) + ", " + pointers(shape, element) +
         "\n";
}
std::string subview(const std::string &name, const std::string &source, const std::string &at, const Shape &from,
                    const Shape &to, const std::string &layout) {
  return "  %" + name + " = tile.subview %" + source + at + " [[" + sizes(to, ", ") + "]] [[" +
         sizes(Shape(to.size(), 1), ", ") + "]] {tle.gpu_layout = #" + layout + "} : " + view(from, "i32") + " -> " +
         view(to, "i32") + "\n";
}

/// Runs a kernel that reads `%in` and writes `%out` on both generations of copies; gives what it wrote.
template <typename T>
std::vector<T> run(const std::string &body, const std::string &element, size_t numOutputs, const std::vector<T> &input,
                   int numWarps = 4) {
  const std::string parameter = ": !tt.ptr<" + element + "> {tt.divisibility = 16 : i32}";
  const std::string function =
      "tt.func public @k(%in" + parameter + ", %out" + parameter + ") {\n" + body + "  tt.return\n}\n";
  std::vector<T> outputs;
  for (const auto &[target, capability] : {std::pair("sm_80", 80), std::pair("sm_90a", 90)}) {
    CAPTURE(target);
    std::vector<T> found =
        runEverywhere<T>(compileCommonIr(moduleOf(aliases, function, numWarps, capability), target), numOutputs, input);
    REQUIRE((outputs.empty() || found == outputs));
    outputs = found;
  }
  return outputs;
}

template <typename T> std::vector<T> counted(size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T(1));
  return values;
}

/// In to a buffer, through registers, and out.
template <typename T>
void checkRoundTrip(const std::string &element, const Shape &shape, const std::string &layout, int numWarps) {
  CAPTURE(element);
  CAPTURE(sizes(shape, "x"));
  CAPTURE(numWarps);
  Shape strides(shape.size(), 1);
  for (size_t dim = shape.size() - 1; dim-- > 0;) {
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  }
  const size_t count = size_t(strides[0] * shape[0]);
  const std::string body = pointersFrom("p", "%in", shape, strides, element) +
                           pointersFrom("q", "%out", shape, strides, element) + alloc("x", shape, element, layout) +
                           copyIn("p", "x", shape, element) + "  %t = tile.to_tensor %x : " + view(shape, element) +
                           " -> " + tensor(shape, element) +
                           "\n  tile.store_tensor %t -> %x : " + tensor(shape, element) + ", " +
                           buffer(shape, element) + "\n" + copyOut("x", "q", shape, element);
  const std::vector<T> input = counted<T>(count);
  CHECK(run<T>(body, element, count, input, numWarps) == input);
}

} // namespace

TEST_SUITE("codegen/CommonIr") {
  TEST_CASE("data goes in and comes out, however little a thread has of it") {
    for (int64_t block : {16, 128, 1024}) {
      checkRoundTrip<uint16_t>("f16", {block}, "row", 4);
      checkRoundTrip<uint32_t>("f32", {block}, "row", 4);
      checkRoundTrip<uint8_t>("i8", {block}, "row", 4);
    }
    checkRoundTrip<uint16_t>("f16", {8, 8}, "mat", 4);
    checkRoundTrip<uint16_t>("f16", {16, 16}, "swizzled", 8);
    checkRoundTrip<uint8_t>("i8", {16, 16}, "mat", 4);
  }

  TEST_CASE("elements of two bytes that lie apart are gathered") {
    const std::vector<uint16_t> input = counted<uint16_t>(128);
    const std::string body = pointersFrom("p", "%in", {64}, {2}, "f16") + pointersFrom("q", "%out", {64}, {1}, "f16") +
                             alloc("x", {64}, "f16", "row") + copyIn("p", "x", {64}, "f16") +
                             copyOut("x", "q", {64}, "f16");
    const std::vector<uint16_t> output = run<uint16_t>(body, "f16", 64, input);
    for (size_t i = 0; i < output.size(); ++i) {
      CHECK(output[i] == input[2 * i]);
    }
  }

  TEST_CASE("a slice of columns keeps the strides of its buffer") {
    const std::vector<int32_t> input = counted<int32_t>(32 * 64);
    for (const char *layout : {"mat", "swizzled", "panels"}) {
      CAPTURE(layout);
      const std::string body =
          "  %c0 = arith.constant 0 : index\n  %c32 = arith.constant 32 : index\n" +
          pointersFrom("p", "%in", {32, 64}, {64, 1}, "i32") + pointersFrom("q", "%out", {32, 32}, {32, 1}, "i32") +
          alloc("b", {32, 64}, "i32", layout) + copyIn("p", "b", {32, 64}, "i32") +
          subview("s", "b", "[%c0, %c32]", {32, 64}, {32, 32}, layout) + copyOut("s", "q", {32, 32}, "i32");
      const std::vector<int32_t> output = run<int32_t>(body, "i32", 32 * 32, input);
      for (size_t i = 0; i < output.size(); ++i) {
        CHECK(output[i] == input[i / 32 * 64 + 32 + i % 32]);
      }
    }
  }

  TEST_CASE("slots of slices and slices of slots") {
    const std::vector<int32_t> input = counted<int32_t>(1024);
    const std::string body =
        "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c8 = arith.constant 8 : index\n"
        "  %c16 = arith.constant 16 : index\n" +
        pointersFrom("p", "%in", {2, 16, 32}, {512, 32, 1}, "i32") +
        pointersFrom("q", "%out", {8, 32}, {32, 1}, "i32") + pointersFrom("w", "%out", {16, 16}, {16, 1}, "i32", 256) +
        alloc("b", {2, 16, 32}, "i32", "cube") + copyIn("p", "b", {2, 16, 32}, "i32") +
        subview("s", "b", "[%c0, %c8, %c0]", {2, 16, 32}, {2, 8, 32}, "cube") +
        subview("t", "s", "[%c1, %c0, %c0]", {2, 8, 32}, {8, 32}, "mat") + copyOut("t", "q", {8, 32}, "i32") +
        subview("u", "b", "[%c1, %c0, %c0]", {2, 16, 32}, {16, 32}, "mat") +
        subview("v", "u", "[%c0, %c16]", {16, 32}, {16, 16}, "mat") + copyOut("v", "w", {16, 16}, "i32");
    const std::vector<int32_t> output = run<int32_t>(body, "i32", 512, input);
    for (size_t i = 0; i < 256; ++i) {
      CHECK(output[i] == input[512 + 8 * 32 + i]);
      CHECK(output[256 + i] == input[512 + i / 16 * 32 + 16 + i % 16]);
    }
  }

  TEST_CASE("loops swap buffers, branches choose them") {
    const std::vector<int32_t> input = counted<int32_t>(256);
    const std::string both = "(" + buffer({128}, "i32") + ", " + buffer({128}, "i32") + ")", one = buffer({128}, "i32");
    const std::string body =
        "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n  %c5 = arith.constant 5 : i32\n"
        "  %k = arith.constant dense<1000> : tensor<128xi32>\n" +
        pointersFrom("p", "%in", {128}, {1}, "i32") + pointersFrom("r", "%in", {128}, {1}, "i32", 128) +
        pointersFrom("q", "%out", {128}, {1}, "i32") + pointersFrom("w", "%out", {128}, {1}, "i32", 128) +
        alloc("x", {128}, "i32", "row") + alloc("y", {128}, "i32", "row") + copyIn("p", "x", {128}, "i32") +
        copyIn("r", "y", {128}, "i32") + "  %l:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %y) -> " +
        both + " : i32 {\n    %t = tile.to_tensor %a : " + view({128}, "i32") +
        " -> tensor<128xi32>\n    %u = arith.addi %t, %k : tensor<128xi32>\n    tile.store_tensor %u -> %a : "
        "tensor<128xi32>, " +
        one + "\n    scf.yield %b, %a : " + one + ", " + one + "\n  }\n" + copyOut("l#0", "q", {128}, "i32") +
        "  %id = tt.get_program_id x : i32\n  %is = arith.cmpi eq, %id, %c0 : i32\n  %z = scf.if %is -> (" + one +
        ") {\n    scf.yield %l#1 : " + one + "\n  } else {\n    scf.yield %l#0 : " + one + "\n  }\n" +
        copyOut("z", "w", {128}, "i32");
    const std::vector<int32_t> output = run<int32_t>(body, "i32", 256, input);
    for (size_t i = 0; i < 128; ++i) {
      CHECK(output[i] == input[128 + i] + 2000);
      CHECK(output[128 + i] == input[i] + 3000);
    }
  }
}
