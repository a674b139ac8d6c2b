// Text of kernels that load whole row-major tensors, compute, and store the result.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jitk::codegen::test {

/// A tensor type: "tensor<16x32xf32, #layout>".
inline std::string tensorType(const std::vector<int64_t> &shape, const std::string &element,
                              const std::string &layout) {
  std::string text = "tensor<";
  for (int64_t size : shape) {
    text += std::to_string(size) + "x";
  }
  return text + element + ", " + layout + ">";
}

/// Lines that define `%name`, the row-major number of each element, for a tensor of that shape and layout (rank 1 or
/// 2).
inline std::string rowMajorIndex(const std::string &name, const std::vector<int64_t> &shape,
                                 const std::string &layout) {
  const std::string type = tensorType(shape, "i32", layout);
  auto range = [](int64_t size) {
    return "tt.make_range {end = " + std::to_string(size) + " : i32, start = 0 : i32} : ";
  };
  if (shape.size() == 1) {
    return "  %" + name + " = " + range(shape[0]) + type + "\n";
  }
  std::string text;
  auto slice = [&](int dim) { return "#ttg.slice<{dim = " + std::to_string(dim) + ", parent = " + layout + "}>"; };
  const std::string rowType = tensorType({shape[0]}, "i32", slice(1)),
                    columnType = tensorType({shape[1]}, "i32", slice(0));
  const std::string rows = tensorType({shape[0], 1}, "i32", layout), columns = tensorType({1, shape[1]}, "i32", layout);
  text += "  %" + name + "_r = " + range(shape[0]) + rowType + "\n";
  text += "  %" + name + "_re = tt.expand_dims %" + name + "_r {axis = 1 : i32} : " + rowType + " -> " + rows + "\n";
  text += "  %" + name + "_n = arith.constant dense<" + std::to_string(shape[1]) + "> : " + rows + "\n";
  text += "  %" + name + "_rm = arith.muli %" + name + "_re, %" + name + "_n : " + rows + "\n";
  text += "  %" + name + "_rb = tt.broadcast %" + name + "_rm : " + rows + " -> " + type + "\n";
  text += "  %" + name + "_c = " + range(shape[1]) + columnType + "\n";
  text +=
      "  %" + name + "_ce = tt.expand_dims %" + name + "_c {axis = 0 : i32} : " + columnType + " -> " + columns + "\n";
  text += "  %" + name + "_cb = tt.broadcast %" + name + "_ce : " + columns + " -> " + type + "\n";
  text += "  %" + name + " = arith.addi %" + name + "_rb, %" + name + "_cb : " + type + "\n";
  return text;
}

/// Lines that define `%name_p`, pointers to each element of the row-major tensor at `%base`.
inline std::string rowMajorPointers(const std::string &name, const std::string &base, const std::vector<int64_t> &shape,
                                    const std::string &element, const std::string &layout) {
  const std::string pointers = tensorType(shape, "!tt.ptr<" + element + ">", layout);
  return rowMajorIndex(name + "_i", shape, layout) + "  %" + name + "_b = tt.splat %" + base + " : !tt.ptr<" + element +
         "> -> " + pointers + "\n  %" + name + "_p = tt.addptr %" + name + "_b, %" + name + "_i : " + pointers + ", " +
         tensorType(shape, "i32", layout) + "\n";
}

/// Lines that load `%name` from the row-major tensor at `%base`.
inline std::string loadTensor(const std::string &name, const std::string &base, const std::vector<int64_t> &shape,
                              const std::string &element, const std::string &layout) {
  return rowMajorPointers(name, base, shape, element, layout) + "  %" + name + " = tt.load %" + name +
         "_p : " + tensorType(shape, "!tt.ptr<" + element + ">", layout) + "\n";
}

/// Lines that store `%name` to the row-major tensor at `%base`.
inline std::string storeTensor(const std::string &name, const std::string &base, const std::vector<int64_t> &shape,
                               const std::string &element, const std::string &layout) {
  return rowMajorPointers(name + "_s", base, shape, element, layout) + "  tt.store %" + name + "_s_p, %" + name +
         " : " + tensorType(shape, "!tt.ptr<" + element + ">", layout) + "\n";
}

/// A pointer parameter, aligned.
inline std::string pointerParameter(const std::string &name, const std::string &element) {
  return "%" + name + ": !tt.ptr<" + element + "> {tt.divisibility = 16 : i32}";
}

/// The kernel `k` with the given parameters and body.
inline std::string kernelOf(const std::string &parameters, const std::string &body) {
  return "tt.func public @k(" + parameters + ") {\n" + body + "  tt.return\n}\n";
}

} // namespace jitk::codegen::test
