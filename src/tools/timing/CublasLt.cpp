#include "src/tools/timing/CublasLt.h"

#include "src/tools/timing/DynamicLibrary.h"

#include <stdexcept>
#include <vector>

namespace jitk::timing {
namespace {

// The part of cublasLt.h and library_types.h that a plain product needs.
using Status = int;
constexpr int kCompute32F = 68, kReal32F = 0, kReal16F = 2, kReal16Bf = 14;
constexpr int kOpN = 0, kOpT = 1, kDescTransA = 3, kDescTransB = 4, kPreferenceWorkspace = 1;
constexpr int kDescEpilogue = 7, kDescBiasPointer = 8;
constexpr int kLayoutBatchCount = 5, kLayoutBatchOffset = 6;
constexpr uint32_t kEpilogueDefault = 1, kEpilogueRelu = 2, kEpilogueBias = 4, kEpilogueGelu = 32;
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
  void *handle = nullptr;
  Status (*create)(void **) = nullptr;
  Status (*destroy)(void *) = nullptr;
  Status (*descCreate)(void **, int, int) = nullptr;
  Status (*descDestroy)(void *) = nullptr;
  Status (*descSet)(void *, int, const void *, size_t) = nullptr;
  Status (*layoutCreate)(void **, int, uint64_t, uint64_t, int64_t) = nullptr;
  Status (*layoutDestroy)(void *) = nullptr;
  Status (*layoutSet)(void *, int, const void *, size_t) = nullptr;
  Status (*preferenceCreate)(void **) = nullptr;
  Status (*preferenceDestroy)(void *) = nullptr;
  Status (*preferenceSet)(void *, int, const void *, size_t) = nullptr;
  Status (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int, HeuristicResult *, int *) = nullptr;
  Status (*run)(void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *,
                void *, void *, void *, const Algorithm *, void *, size_t, void *) = nullptr;
};

static void check(Status status, const char *what) {
  if (status != 0) {
    throw std::runtime_error(std::string("cuBLASLt: ") + what + " failed with status " + std::to_string(status));
  }
}

CublasLt::CublasLt() : library_(std::make_unique<Library>()) {
  DynamicLibrary opened(
      "cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", "/usr/local/cuda/lib64/libcublasLt.so"});
  Library &l = *library_;
  opened.load(l.create, "cublasLtCreate");
  opened.load(l.destroy, "cublasLtDestroy");
  opened.load(l.descCreate, "cublasLtMatmulDescCreate");
  opened.load(l.descDestroy, "cublasLtMatmulDescDestroy");
  opened.load(l.descSet, "cublasLtMatmulDescSetAttribute");
  opened.load(l.layoutCreate, "cublasLtMatrixLayoutCreate");
  opened.load(l.layoutDestroy, "cublasLtMatrixLayoutDestroy");
  opened.load(l.layoutSet, "cublasLtMatrixLayoutSetAttribute");
  opened.load(l.preferenceCreate, "cublasLtMatmulPreferenceCreate");
  opened.load(l.preferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  opened.load(l.preferenceSet, "cublasLtMatmulPreferenceSetAttribute");
  opened.load(l.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  opened.load(l.run, "cublasLtMatmul");
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

struct CublasLt::Algorithms::Data {
  explicit Data(Library &library) : l(library) {}
  ~Data() {
    for (void *layout : {layoutA, layoutB, layoutC}) {
      if (layout) {
        l.layoutDestroy(layout);
      }
    }
    if (desc) {
      l.descDestroy(desc);
    }
  }

  Library &l;
  void *desc = nullptr, *layoutA = nullptr, *layoutB = nullptr, *layoutC = nullptr;
  size_t workspaceBytes = 0;
  bool hasBias = false, hasAddend = false;
  std::vector<HeuristicResult> found;
};

CublasLt::Algorithms::Algorithms(std::unique_ptr<Data> data) : data_(std::move(data)) {}
CublasLt::Algorithms::Algorithms(Algorithms &&) noexcept = default;
CublasLt::Algorithms::~Algorithms() = default;
size_t CublasLt::Algorithms::size() const { return data_->found.size(); }

void CublasLt::Algorithms::run(size_t index, const ProductAddresses &tensors, uint64_t workspace, void *stream) const {
  const Data &d = *data_;
  float one = 1, beta = d.hasAddend ? 1 : 0;
  if (d.hasBias) {
    check(d.l.descSet(d.desc, kDescBiasPointer, &tensors.bias, sizeof tensors.bias), "bias");
  }
  uint64_t addend = d.hasAddend ? tensors.addend : tensors.c;
  auto pointer = [](uint64_t address) { return reinterpret_cast<void *>(address); };
  check(d.l.run(d.l.handle, d.desc, &one, pointer(tensors.b), d.layoutB, pointer(tensors.a), d.layoutA, &beta,
                pointer(addend), d.layoutC, pointer(tensors.c), d.layoutC, &d.found[index].algorithm,
                pointer(workspace), workspace ? d.workspaceBytes : 0, stream),
        "matmul");
}

CublasLt::Algorithms CublasLt::find(const Product &p, int count, size_t workspaceBytes) {
  Library &l = *library_;
  auto data = std::make_unique<Algorithms::Data>(l);
  Algorithms::Data &d = *data;
  d.workspaceBytes = workspaceBytes;
  d.hasBias = p.hasBias;
  d.hasAddend = p.hasAddend;
  // cuBLASLt is column major: c^T[n,m] = op(b)^T op(a)^T, where row-major a is a^T already.
  int transB = p.columnMajorB ? kOpT : kOpN, transA = p.columnMajorA ? kOpT : kOpN;
  check(l.descCreate(&d.desc, kCompute32F, kReal32F), "descriptor");
  check(l.descSet(d.desc, kDescTransA, &transB, sizeof transB), "attribute");
  check(l.descSet(d.desc, kDescTransB, &transA, sizeof transA), "attribute");
  uint32_t epilogue = p.activation == "relu" ? kEpilogueRelu : p.activation == "gelu_tanh" ? kEpilogueGelu : 0;
  epilogue |= p.hasBias ? kEpilogueBias : 0;
  epilogue = epilogue ? epilogue : kEpilogueDefault;
  check(l.descSet(d.desc, kDescEpilogue, &epilogue, sizeof epilogue), "epilogue");
  int type = typeOf(p.dtype), outType = typeOf(p.outDtype);
  check(p.columnMajorB ? l.layoutCreate(&d.layoutB, type, uint64_t(p.k), uint64_t(p.n), p.k)
                       : l.layoutCreate(&d.layoutB, type, uint64_t(p.n), uint64_t(p.k), p.n),
        "layout of b");
  check(p.columnMajorA ? l.layoutCreate(&d.layoutA, type, uint64_t(p.m), uint64_t(p.k), p.m)
                       : l.layoutCreate(&d.layoutA, type, uint64_t(p.k), uint64_t(p.m), p.k),
        "layout of a");
  check(l.layoutCreate(&d.layoutC, outType, uint64_t(p.n), uint64_t(p.m), p.n), "layout of c");
  const std::pair<void *, int64_t> offsets[] = {{d.layoutA, p.m * p.k}, {d.layoutB, p.n * p.k}, {d.layoutC, p.m * p.n}};
  for (auto [layout, offset] : offsets) {
    auto batch = int32_t(p.batch);
    check(l.layoutSet(layout, kLayoutBatchCount, &batch, sizeof batch), "batch");
    check(l.layoutSet(layout, kLayoutBatchOffset, &offset, sizeof offset), "batch");
  }
  void *preference = nullptr;
  check(l.preferenceCreate(&preference), "preference");
  check(l.preferenceSet(preference, kPreferenceWorkspace, &workspaceBytes, sizeof workspaceBytes), "workspace");
  d.found.resize(size_t(count));
  int found = 0;
  Status status = l.heuristic(l.handle, d.desc, d.layoutB, d.layoutA, d.layoutC, d.layoutC, preference, count,
                              d.found.data(), &found);
  l.preferenceDestroy(preference);
  check(status, "heuristic");
  check(found > 0 ? 0 : -1, "finding an algorithm");
  d.found.resize(size_t(found));
  return Algorithms(std::move(data));
}

} // namespace jitk::timing
