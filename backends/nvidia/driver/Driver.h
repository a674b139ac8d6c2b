// Driver: libcuda, opened at run time, with its functions in one table.

#pragma once

#include "backends/nvidia/driver/Api.h"
#include "src/support/Status.h"

#include <memory>
#include <string>
#include <string_view>

namespace jitk::nvidia {

namespace api {
/// The functions, as pointers.
struct Functions {
#define JITK_DECLARE(name, symbol, parameters) CUresult(*name) parameters = nullptr;
  JITK_CUDA_FUNCTIONS(JITK_DECLARE, JITK_DECLARE)
#undef JITK_DECLARE
};
} // namespace api

/// An opened and initialized driver. Immutable; the library stays open until the process ends.
class Driver {
public:
  /// Opens the library at `path` and calls cuInit. Fails with Unavailable, saying what is missing or what the driver
  /// answered.
  static Result<std::shared_ptr<const Driver>> open(const std::string &path);

  const api::Functions &functions() const { return functions_; }
  const api::Functions *operator->() const { return &functions_; }
  /// 12080 for CUDA 12.8.
  int version() const { return version_; }
  /// Whether code is loaded by cuLibraryLoadData, which needs no context of its own, or by cuModuleLoadData.
  bool hasLibraries() const { return functions_.libraryLoadData && functions_.kernelGetFunction; }

  /// OK, or a failure that says which function answered what: "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory".
  Status check(api::CUresult result, std::string_view function) const;

private:
  Driver() = default;

  api::Functions functions_;
  int version_ = 0;
};

/// "12.8" for 12080.
std::string versionText(int version);

/// Whose fault an answer of the driver is.
StatusCode statusCodeOf(api::CUresult result);

} // namespace jitk::nvidia
