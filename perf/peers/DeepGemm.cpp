#include "perf/peers/DeepGemm.h"

#include "src/tools/timing/DynamicLibrary.h"

#include <array>
#include <bit>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

namespace jitk::timing {
namespace {

// The part of cuda.h that the launch needs.
using Code = int;
constexpr int kSharedBytesAttribute = 8, kMultiprocessors = 16, kClusterAttribute = 4;
constexpr int kUInt8 = 0, kFloat32 = 7, kBFloat16 = 9, kSwizzle128 = 3, kPromotion256 = 3;
struct TensorMap {
  alignas(64) uint64_t words[16];
};
struct LaunchAttribute {
  int id, pad;
  unsigned values[16];
};
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// Bytes of a row of C that one store moves.
int64_t storeBytes(const DeepGemm::Form &form) {
  int64_t bytes = 128;
  while (2 * form.columns % bytes != 0) {
    bytes /= 2;
  }
  return bytes;
}

int64_t sharedBytes(const DeepGemm::Form &form) {
  auto align = [](int64_t value, int64_t factor) { return (value + factor - 1) / factor * factor; };
  int64_t scalesOfB = align((form.shape.k + 127) / 128 * 4 * (128 % form.columns == 0 ? 1 : 2), 8);
  int64_t stage = (form.rows + form.columns) * 128 + align(form.rows * 4, 128);
  return align(form.rows * form.columns * 2, 1024) + 16 * 8 * 2 + scalesOfB + form.stages * stage;
}

void check(Code code, const char *call) {
  if (code != 0) {
    throw std::runtime_error(std::string(call) + " failed with code " + std::to_string(code));
  }
}

} // namespace

struct DeepGemm::Driver {
  Code (*moduleLoadData)(void **, const void *) = nullptr;
  Code (*moduleUnload)(void *) = nullptr;
  Code (*moduleEnumerateFunctions)(void **, unsigned, void *) = nullptr;
  Code (*funcSetAttribute)(void *, int, int) = nullptr;
  Code (*ctxGetDevice)(int *) = nullptr;
  Code (*deviceGetAttribute)(int *, int, int) = nullptr;
  Code (*launchKernelEx)(const LaunchConfig *, void *, void **, void **) = nullptr;
  Code (*tensorMapEncodeTiled)(TensorMap *, int, uint32_t, uint64_t, const uint64_t *, const uint64_t *,
                               const uint32_t *, const uint32_t *, int, int, int, int) = nullptr;

  Driver() {
    DynamicLibrary driver = openDriver();
    driver.load(moduleLoadData, "cuModuleLoadData");
    driver.load(moduleUnload, "cuModuleUnload");
    driver.load(moduleEnumerateFunctions, "cuModuleEnumerateFunctions");
    driver.load(funcSetAttribute, "cuFuncSetAttribute");
    driver.load(ctxGetDevice, "cuCtxGetDevice");
    driver.load(deviceGetAttribute, "cuDeviceGetAttribute");
    driver.load(launchKernelEx, "cuLaunchKernelEx");
    driver.load(tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  }

  /// Of a row-major matrix that is moved in boxes; sizes innermost first.
  TensorMap map(int type, int64_t elementBytes, uint64_t address, std::array<uint64_t, 2> sizes,
                std::array<uint32_t, 2> box, int swizzle) const {
    TensorMap result;
    uint64_t stride = sizes[0] * uint64_t(elementBytes);
    const uint32_t ones[] = {1, 1};
    check(tensorMapEncodeTiled(&result, type, 2, address, sizes.data(), &stride, box.data(), ones, 0, swizzle,
                               kPromotion256, 0),
          "cuTensorMapEncodeTiled");
    return result;
  }

  int multiprocessors() const {
    int device = 0, count = 0;
    check(ctxGetDevice(&device), "cuCtxGetDevice");
    check(deviceGetAttribute(&count, kMultiprocessors, device), "cuDeviceGetAttribute");
    return count;
  }
};

struct DeepGemm::Product::Data {
  std::shared_ptr<Driver> driver;
  void *module = nullptr, *function = nullptr;
  Form form;
  unsigned grid = 0;
  uint64_t scaleOfB = 0, groups = 0;
  uint32_t m = 0, n = 0, k = 0;
  TensorMap a, b, c, scaleOfA;

