#include "perf/peers/DeepGemm.h"

#include <array>
#include <bit>
#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
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

/// What the name of a file says: m4096.n7168.k2048.256x128.s3.c2.cubin.
struct Form {
  int64_t m = 0, n = 0, k = 0, rows = 0, columns = 0, stages = 0, cluster = 0;

  /// Bytes of a row of C that one store moves.
  int64_t storeBytes() const {
    int64_t bytes = 128;
    while (2 * columns % bytes != 0) {
      bytes /= 2;
    }
    return bytes;
  }

  int64_t sharedBytes() const {
    auto align = [](int64_t value, int64_t factor) { return (value + factor - 1) / factor * factor; };
    int64_t scalesOfB = align((k + 127) / 128 * 4 * (128 % columns == 0 ? 1 : 2), 8);
    int64_t stage = (rows + columns) * 128 + align(rows * 4, 128);
    return align(rows * columns * 2, 1024) + 16 * 8 * 2 + scalesOfB + stages * stage;
  }
};

bool parse(const std::string &name, Form &form) {
  int end = 0;
  return std::sscanf(name.c_str(), "m%ld.n%ld.k%ld.%ldx%ld.s%ld.c%ld.cubin%n", &form.m, &form.n, &form.k, &form.rows,
                     &form.columns, &form.stages, &form.cluster, &end) == 7 &&
         size_t(end) == name.size();
}

void check(Code code, const char *call) {
  if (code != 0) {
    throw std::runtime_error(std::string(call) + " failed with code " + std::to_string(code));
  }
}

} // namespace

struct DeepGemm::Driver {
  void *library = nullptr;
  Code (*moduleLoadData)(void **, const void *) = nullptr;
  Code (*moduleUnload)(void *) = nullptr;
  Code (*moduleEnumerateFunctions)(void **, unsigned, void *) = nullptr;
  Code (*funcSetAttribute)(void *, int, int) = nullptr;
  Code (*ctxGetDevice)(int *) = nullptr;
  Code (*deviceGetAttribute)(int *, int, int) = nullptr;
  Code (*launchKernelEx)(const LaunchConfig *, void *, void **, void **) = nullptr;
  Code (*tensorMapEncodeTiled)(TensorMap *, int, uint32_t, uint64_t, const uint64_t *, const uint64_t *,
                               const uint32_t *, const uint32_t *, int, int, int, int) = nullptr;

  Driver() : library(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (!library) {
      throw std::runtime_error(std::string("the CUDA driver cannot be opened: ") + dlerror());
    }
    load(moduleLoadData, "cuModuleLoadData");
    load(moduleUnload, "cuModuleUnload");
    load(moduleEnumerateFunctions, "cuModuleEnumerateFunctions");
    load(funcSetAttribute, "cuFuncSetAttribute");
    load(ctxGetDevice, "cuCtxGetDevice");
    load(deviceGetAttribute, "cuDeviceGetAttribute");
    load(launchKernelEx, "cuLaunchKernelEx");
    load(tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  }

  template <typename T> void load(T &function, const char *name) {
    function = reinterpret_cast<T>(dlsym(library, name));
    if (!function) {
      throw std::runtime_error(std::string("the CUDA driver lacks ") + name);
    }
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
  LaunchConfig config = {{data.grid, 1, 1}, {threads, 1, 1},      unsigned(data.form.sharedBytes()), stream,
                         &cluster,          data.form.cluster > 1};
  check(data.driver->launchKernelEx(&config, data.function, arguments, nullptr), "cuLaunchKernelEx");
}

DeepGemm::DeepGemm(std::filesystem::path folder) : folder_(std::move(folder)), driver_(std::make_shared<Driver>()) {}
DeepGemm::~DeepGemm() = default;

std::vector<DeepGemm::Product> DeepGemm::find(int64_t m, int64_t n, int64_t k, const Addresses &tensors) {
  std::vector<Product> products;
  for (const auto &entry : std::filesystem::directory_iterator(folder_)) {
    Form form;
    if (!parse(entry.path().filename().string(), form) || form.m != m || form.n != n || form.k != k) {
      continue;
    }
    auto data = std::make_unique<Product::Data>();
    data->driver = driver_;
    data->form = form;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string code{std::istreambuf_iterator<char>(file), {}};
    check(driver_->moduleLoadData(&data->module, code.data()), "cuModuleLoadData");
    check(driver_->moduleEnumerateFunctions(&data->function, 1, data->module), "cuModuleEnumerateFunctions");
    check(driver_->funcSetAttribute(data->function, kSharedBytesAttribute, int(form.sharedBytes())),
          "cuFuncSetAttribute");
    data->grid = unsigned(driver_->multiprocessors());
    data->scaleOfB = tensors.scaleOfB;
    data->m = uint32_t(m);
    data->n = uint32_t(n);
    data->k = uint32_t(k);
    auto rows = uint32_t(form.rows), columns = uint32_t(form.columns);
    data->a = driver_->map(kUInt8, 1, tensors.a, {uint64_t(k), uint64_t(m)}, {128, rows}, kSwizzle128);
    data->b = driver_->map(kUInt8, 1, tensors.b, {uint64_t(k), uint64_t(n)}, {128, columns}, kSwizzle128);
    data->c = driver_->map(kBFloat16, 2, tensors.c, {uint64_t(n), uint64_t(m)}, {uint32_t(form.storeBytes() / 2), rows},
                           std::countr_zero(uint64_t(form.storeBytes() / 16)));
    data->scaleOfA =
        driver_->map(kFloat32, 4, tensors.scaleOfA, {uint64_t(scaleRows(m)), uint64_t((k + 127) / 128)}, {rows, 1}, 0);
    products.push_back(Product(std::move(data)));
  }
  return products;
}

} // namespace jitk::timing
