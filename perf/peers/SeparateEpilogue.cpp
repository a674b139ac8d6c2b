#include "perf/peers/SeparateEpilogue.h"

#include <stdexcept>

namespace jitk::timing {

static constexpr const char *kSource = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kValues = 16 / sizeof(Element);

struct alignas(16) Vector {
  Element values[kValues];
};

__device__ float activate(float x) {
  if (ACTIVATION == 1) return x < 0 ? 0 : x;
  // x (1 + tanh(u)) / 2 = x / (1 + exp(-2u)).
  if (ACTIVATION == 2) return __fdividef(x, 1 + __expf(-1.5957691216f * x * (1 + 0.044715f * x * x)));
  if (ACTIVATION == 3) return __fdividef(x, 1 + __expf(-x));
  return x;
}

struct alignas(sizeof(Source) * kValues) SourceVector {
  Source values[kValues];
};

extern "C" __global__ void epilogue(const SourceVector *product, const Vector *bias, const Vector *addend, Vector *c,
                                    long long numVectors, int vectorsOfRow) {
  long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= numVectors) return;
  SourceVector source = product[i];
  Vector x, y, z;
  if (HAS_BIAS) y = bias[i % vectorsOfRow];
  if (HAS_ADDEND) z = addend[i];
  for (int k = 0; k < kValues; ++k) {
    float sum = float(source.values[k]);
    if (HAS_BIAS) sum += float(y.values[k]);
    if (HAS_ADDEND) sum += float(z.values[k]);
    x.values[k] = Element(activate(sum));
  }
  c[i] = x;
}
)";

bool SeparateEpilogue::follows(const Product &product) {
  return product.hasBias || product.hasAddend || product.activation != "none" || product.outDtype == "fp32";
}

Product SeparateEpilogue::bare(const Product &product) {
  Product bare = product;
  // What is added in fp32 was a sum in fp32 before.
  bool widensAlone = !product.hasBias && !product.hasAddend && product.activation == "none";
  bare.outDtype = widensAlone ? product.dtype : product.outDtype;
  bare.hasBias = bare.hasAddend = false;
  bare.activation = "none";
  return bare;
}

static const char *typeOf(const std::string &dtype) {
  return dtype == "bf16" ? "__nv_bfloat16" : dtype == "fp16" ? "__half" : "float";
}

static api::Description describe(const Product &product) {
  int64_t elements = product.outDtype == "fp32" ? 4 : 8;
  if (product.n % elements != 0) {
    throw std::runtime_error("rows of a separate epilogue must be multiples of 16 bytes: got " +
                             std::to_string(product.n) + " elements");
  }
  const std::string &activation = product.activation;
  const char *number = activation == "relu" ? "1" : activation == "gelu_tanh" ? "2" : activation == "silu" ? "3" : "0";
  std::string source = SeparateEpilogue::bare(product).outDtype;
  int64_t vectors = product.m * (product.n / elements);
  std::string shape = "[" + std::to_string(product.m) + ", " + std::to_string(product.n) + "]";
  std::string tensor = product.outDtype + shape;
  auto optional = [](bool isThere, const std::string &text) { return isThere ? text : "uint8[16]"; };
  return api::Description::create(
      "user_kernel",
      {{"language", "cuda"},
       {"entry", "epilogue"},
       {"source", kSource},
       {"options", std::string("-DElement=") + typeOf(product.outDtype) + " -DSource=" + typeOf(source) +
                       " -DACTIVATION=" + number + " -DHAS_BIAS=" + (product.hasBias ? "1" : "0") +
                       " -DHAS_ADDEND=" + (product.hasAddend ? "1" : "0")},
       {"block", "256"},
       {"grid", std::to_string((vectors + 255) / 256)},
       {"arguments", "product: read " + source + shape + ", bias: read " +
                         optional(product.hasBias, product.outDtype + "[" + std::to_string(product.n) + "]") +
                         ", addend: read " + optional(product.hasAddend, tensor) + ", c: updated " + tensor +
                         ", vectors: int64 = " + std::to_string(vectors) +
                         ", row: int32 = " + std::to_string(product.n / elements)}});
}

SeparateEpilogue::SeparateEpilogue(const api::Runtime &runtime, const api::Device &device, const Product &product)
    : kernel_(api::Kernel::obtain(runtime, device, describe(product))), hasBias_(product.hasBias),
      hasAddend_(product.hasAddend) {}

void SeparateEpilogue::run(uint64_t source, const ProductAddresses &tensors, void *stream) const {
  // What there is none of is c itself, which is not read as that.
  kernel_.launch({source, hasBias_ ? tensors.bias : tensors.c, hasAddend_ ? tensors.addend : tensors.c, tensors.c}, {},
                 {}, 0, 0, stream);
}

} // namespace jitk::timing
