#include "tests/gpu/CublasLt.h"

#include <dlfcn.h>
#include <stdexcept>

namespace jitk::gpu {
namespace {

// The part of cublasLt.h and library_types.h that a plain product needs.
using Status = int;
constexpr int kCompute32F = 68, kReal32F = 0, kReal16F = 2, kReal16Bf = 14;
constexpr int kOpN = 0, kOpT = 1, kDescTransA = 3, kDescTransB = 4;
struct Algorithm {
  uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspaceSize;
  Status state;
  float wavesCount;
  int reserved[4];
};

} // namespace

struct CublasLt::Library {
  void *library = nullptr;
  void *handle = nullptr;
  Status (*create)(void **) = nullptr;
  Status (*destroy)(void *) = nullptr;
  Status (*descCreate)(void **, int, int) = nullptr;
  Status (*descDestroy)(void *) = nullptr;
  Status (*descSet)(void *, int, const void *, size_t) = nullptr;
  Status (*layoutCreate)(void **, int, uint64_t, uint64_t, int64_t) = nullptr;
  Status (*layoutDestroy)(void *) = nullptr;
  Status (*preferenceCreate)(void **) = nullptr;
  Status (*preferenceDestroy)(void *) = nullptr;
  Status (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int, HeuristicResult *, int *) = nullptr;
  Status (*run)(void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *,
                void *, void *, void *, const Algorithm *, void *, size_t, void *) = nullptr;

  template <typename T> void load(T &function, const char *name) {
    function = reinterpret_cast<T>(dlsym(library, name));
    if (!function) {
      throw std::runtime_error(std::string("cuBLASLt lacks ") + name);
    }
  }
};

static void check(Status status, const char *what) {
  if (status != 0) {
    throw std::runtime_error(std::string("cuBLASLt: ") + what + " failed with status " + std::to_string(status));
  }
}

CublasLt::CublasLt() : library_(std::make_unique<Library>()) {
  for (const char *name :
       {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", "/usr/local/cuda/lib64/libcublasLt.so"}) {
    if ((library_->library = dlopen(name, RTLD_NOW | RTLD_LOCAL))) {
      break;
    }
  }
  if (!library_->library) {
    throw std::runtime_error(std::string("cuBLASLt cannot be opened: ") + dlerror());
  }
  Library &l = *library_;
  l.load(l.create, "cublasLtCreate");
  l.load(l.destroy, "cublasLtDestroy");
  l.load(l.descCreate, "cublasLtMatmulDescCreate");
  l.load(l.descDestroy, "cublasLtMatmulDescDestroy");
  l.load(l.descSet, "cublasLtMatmulDescSetAttribute");
  l.load(l.layoutCreate, "cublasLtMatrixLayoutCreate");
  l.load(l.layoutDestroy, "cublasLtMatrixLayoutDestroy");
  l.load(l.preferenceCreate, "cublasLtMatmulPreferenceCreate");
  l.load(l.preferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  l.load(l.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  l.load(l.run, "cublasLtMatmul");
  check(l.create(&l.handle), "create");
}

CublasLt::~CublasLt() {
  if (library_->handle) {
    library_->destroy(library_->handle);
  }
}

static int typeOf(const std::string &dtype) {
  return dtype == "fp16" ? kReal16F : dtype == "bf16" ? kReal16Bf : kReal32F;
}

void CublasLt::matmul(int64_t m, int64_t n, int64_t k, const std::string &dtype, const std::string &outDtype,
                      bool columnMajorB, uint64_t a, uint64_t b, uint64_t c) {
  Library &l = *library_;
  // cuBLASLt is column major: c^T[n,m] = op(b)^T a^T, where row-major a is a^T already.
  void *desc = nullptr, *layoutB = nullptr, *layoutA = nullptr, *layoutC = nullptr, *preference = nullptr;
  int transB = columnMajorB ? kOpT : kOpN, transA = kOpN;
  check(l.descCreate(&desc, kCompute32F, kReal32F), "descriptor");
  check(l.descSet(desc, kDescTransA, &transB, sizeof transB), "attribute");
  check(l.descSet(desc, kDescTransB, &transA, sizeof transA), "attribute");
  int type = typeOf(dtype), outType = typeOf(outDtype);
  check(columnMajorB ? l.layoutCreate(&layoutB, type, uint64_t(k), uint64_t(n), k)
                     : l.layoutCreate(&layoutB, type, uint64_t(n), uint64_t(k), n),
        "layout of b");
  check(l.layoutCreate(&layoutA, type, uint64_t(k), uint64_t(m), k), "layout of a");
  check(l.layoutCreate(&layoutC, outType, uint64_t(n), uint64_t(m), n), "layout of c");
  check(l.preferenceCreate(&preference), "preference");
  HeuristicResult result = {};
  int found = 0;
  check(l.heuristic(l.handle, desc, layoutB, layoutA, layoutC, layoutC, preference, 1, &result, &found), "heuristic");
  check(found > 0 ? 0 : -1, "finding an algorithm");
  float one = 1, zero = 0;
  auto pointer = [](uint64_t address) { return reinterpret_cast<void *>(address); };
  check(l.run(l.handle, desc, &one, pointer(b), layoutB, pointer(a), layoutA, &zero, pointer(c), layoutC, pointer(c),
              layoutC, &result.algorithm, nullptr, 0, nullptr),
        "matmul");
  l.preferenceDestroy(preference);
  l.layoutDestroy(layoutC);
  l.layoutDestroy(layoutA);
  l.layoutDestroy(layoutB);
  l.descDestroy(desc);
}

} // namespace jitk::gpu
