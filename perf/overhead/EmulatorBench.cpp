// How fast the emulator runs a 128 x 128 x 128 fp16 matmul tile on one core: by mma.sync with ldmatrix, and by wgmma.
// Checks the result before it prints a time.

#include "src/emulator/EmulatorBackend.h"
#include "src/emulator/EmulatorDevice.h"
#include "src/emulator/HostLoader.h"
#include "src/ir/ptx/Ptx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "perf/commit/Commit.h"

#include <chrono>
#include <cstdio>

using namespace jitk;
using namespace jitk::emulator;

namespace {

constexpr int size = 128;
constexpr int threads = 128;
constexpr uint32_t tileBytes = size * size * 2;

double milliseconds(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Builds the body of a kernel as text.
class Text {
public:
  /// Names the results of an operation; result i of several is name#i.
  std::string value(const std::string &expression, int results = 1) {
    std::string name = "%v" + std::to_string(next_++);
    body_ += name + (results == 1 ? "" : ":" + std::to_string(results)) + " = " + expression + "\n";
    return name;
  }
  void line(const std::string &text) { body_ += text + "\n"; }
  std::string constant(int64_t number, const std::string &type = "i32") {
    return value("llvm.mlir.constant(" + std::to_string(number) + " : " + type + ") : " + type);
  }
  std::string add(const std::string &a, int64_t b) {
    return b == 0 ? a : value("llvm.add " + a + ", " + constant(b) + " : i32");
  }
  std::string binary(const std::string &op, const std::string &a, int64_t b) {
    return value("llvm." + op + " " + a + ", " + constant(b) + " : i32");
  }
  std::string sum(const std::string &a, const std::string &b) { return value("llvm.add " + a + ", " + b + " : i32"); }
  std::string pointer(const std::string &base, const std::string &offset) {
    const std::string wide = value("llvm.zext " + offset + " : i32 to i64");
    return value("llvm.getelementptr " + base + "[" + wide + "] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8");
  }
  std::string kernel() const {
    return "llvm.func @k(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {nvvm.kernel} {\n"
           "%true = llvm.mlir.constant(true) : i1\n%zero = llvm.mlir.constant(0.000000e+00 : f32) : f32\n"
           "%tid = ptx.inst \"sreg.tid.x\"() : () -> i32\n%smem = ptx.inst \"shared.base\"() : () -> i32\n" +
           body_ + "llvm.return\n}\n";
  }

private:
  std::string body_;
  int next_ = 0;
};

std::string list(const std::vector<std::string> &values) {
  std::string text;
  for (const std::string &value : values) {
    text += (text.empty() ? "" : ", ") + value;
  }
  return text;
}

std::string repeated(const std::string &type, size_t count) { return list(std::vector<std::string>(count, type)); }

/// Copies a row-major 128 x 128 tile to shared memory at `base` by cp.async; row r, 16-byte chunk c goes where `place`
/// says for thread `tid` and round i, of which each takes 8 rows.
template <typename Place> void copyTile(Text &text, const std::string &global, const Place &place) {
  const std::string row = text.binary("lshr", "%tid", 4), chunk = text.binary("and", "%tid", 15);
  const std::string sixteen = text.constant(16);
  for (int i = 0; i < size / 8; ++i) {
    const std::string thisRow = text.add(row, 8 * i);
    const std::string from = text.sum(text.binary("mul", thisRow, 256), text.binary("mul", chunk, 16));
    text.line("ptx.inst \"cp.async.cg.16\"(%true, " + place(thisRow, chunk) + ", " + text.pointer(global, from) + ", " +
              sixteen + ") : (i1, i32, !llvm.ptr<1>, i32) -> ()");
  }
}

void meet(Text &text) {
  text.line("ptx.inst \"cp.async.commit_group\"() : () -> ()");
  text.line("ptx.inst \"cp.async.wait_group\"() {imms = array<i64: 0>} : () -> ()");
  text.line("ptx.inst \"fence.proxy.async.shared::cta\"() : () -> ()");
  text.line("ptx.inst \"bar.sync\"() {imms = array<i64: 0>} : () -> ()");
}

void storePair(Text &text, const std::string &row, const std::string &column, const std::string &x,
               const std::string &y) {
  const std::string at = text.sum(text.binary("mul", row, size * 4), text.binary("mul", column, 4));
  const std::string xb = text.value("llvm.bitcast " + x + " : f32 to i32");
  const std::string yb = text.value("llvm.bitcast " + y + " : f32 to i32");
  text.line("ptx.inst \"st.global.v2.b32\"(%true, " + text.pointer("%c", at) + ", " + xb + ", " + yb +
            ") : (i1, !llvm.ptr<1>, i32, i32) -> ()");
}

/// Four warps of 64 x 64 each. Rows of shared memory are 272 bytes apart. B is [n][k].
std::string mmaKernel() {
  constexpr int pitch = 272;
  Text text;
  const auto place = [&](int base) {
    return [&, base](const std::string &row, const std::string &chunk) {
      const std::string at = text.sum(text.binary("mul", row, pitch), text.binary("mul", chunk, 16));
      return text.add(text.sum("%smem", at), base);
    };
  };
  constexpr int baseB = pitch * size;
  copyTile(text, "%a", place(0));
  copyTile(text, "%b", place(baseB));
  meet(text);
  const std::string lane = text.binary("and", "%tid", 31), warp = text.binary("lshr", "%tid", 5);
  const std::string warpRow = text.binary("mul", text.binary("and", warp, 1), 64);
  const std::string warpColumn = text.binary("mul", text.binary("lshr", warp, 1), 64);
  // Lane l of ldmatrix.x4 gives the address of row l % 16, half l / 16.
  const std::string laneOffset = text.sum(text.binary("mul", text.binary("and", lane, 15), pitch),
                                          text.binary("mul", text.binary("lshr", lane, 4), 16));
  const std::string a0 = text.sum(text.sum("%smem", laneOffset), text.binary("mul", warpRow, pitch));
  const std::string b0 =
      text.add(text.sum(text.sum("%smem", laneOffset), text.binary("mul", warpColumn, pitch)), baseB);
  std::vector<std::string> c(4 * 8 * 4, "%zero");
  for (int k = 0; k < size; k += 16) {
    std::vector<std::string> a, b;
    for (int i = 0; i < 4; ++i) {
      a.push_back(text.value(
          "ptx.inst \"ldmatrix.x4\"(" + text.add(a0, i * 16 * pitch + k * 2) + ") : (i32) -> (i32, i32, i32, i32)", 4));
      b.push_back(text.value(
          "ptx.inst \"ldmatrix.x4\"(" + text.add(b0, i * 16 * pitch + k * 2) + ") : (i32) -> (i32, i32, i32, i32)", 4));
    }
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 8; ++j) {
        std::vector<std::string> operands;
        for (int r = 0; r < 4; ++r) {
          operands.push_back(a[i] + "#" + std::to_string(r));
        }
        operands.push_back(b[j / 2] + "#" + std::to_string(j % 2));
        operands.push_back(b[j / 2] + "#" + std::to_string(j % 2 + 2));
        auto begin = c.begin() + (i * 8 + j) * 4;
        operands.insert(operands.end(), begin, begin + 4);
        const std::string d =
            text.value("ptx.inst \"mma.m16n8k16.f32.f16\"(" + list(operands) + ") : (" + repeated("i32", 6) + ", " +
                           repeated("f32", 4) + ") -> (" + repeated("f32", 4) + ")",
                       4);
        for (int r = 0; r < 4; ++r) {
          begin[r] = d + "#" + std::to_string(r);
        }
      }
    }
  }
  const std::string row = text.sum(warpRow, text.binary("lshr", lane, 2));
  const std::string column = text.sum(warpColumn, text.binary("mul", text.binary("and", lane, 3), 2));
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) {
      for (int half = 0; half < 2; ++half) {
        const size_t at = size_t(i * 8 + j) * 4 + size_t(half) * 2;
        storePair(text, text.add(row, i * 16 + half * 8), text.add(column, j * 8), c[at], c[at + 1]);
      }
    }
  }
  return text.kernel();
}

