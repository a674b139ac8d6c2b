// CUDA C++ to PTX, by NVRTC. The library is opened at run time; its version and that of the toolkit's headers are part
// of a kernel's key.

#pragma once

#include "src/runtime/Target.h"
#include "src/support/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jitk::nvidia {

/// What NVRTC is given.
struct CudaSource {
  std::string text;
  std::string entry; ///< the kernel: a name, or the instance of a template
  std::vector<std::string> options;
  std::vector<std::pair<std::string, std::string>> headers; ///< name and text
};

struct CudaPtx {
  std::string ptx;
  std::string symbol; ///< of the kernel
};

/// Immutable; thread-safe: NVRTC serializes what it must.
class CudaCompiler {
public:
  virtual ~CudaCompiler() = default;
  /// "nvrtc 13.0 headers 13000": equal identities give equal PTX.
  virtual std::string identity() const = 0;
  /// Fails with InvalidArgument and NVRTC's log where it refuses the source or finds no such kernel in it.
  virtual Result<CudaPtx> compile(const CudaSource &source, const Target &target) const = 0;
};

/// Opens NVRTC; an empty path means the usual places. Fails with Unavailable, naming every place that was searched.
Result<std::shared_ptr<const CudaCompiler>> openCudaCompiler(const std::string &path = {});

/// A parameter of a kernel: its size, and what its place among the parameters is a multiple of.
struct KernelParameter {
  uint32_t bytes = 0, alignment = 0;
  bool operator==(const KernelParameter &) const = default;
};

/// The parameters of a kernel of a PTX module, in their order. Fails with Internal if it has no such kernel.
Result<std::vector<KernelParameter>> parametersOf(std::string_view ptx, const std::string &symbol);

} // namespace jitk::nvidia
