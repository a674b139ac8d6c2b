// Turns MLIR's diagnostics into a Status: the one place where the compiler's errors leave MLIR.

#pragma once

#include "src/support/Status.h"

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace jitk::compiler {

/// Keeps the errors reported on a context while it lives; nothing reaches stderr.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);

  bool any() const { return !messages_.empty(); }
  /// The first error as the message, the others and all attached notes as notes. Without any error reported, says that
  /// `what` failed without saying why, which is an internal error.
  Status takeStatus(StatusCode code, std::string_view stage, std::string_view what);

private:
  std::vector<std::string> messages_;
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace jitk::compiler