  /// Sets what a launch is given.
  void place(const Tensors &tensors) {
    const Shape &shape = form.shape;
    bool isMasked = shape.kind == Groups::Masked;
    int64_t rowsOfProblem = isMasked ? tensors.rowsOfGroup : shape.m, times = isMasked ? shape.groups : 1;
    grid = unsigned(driver->multiprocessors());
    scaleOfB = tensors.scaleOfB;
    groups = tensors.groups;
    m = uint32_t(rowsOfProblem);
    n = uint32_t(shape.n);
    k = uint32_t(shape.k);
    auto rows = uint32_t(form.rows), columns = uint32_t(form.columns);
    auto rowsOfA = uint64_t(rowsOfProblem * times), rowsOfB = uint64_t(shape.n * shape.groups);
    a = driver->map(kUInt8, 1, tensors.a, {k, rowsOfA}, {128, rows}, kSwizzle128);
    b = driver->map(kUInt8, 1, tensors.b, {k, rowsOfB}, {128, columns}, kSwizzle128);
    c = driver->map(kBFloat16, 2, tensors.c, {n, rowsOfA}, {uint32_t(storeBytes(form) / 2), rows},
                    std::countr_zero(uint64_t(storeBytes(form) / 16)));
    std::array<uint64_t, 2> scales = {uint64_t(scaleRows(rowsOfProblem)), uint64_t((shape.k + 127) / 128 * times)};
    scaleOfA = driver->map(kFloat32, 4, tensors.scaleOfA, scales, {rows, 1}, 0);
  }

  ~Data() {
    if (module) {
      driver->moduleUnload(module);
    }
  }
};

DeepGemm::Product::Product(std::unique_ptr<Data> data) : data_(std::move(data)) {}
DeepGemm::Product::~Product() = default;
DeepGemm::Product::Product(Product &&) noexcept = default;

void DeepGemm::Product::run(void *stream) const {
  Data &data = *data_;
  void *arguments[] = {&data.scaleOfB, &data.groups, &data.m, &data.n,       &data.k,
                       &data.a,        &data.b,      &data.c, &data.scaleOfA};
  LaunchAttribute cluster = {.id = kClusterAttribute, .pad = 0, .values = {unsigned(data.form.cluster), 1, 1}};
  constexpr unsigned kOtherThreads = 128;
  unsigned threads = kOtherThreads + (data.form.rows <= 64 ? 128 : 256);
  LaunchConfig config = {{data.grid, 1, 1}, {threads, 1, 1},      unsigned(sharedBytes(data.form)), stream,
                         &cluster,          data.form.cluster > 1};
  check(data.driver->launchKernelEx(&config, data.function, arguments, nullptr), "cuLaunchKernelEx");
}

DeepGemm::DeepGemm(std::filesystem::path folder) : folder_(std::move(folder)), driver_(std::make_shared<Driver>()) {}
DeepGemm::~DeepGemm() = default;

std::optional<DeepGemm::Form> DeepGemm::parse(const std::string &fileName) {
  static const std::regex pattern(
      R"((?:(contiguous|masked)(\d+)\.)?m(\d+)\.n(\d+)\.k(\d+)\.(\d+)x(\d+)\.s(\d+)\.c(\d+)\.cubin)");
  std::smatch found;
  if (!std::regex_match(fileName, found, pattern)) {
    return std::nullopt;
  }
  auto number = [&](size_t index) { return int64_t(std::stoll(found[index])); };
  Form form = {.shape = {.m = number(3), .n = number(4), .k = number(5)},
               .rows = number(6),
               .columns = number(7),
               .stages = number(8),
               .cluster = number(9)};
  if (found[1].matched) {
    form.shape.kind = found[1] == "masked" ? Groups::Masked : Groups::Contiguous;
    form.shape.groups = number(2);
  }
  return form;
}

std::vector<DeepGemm::Product> DeepGemm::find(const Shape &shape, const Tensors &tensors) {
  std::vector<Product> products;
  for (const auto &entry : std::filesystem::directory_iterator(folder_)) {
    std::optional<Form> form = parse(entry.path().filename().string());
    if (!form || form->shape != shape) {
      continue;
    }
    auto data = std::make_unique<Product::Data>();
    data->driver = driver_;
    data->form = *form;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string code{std::istreambuf_iterator<char>(file), {}};
    check(driver_->moduleLoadData(&data->module, code.data()), "cuModuleLoadData");
    check(driver_->moduleEnumerateFunctions(&data->function, 1, data->module), "cuModuleEnumerateFunctions");
    check(driver_->funcSetAttribute(data->function, kSharedBytesAttribute, int(sharedBytes(*form))),
          "cuFuncSetAttribute");
    data->place(tensors);
    products.push_back(Product(std::move(data)));
  }
  return products;
}

} // namespace jitk::timing