/// One warpgroup, two products of 64 x 128 a step. Tiles are two panels of 64 columns with the 128-byte swizzle.
std::string wgmmaKernel() {
  Text text;
  const auto place = [&](int base) {
    return [&, base](const std::string &row, const std::string &chunk) {
      const std::string permuted =
          text.value("llvm.xor " + text.binary("and", chunk, 7) + ", " + text.binary("and", row, 7) + " : i32");
      const std::string panel = text.binary("mul", text.binary("lshr", chunk, 3), size * 128);
      const std::string at = text.sum(text.binary("mul", row, 128), text.binary("mul", permuted, 16));
      return text.add(text.sum("%smem", text.sum(panel, at)), base);
    };
  };
  copyTile(text, "%a", place(0));
  copyTile(text, "%b", place(tileBytes));
  meet(text);
  text.line("ptx.inst \"wgmma.fence\"() : () -> ()");
  const auto descriptor = [&](uint32_t offset) {
    return text.constant(int64_t(uint64_t(0x4000004000000000) | (1024 + offset) >> 4), "i64");
  };
  std::vector<std::vector<std::string>> c(2, std::vector<std::string>(64, "%zero"));
  for (uint32_t k = 0; k < size; k += 16) {
    const uint32_t offset = k / 64 * size * 128 + k % 64 * 2;
    for (uint32_t half = 0; half < 2; ++half) {
      const std::string d =
          text.value("ptx.inst \"wgmma.m64n128k16.f32.f16.ss\"(" + descriptor(offset + half * 64 * 128) + ", " +
                         descriptor(tileBytes + offset) + ", %true, " + list(c[half]) +
                         ") {imms = array<i64: 1, 1, 0, 0>} : (i64, i64, i1, " + repeated("f32", 64) + ") -> (" +
                         repeated("f32", 64) + ")",
                     64);
      for (size_t r = 0; r < 64; ++r) {
        c[half][r] = d + "#" + std::to_string(r);
      }
    }
  }
  text.line("ptx.inst \"wgmma.commit_group\"() : () -> ()");
  const std::string row0 = text.sum(text.binary("mul", text.binary("lshr", "%tid", 5), 16),
                                    text.binary("and", text.binary("lshr", "%tid", 2), 7));
  const std::string column0 = text.binary("mul", text.binary("and", "%tid", 3), 2);
  std::vector<std::string> all = c[0];
  all.insert(all.end(), c[1].begin(), c[1].end());
  const std::string d =
      text.value("ptx.inst \"wgmma.wait_group.f32x128\"(" + list(all) + ") {imms = array<i64: 0>} : (" +
                     repeated("f32", 128) + ") -> (" + repeated("f32", 128) + ")",
                 128);
  for (int r = 0; r < 128; r += 2) {
    const int half = r / 64, i = r % 64;
    storePair(text, text.add(row0, half * 64 + (i & 2) * 4), text.add(column0, i / 4 * 8), d + "#" + std::to_string(r),
              d + "#" + std::to_string(r + 1));
  }
  return text.kernel();
}

