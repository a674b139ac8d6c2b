// UserKernel: what the description of a kernel says that the engine wrote itself.
//
//   user_kernel language=cuda entry=axpy n=* block=256 grid="ceil(n/256)"
//     arguments="x: read fp32[n], y: updated fp32[n], a: fp32, n: int32" source="extern \"C\" __global__ ..."
//
// It is a description like any other, so that it is planned, prepared, stored and launched like any other. Its
// dimensions are attributes of its own; its dynamic ones are given to a launch in the order of their names.

#pragma once

#include "src/ops/Description.h"
#include "src/ops/Expression.h"
#include "src/ops/OpSchema.h"
#include "src/ops/Scalar.h"
#include "src/ops/TensorShape.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace jitk {

inline constexpr std::string_view kUserKernelOp = "user_kernel";

/// One parameter of the kernel.
struct UserArgument {
  enum class Kind : uint8_t { Tensor, Integer32, Integer64, Scalar, Workspace };

  std::string name;
  Kind kind = Kind::Tensor;
  // Tensor
  std::string dtype = {};
  Access access = Access::Read;
  std::vector<Extent> extents = {};
  uint32_t alignment = 1; ///< bytes
  ScalarType scalar = ScalarType::Fp32;
  /// The value of an integer; where in the workspace, in bytes, a Workspace begins.
  Expression value = {};
};

/// A file that a CUDA source may include.
struct UserHeader {
  std::string name, text;
};

struct UserKernel {
  enum class Language : uint8_t { Cuda, CommonIr, Ttgir };

  Language language = Language::Cuda;
  std::string entry, source;
  std::vector<std::string> options;                         ///< of NVRTC
  std::vector<UserHeader> headers;                          ///< of a CUDA source
  std::vector<std::string> dimensions;                      ///< the dynamic ones, in the order of a launch
  std::vector<std::pair<std::string, int64_t>> staticSizes; ///< of the others
  std::vector<UserArgument> arguments;
  std::array<Expression, 3> grid;
  std::array<uint32_t, 3> block = {0, 1, 1}; ///< of a CUDA kernel
  uint32_t sharedBytes = 0;                  ///< dynamic shared memory of a CUDA kernel
  Expression workspaceBytes;
};

bool isUserKernel(const Description &description);
/// Whether it is one in CUDA C++.
bool isCudaSource(const Description &description);

/// Reads a description of the op `user_kernel`. Fails with InvalidArgument, naming the attribute and what is wrong.
Result<UserKernel> readUserKernel(const Description &description);

} // namespace jitk