float valueA(int row, int k) { return float((row * 3 + k * 5) % 7 - 3); }
float valueB(int k, int column) { return float((k * 2 + column * 3) % 5 - 2); }

std::vector<_Float16> tile(float (*element)(int, int), bool transposed) {
  std::vector<_Float16> values;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      values.push_back(_Float16(transposed ? element(j, i) : element(i, j)));
    }
  }
  return values;
}

bool correct(const std::vector<float> &c) {
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      float sum = 0;
      for (int k = 0; k < size; ++k) {
        sum += valueA(row, k) * valueB(k, column);
      }
      if (c[size_t(row) * size + size_t(column)] != sum) {
        return false;
      }
    }
  }
  return true;
}

Status measure(const char *name, const std::string &text, const DeviceOptions &options) {
  auto begin = std::chrono::steady_clock::now();
  mlir::MLIRContext context;
  context.loadDialect<ir::ptx::PtxDialect, mlir::LLVM::LLVMDialect>();
  context.allowUnregisteredDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    return internalError("the kernel does not parse");
  }
  JITK_ASSIGN(HostObject object, compileForHost(*module));
  JITK_ASSIGN(std::unique_ptr<HostModule> code, loadHostObject(object.code));
  JITK_ASSIGN(const KernelRecord *kernel, code->kernel("k"));
  const double compileTime = milliseconds(begin);

  EmulatorDevice device(options);
  const std::vector<_Float16> a = tile(valueA, false), b = tile(valueB, true);
  JITK_ASSIGN(uint64_t pa, device.allocate(tileBytes));
  JITK_ASSIGN(uint64_t pb, device.allocate(tileBytes));
  JITK_ASSIGN(uint64_t pc, device.allocate(size * size * 4));
  JITK_TRY(device.copyToDevice(pa, a.data(), tileBytes));
  JITK_TRY(device.copyToDevice(pb, b.data(), tileBytes));
  void *arguments[] = {&pa, &pb, &pc};
  LaunchParameters parameters;
  parameters.threads = threads;
  parameters.sharedBytes = 2 * 272 * size;
  parameters.arguments = arguments;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    begin = std::chrono::steady_clock::now();
    JITK_ASSIGN(LaunchReport report, device.run(*kernel, parameters));
    best = std::min(best, milliseconds(begin));
    if (!report.clean()) {
      return internalError(report.toString());
    }
  }
  std::vector<float> c(size * size);
  JITK_TRY(device.copyToHost(c.data(), pc, c.size() * 4));
  if (!correct(c)) {
    return internalError("wrong result");
  }
  std::printf("%-8s %-10s %7.1f ms compile %7.2f ms run\n", name, options.checks.races ? "checked" : "unchecked",
              compileTime, best);
  return okStatus();
}

} // namespace

int main() {
  std::printf("commit %s\n", perf::kCommit);
  for (bool races : {true, false}) {
    DeviceOptions options;
    options.workers = 1;
    options.checks.races = races;
    for (const auto &[name, text] : {std::pair{"mma", mmaKernel()}, std::pair{"wgmma", wgmmaKernel()}}) {
      if (Status status = measure(name, text, options); !status.ok()) {
        std::fprintf(stderr, "%s: %s\n", name, status.toString().c_str());
        return 1;
      }
    }
  }
  return 0;
}
